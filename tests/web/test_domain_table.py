"""The domain as a table: every attribute survives the way into a row and back, half-finished rows say what they lack; rules about what
cannot occur are edited, and the picture of a column's cells has them all."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.demo import demo_domain
from dpsynth_core.sources.guess import Guess
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import declared
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.filled import Filled
from dpsynth_core.web.domain import column_view, domain_table, list_view, zeros_table
from dpsynth_core.web.domain.column_draft import ColumnDraft, blank, fresh, read_listed, treated
from dpsynth_core.web.shell import kept_rules
from tests.domains import attributes, domains
from tests.refusals import refused


def coded(name: str, size: int) -> Column:
    return Column(name=name, kind="coded", size=size)


def stored(draft: ColumnDraft) -> ColumnDraft:
    return ColumnDraft.from_json(json.loads(json.dumps(draft.to_json(), allow_nan=False)))


@given(domains())
def test_a_domain_survives_the_table(domain: Domain) -> None:
    assert domain_table.domain_of([stored(ColumnDraft.of(a)) for a in domain]) == domain


@given(domains())
def test_a_listed_column_survives_its_text(domain: Domain) -> None:
    for row in (ColumnDraft.of(a) for a in domain if a.is_listed):
        texts = map(str, (*(row.categories or ()), *(row.labels or ())))
        if not any(set(text) & set("\t\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029") for text in texts):
            assert row.changed(**read_listed(row.listed_text())).complete() == row.complete()


def test_every_blank_column_is_an_open_problem() -> None:
    rows = [blank("a"), blank("b")]
    assert set(domain_table.problems(rows)) == {"a", "b"}
    assert rows[0].cells() is None


def test_a_dropped_column_is_neither_a_problem_nor_in_the_domain() -> None:
    rows = [ColumnDraft.of(Attribute.categorical("a", ["x"])), blank("b").changed(use=False)]
    assert domain_table.problems(rows) == {}
    assert domain_table.domain_of(rows).names == ("a",)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "integer", "lower": "90", "upper": "17"}, "below lower"),
        ({"kind": "integer", "lower": "one", "upper": "17"}, "not a whole number"),
        ({"kind": "integer", "lower": "", "upper": "17"}, "bounds"),
        ({"kind": "numeric", "lower": "0", "upper": "1", "width": "many"}, "bins"),
        ({"kind": "numeric", "lower": "0", "upper": "1", "edges": ["0", "2"]}, "span"),
        ({"kind": "date", "lower": "03/04/2020", "upper": "2021-01-01"}, "year-month-day"),  # March or April
        ({"kind": "date", "lower": "12.31.2020", "upper": "2021-01-01"}, "year-month-day"),
        ({"kind": "coded", "size": ""}, "codes"),
        ({"kind": "categorical", "categories": ["x", "x"]}, "twice"),
    ],
)
def test_a_wrong_row_names_its_column_and_the_remedy(values: dict[str, object], message: str) -> None:
    caught = refused(blank("stay").changed(**values).complete, saying=message)
    assert caught.field == "column 'stay'"
    assert caught.remedy


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"categories": ["x"]}, ""),
        ({"categories": []}, "values"),
        ({"categories": ["x"], "missing": {"as": "x", "why": ""}}, "cells"),
        ({"kind": "integer", "lower": "one", "upper": "9"}, "bounds"),
        ({"kind": "integer", "lower": "0", "upper": "9", "edges": ["0", "20"]}, "bins"),
        ({"kind": "integer", "lower": "0", "upper": "9", "missing": {"as": "99", "why": "so"}}, "cells"),
        ({"kind": "coded", "size": "many"}, "bounds"),
    ],
)
def test_what_is_wrong_stands_under_its_field(values: dict[str, object], place: str) -> None:
    assert blank("stay").changed(**values).place_of_problem() == place


def test_explicit_edges_are_shown_as_they_are_typed() -> None:
    assert ColumnDraft.of(Attribute.integer("hours", 0, 80, edges=[0, 1, 40, 80])).bins_text() == "0, 1, 40, 80"
    halves = Attribute.day("d", "2020-01-01", "2020-12-31", edges=["2020-01-01", "2020-07-01", "2020-12-31"])
    assert ColumnDraft.of(halves).bins_text() == "2020-01-01, 2020-07-01, 2020-12-31"


def test_edits_change_only_what_can_be_edited() -> None:
    rows = [ColumnDraft.of(a) for a in demo_domain()]
    changed = domain_table.edited(rows, {0: {"bins": "8", "column": "hacked", "cells": 3}, 1: {"use": False}, 99: {"use": False}})
    assert (changed[0].bins_text(), changed[0].name, changed[1].use) == ("8", "age", False)
    assert changed[2:] == rows[2:]
    assert domain_table.edited(rows, {0: {"upper": None}})[0].text("upper") == ""


def test_applying_the_same_edits_twice_changes_nothing_more() -> None:
    rows = [ColumnDraft.of(a).changed(note="mind this") for a in demo_domain()]
    edits = {0: {"bins": "8"}, 3: {"missing": False}}
    once = domain_table.edited(rows, edits)
    assert domain_table.edited(once, edits) == once
    assert once[0].note == ""
    assert once[1].note == "mind this"


def test_a_loaded_domain_drops_the_columns_that_it_does_not_name() -> None:
    rows = domain_table.with_codebook([blank("a"), blank("b")], [coded("b", 3), coded("z", 2)], "typed")
    assert [(row.name, row.use) for row in rows] == [("a", False), ("b", True)]


def test_a_domain_or_public_table_of_other_columns_is_refused() -> None:
    refused(domain_table.with_codebook, [blank("a")], [coded("z", 2)], "typed", saying="none of its columns")
    refused(domain_table.with_guesses, [blank("a")], [Guess("z", Attribute.coded("z", 2))], saying="none of the columns")


def test_columns_that_identify_people_are_left_out_and_say_why() -> None:
    guesses = [
        Guess("name", None, "Leave it out: names identify people.", drop=True),
        Guess("sex", Attribute.categorical("sex", ["f"])),
    ]
    rows = domain_table.from_guesses(guesses)
    assert [row.use for row in rows] == [False, True]
    assert "names identify people" in domain_table.grid(rows)["values"][0]


def test_very_many_categories_raise_a_warning_in_the_grid() -> None:
    rows = [ColumnDraft.of(Attribute.categorical("name", [f"n{i}" for i in range(40_000)]))]
    assert "names and ids" in domain_table.grid(rows)["values"][0]


def test_rows_follow_the_columns_of_a_new_table() -> None:
    rows = [ColumnDraft.of(Attribute.coded("a", 2)), ColumnDraft.of(Attribute.coded("b", 3))]
    fitted = domain_table.fitted(rows, ["c", "b"])
    assert [(row.name, row.bins_text()) for row in fitted] == [("c", ""), ("b", "3")]


@given(st.lists(st.text(alphabet="abc xyz", min_size=1).map(str.strip).filter(bool), unique=True, min_size=1))
def test_a_pasted_list_gives_its_lines(values: list[str]) -> None:
    assert read_listed("\n\n".join(values) + "\n")["categories"] == values


def test_labels_follow_a_tab() -> None:
    assert read_listed("1\tone\n2\n") == {"categories": ["1", "2"], "labels": ["one", "2"]}
    assert read_listed("1 = one\n2=two\n") == {"categories": ["1", "2=two"], "labels": ["one", "2=two"]}


def test_what_a_column_is_about_survives_the_table() -> None:
    asked = Attribute.categorical("q1", ["1"], other=True, missing=True)
    labelled = replace(asked, label="Sind Sie zufrieden?")
    assert ColumnDraft.of(labelled).complete() == labelled
    assert domain_table.domain_of([ColumnDraft.of(labelled)]).to_json()["attributes"][0]["label"] == "Sind Sie zufrieden?"


@pytest.mark.parametrize(
    ("name", "left_out"),
    [("id", True), ("Patient_ID", True), ("Unnamed: 0", True), ("first name", True), ("e-mail", True), ("idea", False), ("paid", False)],
)
def test_columns_whose_name_promises_an_identifier_start_left_out(name: str, left_out: bool) -> None:
    row = fresh(name)
    assert row.use is not left_out
    assert bool(row.note) is left_out
    stated = ColumnDraft.of(Attribute.integer(name, 0, 9))  # what a codebook declares is used
    assert stated.use
    assert not stated.note


def test_columns_that_tell_people_apart_can_become_new_identifiers_of_their_shape() -> None:
    numbers = Guess("nr", Attribute.integer("nr", 0, 10_000), "It counts.", drop=True, identifies=True)
    texts = Guess("code", None, "Everybody has one.", drop=True, identifies=True)
    guessed = domain_table.from_guesses([numbers, texts])
    person = blank("who").left_out()
    rows = [*guessed, person, fresh("patient_id"), fresh("key", declared("key", "integer"))]
    assert all(row.offers_identifiers for row in rows)
    columns = [row.complete() for row in rows]
    assert [column.values(2) for column in columns if isinstance(column, Filled)] == [[1, 2], *[["P000001", "P000002"]] * 3, [1, 2]]
    assert not fresh("remarks").offers_identifiers
    assert not any(row.changed(use=True).offers_identifiers for row in rows)


@pytest.mark.parametrize("which", ["missing", "other"])
def test_what_happens_to_values_survives_the_choice(which: str) -> None:
    row = blank("age").changed(kind="integer", lower=0, upper=9, other=True, missing=True)
    for choice in row.treatments(which):
        chosen = row.changed(**{which: treated(choice, "3", "the form says so")})
        assert chosen.treatment(which) == choice
        assert ColumnDraft.of(chosen.complete()) == chosen


@pytest.mark.parametrize(
    ("bins", "labels"),
    [("", 10), ("5", 2), ("2 bins", 2), ("3, 6", 3)],
)
def test_groups_are_typed_as_a_width_a_number_or_their_first_values(bins: str, labels: int) -> None:
    row = blank("age").changed(kind="integer", lower="0", upper="9")
    assert row.changed(**row.read_bins(bins)).attribute().values == labels
    days = blank("day").changed(kind="date", lower="2024-01-01", upper="2024-12-31")
    assert days.changed(**days.read_bins("quarters")).attribute().values == 4


@pytest.mark.parametrize(("lower", "upper"), [("1.2.2024", "31.12.2024"), ("1/1/2024", "31/12/2024"), ("2024-02-01", "12/31/2024")])
def test_bounds_are_days_as_people_write_them(lower: str, upper: str) -> None:
    row = blank("day").changed(lower=lower, upper=upper)
    day, moment = (row.changed(kind=kind).attribute() for kind in ("date", "timestamp"))
    first = date(2024, 1 if lower == "1/1/2024" else 2, 1)
    assert (day.lower, day.upper) == (first, date(2024, 12, 31))
    assert (moment.lower.date(), moment.upper.date()) == (first, date(2024, 12, 31))


def test_a_fresh_column_has_what_its_name_and_its_file_promise() -> None:
    age, sex, day, text, flag = (fresh(name) for name in ("age", "sex", "visit_date", "Bemerkung", "x"))
    assert (age.guessed, age.origin, age.attribute().upper) == (True, "usual", 122)
    assert (sex.categories, sex.guessed) == (None, False)  # how the file writes them is not known from the name
    assert (day.kind, text.use, flag.kind) == ("date", False, "categorical")
    typed = fresh("age", declared("age", "number", label="Age at entry"))
    assert (typed.kind, typed.lower, typed.label) == ("numeric", None, "Age at entry")


def test_confirming_a_guess_keeps_it_and_editing_it_makes_it_typed() -> None:
    rows = [fresh("age")]
    confirmed = domain_table.with_origins(rows, [rows[0].changed(guessed=False)])
    assert confirmed[0].origin == "usual"
    assert domain_table.with_origins(rows, [rows[0].changed(upper="99")])[0].origin == "typed"


LABELLED = [declared("q1", "number", labels={1.0: "ja", 2.0: "nein"}), declared("age", "integer")]


def test_labels_of_the_file_fill_the_columns_that_have_them_and_no_others() -> None:
    rows = [ColumnDraft.of(Attribute.coded("x", 3)), blank("q1"), fresh("age")]
    labelled = [one for one in LABELLED if not one.to_do]
    filled = domain_table.with_origins(rows, domain_table.with_columns(rows, labelled, "labels"), "labels")
    assert [row.origin for row in filled] == ["", "labels", "usual"]
    assert filled[1].attribute().labels == ("ja", "nein")
    assert filled[0] == rows[0]


def test_what_is_open_is_learnt_and_the_rest_stays() -> None:
    rows = [fresh("age"), blank("town"), blank("x").changed(kind="integer"), fresh("id")]
    learnt = domain_table.with_origins(rows, domain_table.to_learn(rows), "learnt")
    assert [row.most for row in learnt] == [None, 32, 32, None]
    assert [row.origin for row in learnt] == ["usual", "learnt", "learnt", ""]
    domain = domain_table.domain_of(learnt)
    assert [(a.name, a.kind, a.most) for a in domain.unknown] == [("town", "categorical", 32), ("x", "integer", 32)]
    assert Domain.from_json(domain.to_json()) == domain
    assert [ColumnDraft.of(a).most for a in domain] == [None, 32, 32]


def test_pasted_columns_leave_the_others_alone() -> None:
    rows = [fresh("age"), blank("sex")]
    pasted = domain_table.with_pasted(rows, Domain((Attribute.categorical("sex", ["f", "m"]),)))
    assert pasted[0] == rows[0]
    assert pasted[1].categories == ["f", "m"]
    refused(domain_table.with_pasted, rows, Domain((Attribute.coded("z", 2),)), saying="none of the columns")


def test_a_first_column_without_a_name_is_left_out_as_an_index_is() -> None:
    assert [row.use for row in domain_table.fitted([], ["column_1", "age"])] == [False, True]
    assert [row.use for row in domain_table.fitted([], ["column_1", "column_2"])] == [True, True]
    assert domain_table.fitted([ColumnDraft.of(Attribute.coded("column_1", 2))], ["column_1", "age"])[0].use


@given(attributes())
def test_nothing_in_a_label_is_markup(attribute: Attribute) -> None:
    drawn = column_view.html(attribute)
    for ours in ('<div class="cells">', "</div>", '<span class="cell">', '<span class="cell extra">', "</span>", "<i ", "</i>"):
        drawn = drawn.replace(ours, "")
    assert "<script" not in drawn
    assert "<" not in drawn or attribute.values > column_view.MOST_NAMED


def test_a_few_cells_are_named_and_many_are_stripes_as_wide_as_their_bins() -> None:
    few = column_view.html(Attribute.categorical("sex", ["f", "m"], labels=["<b>female", "male"], other=True))
    assert few.count('class="cell"') == 2
    assert "&lt;b&gt;female" in few
    assert few.count("extra") == 1
    many = column_view.html(Attribute.integer("age", 0, 100, edges=[0, *range(50, 102)]))
    assert many.count("<i ") == 52
    assert "flex-grow:0.49505" in many
    assert "52 values: 0 to 49 … 100" in many


SEX = Attribute.categorical("sex", ["f", "m"])
ROLE = Attribute.categorical("role", ["husband", "wife", "child"])
AGE = Attribute.integer("age", 0, 99, edges=[0, 16, 65, 100], missing=True)
ALL = (SEX, ROLE, AGE)
HUSBANDS = {"if": {"role": ["husband"]}, "then": {"sex": ["m"]}}


def test_long_names_that_begin_alike_differ_in_the_list() -> None:
    begin = "a long name that the questionnaire writes as the question "
    first, second = list_view.in_short(begin + "one"), list_view.in_short(begin + "two")
    assert first != second
    assert len(first) == len(second) == 36
    assert list_view.in_short("a short name") == "a short name"


def test_ticking_and_unticking_a_grid_is_one_rule() -> None:
    rules = zeros_table.ticked([HUSBANDS], ("role", "age"), {("wife", "0 to 15"): True, ("husband", "0 to 15"): True})
    assert zeros_table.ticks(rules, ("age", "role")) == {("0 to 15", "wife"), ("0 to 15", "husband")}
    rules = zeros_table.ticked(rules, ("age", "role"), {("0 to 15", "husband"): False, ("missing", "wife"): True})
    assert len(rules) == 2
    assert zeros_table.ticks(rules, ("role", "age")) == {("wife", "0 to 15"), ("wife", "missing")}
    assert zeros_table.ticked(rules, ("role", "age"), dict.fromkeys(zeros_table.ticks(rules, ("role", "age")), False)) == [HUSBANDS]


def test_the_grid_shows_what_is_ticked_and_reads_back_what_is_changed() -> None:
    frame = zeros_table.grid(AGE, ROLE, {("0 to 15", "wife"), ("0 to 15", "elsewhere")})
    assert frame[zeros_table.LABEL].tolist() == list(AGE.cell_labels())
    assert frame[["0", "1", "2"]].to_numpy().tolist() == [[False, True, False]] + [[False] * 3] * 3
    edits = {0: {"1": False}, 3: {"2": True, zeros_table.LABEL: "x"}, 9: {"0": True}}
    assert zeros_table.changes(AGE, ROLE, edits, ("f",)) == {("0 to 15", "wife", "f"): False, ("missing", "child", "f"): True}
    assert not zeros_table.fits_grid(ROLE, Attribute.coded("many", zeros_table.MOST_ACROSS + 1))


def test_a_rule_that_means_nothing_or_contradicts_the_others_is_not_added() -> None:
    rules = zeros_table.added([], HUSBANDS, ALL)
    for wrong in ({"never": {"sex": ["f", "m"], "role": ["husband", "wife", "child"]}}, {"never": {"sex": ["x"], "role": ["wife"]}}):
        refused(zeros_table.added, rules, wrong, ALL, saying="impossible combination 2")
    rest = zeros_table.added(rules, {"never": {"sex": ["f", "m"], "role": ["child", "wife"]}}, ALL)
    with pytest.raises(InputError, match="together they leave no possible row"):
        zeros_table.added(rest, {"never": {"sex": ["m"], "age": list(AGE.cell_labels())}}, ALL)


def test_a_rule_outlives_its_columns_and_says_what_is_wrong() -> None:
    assert zeros_table.problems([HUSBANDS], ALL) == [None]
    (gone,) = zeros_table.problems([HUSBANDS], (SEX, AGE))
    assert gone is not None
    assert gone.problem == "column 'role' is not in the domain"
    assert zeros_table.added([HUSBANDS], {"never": {"sex": "f", "age": "0..15"}}, (SEX, AGE))[0] == HUSBANDS


def test_rules_are_kept_in_the_draft_and_in_its_domain() -> None:
    draft = {"domain": {"version": 1, "attributes": [], "impossible": [HUSBANDS]}, "wizard": {}}
    assert kept_rules.of(draft) == [HUSBANDS]
    kept_rules.keep(draft, [])
    assert kept_rules.of(draft) == []
    assert "impossible" not in draft["domain"]
    draft["domain"] = None
    kept_rules.keep(draft, [HUSBANDS])
    assert kept_rules.of(draft) == [HUSBANDS]
