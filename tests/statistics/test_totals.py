"""The number of records as far as it is released: exact or with a noise that is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsynth_core.statistics.totals import Total, known_total
from dpsynth_core.vocabulary.measurement import Measurement

DRAWN = (("a", 3, 5.0), ("b", 10, 2.0), ("c", 2, 9.0))


def test_a_public_number_is_exact() -> None:
    total = known_total([Measurement(("a",), np.array([3.0, 4.0]), 2.0)], public=50.0)
    assert total == Total(50.0, 0.0)
    assert (total.doubt(0.99), total.at_least(0.99)) == (0.0, 50.0)


def test_without_measurements_nothing_is_known() -> None:
    assert known_total([], public=None) is None


def test_the_noise_of_an_estimate_is_that_of_the_best_combination() -> None:
    taken = [Measurement(("a",), np.full(4, 25.0), 3.0), Measurement(("b",), np.full(9, 100 / 9), 1.0)]
    total = known_total(taken, public=None)
    # variances 4 * 9 and 9 * 1: precision 1/36 + 1/9
    assert total.value == pytest.approx(100)
    assert total.sigma == pytest.approx(math.sqrt(1 / (1 / 36 + 1 / 9)))


def test_the_truth_is_inside_the_doubt_and_above_the_floor_as_often_as_stated() -> None:
    rng, draws = np.random.default_rng(2), 4000
    inside = above = 0
    for _ in range(draws):
        taken = [Measurement((name,), 1000 / size + sigma * rng.standard_normal(size), sigma) for name, size, sigma in DRAWN]
        total = known_total(taken, public=None)
        inside += abs(total.value - 1000) <= total.doubt(0.95)
        above += total.at_least(0.95) <= 1000
    for held in (inside, above):  # both are exact: binomial, each side wrong once in two million
        assert binom.ppf(5e-7, draws, 0.95) <= held <= binom.isf(5e-7, draws, 0.95)


