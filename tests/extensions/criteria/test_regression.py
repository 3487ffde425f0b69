"""Coefficients as criteria: the error is that of the regressions themselves, and its interval holds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from dpsynth_core.claims.criteria.criterion import Published
from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.criteria.outcomes import MET, NOT_MET, UNDECIDED
from dpsynth_core.claims.criteria.registry import decide, read_criteria
from dpsynth_core.extensions.criteria.regression import Coefficient, _enclosed
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval, Noisy
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import middles
from dpsynth_core.vocabulary.released import of_codes
from dpsynth_core.vocabulary.workload import all_kway
from tests.privacy.tables import ArraySource, GlassNoise
from tests.refusals import refused

FALSE_ALARM = 1e-6
DOMAIN = Domain.from_json(
    {
        "version": 1,
        "attributes": [
            {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
            {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5, "other": False, "missing": True},
            {"name": "hours", "kind": "integer", "lower": 0, "upper": 79, "bins": 4, "other": False, "missing": False},
            {"name": "pay", "kind": "numeric", "lower": 0, "upper": 5000, "bins": 10, "other": False, "missing": False},
        ],
    }
)
WORKLOAD = all_kway(DOMAIN, 2)
WITHIN = {"kind": "regression", "outcome": "pay", "on": "age", "tolerance": 5.0}
BESIDE = {"adjusted_for": ["hours"]}
SIGN = {"kind": "regression-sign", "outcome": "pay", "on": "age"}
WOMEN = {"among": {"sex": "f"}}


def people(count: int, seed: int, slope: float) -> Any:
    """Codes of people whose pay grows with their age, in bins, by so much a bin."""
    rng = np.random.default_rng(seed)
    sex, age = rng.integers(0, 2, count), rng.integers(0, 6, count)
    hours = np.clip(np.rint(0.5 * np.minimum(age, 4) + rng.normal(0, 1, count)), 0, 3)
    pay = np.clip(np.rint(2 + slope * np.minimum(age, 4) + 0.8 * hours + rng.normal(0, 1.2, count)), 0, 9)
    return np.column_stack([sex, age, hours, pay]).astype(np.int32)


REAL, ROWS = people(3_000, 1, 0.8), people(2_500, 2, 0.6)


def published(rows: Any = ROWS) -> Published:
    return Published(WORKLOAD, lambda cliques: {r: of_codes(DOMAIN, rows, r) / len(rows) for r in cliques}, Noisy(float(len(REAL)), 0.0))


def read(entries: dict[str, Any]) -> Coefficient:
    (one,) = read_criteria([entries], WORKLOAD, answered=False)
    assert isinstance(one, Coefficient)
    return one


def slope(codes: Any, women: bool, beside: bool = False) -> float:
    known = codes[(codes[:, 1] < 5) & ((codes[:, 0] == 0) | (not women))]
    age, hours, pay = (middles(DOMAIN[name])[known[:, DOMAIN.position(name)]] for name in ("age", "hours", "pay"))
    design = np.column_stack([age, np.ones(len(known)), *([hours] if beside else [])])
    return float(np.linalg.lstsq(design, pay, rcond=None)[0][0])


@pytest.mark.parametrize("women", [False, True], ids=["everybody", "group"])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "adjusted"])
@pytest.mark.parametrize("unit", [Unit(), Unit(REPLACE, 2)], ids=str)
def test_without_noise_the_error_is_that_of_both_regressions(women: bool, beside: bool, unit: Unit) -> None:
    one = read(WITHIN | (WOMEN if women else {}) | (BESIDE if beside else {}))
    exact = abs(slope(REAL, women, beside) - slope(ROWS, women, beside))
    kernel = PrivacyKernel(ArraySource(DOMAIN, REAL), unit, 1e9, GlassNoise())
    interval = one.measure(kernel, published())
    assert interval.at_least <= exact <= interval.at_most
    assert interval.error == pytest.approx(exact, rel=1e-3)  # weights are rounded to 2^-20
    assert len(kernel.events) == one.answers(WORKLOAD)
    asked = PrivacyKernel(ArraySource(DOMAIN, REAL), unit, 3.0, GlassNoise())
    list(decide(asked, [one], published()))
    assert asked.rho_spent == pytest.approx(3.0, rel=1e-6)


def intervals(one: Coefficient, rows: Any, rho: float, draws: int, seed: int = 5) -> list[Interval]:
    noise = SeededNoise(seed)
    return [one.measure(PrivacyKernel(ArraySource(DOMAIN, REAL), Unit(), rho, noise), published(rows)) for _ in range(draws)]


@pytest.mark.parametrize("rows", [ROWS, people(2_500, 3, -0.5)], ids=["near", "far"])
@pytest.mark.parametrize("rho", [0.02, 1.0])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "adjusted"])
def test_each_bound_holds_for_nineteen_of_twenty_releases_or_more(rows: Any, beside: bool, rho: float) -> None:
    """Also where the release's line is far off, so that sums besides the deciding one are large."""
    error, draws = abs(slope(REAL, False, beside) - slope(rows, False, beside)), 100
    stated = intervals(read(WITHIN | (BESIDE if beside else {})), rows, rho, draws)
    for held in (sum(i.at_least <= error for i in stated), sum(error <= i.at_most for i in stated)):
        assert binomtest(held, draws, CONFIDENCE, alternative="less").pvalue > FALSE_ALARM


