"""The domain: sizes, canonical cliques, JSON and codebook forms, and refusals that name the column and the remedy."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.decoding import decode, strays
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Recode
from dpsynth_core.vocabulary.codebook import domain_from_codebook, load_domain, parse_domain, without_statement
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.filled import Filled
from dpsynth_core.vocabulary.inside import Inside
from dpsynth_core.vocabulary.recoding import folded, outside_rule, written
from tests.domains import attributes, domains
from tests.refusals import refused
from tests.tiers import examples

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def refusal(text: str) -> str:
    caught = refused(parse_domain, text)
    assert caught.remedy
    return str(caught)


def one(**fields: object) -> str:
    return json.dumps({"version": 1, "attributes": [{"name": "age", **fields}]})


# Attributes


@given(attributes())
def test_every_cell_has_a_label_of_its_own(attribute: Attribute) -> None:
    labels = attribute.cell_labels()
    assert len(labels) == attribute.size == len(set(labels))


def test_order_of_cells_is_values_other_missing() -> None:
    sex = Attribute.categorical("sex", ["f", "m"], other=True, missing=True)
    assert sex.cell_labels() == ("f", "m", "other", "missing")
    assert (sex.other_code, sex.missing_code, sex.size) == (2, 3, 4)


def test_a_category_called_missing_is_told_from_the_missing_cell() -> None:
    assert Attribute.categorical("x", ["missing"], missing=True).cell_labels() == ("missing", "(missing)")


def test_a_category_called_other_is_told_from_the_cell_for_unlisted_values() -> None:
    listed = Attribute.categorical("x", ["other"], other=True)
    assert listed.cell_labels() == ("other", "(other)")
    assert written(listed, 1) == "(other)"


def test_rows_show_other_cells_as_text_where_there_is_text_and_else_as_nothing() -> None:
    sex, age = (Attribute.categorical("sex", ["f"], other=True, missing=True), Attribute.integer("age", 0, 1, other=True, missing=True))
    assert [written(sex, code) for code in range(3)] == ["", "other", "empty"]
    assert [written(age, code) for code in range(4)] == ["", "", "empty", "empty"]


@pytest.mark.parametrize("kind", ["categorical", "ordinal", "integer", "numeric", "date"])
def test_a_domain_that_does_not_say_gets_cells_for_missing_and_for_values_outside(kind: str) -> None:
    fields = {"integer": {"lower": 0, "upper": 9}, "numeric": {"lower": 0, "upper": 9},
              "date": {"lower": "2024-01-01", "upper": "2024-02-01"}}.get(kind, {"categories": ["a"]})  # fmt: skip
    open_one = {"version": 1, "attributes": [{"name": "x", "kind": kind, **fields}]}
    read = Domain.from_json(open_one)
    assert read["x"].other
    assert read["x"].missing
    assert without_statement(open_one) == ("x",)
    assert without_statement(read.to_json()) == without_statement({"x": 3}) == ()


def test_only_what_the_curator_chose_is_told_as_folded() -> None:
    says_never = Attribute.integer("age", 0, 9)
    chosen = Attribute.integer("pay", 0, 9, nearest=True, missing_as=Recode("0", "unpaid work is left empty"))
    lines = folded((says_never, chosen))
    assert [line.split(":")[0] for line in lines] == ["pay", "pay"]
    assert "unpaid work is left empty" in lines[1]


def test_integers_have_one_bin_per_value_up_to_100_values_else_bins_of_a_round_width() -> None:
    assert Attribute.integer("age", 1, 100).size == 100
    assert Attribute.integer("age", 0, 100).cell_labels()[:2] == ("0 to 4", "5 to 9")
    assert Attribute.integer("age", 7, 7).cell_labels() == ("7",)


@pytest.mark.parametrize(
    ("attribute", "labels"),
    [
        (Attribute.integer("age", 17, 39, width=10), ("17 to 19", "20 to 29", "30 to 39")),
        (Attribute.integer("x", -7, 7, width=5), ("-7 to -6", "-5 to -1", "0 to 4", "5 to 7")),
        (Attribute.numeric("x", 0.05, 0.35, width=0.1), ("[0.05, 0.1)", "[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.35]")),
        (Attribute.day("d", "2024-01-15", "2024-04-02", width="quarter"), ("2024-01-15 to 2024-03-31", "2024-04-01 to 2024-04-02")),
        (Attribute.day("d", "2023-12-30", "2024-01-31", width="month"), ("2023-12-30 to 2023-12-31", "2024-01-01 to 2024-01-31")),
        (Attribute.day("d", "1987-06-01", "1991-01-01", width="5 years"), ("1987-06-01 to 1989-12-31", "1990-01-01 to 1991-01-01")),
        (Attribute.day("d", "2024-01-03", "2024-01-14", width=7), ("2024-01-03 to 2024-01-07", "2024-01-08 to 2024-01-14")),
        (Attribute.integer("gain", 0, 99, edges=[1, 50]), ("0", "1 to 49", "50 to 99")),
    ],
    ids=["decades", "below zero", "decimals", "quarters", "months", "five years", "weeks", "edges without bounds"],
)
def test_bins_are_cut_where_people_would_cut_them(attribute: Attribute, labels: tuple[str, ...]) -> None:
    assert attribute.cell_labels() == labels
    assert Domain.from_json(Domain((attribute,)).to_json())[attribute.name] == attribute


@given(st.integers(-(10**6), 10**6), st.integers(0, 10**6), st.integers(1, 10**5))
def test_bins_of_one_width_cover_the_bounds_and_start_at_its_multiples(lower: int, span: int, width: int) -> None:
    edges = Attribute.integer("x", lower, lower + span, width=max(width, span // 1000 + 1)).edges
    assert (edges[0], edges[-1]) == (lower, lower + span + 1)
    assert all(edge % max(width, span // 1000 + 1) == 0 for edge in edges[1:-1])


@given(st.integers(-(10**6), 10**6), st.floats(1e-6, 1e9), st.booleans())
def test_default_bins_are_few_and_cover_the_bounds(lower: int, span: float, whole: bool) -> None:
    assert Attribute.numeric("x", 1e15, 1e15 + 1).size <= 32
    assert Attribute.numeric("x", 0.0, 5e-324).size == 1
    attribute = Attribute.integer("x", lower, lower + 101 + int(span)) if whole else Attribute.numeric("x", lower, lower + max(span, 1e-3))
    assert attribute.size <= 34
    assert attribute.edges[0] == lower


def test_equal_integer_bins_differ_by_at_most_one_value() -> None:
    edges = Attribute.integer("x", -3, 99, bins=7).edges
    widths = {b - a for a, b in pairwise(edges)}
    assert (edges[0], edges[-1]) == (-3, 100)
    assert widths == {14, 15}


def test_zero_can_have_a_bin_of_its_own_and_the_last_edge_may_be_the_bound() -> None:
    gain = Attribute.integer("gain", 0, 99_999, edges=[0, 1, 5_000, 99_999])
    assert gain.cell_labels() == ("0", "1 to 4999", "5000 to 99999")
    assert gain == Attribute.integer("gain", 0, 99_999, edges=[0, 1, 5_000, 100_000])


def test_dates_have_bins_of_days() -> None:
    week = Attribute.day("d", "2024-02-26", date(2024, 3, 3), bins=3)
    assert week.cell_labels() == ("2024-02-26 to 2024-02-27", "2024-02-28 to 2024-02-29", "2024-03-01 to 2024-03-03")


def test_codebook_labels_are_shown_instead_of_codes() -> None:
    assert Attribute.categorical("sex", ["1", "2"], dtype="int64", labels=["men", "women"]).cell_labels() == ("men", "women")


@pytest.mark.parametrize(
    ("attribute", "problem"),
    [
        (Attribute.integer("x", 0, 5, missing=True), "go to 'missing'"),
        (Attribute.integer("x", 0, 5), "no value is empty. An empty value would count as '0'"),
        (Attribute.integer("x", 0, 5), "no value is below 0 or above 5. Such a value would count in the nearest group"),
        (Attribute.integer("x", 0, 5, other=True), "below 0 or above 5, and text that is not a number, go to 'other'"),
        (Attribute.integer("x", 0, 5, nearest=True), "count in the nearest group, by the curator's choice"),
        (Attribute.day("x", "2020-01-01", "2020-01-02", missing_as=Recode("2020-01-02", "late")), "count as '2020-01-02', by"),
        (Attribute.categorical("x", ["a", "b"], other=True), "not listed go to 'other'. Empty values go to 'other'"),
        (Attribute.categorical("x", ["a", "b"], missing=True), "Another value would count as 'missing'. Empty values go to 'missing'"),
        (Attribute.categorical("x", ["a", "b"], other_as=Recode("b", "a misprint")), "count as 'b', by the curator's choice: a misprint."),
        (Attribute.coded("x", 4), "above 3 as 3"),
    ],
)
def test_the_rule_for_values_outside_names_the_cell(attribute: Attribute, problem: str) -> None:
    assert problem in outside_rule(attribute)


@given(attributes())
def test_the_rule_for_values_outside_names_cells_that_exist(attribute: Attribute) -> None:
    assert 0 <= attribute.code_for_missing < attribute.size
    assert 0 <= attribute.code_for_unlisted < attribute.size
    assert outside_rule(attribute).endswith(".")


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: Attribute.integer("age", 90, 10), "column 'age': upper bound 10 is below lower bound 90; swap them or correct one"),
        (lambda: Attribute.integer("age", 0, 9, bins=11), "use at most 10 bins"),
        (lambda: Attribute.integer("age", 0, 9, bins=0), "bins"),
        (lambda: Attribute.integer("age", 0, 9.5), "whole numbers"),
        (lambda: Attribute.integer("age", 0, 2**60), "whole numbers"),
        (lambda: Attribute.integer("age", 0, 9, edges=[-1, 4]), "span the bounds"),
        (lambda: Attribute.integer("age", 0, 9, edges=[4, 12]), "span the bounds"),
        (lambda: Attribute.integer("age", 0, 9, width=0), "width of its bins cannot be used"),
        (lambda: Attribute.integer("age", 0, 9, width=2.5), "width of its bins cannot be used"),
        (lambda: Attribute.integer("age", 0, 9, width="month"), "width of its bins cannot be used"),
        (lambda: Attribute.numeric("age", 0, 9, width=1e-9), "too many bins"),
        (lambda: Attribute.day("age", "2024-01-01", "2024-02-01", width="moon"), "the width is not known"),
        (lambda: Attribute.integer("age", 0, 9, width=2, bins=2), "both bins and edges"),
        (lambda: Attribute.integer("age", 0, 9, edges=[0, 5, 5, 10]), "rise"),
        (lambda: Attribute.integer("age", 0, 9, bins=2, edges=[0, 10]), "both bins and edges"),
        (lambda: Attribute.numeric("age", 0.0, float("inf")), "finite"),
        (lambda: Attribute.numeric("age", 0.0, 10**400), "finite"),
        (lambda: Attribute.numeric("age", 1.0, 1.0), "equal"),
        (lambda: Attribute.numeric("age", "low", 1.0), "finite numbers"),
        (lambda: Attribute.day("age", "2024-02-30", "2024-03-01"), "year-month-day"),
        (lambda: Attribute.categorical("age", []), "no categories"),
        (lambda: Attribute.categorical("age", ["a", "a"]), "listed twice"),
        (lambda: Attribute.categorical("age", ["a", " "]), "blank"),
        (lambda: Attribute.categorical("age", "abc"), "list"),
        (lambda: Attribute.categorical("age", ["a"], missing_as=Recode("b", "why")), "'b' is not one of its values"),
        (lambda: Attribute.categorical("age", ["a"], missing_as=Recode("a", " ")), "no reason is given"),
        (lambda: Attribute.categorical("age", ["a"], missing=True, missing_as=Recode("a", "why")), "choose one of the two"),
        (lambda: Attribute("age", "categorical", categories=("a",), nearest=True), "'nearest' is one of several choices"),
        (lambda: Attribute.integer("age", 0, 9, other=True, nearest=True), "'nearest' is one of several choices"),
        (lambda: Attribute.categorical("age", ["1", "1.0"], dtype="float64"), "same number"),
        (lambda: Attribute.categorical("age", ["1.5"], dtype="int64"), "int64"),
        (lambda: Attribute.categorical("age", ["yes"], dtype="bool"), "false and true"),
        (lambda: Attribute.categorical("age", ["a"], dtype="object"), "dtype"),
        (lambda: Attribute.categorical("age", ["a", "b"], labels=["x"]), "one label per category"),
        (lambda: Attribute.coded("age", 0), "number of codes"),
        (lambda: Attribute.coded("age", True), "number of codes"),
        (lambda: Attribute.coded("age", 10**9), "too many values"),
        (lambda: Attribute("age", "fancy"), "kind is not known"),
        (lambda: Attribute("age", "integer"), "give both bounds"),
        (lambda: Attribute("age", "integer", categories=("a",), lower=0, upper=1), "do not go with numbers"),
        (lambda: Attribute("age", "categorical", categories=("a",), lower=0), "do not go with categories"),
    ],
)
def test_contradictions_are_refused_with_column_and_remedy(build: object, problem: str) -> None:
    caught = refused(build, saying="column 'age'")
    assert problem in str(caught)
    assert caught.remedy


def test_a_hostile_column_name_stays_on_one_short_line_of_the_message() -> None:
    caught = refused(Attribute.integer, "a\nb\x00" + "c" * 500, 2, 1)
    assert "\n" not in str(caught)
    assert len(str(caught)) < 200


# Domains


def domain() -> Domain:
    return Domain((Attribute.coded("a", 2), Attribute.coded("b", 3), Attribute.coded("c", 5)))


def test_cliques_are_in_domain_order() -> None:
    assert domain().clique(["c", "a"]) == ("a", "c")
    assert domain().clique([]) == ()


def test_unknown_and_repeated_names_are_refused() -> None:
    refused(domain().clique, ["a", "z"], saying="column 'z': it is not in the domain")
    refused(domain().clique, ["a", "b", "b"], saying="column 'b': it is named twice")


def test_sizes_and_cells() -> None:
    assert domain().sizes(("a", "c")) == (2, 5)
    assert domain().cells(("a", "c")) == 10
    assert domain().cells(()) == 1
    big = Domain(tuple(Attribute.coded(str(i), 1000) for i in range(10)))
    assert big.cells(big.names) == 10**30  # no overflow


def test_order_and_choice_of_columns() -> None:
    assert domain().ordered_like(["c", "x", "b"]).names == ("c", "b", "a")
    assert domain().keep(["c", "a"]).names == ("a", "c")
    assert "a" in domain()
    assert len(domain()) == 3


@given(domains())
def test_json_round_trip_is_exact(some: Domain) -> None:
    assert Domain.from_json(json.loads(json.dumps(some.to_json(), allow_nan=False))) == some


def test_benchmark_form_is_read_in_order() -> None:
    coded = parse_domain('{"sex": 2, "age": 32}')
    assert coded.names == ("sex", "age")
    assert coded.sizes(coded.names) == (2, 32)
    assert parse_domain('{"version": 3, "attributes": 4}').names == ("version", "attributes")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("{", "not valid JSON"),
        ("[1]", "not a JSON object"),
        ("{}", "not a JSON object"),
        ('{"age": 0}', "column 'age'"),
        ('{"age": 2.5}', "column 'age'"),
        ('{"age": true}', "column 'age'"),
        ('{"age": NaN}', "NaN"),
        ('{"age": 1e999}', "column 'age'"),
        ('{"age": 2, "age": 3}', "twice"),
        ('{"version": 2, "attributes": []}', "version"),
        ('{"version": 1, "attributes": []}', "no columns"),
        ('{"version": 1, "attributes": {}}', "not a list"),
        ('{"version": 1, "attributes": [1]}', "not a JSON object"),
        ('{"version": 1, "attributes": [{"kind": "coded", "size": 2}]}', "no name"),
        (one(kind="fancy"), "kind is not known"),
        (one(kind="integer", lower=90, upper=10), "below lower bound"),
        (one(kind="integer", lower=1), "give both bounds"),
        (one(kind="integer", lower=1, upper=9, edges="1,2"), "'edges' is not a list"),
        (one(kind="integer", lower=1, upper=9, edges=[1, None, 10]), "edge is not a number"),
        (one(kind="integer", lower=True, upper=9), "whole numbers"),
        (one(kind="integer", lower=1, upper=9, sise=3), "'sise' does not go with kind integer"),
        (one(kind="categorical", categories="abc"), "'categories' is not a list"),
        (one(kind="categorical", categories=["a"], missing="yes"), "'missing' is not true or false"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_bad_json_is_refused_with_a_remedy(text: str, problem: str) -> None:
    assert problem in refusal(text)


@examples(300)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(["version", "attributes", "name", "kind", "lower", "upper", "bins", "edges", "categories", "x"])
                        | st.sampled_from(["integer", "date"]), inner, max_size=5)))  # fmt: skip
def test_whatever_json_holds_it_is_a_domain_or_an_input_error(obj: object) -> None:
    with suppress(InputError):
        assert isinstance(Domain.from_json(obj), Domain)


def test_whatever_an_attribute_field_holds_it_is_a_domain_or_an_input_error() -> None:
    values = [None, True, -1, 10**400, 1e308, float("nan"), "x", "2024-01-01", [], [1, 2], ["a"], [None], {}, [[1]], [{}]]
    values += ["nearest", {"as": "a", "why": "b"}, {"as": 1, "why": "b"}]
    fields = ("lower", "upper", "bins", "width", "edges", "missing", "decimals", "categories", "dtype", "other", "labels", "size")
    for kind in ("categorical", "ordinal", "integer", "numeric", "date", "coded"):
        good = {"integer": {"lower": 0, "upper": 9}, "numeric": {"lower": 0, "upper": 9}, "coded": {"size": 3},
                "date": {"lower": "2024-01-01", "upper": "2024-02-01"}}.get(kind, {"categories": ["a"]})  # fmt: skip
        for field in fields:
            for value in values:
                obj = {"version": 1, "attributes": [{"name": "x", "kind": kind, **good, field: value}]}
                with suppress(InputError):
                    assert isinstance(Domain.from_json(obj), Domain)


def test_two_columns_of_one_name_are_refused() -> None:
    refused(Domain, (Attribute.coded("a", 2), Attribute.coded("a", 3)), saying="column 'a': the name is used twice")


# Codebooks


def test_codebook_lists_values_ranges_missing_and_other() -> None:
    rows = ["sex,1,men", "sex,2,women", "age,17..90,", "age,,", "job,care,", "job,*,", "fare,0..9.5,", "day,2024-01-01..2024-12-31,"]
    book = parse_domain("\n".join(["column,value,label", *rows]))
    assert book.names == ("sex", "age", "job", "fare", "day")
    assert book["sex"].cell_labels() == ("men", "women", "other", "missing")
    assert (book["age"].kind, book["age"].lower, book["age"].upper, book["age"].missing) == ("integer", 17, 90, True)
    assert book["job"].cell_labels() == ("care", "other", "missing")
    assert (book["fare"].kind, book["day"].kind) == ("numeric", "date")


def test_codebook_with_semicolons_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "codebook.csv"
    path.write_text('\ufeffcolumn;value\n"a; b";x\n"a; b";y\n', encoding="utf-8")
    assert load_domain(path)["a; b"].categories == ("x", "y")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name,values\nsex,1", "'column' and 'value'"),
        ("column,value\n,1", "names no column"),
        ("column,value\nage,90..10", "below lower bound"),
        ("column,value\nage,a..b", "not numbers, dates or times"),
        ("column,value\nsex,\n", "no categories"),
        ("column,value", "no columns"),
    ],
)
def test_bad_codebook_is_refused_with_a_remedy(text: str, problem: str) -> None:
    assert problem in refusal(text)


def test_codebook_can_be_given_as_rows() -> None:
    assert domain_from_codebook([{"column": "x", "value": "a"}, {"column": "x", "value": None}]).sizes(("x",)) == (3,)


def test_domain_file_that_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    refused(load_domain, tmp_path / "none.json", saying="cannot be read")
    (tmp_path / "latin.json").write_bytes('{"größe": 3}'.encode("latin-1"))
    refused(load_domain, tmp_path / "latin.json", saying="UTF-8")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real data sets are not here")
def test_the_benchmark_domain_of_adult_is_read() -> None:
    adult = load_domain(SHARED / "adult-binned-domain.json")
    assert len(adult) == 15
    assert adult.cells(("age", "sex")) == 64


# Sizes and shapes from outside


@pytest.mark.parametrize("name", [" lead", "trail ", "\ufeffage", "\ufeff age", "a\t", "\u00a0x"])
def test_names_are_written_as_tables_are_read(name: str) -> None:
    refused(parse_domain, json.dumps({name: 2}), saying="spaces or a byte order mark around it")


def test_no_edges_are_not_the_same_as_none_given() -> None:
    refused(parse_domain, one(kind="numeric", lower=0, upper=9, edges=[]), saying="it has no edges")


@pytest.mark.parametrize("categories", [[None], [{}], [["a"]]])
def test_categories_are_texts_or_numbers(categories: list[object]) -> None:
    refused(parse_domain, one(kind="categorical", categories=categories), saying="one of its categories is not a text")


def test_a_hundred_thousand_categories_with_a_repeat_are_refused_at_once() -> None:
    start = time.process_time()
    refused(Attribute.categorical, "x", [*(f"v{i}" for i in range(99_999)), "v7"], saying="'v7' is listed twice")
    assert time.process_time() - start < 5


@pytest.mark.parametrize("domain", [{f"c{i}": "no size" for i in range(1001)} | {"a": 2}, {"version": 1, "attributes": [{}] * 1001}])
def test_more_columns_than_can_be_modelled_are_refused_before_one_of_them_is_made(domain: dict[str, Any]) -> None:
    refused(parse_domain, json.dumps(domain), saying="keep at most 1,000")


def test_columns_in_which_no_record_has_a_part_count_too() -> None:
    with pytest.raises(InputError, match="keep at most 1,000"):
        Domain((Attribute.coded("a", 2),), filled=tuple(Filled(f"c{i}", "constant", "x") for i in range(1000)))


COLUMNS = (
    Attribute.integer("gain", 0, 99_999, width=5000, own_cells=[0, 99_999]),
    Attribute.integer("typed", 0, 99_999, width=5000, own_cells="0 15024"),
    Attribute.integer("edges", 0, 50, edges=[0, 1, 20], own_cells=[30]),
    Attribute.numeric("price", 0, 100, width=10, own_cells=[0, 55.5]),
    Attribute.numeric("change", -50, 100, edges=[-50, 20, 100], own_cells=[0], decimals=2),
    Attribute.day("born", "1900-01-01", "2024-12-31", width="year", own_cells=["1900-01-01"]),
)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda one: one.name)
def test_the_document_says_them_and_is_read_back(column: Attribute) -> None:
    assert Column.from_json(Column.of(column).to_json()).complete() == column


def test_the_document_is_as_short_as_what_was_typed() -> None:
    stated = Column.of(COLUMNS[3]).to_json()
    assert (stated["bins"], stated["own_cells"]) == (10, [0, 55.5])
    assert "own_cells" not in Column.of(Attribute.integer("one each", 0, 9)).to_json()
    assert "own_cells" not in Column.of(Attribute.integer("as ever", 0, 99, edges=[0, 1, 20])).to_json()


def test_people_read_the_value_and_what_is_left_of_its_neighbours() -> None:
    gain, price = COLUMNS[0].cell_labels(), COLUMNS[3].cell_labels()
    assert gain[:2] == ("0", "1 to 4999")
    assert gain[-2:] == ("95000 to 99998", "99999")
    assert price[:3] == ("0", "(0, 10)", "[10, 20)")
    assert price[6:9] == ("[50, 55.5)", "55.5", "(55.5, 60)")


def test_rows_with_the_value_are_in_its_cell_and_no_others() -> None:
    domain = Domain(tuple(one for one in COLUMNS if one.name in ("gain", "price", "change")))
    near = float(np.nextafter(55.5, 0))
    table = pa.table({"gain": [0, 1, 99_999, 99_998], "price": [0.0, near, 55.5, 5e-324], "change": [0.0, -0.0, 0.01, -0.01]})
    codes = encode(domain, table, Notation(frozenset()))
    assert codes["gain"].tolist() == [0, 1, 21, 20]
    assert codes["price"].tolist() == [0, 6, 7, 1]
    assert codes["change"].tolist() == [1, 1, 2, 0]


def test_what_is_drawn_from_its_cell_is_the_value() -> None:
    domain = Domain(COLUMNS)
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, one.values, 3000) for one in domain], axis=1).astype(np.int32)
    rows = decode(domain, codes, rng)
    again = encode(domain, rows, Notation(frozenset()))
    for place, one in enumerate(domain):
        assert (again[one.name] == codes[:, place]).all()
    assert set(rows["price"].to_numpy()[codes[:, 3] == 7]) == {55.5}
    assert set(rows["change"].to_numpy()[codes[:, 4] == 1]) == {0.0}
    assert not strays(domain, rows)


@pytest.mark.parametrize(
    ("own", "problem"), [([100_000], "not between the bounds"), (7, "not a list"), (["none"], "not a whole number"), ([-1], "not between")]
)
def test_what_is_no_value_of_the_column_is_refused(own: Any, problem: str) -> None:
    refused(Attribute.integer, "gain", 0, 99_999, width=5000, own_cells=own, saying=problem)


@pytest.mark.parametrize("own", [[2.5], "2.5", [None], [True], [[1]], [2**53]])
def test_whole_numbers_alone_have_cells_of_their_own_in_integer_columns(own: Any) -> None:
    column = {"name": "gain", "kind": "integer", "lower": 0, "upper": 99_999, "width": 5000, "own_cells": own}
    refused(parse_domain, json.dumps({"version": 1, "attributes": [column]}), saying="cannot have a cell of its own; give whole numbers")


@pytest.mark.parametrize("own", [[None], [True], [[1]], [float("-inf")]])
def test_finite_numbers_alone_have_cells_of_their_own_in_numeric_columns(own: Any) -> None:
    refused(Attribute.numeric, "price", 0, 100, width=10, own_cells=own, saying="cannot have a cell of its own; give finite numbers")


GAIN = Attribute.integer("gain", 0, 29, width=10, missing=True)
ZEROS = Inside((0, 1, 10, 15, 20, 30), (90.0, 10.0, 0.0, 0.0, 7.0))


def test_parts_are_drawn_as_often_as_people_are_in_them() -> None:
    """Of 10,000 draws, seed 1, at a tenth: a standard deviation is 30. A cell of which nothing is known is spread by width."""
    rng = np.random.default_rng(1)
    parts = ZEROS.of(GAIN)
    drawn = parts.drawn(np.repeat([0, 1, 2], 10_000), rng).reshape(3, -1)
    assert abs(int((drawn[0] == 1).sum()) - 1000) < 150
    assert set(drawn[0].tolist()) == {0, 1}
    assert abs(int((drawn[1] == 2).sum()) - 5000) < 250
    assert set(drawn[1].tolist()) == {2, 3}
    assert set(drawn[2].tolist()) == {4}


def test_the_mean_of_a_cell_is_that_of_what_is_drawn_from_it() -> None:
    assert ZEROS.of(GAIN).means.tolist() == pytest.approx([0.1 * 5, 14.5, 24.5])
    half = Attribute.numeric("half", 0.0, 2.0, bins=2)
    assert Inside((0.0, 0.5, 1.0, 2.0), (1.0, 3.0, 1.0)).of(half).means.tolist() == pytest.approx([0.625, 1.5])


def test_no_part_without_people_is_drawn_beside_one_with_them() -> None:
    """Empty parts before, between and behind: whatever the draw."""
    parts = Inside((0, 1, 2, 3, 10, 20, 30), (0.0, 5.0, 0.0, 0.0, 1.0, 1.0)).of(GAIN)
    assert set(parts.drawn(np.zeros(2000, dtype=int), np.random.default_rng(2)).tolist()) == {1}


def test_it_is_read_back_as_it_was() -> None:
    assert Inside.from_json(ZEROS.to_json()) == ZEROS


@pytest.mark.parametrize(
    ("parts", "people"),
    [
        ((0, 10, 20, 30), (1.0, 1.0)),  # one number too few
        ((0, 10, 30), (1.0, 1.0)),  # an edge of the column is missing
        ((0, 10, 10, 20, 30), (1.0,) * 4),  # they do not rise
        ((0, 10, 20, 30, 40), (1.0,) * 4),  # beyond the column
        ((0, 10, 20, 30), (1.0, -1.0, 1.0)),
        ((0, 10, 20, 30), (1.0, float("nan"), 1.0)),
    ],
)
def test_what_are_no_parts_of_the_cells_is_refused(parts: tuple[float, ...], people: tuple[float, ...]) -> None:
    refused(Inside(parts, people).of, GAIN, saying="not parts of its cells")
