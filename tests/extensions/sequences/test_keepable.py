"""Rules that nobody can keep are found before anything is spent: as brute force over all rows of a person says."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from dpsynth_core.extensions.sequences.drawing import _keep as keep
from dpsynth_core.extensions.sequences.drawing import broken
from dpsynth_core.extensions.sequences.keepable import can_hold, example
from dpsynth_core.extensions.sequences.layout import SequenceLink, linked
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER
from tests.extensions.sequences.tables import GAP, PERSONS

STATE = Attribute.categorical("state", ("emp", "ret", "dead"))
HELP = Attribute.categorical("help", ("no", "yes"))
WAVE = Attribute.integer("wave", 1, 3, edges=[1, 2, 3])
NOT_AT_ONCE = [
    {"if": {"state": ["dead"]}, "then": {"last row": ["yes"]}},
    {"if": {"last row": ["yes"]}, "then": {"state": ["dead"]}},
    {"if": {"row of the person": ["first"]}, "then": {"state": ["emp"]}},
]
"""Who begins employed ends dead: with two rows or more."""
NEVER = [*NOT_AT_ONCE, {"if": {"state before": ["emp"]}, "then": {"state": ["emp"]}}]
"""And who was employed stays employed: nobody can keep that."""


def two(rules: list[Any], most: int = 3, everybody: bool = False, gap: bool = False, order: str = "time") -> SequenceLink:
    rows = (STATE, HELP, *([GAP] if gap else []), *([WAVE] if order == "wave" else []))
    stated = {"order": [order]} | ({"constant": ["region"]} if everybody else {}) | ({"gap": ["gap"]} if gap else {})
    return linked(PERSONS, Domain(rows), most, rules, stated)


def someone_keeps(link: SequenceLink, size: int) -> bool:
    """Whether one of all possible persons with `size` rows keeps all rules."""
    rows = np.array([*product(*(range(one.size) for _ in range(size) for one in link.members))])
    every = [(persons, row) for persons in range(PERSONS.attributes[0].size) for row in rows]
    members = np.zeros((len(every), link.most, len(link.members)), dtype=np.int32)
    members[:, :size] = np.array([row for _, row in every]).reshape(len(every), size, -1)
    persons = np.array([[person] for person, _ in every], dtype=np.int32)
    return not broken(link, persons, np.full(len(every), size), members).all()


def drawn_rules(rng: np.random.Generator, link: SequenceLink) -> list[dict[str, Any]]:
    """Rules "if one column is one of these, another is one of those", of random columns and values."""
    rules = []
    for _ in range(rng.integers(2, 8)):
        one, other = rng.choice(len(link.columns), 2, replace=False)
        sides = []
        for column in (link.columns[one], link.columns[other]):
            labels = [label for label in column.cell_labels() if label not in ("none", "nobody")]
            chosen = rng.choice(len(labels), rng.integers(1, max(2, len(labels))), replace=False)
            sides.append({column.name: [labels[place] for place in chosen]})
        rules.append({"if": sides[0], "then": sides[1]})
    return rules


@pytest.mark.parametrize("everybody", [False, True])
def test_rules_that_nobody_can_keep_are_those_of_brute_force(everybody: bool) -> None:
    rng, seen = np.random.default_rng(3), list[bool]()
    for _ in range(60):
        try:
            link = two(drawn_rules(rng, two([], everybody=everybody)), everybody=everybody)
            _ = link.domain
        except InputError:  # rules that forbid nothing, or every record
            continue
        for size in range(1, link.most + 1):
            seen.append(someone_keeps(link, size))
            assert can_hold(link, size) == seen[-1]
            found = example(link, size)
            assert (found is not None) == seen[-1]
            if found is not None:
                check(link, size)
    assert 10 < sum(seen) < len(seen) - 10


def check(link: SequenceLink, size: int) -> None:
    found = example(link, size)
    assert found is not None
    members = np.zeros((1, link.most, len(link.members)), dtype=np.int32)
    members[0, :size] = found[1]
    assert not broken(link, found[0][None].astype(np.int32), np.array([size]), members).any()


def test_a_chain_of_rules_needs_two_rows_or_is_never_kept() -> None:
    assert [can_hold(two(NOT_AT_ONCE), size) for size in (1, 2, 3)] == [False, True, True]
    assert not any(can_hold(two(NEVER, 10), size) for size in range(1, 11))


@pytest.mark.parametrize("everybody", [False, True])
@pytest.mark.parametrize("size", [2, 3, 10])
def test_an_example_has_a_gap_that_begins_missing_and_an_order_that_rises(everybody: bool, size: int) -> None:
    check(two(NOT_AT_ONCE, 10, everybody, gap=True, order="wave"), size)


def test_an_order_runs_out_of_values() -> None:
    """Each row is in a later wave than the one before."""
    later = [{"never": {"wave": [wave], "wave before": [wave]}} for wave in WAVE.cell_labels()]
    link = two(later, 5, order="wave")
    assert [can_hold(link, size) for size in range(1, 6)] == [size <= WAVE.size for size in range(1, 6)]


def test_columns_without_ties_are_looked_at_apart() -> None:
    """Twelve columns of ten values, each with a rule of its own."""
    columns = [Attribute.coded(f"c{number}", 10) for number in range(12)]
    rules = [{"if": {f"{one.name} before": ["3"]}, "then": {one.name: ["3"]}} for one in columns]
    link = linked(PERSONS, Domain(columns), 10, rules, {"order": ["time"]})
    assert can_hold(link, 10)
    check(link, 10)
    never = [*rules, {"never": {"c7": [str(code) for code in range(10)], NUMBER: ["10"]}}]
    link = linked(PERSONS, Domain(columns), 10, never, {"order": ["time"]})
    assert not can_hold(link, 10)
    assert can_hold(link, 9)


def test_people_who_all_break_rules_become_an_example() -> None:
    """A model that knows nothing of rules across rows of another size than anybody has: nothing is lost."""
    link, rng = two(NOT_AT_ONCE), np.random.default_rng(0)
    persons, sizes = np.zeros((5, 1), dtype=np.int32), np.ones(5, dtype=np.int64)
    rows = np.zeros((5, 3, 2), dtype=np.int32)
    keep(link, persons, sizes, rows, rng)
    assert not broken(link, persons, sizes, rows).any()
    assert set(sizes) == {2}
