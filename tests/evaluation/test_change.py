"""What changed between two releases: intervals hold together, and what is not known is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpsynth_core.evaluation.change import Change, change, different
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.statistics.totals import Total, known_total
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement

AGE = Attribute.integer("age", 0, 99, bins=5, other=False, missing=False)
SEX = Attribute.categorical("sex", ["f", "m"], other=False, missing=False)
DOMAIN = Domain((AGE, SEX))
BOTH = ("age", "sex")
BEFORE = np.array([[100.0, 120.0], [300.0, 250.0], [200.0, 180.0], [90.0, 60.0], [20.0, 5.0]])
AFTER = BEFORE * np.array([[1.0, 1.0], [1.0, 1.0], [0.6, 1.0], [1.0, 1.0], [1.0, 1.0]])


def released(table: np.ndarray, rng: np.random.Generator, sigma: float = 8.0, cliques: tuple[Clique, ...] = (BOTH,)) -> Known:
    sums = {BOTH: table, ("age",): table.sum(axis=1), ("sex",): table.sum(axis=0)}
    noisy = tuple(Measurement(clique, sums[clique] + rng.normal(0.0, sigma, sums[clique].shape), sigma) for clique in cliques)
    return Known(DOMAIN, None, noisy, known_total(noisy, None), {})


def compared(before: np.ndarray, after: np.ndarray, rng: np.random.Generator, tables: tuple[Clique, ...] = (BOTH, ("age",))) -> Change:
    return change(released(before, rng), released(after, rng, 12.0), tables)


def test_the_intervals_hold_together_and_a_large_change_is_found() -> None:
    """95 % are promised of all 15 shares together; of 400 comparisons the deviation is 1.1 points, so that three of them are allowed."""
    seed = 20261125
    rng = np.random.default_rng(seed)
    true = {BOTH: AFTER / AFTER.sum() - BEFORE / BEFORE.sum()}
    true["age",] = true[BOTH].sum(axis=1)
    held = found = 0
    for _ in range(400):
        got = compared(BEFORE, AFTER, rng)
        assert len(got.shifts) == 15
        held += all(one.low <= true[one.table][one.codes] <= one.high for one in got.shifts)
        found += any(one.table == BOTH and one.codes == (2, 0) for one in got.sure)
    assert held >= 0.95 * 400 - 3 * 4.4, f"{held} of 400, seed {seed}"
    assert found >= 200, f"{found} of 400, seed {seed}"


def test_of_the_same_people_a_change_is_named_in_one_comparison_of_twenty_at_most() -> None:
    seed = 20261126
    rng = np.random.default_rng(seed)
    wrong = sum(bool(compared(BEFORE, BEFORE, rng).sure) for _ in range(400))
    assert wrong <= 20 + 3 * 4.4, f"{wrong} of 400, seed {seed}"


def test_the_surest_changes_come_first_and_the_number_of_people_has_its_own_interval() -> None:
    got = compared(BEFORE, AFTER, np.random.default_rng(3))
    assert [one.least for one in got.shifts] == sorted((one.least for one in got.shifts), reverse=True)
    assert got.people is not None
    assert got.people.low <= AFTER.sum() - BEFORE.sum() <= got.people.high


def test_tables_that_not_both_measured_are_named_and_not_compared() -> None:
    rng = np.random.default_rng(4)
    first, second = released(BEFORE, rng), released(AFTER, rng, cliques=(("age",),))
    got = change(first, second, [BOTH, ("age",), ("sex",)])
    assert {one.table for one in got.shifts} == {("age",)}
    assert got.unmeasured == (BOTH, ("sex",))


def test_columns_that_are_not_the_same_are_named_and_not_compared() -> None:
    other = Domain((AGE, Attribute.categorical("sex", ["f", "m", "x"], other=False, missing=False), Attribute.categorical("region", ["n"])))
    assert different(DOMAIN, other) == ("sex", "region")
    later = Known(other, None, (Measurement(("age",), BEFORE.sum(axis=1), 1.0),), Total(1.0, 0.0), {})
    got = change(released(BEFORE, np.random.default_rng(5)), later, [BOTH, ("age",)])
    assert {one.table for one in got.shifts} == {("age",)}
    assert got.columns == ("sex", "region")


def test_cells_that_cannot_be_are_no_shares() -> None:
    rule = [{"never": {"age": ["80 to 99"], "sex": ["m"]}}]
    ruled = Domain.from_json({**DOMAIN.to_json(), "impossible": rule})
    known = replace(released(BEFORE, np.random.default_rng(7)), domain=ruled)
    got = change(known, known, [BOTH])
    assert len(got.shifts) == 9
    assert (4, 1) not in {one.codes for one in got.shifts}


def test_where_the_noise_is_all_nothing_is_sure_and_everything_may_be() -> None:
    rng = np.random.default_rng(6)
    got = change(released(BEFORE, rng, 1e6), released(AFTER, rng, 1e6), [BOTH])
    assert not got.sure
    assert all((one.low, one.high) == (-1.0, 1.0) for one in got.shifts)
