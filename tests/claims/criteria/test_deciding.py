"""Criteria are decided by the kernel's answers alone: the right error, the right price, and outcomes that are rarely wrong."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from dpsynth_core.claims.criteria.criterion import Criterion, Published
from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.criteria.outcomes import MET, NOT_MET, UNDECIDED
from dpsynth_core.claims.criteria.registry import decide, read_criteria
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.statistics.intervals import Noisy
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.released import of_codes
from dpsynth_core.vocabulary.workload import all_kway
from tests.privacy.tables import ArraySource, GlassNoise

DOMAIN = Domain.from_json(
    {
        "version": 1,
        "attributes": [
            {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
            {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5, "other": False, "missing": True},
            {"name": "sick", "kind": "categorical", "categories": ["yes", "no"], "other": False, "missing": False},
        ],
    }
)
WORKLOAD = all_kway(DOMAIN, 2)
MIDDLES = np.array([9.5, 29.5, 49.5, 69.5, 89.5, np.nan])
FALSE_ALARM = 1e-6


def people(count: int, seed: int, tilt: float = 0.0) -> np.ndarray:
    """Codes of invented people; tilt: how much more often the first value of each column occurs."""
    rng = np.random.default_rng(seed)
    return np.column_stack([np.where(rng.random(count) < tilt, 0, rng.integers(0, size, count)) for size in DOMAIN.sizes(DOMAIN.names)])


REAL, ROWS = people(2_000, 1).astype(np.int32), people(1_500, 2, 0.1).astype(np.int32)


def published(rows: np.ndarray = ROWS, records: float = len(REAL), sigma: float = 0.0) -> Published:
    def tables(cliques: Collection[Clique]) -> dict[Clique, Any]:
        return {clique: of_codes(DOMAIN, rows, clique) / max(1, len(rows)) for clique in cliques}

    return Published(WORKLOAD, tables, Noisy(records, sigma))


def criterion(**entries: Any) -> Criterion:
    (one,) = read_criteria([entries], WORKLOAD, answered=False)
    return one


def kernel(unit: Unit = Unit(), noise: Any = None, rho: float = 1e6) -> PrivacyKernel:  # noqa: B008  (frozen)
    return PrivacyKernel(ArraySource(DOMAIN, REAL), unit, rho, noise or GlassNoise())


def mean_of(codes: np.ndarray, among: np.ndarray | None = None) -> float:
    return float(np.nanmean(MIDDLES[codes[:, 1]][slice(None) if among is None else among]))


TABLES = criterion(kind="tables", limit=0.1)
SICK = criterion(kind="share", of={"sick": "yes"}, tolerance=0.02)
AGE = criterion(kind="mean", column="age", tolerance=2.0)
AGE_OF_WOMEN = criterion(kind="mean", column="age", among={"sex": "f"}, tolerance=2.0)
WOMEN = criterion(kind="subgroup", where={"sex": "f", "age": ["0..39"]}, limit=0.1)
RANGES = criterion(kind="ranges", column="age", limit=0.05)
GAP = criterion(kind="share", of={"sick": "yes"}, among={"sex": "f"}, against={"sex": "m"}, tolerance=0.05)


def wrong_cells(clique: Clique) -> float:
    return float(np.abs(of_codes(DOMAIN, REAL, clique) / len(REAL) - of_codes(DOMAIN, ROWS, clique) / len(ROWS)).sum()) / 2


def wrong_cells_of_young_women(clique: Clique) -> float:
    tables = []
    for codes in (REAL, ROWS):
        group = codes[(codes[:, 0] == 0) & (codes[:, 1] <= 1)]
        tables.append(of_codes(DOMAIN, group, clique) / len(group))
    return float(np.abs(tables[0] - tables[1]).sum()) / 2


def wrong_range() -> float:
    """Of ages that are known, between any two cells."""
    real, rows = (np.bincount(codes[:, 1], minlength=DOMAIN["age"].size)[: DOMAIN["age"].values] / len(codes) for codes in (REAL, ROWS))
    ends = range(DOMAIN["age"].values + 1)
    return float(max(abs((real - rows)[low:high].sum()) for low in ends for high in ends))


def sick(codes: np.ndarray, sex: int) -> float:
    return float((codes[codes[:, 0] == sex, 2] == 0).mean())


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (TABLES, max(map(wrong_cells, WORKLOAD.cliques))),
        (SICK, abs(float((REAL[:, 2] == 0).mean() - (ROWS[:, 2] == 0).mean()))),
        (AGE, abs(mean_of(REAL) - mean_of(ROWS))),
        (AGE_OF_WOMEN, abs(mean_of(REAL, REAL[:, 0] == 0) - mean_of(ROWS, ROWS[:, 0] == 0))),
        (WOMEN, max(map(wrong_cells_of_young_women, WORKLOAD.cliques))),
        (RANGES, wrong_range()),
        (GAP, abs(sick(REAL, 0) - sick(REAL, 1) - sick(ROWS, 0) + sick(ROWS, 1))),
    ],
    ids=["tables", "share", "mean", "mean of a group", "subgroup", "ranges", "difference"],
)
@pytest.mark.parametrize("unit", [Unit(), Unit(REPLACE, 2)], ids=str)
def test_without_noise_the_error_is_the_real_one_and_all_of_the_budget_is_spent(one: Criterion, expected: float, unit: Unit) -> None:
    asked = kernel(unit, rho=3.0)
    (decided,) = decide(asked, [one], published())
    assert decided.interval.error == pytest.approx(expected, abs=2e-4)  # answers and weights are rounded to grids
    assert asked.rho_spent == pytest.approx(3.0, rel=1e-6)
    assert len(asked.events) == one.answers(WORKLOAD)
    assert decided.interval.at_least <= decided.interval.error <= decided.interval.at_most


def test_each_criterion_has_an_equal_part() -> None:
    asked = kernel(rho=4.0)
    list(decide(asked, [TABLES, SICK, AGE, GAP], published()))
    costs = iter(event.rho for event in asked.events)
    spent = [sum(next(costs) for _ in range(one.answers(WORKLOAD))) for one in (TABLES, SICK, AGE, GAP)]
    assert spent == pytest.approx([1.0] * 4, rel=1e-6)


def outcome(one: Criterion, limit: float, noise: SeededNoise, rho: float) -> str:
    """With another limit in place of its own."""
    measured = one.measure(kernel(noise=noise, rho=rho), published(records=len(REAL), sigma=3.0))
    return MET if measured.at_most <= limit else NOT_MET if measured.at_least > limit else UNDECIDED


@pytest.mark.parametrize(
    "one",
    [TABLES, SICK, AGE_OF_WOMEN, WOMEN, RANGES, GAP],
    ids=["tables", "share", "mean of a group", "subgroup", "ranges", "difference"],
)
def test_outcomes_are_wrong_for_one_in_twenty_at_most(one: Criterion) -> None:
    """At the limit that is hardest to tell from the real error, just above and just below it; half of these would be decided by chance."""
    (exact,) = decide(kernel(), [one], published())
    error, draws = exact.interval.error, 150
    above, below = SeededNoise(5), SeededNoise(6)
    wrong = sum(outcome(one, 0.999 * error, above, 0.02) == MET for _ in range(draws))
    assert binomtest(wrong, draws, 0.05, alternative="greater").pvalue > FALSE_ALARM
    wrong = sum(outcome(one, 1.001 * error, below, 0.02) == NOT_MET for _ in range(draws))
    assert binomtest(wrong, draws, 0.05, alternative="greater").pvalue > FALSE_ALARM


@pytest.mark.parametrize("one", [TABLES, SICK, RANGES, GAP], ids=["tables", "share", "ranges", "difference"])
def test_what_is_clear_is_decided(one: Criterion) -> None:
    (exact,) = decide(kernel(), [one], published())
    noise = SeededNoise(7)
    assert outcome(one, exact.interval.error / 4, noise, 50.0) == NOT_MET
    assert outcome(one, exact.interval.error * 4, noise, 50.0) == MET


def test_the_margin_that_is_told_beforehand_is_the_one_that_comes_out() -> None:
    women = int(((REAL[:, 0] == 0) & (REAL[:, 1] <= 1)).sum())
    for one, count in ((TABLES, len(REAL)), (SICK, len(REAL)), (AGE, len(REAL)), (RANGES, len(REAL)), (WOMEN, women)):
        told = one.margin(Unit(), 0.5, WORKLOAD, float(count))
        interval = one.measure(kernel(noise=SeededNoise(8), rho=0.5), published(sigma=0.2))  # known five times better than a range
        assert 0.4 * told <= interval.at_most - interval.error <= 1.25 * told


def test_a_group_of_which_the_release_has_nobody_is_undecided() -> None:
    one = criterion(kind="share", of={"sick": "yes"}, among={"age": ["missing"]}, tolerance=0.5)
    nobody = ROWS[ROWS[:, 1] != 5]
    (decided,) = decide(kernel(), [one], published(nobody))
    assert decided.outcome == UNDECIDED
    assert not decided.failed


def test_only_what_must_be_met_fails_a_release() -> None:
    def failed(importance: str) -> bool:
        one = criterion(kind="tables", limit=1e-4, importance=importance)
        return Decided(one, one.measure(kernel(), published())).failed

    assert failed("must")
    assert not failed("should")



def test_criteria_ask_only_what_they_say_they_need() -> None:
    for one in (TABLES, SICK, AGE, AGE_OF_WOMEN, WOMEN, GAP):
        source = ArraySource(DOMAIN, REAL)
        asked: Kernel = PrivacyKernel(source, Unit(), 1.0, GlassNoise())
        one.measure(asked, published())
        assert {clique for made in source.passes for clique in made} <= set(one.needs(WORKLOAD))
