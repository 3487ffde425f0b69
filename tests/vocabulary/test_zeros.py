"""Structural zeros: rules mean what they say, come back from JSON as they were, and wrong ones are refused in plain words."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.sources.decoding import as_written
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.zeros import StructuralZeros, sentence
from tests.domains import domains
from tests.refusals import refused
from tests.tiers import examples

AGE = Attribute.integer("age", 0, 99, edges=[0, 16, 18, 65, 100])
MARITAL = Attribute.categorical("marital", ["single", "married", "divorced"], missing=True)
SEX = Attribute.categorical("sex", ["f", "m"], labels=["female", "male"])
ROLE = Attribute.categorical("role", ["husband", "wife", "child"])
PEOPLE = (AGE, MARITAL, SEX, ROLE)


def domain(*rules: Any, attributes: tuple[Attribute, ...] = PEOPLE) -> Domain:
    return Domain.from_json(Domain(attributes).to_json() | {"impossible": list(rules)})


def forbidden(one: Domain, *columns: str) -> set[tuple[str, ...]]:
    """The impossible cells over these columns, by label."""
    labels = [one[name].cell_labels() for name in columns]
    return {tuple(names[code] for names, code in zip(labels, cell, strict=True)) for cell in np.argwhere(one.zeros[columns])}


def test_a_forbidden_combination_forbids_every_pair_of_its_values() -> None:
    one = domain({"never": {"marital": ["married", "divorced"], "age": "0..17"}, "note": "Children are not married."})
    assert forbidden(one, "age", "marital") == set(itertools.product(["0 to 15", "16 to 17"], ["married", "divorced"]))
    assert one.impossible[0].note == "Children are not married."


def test_a_condition_forbids_every_other_value_the_missing_one_too() -> None:
    one = domain({"if": {"role": ["husband", "wife"]}, "then": {"marital": ["married"]}})
    assert forbidden(one, "marital", "role") == set(itertools.product(["single", "divorced", "missing"], ["husband", "wife"]))


def test_a_functional_dependency_leaves_one_value_for_each_that_is_named() -> None:
    one = domain({"column": "role", "determines": "sex", "values": {"husband": "male", "wife": ["female"]}})
    assert forbidden(one, "sex", "role") == {("female", "husband"), ("male", "wife")}


def test_single_cells_and_three_columns() -> None:
    one = domain({"columns": ["role", "age", "sex"], "cells": [["wife", "65 to 99", "m"], ["child", "65..99", "female"]]})
    assert forbidden(one, "age", "sex", "role") == {("65 to 99", "male", "wife"), ("65 to 99", "female", "child")}


def test_rules_about_the_same_columns_add_up() -> None:
    one = domain({"never": {"sex": "f", "role": "husband"}}, {"never": {"role": "wife", "sex": "m"}})
    assert list(one.zeros) == [("sex", "role")]
    assert forbidden(one, "sex", "role") == {("female", "husband"), ("male", "wife")}


def test_possible_cells_are_those_that_no_rule_inside_forbids() -> None:
    young = {"columns": ["role", "age"], "cells": [["husband", "0..15"], ["wife", "0..15"]]}
    one = domain({"never": {"sex": "f", "role": "husband"}}, young)
    assert [one.possible_cells(c) for c in (("sex",), ("sex", "role"), ("age", "role"), ("age", "sex"))] == [2, 5, 10, 8]
    assert one.possible_cells(("age", "sex", "role")) == 24 - 4 - 4 + 1
    assert one.possible_cells(()) == 1


@pytest.mark.parametrize(("text", "bins"), [("0..17", 2), ("0..16", 1), ("-5..15", 1), ("16..64", 2), ("0..1000", 4)])
def test_a_range_means_the_bins_that_lie_in_it(text: str, bins: int) -> None:
    assert domain({"never": {"age": text, "role": "child"}}).zeros["age", "role"].sum() == bins


def test_ranges_of_dates_and_numbers() -> None:
    day = Attribute.day("born", "2020-01-01", "2020-12-31", edges=["2020-01-01", "2020-07-01", "2020-12-31"])
    pay = Attribute.numeric("pay", 0, 10, bins=4)
    one = domain({"never": {"born": "2020-07-01..2020-12-31", "pay": "0..5"}}, attributes=(day, pay))
    assert one.zeros["born", "pay"].tolist() == [[False] * 4, [True, True, False, False]]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("x", "combination 1: it is not a rule"),
        ({"if": {"role": "wife"}}, "its entries are not if, then"),
        ({"never": {"sex": "f", "role": "wife"}, "why": "x"}, r"its entries are not never \('why'\)"),
        ({"never": {"sex": "f", "roll": "wife"}}, "column 'roll' is not in the domain"),
        ({"never": {"sex": "f", "role": "widow"}}, "column 'role' has no value 'widow'"),
        ({"never": {"sex": "f", "age": "3..9"}}, "cuts the group '0 to 15'"),
        ({"never": {"sex": "f", "age": "young..old"}}, "“young” is not a whole number"),
        ({"never": {"sex": "f", "role": []}}, "no value of column 'role' is named"),
        ({"never": {"sex": None, "role": "wife"}}, "a value of column 'sex' is not a text"),
        ({"never": {"sex": "f"}}, "fewer than two columns"),
        ({"never": {"sex": ["f", "m"], "role": ["husband", "wife", "child"]}}, "it leaves no combination of its columns possible"),
        ({"if": {"sex": "f"}, "then": {"role": ["husband", "wife", "child"]}}, "it forbids nothing"),
        ({"if": {"sex": "f"}, "then": {"sex": "f"}}, "a column is named twice"),
        ({"if": {"sex": "f"}, "then": {"role": "wife", "age": "0..15"}}, "names more than one column"),
        ({"column": "role", "determines": "sex", "values": {}}, "is not a table"),
        ({"column": "age", "determines": "sex", "values": {"0..17": "f", "16..64": "m"}}, "is named twice"),
        ({"columns": ["sex", "role"], "cells": [["f"]]}, "a cell has not one value per column"),
        ({"columns": ["sex", "role"], "cells": []}, "it forbids nothing"),
        ({"never": {"sex": "f", "role": "wife"}, "note": 3}, "its note is not a short text"),
    ],
)
def test_a_wrong_rule_is_refused_in_plain_words(rule: Any, words: str) -> None:
    refused(domain, rule, saying=words)


def test_the_message_names_the_rule_by_its_place() -> None:
    refused(domain, {"never": {"sex": "f", "role": "husband"}}, {"never": {"sex": "f"}}, saying="impossible combination 2: ")
    refused(Domain.from_json, Domain(PEOPLE).to_json() | {"impossible": {}}, saying=r"domain\.impossible: it is not a list")


def test_rules_that_leave_no_row_together_are_refused() -> None:
    yes_no = tuple(Attribute.categorical(name, ["y", "n"]) for name in "abc")
    equal = [{"column": x, "determines": y, "values": {"y": "y", "n": "n"}} for x, y in ("ab", "bc")]
    differ = {"column": "a", "determines": "c", "values": {"y": "n", "n": "y"}}
    assert len(domain(*equal, attributes=yes_no).zeros) == 2
    refused(domain, *equal, differ, attributes=yes_no, saying="together they leave no possible row")
    with pytest.raises(InputError, match="combination 2: it leaves no combination"):
        domain({"never": {"a": "y", "b": ["y", "n"]}}, {"never": {"a": "n", "b": ["y", "n"]}}, attributes=yes_no)


def test_too_many_cells_are_refused() -> None:
    wide = tuple(Attribute.coded(name, 1001) for name in "abcd")
    refused(domain, {"never": {"a": "0", "b": "0"}}, attributes=wide, kind=CapacityError, saying="1,002,001 cells together")
    ring = tuple(Attribute.coded(name, 300) for name in "abcd")
    rules = [{"never": {x: "0", y: "0"}} for x, y in ("ab", "bc", "cd", "ad")]
    refused(domain, *rules, attributes=ring, kind=CapacityError, saying="too many columns are tied together")


def test_codes_that_do_not_exist_and_unknown_columns_are_refused_without_json_too() -> None:
    refused(Domain, PEOPLE, (StructuralZeros(("sex", "role"), (((0,), (3,)),)),), saying="a value is not one of its column")
    refused(Domain, PEOPLE, (StructuralZeros(("sex", "eye"), (((0,), (0,)),)),), saying="column 'eye' is not in the domain")


def test_dropping_and_reordering_columns_keeps_what_rules_mean() -> None:
    rules = {"never": {"sex": "f", "role": "husband"}}, {"never": {"age": "0..15", "marital": "married"}}
    one = domain(*rules)
    assert forbidden(one.ordered_like(["role", "sex"]), "role", "sex") == {("husband", "female")}
    assert list(one.keep(["sex", "role", "age"]).zeros) == [("sex", "role")]


def test_a_domain_without_rules_is_written_as_before() -> None:
    assert "impossible" not in Domain(PEOPLE).to_json()


def test_rules_are_part_of_the_spec_and_its_digest() -> None:
    def spec(one: Domain) -> Spec:
        data, budget = {"path": "x.csv"}, {"epsilon": 1.0, "delta": 1e-9}
        rest = {"population": "p", "data": data, "workload": {"kind": "all", "k": 2}, "budget": budget}
        return Spec.from_json(rest | {"domain": one.to_json()})

    limited = domain({"never": {"sex": "f", "role": "husband"}})
    assert spec(limited).digest() != spec(Domain(PEOPLE)).digest()
    assert Plan.of(spec(limited)).domain == limited
    assert spec(limited).published()["domain"]["impossible"] == [{"never": {"sex": ["female"], "role": ["husband"]}}]


def test_sentences_are_plain() -> None:
    one = domain(
        {"never": {"age": ["0..17", "65..99"], "marital": ["married", "divorced"]}},
        {"if": {"role": "husband"}, "then": {"sex": "male"}},
        {"column": "role", "determines": "sex", "values": {"husband": "male", "wife": "female"}},
        {"columns": ["age", "role"], "cells": [["0 to 15", "wife"], ["16 to 17", "husband"]]},
    )
    by_name = {a.name: a for a in one}
    assert [sentence(rule, by_name) for rule in one.impossible] == [
        "age “0 to 17” or “65 to 99” never goes with marital “married” or “divorced”.",
        "If role is “husband”, then sex must be “male”.",
        "role determines sex (2 values).",
        "2 combinations of age, role cannot occur.",
    ]


@st.composite
def rules(draw: st.DrawFn, one: Domain) -> dict[str, Any]:
    """A rule of any form about two columns of a domain, by label."""
    left, right = draw(st.permutations(one.names))[:2]
    labels = {name: one[name].cell_labels()[:6] for name in (left, right)}
    some = {name: draw(st.lists(st.sampled_from(labels[name]), min_size=1, max_size=3, unique=True)) for name in labels}
    return draw(
        st.sampled_from(
            [
                {"never": some},
                {"if": {left: some[left]}, "then": {right: some[right]}, "note": "why"},
                {"column": left, "determines": right, "values": dict.fromkeys(some[left], some[right])},
                {"columns": [left, right], "cells": [[a, b] for a in some[left] for b in some[right]]},
            ]
        )
    )


@examples(100)
@given(st.data(), domains(3).filter(lambda one: len(one) > 1 and one.cells(one.names) < 1e6))
def test_json_gives_back_the_same_domain(data: st.DataObject, one: Domain) -> None:
    chosen = [data.draw(rules(one)) for _ in range(data.draw(st.integers(1, 2)))]
    try:
        made = Domain.from_json(one.to_json() | {"impossible": chosen})
    except InputError:  # it forbids everything, or nothing
        return
    again = Domain.from_json(json.loads(json.dumps(made.to_json())))
    assert again == made
    assert all((again.zeros[clique] == made.zeros[clique]).all() for clique in made.zeros)


def test_an_order_keeps_no_distance_within_groups() -> None:
    """Where each cell of both columns holds one value, a table of both tells the distance too."""
    whole = {"kind": "integer", "lower": 0, "upper": 9}
    widths = {"a": 5, "b": 1, "c": 1}
    columns = [{"name": name, "width": width, **whole} for name, width in widths.items()]
    rules = [{"column": "a", "at_most": "b"}, {"column": "b", "below": "c"}]
    domain = Domain.from_json({"version": 1, "attributes": columns, "impossible": rules})
    assert [(one.first, one.second) for one in domain.loose_orders] == [("a", "b")]


def test_where_a_missing_number_is_impossible_one_outside_is_too_because_rows_show_both_as_empty() -> None:
    income = {"name": "income", "kind": "integer", "lower": 0, "upper": 9, "bins": 2, "other": True, "missing": True}
    town = {"name": "town", "kind": "categorical", "categories": ["a", "b"], "other": True, "missing": True}
    rules = [{"never": {"income": "missing", "town": "a"}}, {"never": {"town": "missing", "income": "0..4"}}]
    domain = Domain.from_json({"version": 1, "attributes": [income, town], "impossible": rules})
    of_income, of_town, (table,) = domain["income"], domain["town"], domain.zeros.values()
    assert table[of_income.missing_code, 0]
    assert table[of_income.other_code, 0]
    assert not table[of_income.other_code, 1]
    assert table[0, of_town.missing_code]
    assert not table[0, of_town.other_code], "texts outside are written as a word of their own"
    assert Domain.from_json(domain.to_json()) == domain
    assert domain.to_json()["impossible"][0] == {"never": {"income": ["missing"], "town": ["a"]}}, "the rule stays as it was stated"
    shown = as_written(domain, np.array([[a, b] for a in range(of_income.size) for b in range(of_town.size) if not table[a, b]], np.int32))
    assert not table[tuple(shown.T)].any()


def test_rules_across_two_tables_mean_numbers_outside_where_they_mean_missing_ones() -> None:
    column = {"name": "pay", "kind": "integer", "lower": 0, "upper": 9, "bins": 2, "other": True, "missing": True}
    pay = Domain.from_json({"attributes": [column]})
    rules = [{"never": {"pay": "0..4", "pay of another": "missing"}}, {"members_with": {"pay": ["missing"]}, "at_most": 1}]
    link = Link.ruled(Domain.from_json({"region": 2}), pay, 3, rules)
    other, missing = pay["pay"].other_code, pay["pay"].missing_code
    table = link.domain.zeros["pay", "pay of another"]
    assert table[0, missing]
    assert table[0, other]
    assert not table[1, other]
    assert link.numbers[0].codes == (other, missing)
