"""The tests behind outcomes: their levels by enumeration, their intervals, and that no other outcome exists."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from dpsynth_core.extensions.attacks.outcomes import ABOVE, ALLOWED, NOTHING, Count, difference, excess, interval, outcome
from dpsynth_core.privacy.attacker import gdp_power, zcdp_power

Ceiling = Callable[[NDArray[np.float64]], NDArray[np.float64]]
CEILINGS = {
    "nothing": lambda rates: rates,
    "gdp": partial(gdp_power, 0.25),
    "gdp, large": partial(gdp_power, 2.0),
    "zcdp": partial(zcdp_power, 0.02),
}
RATES = (0.001, 0.02, 0.1, 0.3, 0.5, 0.8, 0.97)


def rejected(n: int, m: int, ceiling: Ceiling, level: float) -> NDArray[np.bool_]:
    """Whether each pair of counts is more than is allowed, shape (n + 1, m + 1)."""
    found = [excess(Count(x, n), Count(y, m), ceiling, level / 10) <= level for x, y in product(range(n + 1), range(m + 1))]
    return np.array(found).reshape(n + 1, m + 1)


@pytest.mark.parametrize("name", CEILINGS)
def test_the_exact_probability_of_a_false_alarm_is_at_most_the_level(name: str) -> None:
    """All counts of 12 and 9 people, at shares on the ceiling, where false alarms are most frequent."""
    n, m, level = 12, 9, 0.05
    alarm = rejected(n, m, CEILINGS[name], level)
    for rate in RATES:
        most = float(np.minimum(1.0, CEILINGS[name](np.array([rate])))[0])
        for share in (most, 0.9 * most):
            inside, outside = (scipy.stats.binom.pmf(np.arange(k + 1), k, p) for k, p in ((n, share), (m, rate)))
            assert float(inside @ alarm @ outside) <= level + 1e-9


def test_more_hits_in_the_table_or_fewer_outside_are_no_smaller_evidence() -> None:
    n, m = 14, 12
    alarm = rejected(n, m, CEILINGS["gdp"], 0.05).astype(int)
    assert alarm.any()
    assert (np.diff(alarm, axis=0) >= 0).all()


def test_a_large_excess_is_found_and_a_small_one_is_not() -> None:
    ceiling = CEILINGS["gdp"]
    assert outcome(Count(205, 3200), Count(22, 1600), ceiling, 6) == ABOVE
    assert outcome(Count(44, 3200), Count(22, 1600), ceiling, 6) == NOTHING
    assert outcome(Count(450, 3200), Count(150, 1600), CEILINGS["gdp, large"], 6) == ALLOWED
    assert outcome(Count(3200, 3200), Count(0, 1600), ceiling, 6) == ABOVE
    assert outcome(Count(0, 3200), Count(0, 1600), ceiling, 6) == NOTHING
    assert outcome(Count(0, 3200), Count(1600, 1600), ceiling, 6) == ALLOWED
    assert outcome(Count(3200, 3200), Count(1600, 1600), ceiling, 6) == NOTHING


def test_the_interval_of_a_share_is_that_of_clopper_and_pearson() -> None:
    for hits, people in ((0, 7), (3, 7), (7, 7), (40, 900)):
        expected = scipy.stats.binomtest(hits, people).proportion_ci(0.95, method="exact")
        assert interval(Count(hits, people)) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(20, 15), (60, 30), (25, 100)])
def test_the_interval_of_a_difference_holds_at_least_as_often_as_it_says(n: int, m: int) -> None:
    """The exact probability, over all counts, at a grid of shares."""
    ends = np.array([[difference(Count(x, n), Count(y, m)) for y in range(m + 1)] for x in range(n + 1)])
    for inside, outside in product((0.01, 0.05, 0.2, 0.5, 0.8, 0.99), repeat=2):
        held = (ends[..., 0] <= inside - outside + 1e-12) & (inside - outside - 1e-12 <= ends[..., 1])
        likely = (scipy.stats.binom.pmf(np.arange(k + 1), k, p) for k, p in ((n, inside), (m, outside)))
        first, second = likely
        assert float(first @ held @ second) >= 0.95
