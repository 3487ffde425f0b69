"""Records of persons' rows: none is impossible, a person's add up, and they can be split into what they were made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.layout import LAST, START, SequenceLink, linked
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER
from tests.extensions.sequences.tables import FIRST_ROW, GAP, PERSONS, WARD, link
from tests.refusals import refused

LINKS = [
    pytest.param(link(most, gap, everybody=everybody), id=f"{most}{'-gap' * gap}{'-everybody' * everybody}")
    for most in (1, 2, 3, 10)
    for gap in (False, True)
    for everybody in (False, True)
]


def some(two: SequenceLink, persons: int = 60, seed: int = 0) -> tuple[Any, ...]:
    """Codes of persons, their numbers of rows, and codes of rows; the gap of first rows is missing."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(int(two.everybody), two.most + 1, persons)
    rows = np.stack([rng.integers(0, one.size, (persons, two.most)) for one in two.members], axis=-1).astype(np.int32)
    if two.gap is not None:
        rows[:, 0, two.members.position(two.gap)] = FIRST_ROW
    return rng.integers(0, 2, (persons, 1)).astype(np.int32), sizes, rows


def possible(domain: Domain, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which records contradict no rule."""
    fine = np.ones(len(codes), dtype=bool)
    for rule in domain.impossible:
        cells = rule.cells([domain[name].size for name in rule.attributes])
        fine &= ~cells[tuple(codes[:, domain.position(name)] for name in rule.attributes)]
    return fine


@pytest.mark.parametrize("two", LINKS)
def test_no_record_is_impossible_and_each_person_has_as_many(two: SequenceLink) -> None:
    persons, sizes, rows = some(two)
    total = 0
    for times, codes in two.records(persons, sizes, rows):
        assert possible(two.domain, codes.astype(np.int64)).all()
        assert (codes < [one.size for one in two.domain]).all()
        total += times * len(codes)
    assert total == two.records_each * len(persons)


@pytest.mark.parametrize("two", LINKS)
def test_what_no_person_has_is_impossible(two: SequenceLink) -> None:
    """Number, place and last row fit each other in no other way; and beside a first row there is none before."""
    domain = two.domain
    seen = {(size, min(place, 2), int(place == size - 1)) for size in range(1, two.most + 1) for place in range(size)} | (
        {(0, 3, 1)} if not two.everybody else set()
    )
    cells = np.argwhere(np.ones((two.most + 1, 4, 2), dtype=bool))
    rule = next(rule for rule in domain.impossible if set(rule.attributes) == {NUMBER, START, LAST})
    assert {tuple(cell) for cell in np.argwhere(~rule.cells((two.most + 1, 4, 2))).tolist()} == seen
    assert len(cells) == 8 * (two.most + 1)


@pytest.mark.parametrize("two", LINKS)
def test_records_can_be_split_into_persons_and_rows(two: SequenceLink) -> None:
    persons, sizes, rows = some(two, seed=1)
    records = np.concatenate([codes for _, codes in two.records(persons, sizes, rows)])
    split_persons, owners, members = two.split(records)
    order = np.argsort(sizes, kind="stable")
    assert split_persons.tolist() == np.column_stack([persons, sizes])[order].tolist()
    by_owner = np.argsort(owners, kind="stable")  # within a person, in order
    expected = [[*persons[person], *rows[person, place]] for person in order for place in range(sizes[person])]
    own = [*range(len(PERSONS))]
    assert members[by_owner][:, [*own, *range(len(own), members.shape[1])]].tolist() == expected
    assert np.bincount(owners, minlength=len(persons)).tolist() == sizes[order].tolist()


def test_rules_hold_for_the_last_row_and_the_row_before() -> None:
    rules = [
        {"if": {LAST: "no"}, "then": {"ward": ["a"]}},
        {"never": {"ward before": ["b"], "ward": ["a"]}},
        {"never": {NUMBER: ["3"], "region": ["1"]}},
    ]
    two = linked(PERSONS, Domain((WARD, GAP)), 3, rules, {"order": ["time"], "gap": ["gap"]})
    assert (two.order, two.gap, two.everybody) == ("time", "gap", False)
    codes = np.concatenate([codes for _, codes in two.records(*some(two, 400))]).astype(np.int64)
    column = {name: codes[:, two.domain.position(name)] for name in two.domain.names}
    broken = (column[LAST] == 0) & (column["ward"] == 1)
    broken |= (column["ward before"] == 1) & (column["ward"] == 0) | (column[NUMBER] == 3) & (column["region"] == 1)
    assert (possible(two.domain, codes) == ~broken).all()


@pytest.mark.parametrize(
    ("rule", "bound"),
    [
        ({"if": {LAST: ["yes"]}, "then": {"ward": ["a"]}}, False),
        ({"if": {LAST: ["yes"]}, "then": {"ward before": ["a"]}}, False),
        ({"if": {LAST: ["yes"]}, "then": {START: ["second", "later"]}}, False),
        ({"if": {"region": ["1"]}, "then": {"ward": ["a"]}}, False),
        ({"if": {LAST: ["yes"]}, "then": {NUMBER: ["2", "3"]}}, False),
        ({"never": {"ward before": ["no row"], "region": ["1"]}}, False),
        ({"never": {NUMBER: ["0"], "region": ["1"]}}, True),
        ({"if": {"region": ["1"]}, "then": {NUMBER: ["1", "2"]}}, True),
    ],
)
def test_rules_of_rows_bind_no_person_without_rows(rule: dict[str, Any], bound: bool) -> None:
    """Whether a record of one is impossible: only where the rule is of the number of rows itself. Others bind as they did."""
    two = linked(PERSONS, Domain((WARD,)), 3, [rule], {"order": ["time"]})
    nobody = np.concatenate([codes for _, codes in two.records(np.array([[1]]), np.array([0]), np.zeros((1, 3, 1), np.int32))])
    assert possible(two.domain, nobody.astype(np.int64)).tolist() == [not bound]
    everybody = linked(PERSONS, Domain((WARD,)), 3, [rule], {"order": ["time"], "constant": ["region"]})
    for persons, sizes, rows in (some(link(3, everybody=True), 200, seed) for seed in range(3)):
        mine, other = (np.concatenate([codes for _, codes in one.records(persons, sizes, rows)]) for one in (two, everybody))
        assert (possible(two.domain, mine.astype(np.int64)) == possible(everybody.domain, other.astype(np.int64))).all()


def test_file_order_has_no_column() -> None:
    assert linked(PERSONS, Domain((WARD,)), 3, [], {"order": ["file order"], "constant": ["region"]}).order is None


@pytest.mark.parametrize("names", [("a", "a two"), ("a", "a before"), ("a", "a two before"), (START,), (LAST,), (NUMBER,)])
def test_names_that_the_link_makes_are_refused(names: tuple[str, ...]) -> None:
    """Two columns of the record would have one name."""
    refused(SequenceLink, PERSONS, Domain.from_json(dict.fromkeys(names, 2)), 3, saying="rename it")
