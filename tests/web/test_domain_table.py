"""The domain as a table: every attribute survives the way into a row and back, and half-finished rows say what they lack."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.demo import demo_domain
from dpsynth_core.sources.guess import Guess
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.filled import Filled
from dpsynth_core.web.domain import domain_table
from tests.domains import domains


@given(domains())
def test_a_domain_survives_the_table(domain: Domain) -> None:
    assert domain_table.domain_of([domain_table.row_of(a) for a in domain]) == domain


@given(domains())
def test_a_listed_column_survives_its_text(domain: Domain) -> None:
    for row in (domain_table.row_of(a) for a in domain if a.kind in domain_table.LISTED):
        if not any(set(text) & set("\t\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029") for text in (*row["values"], *row["labels"])):
            assert domain_table.attribute(row | domain_table.read_listed(domain_table.listed_text(row))) == domain_table.attribute(row)


def test_every_blank_column_is_an_open_problem() -> None:
    rows = domain_table.blank(["a", "b"])
    assert set(domain_table.problems(rows)) == {"a", "b"}
    assert domain_table.cells(rows[0]) is None


def test_a_dropped_column_is_neither_a_problem_nor_in_the_domain() -> None:
    rows = [domain_table.row_of(Attribute.categorical("a", ["x"])), domain_table.blank(["b"])[0] | {"use": False}]
    assert domain_table.problems(rows) == {}
    assert domain_table.domain_of(rows).names == ("a",)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "integer", "lower": "90", "upper": "17"}, "below lower"),
        ({"kind": "integer", "lower": "one", "upper": "17"}, "not a whole number"),
        ({"kind": "integer", "lower": "", "upper": "17"}, "bounds"),
        ({"kind": "numeric", "lower": "0", "upper": "1", "bins": "many"}, "bins"),
        ({"kind": "numeric", "lower": "0", "upper": "1", "bins": "0, 2"}, "span"),
        ({"kind": "date", "lower": "03/04/2020", "upper": "2021-01-01"}, "year-month-day"),  # March or April
        ({"kind": "date", "lower": "12.31.2020", "upper": "2021-01-01"}, "year-month-day"),
        ({"kind": "coded", "bins": ""}, "codes"),
        ({"kind": "categorical", "values": ["x", "x"]}, "twice"),
    ],
)
def test_a_wrong_row_names_its_column_and_the_remedy(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        domain_table.attribute(domain_table.blank(["stay"])[0] | values)
    assert caught.value.field == "column 'stay'"
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"values": ["x"]}, ""),
        ({"values": []}, "values"),
        ({"values": ["x"], "missing": False, "missing_as": {"as": "x", "why": ""}}, "cells"),
        ({"kind": "integer", "lower": "one", "upper": "9"}, "bounds"),
        ({"kind": "integer", "lower": "0", "upper": "9", "bins": "0, 20"}, "bins"),
        ({"kind": "integer", "lower": "0", "upper": "9", "missing": False, "missing_as": {"as": "99", "why": "so"}}, "cells"),
        ({"kind": "coded", "bins": "many"}, "bounds"),
    ],
)
def test_what_is_wrong_stands_under_its_field(values: dict[str, object], place: str) -> None:
    assert domain_table.place_of_problem(domain_table.blank(["stay"])[0] | values) == place


def test_explicit_edges_are_shown_as_they_are_typed() -> None:
    row = domain_table.row_of(Attribute.integer("hours", 0, 80, edges=[0, 1, 40, 80]))
    assert row["bins"] == "0, 1, 40, 80"
    assert domain_table.row_of(Attribute.day("d", "2020-01-01", "2020-12-31", edges=["2020-01-01", "2020-07-01", "2020-12-31"]))[
        "bins"
    ] == ("2020-01-01, 2020-07-01, 2020-12-31")


def test_edits_change_only_what_can_be_edited() -> None:
    rows = [domain_table.row_of(a) for a in demo_domain()]
    changed = domain_table.edited(rows, {0: {"bins": "8", "column": "hacked", "cells": 3}, 1: {"use": False}, 99: {"use": False}})
    assert (changed[0]["bins"], changed[0]["column"], changed[1]["use"]) == ("8", "age", False)
    assert changed[2:] == rows[2:]
    assert domain_table.edited(rows, {0: {"upper": None}})[0]["upper"] == ""


def test_applying_the_same_edits_twice_changes_nothing_more() -> None:
    rows = [domain_table.row_of(a) | {"note": "mind this"} for a in demo_domain()]
    edits = {0: {"bins": "8"}, 3: {"missing": False}}
    once = domain_table.edited(rows, edits)
    assert domain_table.edited(once, edits) == once
    assert once[0]["note"] == ""
    assert once[1]["note"] == "mind this"


def test_a_loaded_domain_drops_the_columns_that_it_does_not_name() -> None:
    rows = domain_table.with_domain(domain_table.blank(["a", "b"]), Domain((Attribute.coded("b", 3), Attribute.coded("z", 2))))
    assert [(row["column"], row["use"]) for row in rows] == [("a", False), ("b", True)]


def test_a_domain_or_public_table_of_other_columns_is_refused() -> None:
    with pytest.raises(InputError, match="none of its columns"):
        domain_table.with_domain(domain_table.blank(["a"]), Domain((Attribute.coded("z", 2),)))
    with pytest.raises(InputError, match="none of the columns"):
        domain_table.with_guesses(domain_table.blank(["a"]), [Guess("z", Attribute.coded("z", 2), ())])


def test_columns_that_identify_people_are_left_out_and_say_why() -> None:
    guesses = [
        Guess("name", None, (), "Leave it out: names identify people.", drop=True),
        Guess("sex", Attribute.categorical("sex", ["f"]), ()),
    ]
    rows = domain_table.from_guesses(guesses)
    assert [row["use"] for row in rows] == [False, True]
    assert "names identify people" in domain_table.grid(rows)["values"][0]


def test_very_many_categories_raise_a_warning_in_the_grid() -> None:
    rows = [domain_table.row_of(Attribute.categorical("name", [f"n{i}" for i in range(40_000)]))]
    assert "names or ids" in domain_table.grid(rows)["values"][0]


def test_rows_follow_the_columns_of_a_new_table() -> None:
    rows = [domain_table.row_of(Attribute.coded("a", 2)), domain_table.row_of(Attribute.coded("b", 3))]
    fitted = domain_table.fitted(rows, ["c", "b"])
    assert [(row["column"], row["bins"]) for row in fitted] == [("c", ""), ("b", "3")]


@given(st.lists(st.text(alphabet="abc xyz", min_size=1).map(str.strip).filter(bool), unique=True, min_size=1))
def test_a_pasted_list_gives_its_lines(values: list[str]) -> None:
    assert domain_table.read_listed("\n\n".join(values) + "\n")["values"] == values


def test_labels_follow_a_tab() -> None:
    assert domain_table.read_listed("1\tone\n2\n") == {"values": ["1", "2"], "labels": ["one", "2"]}
    assert domain_table.read_listed("1 = one\n2=two\n") == {"values": ["1", "2=two"], "labels": ["one", "2=two"]}


def test_what_a_column_is_about_survives_the_table() -> None:
    asked = Attribute.categorical("q1", ["1"], other=True, missing=True)
    labelled = replace(asked, label="Sind Sie zufrieden?")
    assert domain_table.attribute(domain_table.row_of(labelled)) == labelled
    assert domain_table.domain_of([domain_table.row_of(labelled)]).to_json()["attributes"][0]["label"] == "Sind Sie zufrieden?"


@pytest.mark.parametrize(
    ("name", "left_out"),
    [("id", True), ("Patient_ID", True), ("Unnamed: 0", True), ("first name", True), ("e-mail", True), ("idea", False), ("paid", False)],
)
def test_columns_whose_name_promises_an_identifier_start_left_out(name: str, left_out: bool) -> None:
    row = domain_table.fresh(name)
    assert row["use"] is not left_out
    assert bool(row["note"]) is left_out
    declared = domain_table.row_of(Attribute.integer(name, 0, 9))  # what a codebook declares is used
    assert declared["use"]
    assert not declared["note"]


def test_columns_that_tell_people_apart_can_become_new_identifiers_of_their_shape() -> None:
    numbers = Guess("nr", Attribute.integer("nr", 0, 10_000), (), "It counts.", drop=True, identifies=True)
    texts = Guess("code", None, (), "Everybody has one.", drop=True, identifies=True)
    guessed = domain_table.from_guesses([numbers, texts])
    person = domain_table.left_out(domain_table.blank(["who"])[0])
    rows = [*guessed, person, domain_table.fresh("patient_id"), domain_table.fresh("key", {"kind": "integer"})]
    assert all(domain_table.offers_identifiers(row) for row in rows)
    columns = [domain_table.column(row) for row in rows]
    assert [column.values(2) for column in columns if isinstance(column, Filled)] == [[1, 2], *[["P000001", "P000002"]] * 3, [1, 2]]
    assert not domain_table.offers_identifiers(domain_table.fresh("remarks"))
    assert not any(domain_table.offers_identifiers(row | {"use": True}) for row in rows)


@pytest.mark.parametrize("which", ["missing", "other"])
def test_what_happens_to_values_survives_the_choice(which: str) -> None:
    row = domain_table.blank(["age"])[0] | {"kind": "integer", "lower": "0", "upper": "9"}
    for choice in domain_table.treatments(row, which):
        chosen = row | domain_table.treated(which, choice, "3", "the form says so")
        assert domain_table.treatment(chosen, which) == choice
        attribute = domain_table.attribute(chosen)
        assert domain_table.row_of(attribute) == chosen | {"bins": ""}


@pytest.mark.parametrize(
    ("bins", "labels"),
    [("", 10), ("5", 2), ("2 bins", 2), ("3, 6", 3)],
)
def test_groups_are_typed_as_a_width_a_number_or_their_first_values(bins: str, labels: int) -> None:
    row = domain_table.blank(["age"])[0] | {"kind": "integer", "lower": "0", "upper": "9", "bins": bins}
    assert domain_table.attribute(row).values == labels
    days = domain_table.blank(["day"])[0] | {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "bins": "quarters"}
    assert domain_table.attribute(days).values == 4


@pytest.mark.parametrize(("lower", "upper"), [("1.2.2024", "31.12.2024"), ("1/1/2024", "31/12/2024"), ("2024-02-01", "12/31/2024")])
def test_bounds_are_days_as_people_write_them(lower: str, upper: str) -> None:
    row = domain_table.blank(["day"])[0] | {"lower": lower, "upper": upper, "bins": ""}
    day, moment = (domain_table.attribute(row | {"kind": kind}) for kind in ("date", "timestamp"))
    first = date(2024, 1 if lower == "1/1/2024" else 2, 1)
    assert (day.lower, day.upper) == (first, date(2024, 12, 31))
    assert (moment.lower.date(), moment.upper.date()) == (first, date(2024, 12, 31))


def test_a_fresh_column_has_what_its_name_and_its_file_promise() -> None:
    age, sex, day, text, flag = (domain_table.fresh(name) for name in ("age", "sex", "visit_date", "Bemerkung", "x"))
    assert (age["guessed"], age["origin"], domain_table.attribute(age).upper) == (True, "usual", 122)
    assert (sex["values"], sex["guessed"]) == ([], False)  # how the file writes them is not known from the name
    assert (day["kind"], text["use"], flag["kind"]) == ("date", False, "categorical")
    declared = {"name": "age", "kind": "numeric", "lower": None, "upper": None, "label": "Age at entry", "to_do": "bounds"}
    typed = domain_table.fresh("age", declared)
    assert (typed["kind"], typed["lower"], typed["about"]) == ("numeric", "", "Age at entry")


def test_confirming_a_guess_keeps_it_and_editing_it_makes_it_typed() -> None:
    rows = [domain_table.fresh("age")]
    confirmed = domain_table.with_origins(rows, [rows[0] | {"guessed": False}])
    assert confirmed[0]["origin"] == "usual"
    assert domain_table.with_origins(rows, [rows[0] | {"upper": "99"}])[0]["origin"] == "typed"


LABELLED = [
    {
        "name": "q1",
        "kind": "categorical",
        "dtype": "int64",
        "categories": ["1", "2"],
        "labels": ["ja", "nein"],
        "other": True,
        "missing": True,
    },
    {"name": "age", "kind": "integer", "lower": None, "upper": None, "missing": True, "to_do": "bounds"},
]


def test_labels_of_the_file_fill_the_columns_that_have_them_and_no_others() -> None:
    rows = [domain_table.row_of(Attribute.coded("x", 3)), *domain_table.blank(["q1"]), domain_table.fresh("age")]
    filled = domain_table.with_origins(rows, domain_table.with_labels(rows, LABELLED), "labels")
    assert [row["origin"] for row in filled] == ["", "labels", "usual"]
    assert domain_table.attribute(filled[1]).labels == ("ja", "nein")
    assert filled[0] == rows[0]


def test_what_is_open_is_learnt_and_the_rest_stays() -> None:
    rows = [domain_table.fresh("age"), *domain_table.blank(["town", "x"]), domain_table.fresh("id")]
    rows[2] |= {"kind": "integer"}
    learnt = domain_table.with_origins(rows, domain_table.to_learn(rows), "learnt")
    assert [row["most"] for row in learnt] == [0, 32, 32, 0]
    assert [row["origin"] for row in learnt] == ["usual", "learnt", "learnt", ""]
    domain = domain_table.domain_of(learnt)
    assert [(a.name, a.kind, a.most) for a in domain.unknown] == [("town", "categorical", 32), ("x", "integer", 32)]
    assert Domain.from_json(domain.to_json()) == domain
    assert [domain_table.row_of(a)["most"] for a in domain] == [0, 32, 32]


def test_pasted_columns_leave_the_others_alone() -> None:
    rows = [domain_table.fresh("age"), *domain_table.blank(["sex"])]
    pasted = domain_table.with_columns(rows, Domain((Attribute.categorical("sex", ["f", "m"]),)))
    assert pasted[0] == rows[0]
    assert pasted[1]["values"] == ["f", "m"]
    with pytest.raises(InputError, match="none of the columns"):
        domain_table.with_columns(rows, Domain((Attribute.coded("z", 2),)))


def test_a_first_column_without_a_name_is_left_out_as_an_index_is() -> None:
    assert [row["use"] for row in domain_table.fitted([], ["column_1", "age"])] == [False, True]
    assert [row["use"] for row in domain_table.fitted([], ["column_1", "column_2"])] == [True, True]
    assert domain_table.fitted([domain_table.row_of(Attribute.coded("column_1", 2))], ["column_1", "age"])[0]["use"]
