"""Quantiles as criteria: what is certified is true, whatever the bins; wrong outcomes are as rare as is promised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest

from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.criteria.outcomes import MET, NOT_MET, UNDECIDED
from dpsynth_core.claims.criteria.registry import decide, read_criteria
from dpsynth_core.extensions.criteria.quantile import Quantile, bracket
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.claims.criteria.test_deciding import DOMAIN, FALSE_ALARM, REAL, ROWS, WORKLOAD, criterion, kernel, published
from tests.claims.criteria.test_reading import spec
from tests.privacy.tables import ArraySource
from tests.refusals import refused

MEDIAN = {"kind": "quantile", "column": "age", "tolerance": 20.0}
AGE = WORKLOAD.domain["age"]


def error_of(one: Quantile, codes: np.ndarray, rows: np.ndarray) -> float:
    """The same by going through the records."""
    women = [table[table[:, 0] == 0] if one.among.cells else table for table in (codes, rows)]
    ages, synthetic = (table[table[:, 1] < AGE.values, 1] for table in women)
    edges = bracket(AGE, np.bincount(synthetic, minlength=AGE.size).astype(float), one.p, one.tolerance)
    assert edges is not None
    below, above = (float((ages < edge).sum()) - one.p * len(ages) for edge in edges)
    return max(below, -above)


@pytest.mark.parametrize("more", [{}, {"p": 0.9}, {"p": 0.25, "among": {"sex": "f"}}], ids=["median", "tail", "group"])
@pytest.mark.parametrize("unit", [Unit(), Unit(REPLACE, 2)], ids=str)
def test_without_noise_the_error_is_the_real_one_and_all_of_the_budget_is_spent(more: dict[str, Any], unit: Unit) -> None:
    one = criterion(**MEDIAN, **more)
    assert isinstance(one, Quantile)
    asked = kernel(unit, rho=3.0)
    (decided,) = decide(asked, [one], published())
    assert decided.interval is not None
    assert decided.interval.error == pytest.approx(error_of(one, REAL, ROWS), abs=0.01)  # weights are rounded to 2^-20
    assert asked.rho_spent == pytest.approx(3.0, rel=1e-6)
    assert len(asked.events) == one.answers(WORKLOAD) == 2


@given(
    widths=st.lists(st.integers(1, 30), min_size=2, max_size=8),
    ages=st.lists(st.integers(0, 7), min_size=1, max_size=30),
    synthetic=st.lists(st.integers(0, 7), min_size=1, max_size=30),
    p=st.floats(0.05, 0.95),
    more=st.floats(0, 40),
)
@example(widths=[1, 1], ages=[0, 1, 1], synthetic=[1, 1, 1], p=1 / 3, more=0.0)
def test_a_real_quantile_that_is_certified_is_within_the_tolerance(
    widths: list[int], ages: list[int], synthetic: list[int], p: float, more: float
) -> None:
    """Of numbers that are anywhere in their bins, at either end too."""
    edges = [0, *np.cumsum(widths).tolist()]
    bins = {"name": "x", "kind": "numeric", "lower": 0, "upper": edges[-1], "edges": edges, "other": False, "missing": False}
    column = Domain.from_json({"version": 1, "attributes": [bins]})["x"]
    size, tolerance = len(widths), min(widths) + more
    real, rows = (np.bincount(np.minimum(codes, size - 1), minlength=size) for codes in (ages, synthetic))
    near = bracket(column, rows.astype(float), p, tolerance)
    if near is None:
        return
    first, last = near
    assert 0 <= first <= last <= size
    certified = real[:first].sum() <= p * real.sum() and real[:last].sum() >= p * real.sum()
    if not certified:
        return
    quantile = np.interp(p, np.concatenate([[0], np.cumsum(rows)]) / rows.sum(), edges)
    for where in (0.0, 1.0):
        values = np.sort(np.concatenate([np.full(n, edges[i] + where * widths[i]) for i, n in enumerate(real)]))
        # p-quantiles, of which p at most are below and p at least not above: from the first of these to the second, the same but in a tie
        low, high = values[max(0, math.ceil(p * len(values)) - 1)], values[min(len(values) - 1, math.floor(p * len(values)))]
        low, high = max(low, edges[first]), min(high, edges[last])
        assert low <= high
        if len(set(np.cumsum(rows))) == size:  # no empty bin, so that the synthetic quantile is one number
            assert abs(np.clip(quantile, low, high) - quantile) <= tolerance + 1e-6


@pytest.mark.parametrize(
    ("shares", "tolerance", "open_ended", "bounded"),
    [([1, 2, 1], 45.0, (1, 2), (0, 3)), ([0, 0, 1], 45.0, None, (1, 3)), ([1, 0, 0], 45.0, None, (0, 2))],
    ids=["reaches both ends", "in the last bin", "in the first bin"],
)
def test_an_outermost_edge_bounds_nothing_where_numbers_beyond_it_count_in_its_bin(
    shares: list[int], tolerance: float, open_ended: tuple[int, int] | None, bounded: tuple[int, int]
) -> None:
    """A certificate up to that edge would be about people who may be anywhere beyond it."""
    bins = {"name": "x", "kind": "integer", "lower": 0, "upper": 89, "bins": 3, "missing": False}
    for other, expected in (("nearest", open_ended), (False, bounded)):
        column = Domain.from_json({"version": 1, "attributes": [bins | {"other": other}]})["x"]
        assert bracket(column, np.array(shares, dtype=float), 0.5, tolerance) == expected


@pytest.mark.parametrize(("below", "wrong"), [(999, MET), (1001, NOT_MET)], ids=["just outside", "just inside"])
def test_outcomes_are_wrong_for_one_in_twenty_at_most(below: int, wrong: str) -> None:
    """Of 2,000 people, of whom just too few, or just enough, are below the upper edge."""
    one, draws, noise = criterion(**MEDIAN), 200, SeededNoise(5)
    assert isinstance(one, Quantile)
    ages = np.bincount(ROWS[ROWS[:, 1] < AGE.values, 1], minlength=AGE.size).astype(float)
    edges = bracket(AGE, ages, 0.5, one.tolerance)
    assert edges is not None
    people = np.zeros((2_000, 3), dtype=np.int32)
    people[:, 1] = np.where(np.arange(2_000) < below, edges[1] - 1, edges[1])
    outcomes = []
    for _ in range(draws):
        asked = PrivacyKernel(ArraySource(DOMAIN, people), Unit(), 0.02, noise)
        outcomes.append(Decided(one, one.measure(asked, published())).outcome)
    assert binomtest(outcomes.count(wrong), draws, 0.05, alternative="greater").pvalue > FALSE_ALARM
    assert outcomes.count(UNDECIDED) > draws / 2


def test_the_margin_that_is_told_beforehand_is_the_one_that_comes_out() -> None:
    one = criterion(**MEDIAN)
    assert isinstance(one, Quantile)
    interval = one.measure(kernel(noise=SeededNoise(8), rho=0.5), published())
    assert one.margin(Unit(), 0.5, WORKLOAD, float(len(REAL))) == pytest.approx(interval.at_most - interval.error)
    assert math.isinf(one.margin(Unit(), 0.5, WORKLOAD, 2.0))


def test_what_is_clear_is_decided_and_said() -> None:
    one = criterion(**MEDIAN | {"tolerance": 60.0})
    assert isinstance(one, Quantile)
    met = Decided(one, one.measure(kernel(noise=SeededNoise(7), rho=50.0), published()))
    assert met.outcome == MET
    assert one.finding(met.interval).startswith("Measured: it lies between those edges, with ")  # type: ignore[arg-type]
    old = ROWS.copy()
    old[:, 1] = AGE.values - 1
    far = criterion(**MEDIAN)
    assert isinstance(far, Quantile)
    missed = Decided(far, far.measure(kernel(noise=SeededNoise(7), rho=50.0), published(old)))
    assert missed.outcome == NOT_MET
    assert "people too many on one side" in far.finding(missed.interval)  # type: ignore[arg-type]


def test_a_group_of_which_the_release_has_nobody_is_undecided() -> None:
    one = criterion(**MEDIAN, among={"sex": "f"})
    (decided,) = decide(kernel(), [one], published(ROWS[ROWS[:, 0] == 1]))
    assert decided.outcome == UNDECIDED


def test_in_words() -> None:
    plan = Plan.of(spec(MEDIAN, MEDIAN | {"p": 0.9, "among": {"sex": "female"}}))
    assert [one.sentence(plan.domain) for one in plan.criteria] == [
        "the median of age",
        "the 90% quantile of age among those with sex “female”",
    ]
    assert plan.criteria[0].requirement() == "within 20 in units of “age”, from edge to edge of its bins"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"tolerance": 10}, "criteria.0.tolerance"),
        ({"tolerance": None}, "criteria.0.tolerance"),
        ({"p": 1}, "criteria.0.p"),
        ({"p": "half"}, "criteria.0.p"),
        ({"column": "sex"}, "criteria.0.column"),
        ({"against": {"sex": "male"}}, "criteria.0.against"),
        ({"among": {}}, "criteria.0.among"),
    ],
)
def test_every_mistake_names_its_field(more: dict[str, Any], field: str) -> None:
    caught = refused(Plan.of, spec(MEDIAN | more))
    assert caught.field.startswith(field)


def test_a_column_whose_outside_values_count_as_a_named_one_is_refused() -> None:
    """Whoever is above the bounds and counts as 20 to 39 would be taken for somebody below 40."""
    described = DOMAIN.to_json()
    recoded = next(column for column in described["attributes"] if column["name"] == "age")
    recoded["other"] = {"as": AGE.cell_labels()[1], "why": "They are known to be rare."}
    domain = Domain.from_json(described)
    caught = refused(read_criteria, [MEDIAN], all_kway(domain, 1), answered=False, saying="no edge bounds them")
    assert caught.field == "criteria.0.column"
