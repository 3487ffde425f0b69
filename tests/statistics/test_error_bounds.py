"""The bounds of criteria hold as often as they say, and are not much wider than that takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from dpsynth_core.statistics.error_bounds import Ratio, absolute, largest
from dpsynth_core.statistics.intervals import CONFIDENCE, LUCKY, Interval, Noisy

DRAWS = 4_000
FALSE_ALARM = 1e-6
"""Chance that one of these tests would fail for other seeds although the bounds hold."""


def holds(kept: np.ndarray) -> bool:
    """Whether so many bounds that held are compatible with a confidence of 95 % or more."""
    return binomtest(int(kept.sum()), len(kept), CONFIDENCE, alternative="less").pvalue > FALSE_ALARM


def measured(error: float, people: float, rng: np.random.Generator, sigma: float = 20.0, people_sigma: float = 60.0) -> Ratio:
    off, miscounted = sigma * rng.standard_normal(), people_sigma * rng.standard_normal()
    return Ratio(Noisy(error * people + off, sigma), Noisy(people + miscounted, people_sigma))


def coverage(intervals: list[Interval], error: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array([one.at_least <= error for one in intervals]), np.array([error <= one.at_most for one in intervals])


@pytest.mark.parametrize("error", [0.0, 0.002, -0.05, 0.4])
@pytest.mark.parametrize("people", [400.0, 20_000.0])
def test_bounds_of_one_ratio_hold_even_where_the_people_are_hardly_known(error: float, people: float) -> None:
    rng = np.random.default_rng(1)
    low, high = coverage([absolute([measured(error, people, rng)]) for _ in range(DRAWS)], abs(error))
    assert holds(low)
    assert holds(high)


@pytest.mark.parametrize(("one", "other"), [(0.0, 0.0), (0.3, -0.3), (0.2, 0.2), (0.01, -0.04)])
def test_bounds_of_a_difference_hold(one: float, other: float) -> None:
    """In the second and third case both groups are far off, so that the noise of their people matters most."""
    rng = np.random.default_rng(2)
    parts = [[measured(one, 900.0, rng), measured(other, 500.0, rng)] for _ in range(DRAWS)]
    low, high = coverage([absolute(pair) for pair in parts], abs(one + other))
    assert holds(low)
    assert holds(high)


def test_luck_keeps_no_limit_below_the_noise() -> None:
    """The luckiest of 2,000 draws of an error of one deviation, in one number and in the largest of several."""
    rng = np.random.default_rng(8)
    drawn = [Ratio(Noisy(20.0 + 20 * z, 20.0), Noisy(1000.0, 0.0)) for z in rng.standard_normal(2_000)]
    assert min(absolute([one]).at_most for one in drawn) >= 0.999 * LUCKY * 20 / 1000
    assert min(largest([40 + 40 * z], 40.0, Noisy(1000.0, 0.0)).at_most for z in rng.standard_normal(2_000)) > 0.01


@pytest.mark.parametrize(("noise", "before"), [(0.3, 0.005), (0.5, 0.03), (0.6, 0.1)])
def test_of_those_that_are_met_few_are_not(noise: float, before: float) -> None:
    """Errors from 0 to three times the limit, all as likely. before: at least so many were wrong with the bound that fails in 5 % exactly.
    8,000 seeded draws."""
    rng = np.random.default_rng(9)
    errors, off = rng.uniform(0, 3, 8_000), noise * rng.standard_normal(8_000)
    seen = [absolute([Ratio(Noisy(float(x), noise), Noisy(1.0, 0.0))]) for x in errors + off]
    met, used_to_be = np.array([one.at_most <= 1 for one in seen]), np.array([one.error + 1.645 * noise <= 1 for one in seen])
    assert (errors[met] > 1).sum() <= 0.05 * max(1, met.sum())
    assert (errors[used_to_be] > 1).mean() >= before


def test_bounds_are_no_wider_than_the_noise() -> None:
    """Where the people are known, the upper bound is missed by 5 % of the draws and not by fewer."""
    rng = np.random.default_rng(3)
    _, high = coverage([absolute([measured(0.1, 5_000.0, rng, people_sigma=1e-6)]) for _ in range(DRAWS)], 0.1)
    assert binomtest(int(high.sum()), DRAWS, CONFIDENCE).pvalue > FALSE_ALARM


def test_nothing_is_known_of_people_who_are_no_more_than_noise() -> None:
    assert absolute([Ratio(Noisy(3.0, 1.0), Noisy(10.0, 20.0))]).at_most == math.inf
    assert absolute([Ratio(Noisy(3.0, 1.0), Noisy(-10.0, 0.0))]).at_most == math.inf


@pytest.mark.parametrize("distances", [[30.0] * 45, [0.0] * 44 + [200.0], [150.0]], ids=["alike", "one", "alone"])
@pytest.mark.parametrize("people_sigma", [0.0, 15.0])
def test_bounds_of_the_largest_error_hold(distances: list[float], people_sigma: float) -> None:
    """The distances are those of the true number of people; what is measured is off by as much as it is wrong."""
    rng, people, sigma = np.random.default_rng(4), 1_000.0, 12.0
    intervals = []
    for _ in range(DRAWS):
        taken = people + people_sigma * rng.standard_normal()
        off = abs(taken - people) * rng.choice([-1, 1])  # at most so far is ||M - T p|| from ||M - N p||
        noisy = np.array(distances) + off + sigma * rng.standard_normal(len(distances))
        intervals.append(largest(noisy.tolist(), sigma, Noisy(taken, people_sigma)))
    low, high = coverage(intervals, max(distances) / (2 * people))
    assert holds(low)
    assert holds(high)
