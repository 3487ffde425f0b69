"""Rules about what cannot occur, as the page edits them."""

from __future__ import annotations

import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.domain import Attribute
from dpsynth_core.web.domain import zeros_table

SEX = Attribute.categorical("sex", ["f", "m"])
ROLE = Attribute.categorical("role", ["husband", "wife", "child"])
AGE = Attribute.integer("age", 0, 99, edges=[0, 16, 65, 100], missing=True)
ALL = (SEX, ROLE, AGE)
HUSBANDS = {"if": {"role": ["husband"]}, "then": {"sex": ["m"]}}


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
        with pytest.raises(InputError, match="impossible combination 2"):
            zeros_table.added(rules, wrong, ALL)
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
    assert zeros_table.rules_of(draft) == [HUSBANDS]
    zeros_table.keep(draft, [])
    assert zeros_table.rules_of(draft) == []
    assert "impossible" not in draft["domain"]
    draft["domain"] = None
    zeros_table.keep(draft, [HUSBANDS])
    assert zeros_table.rules_of(draft) == [HUSBANDS]