def test_the_coefficient_is_that_beside_the_other_columns() -> None:
    """Pay grows with hours and these with age: without hours, age has a part of theirs."""
    alone, beside = slope(REAL, False), slope(REAL, False, beside=True)
    assert alone > 1.2 * beside
    (interval,) = intervals(read(WITHIN | BESIDE), ROWS, 1e9, 1)
    assert interval.error == pytest.approx(abs(beside - slope(ROWS, False, beside=True)), rel=1e-3)


def test_an_enclosure_holds_every_solution_of_systems_within_its_reach() -> None:
    """All corners of what two sums may be, and random systems between: c is where G c = b, and its last entry is inside."""
    rng, g = np.random.default_rng(7), np.array([[50.0, 3.0, 1.0], [3.0, 40.0, -2.0], [1.0, -2.0, 30.0]])
    e, b, f = np.full((3, 3), 1.5), np.array([4.0, -6.0, 9.0]), np.array([1.0, 1.0, 2.0])
    enclosed = _enclosed(g, e, b, f)
    assert enclosed is not None
    solutions = []
    for draw in range(4_000):
        off = rng.choice([-1.0, 1.0], (3, 3)) if draw % 2 else rng.uniform(-1, 1, (3, 3))
        near = np.triu(off) + np.triu(off, 1).T
        solutions.append(np.linalg.solve(g + e * near, b + f * rng.choice([-1.0, 1.0], 3))[-1])
    assert enclosed[0] <= min(solutions)
    assert max(solutions) <= enclosed[1]
    assert enclosed[1] - enclosed[0] < 1.5 * (max(solutions) - min(solutions))
    assert _enclosed(g, 20 * e, b, f) is None


def test_bounds_are_near_where_the_error_is_above_the_noise() -> None:
    error = abs(slope(REAL, False) - slope(ROWS, False))
    ratios = [interval.at_most / error for interval in intervals(read(WITHIN), ROWS, 20.0, 30)]
    assert float(np.median(ratios)) < 1.3


def outcomes(entries: dict[str, Any], rows: Any, rho: float) -> list[str]:
    one = read(entries)
    return [Decided(one, interval).outcome for interval in intervals(one, rows, rho, 20)]


def test_signs_are_decided_where_they_are_clear_and_only_there() -> None:
    assert outcomes(SIGN, ROWS, 1.0).count(MET) == 20
    assert outcomes(SIGN, people(2_500, 3, -0.5), 1.0).count(NOT_MET) == 20
    assert set(outcomes(SIGN, ROWS, 1e-4)) == {UNDECIDED}


def test_the_margin_that_is_told_beforehand_is_about_the_one_that_comes_out() -> None:
    one = read(WITHIN)
    told = one.margin(Unit(), 1.0, WORKLOAD, float(len(REAL)))
    (interval,) = intervals(one, ROWS, 1.0, 1)
    assert 0.3 * told < interval.at_most - interval.error < 3 * told


def test_it_is_told_beforehand_where_nothing_will_be_decided() -> None:
    """With noise that leaves open whether the ages differ at all every interval is infinite, and so is the margin."""
    one = read(WITHIN)
    assert math.isinf(one.margin(Unit(), 1e-5, WORKLOAD, float(len(REAL))))
    assert all(math.isinf(interval.at_most) for interval in intervals(one, ROWS, 1e-5, 20))


@pytest.mark.parametrize("rows", [ROWS[ROWS[:, 0] == 1], ROWS[ROWS[:, 1] == 2]], ids=["nobody", "one age"])
def test_a_release_without_such_a_coefficient_is_undecided(rows: Any) -> None:
    for entries in (WITHIN | WOMEN, SIGN | WOMEN):
        one = read(entries)
        assert Decided(one, intervals(one, rows, 1.0, 1)[0]).outcome == UNDECIDED


def test_in_words() -> None:
    within, sign = read(WITHIN | WOMEN), read(SIGN)
    assert within.sentence(DOMAIN) == "the coefficient of age in a linear regression of pay on it among those with sex “f”"
    assert read(WITHIN | BESIDE).sentence(DOMAIN) == "the coefficient of age in a linear regression of pay on it and hours"
    assert within.requirement() == "within 5 in units of “pay” for each of “age”"
    assert sign.requirement() == "of the sign that it has in the rows"
    found = "Measured, counted in the direction of the rows: from 9 to 15 in units of “pay” for each of “age”, with 95% confidence."
    assert sign.finding(Interval(-12.0, -15.0, -9.0)) == found


@pytest.mark.parametrize(
    ("entries", "field"),
    [
        (WITHIN | {"outcome": "sex"}, "criteria.0.outcome"),
        (WITHIN | {"on": None}, "criteria.0.on"),
        (WITHIN | {"on": "pay"}, "criteria.0.on"),
        (WITHIN | {"tolerance": 0}, "criteria.0.tolerance"),
        (SIGN | {"tolerance": 1.0}, "criteria.0.tolerance"),
        (SIGN | {"among": {}}, "criteria.0.among"),
        (SIGN | {"adjusted_for": "hours"}, "criteria.0.adjusted_for"),
        (SIGN | {"adjusted_for": ["hours", "sex"]}, "criteria.0.adjusted_for.1"),
        (SIGN | {"adjusted_for": ["hours", "hours"]}, "criteria.0.adjusted_for.1"),
        (SIGN | {"adjusted_for": ["age"]}, "criteria.0.adjusted_for.0"),
        (SIGN | {"adjusted_for": ["hours"] * 4}, "criteria.0.adjusted_for"),
    ],
)
def test_every_mistake_names_its_field(entries: dict[str, Any], field: str) -> None:
    caught = refused(read, entries)
    assert caught.field.startswith(field)
