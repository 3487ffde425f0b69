"""Quantiles, against closed forms and against draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import binom, norm

from dpsynth_core.statistics import quantiles
from dpsynth_core.statistics.quantiles import absolute_sum, largest_positive_parts, margin
from dpsynth_core.vocabulary.measurement import HALF_NORMAL

DRAWS = 40_000
LEVELS = pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])


def within_binomial(held: int, draws: int, confidence: float) -> bool:
    """Whether so many of the draws lie below an exact quantile: two-sided, wrongly refused once in a million."""
    return bool(binom.ppf(5e-7, draws, confidence) <= held <= binom.isf(5e-7, draws, confidence))


@LEVELS
def test_one_absolute_normal_has_the_two_sided_quantile(confidence: float) -> None:
    assert absolute_sum(1, confidence) == pytest.approx(norm.ppf((1 + confidence) / 2))


@LEVELS
def test_two_absolute_normals_have_a_square_as_contour(confidence: float) -> None:
    # |x| + |y| <= q is a square whose sides, at 45 degrees, are q / sqrt(2) from the middle
    assert erf(absolute_sum(2, confidence) / 2) ** 2 == pytest.approx(confidence, abs=1e-8)


@LEVELS
@pytest.mark.parametrize("terms", [3, 4, 6, 9, 16])
def test_a_longer_integral_gives_the_same_quantile(terms: int, confidence: float, monkeypatch: pytest.MonkeyPatch) -> None:
    short = absolute_sum.__wrapped__(terms, confidence)
    monkeypatch.setattr(quantiles, "_TAIL", 1e-11)
    assert short == pytest.approx(absolute_sum.__wrapped__(terms, confidence), abs=1e-6 * math.sqrt(terms))


@LEVELS
@pytest.mark.parametrize("terms", [3, 7, 15, 16, 40])
def test_sums_of_absolute_normals_lie_below_their_quantile_as_often_as_stated(terms: int, confidence: float) -> None:
    sums = np.abs(np.random.default_rng(terms).standard_normal((DRAWS, terms))).sum(axis=1)
    assert within_binomial(int((sums <= absolute_sum(terms, confidence)).sum()), DRAWS, confidence)


def test_a_long_sum_is_normal() -> None:
    n = 10**7
    standard = (absolute_sum(n, 0.95) - n * HALF_NORMAL) / math.sqrt(n * (1 - 2 / math.pi))
    # the next term of the Edgeworth series is skewness * (z^2 - 1) / 6, with skewness 0.995 / sqrt(n): 9e-5
    assert standard == pytest.approx(norm.ppf(0.95), abs=2e-4)


@pytest.mark.parametrize("correlated", [False, True])
def test_the_largest_positive_parts_stay_below_their_bound_and_not_far_below(correlated: bool) -> None:
    cells, draws = 200, 20_000
    rng = np.random.default_rng(3)
    noise = rng.standard_normal((draws, cells)) * 0.8
    spread = 0.8
    if correlated:  # something common to each group of ten cells: cov = 0.64 I + 0.36 blocks of ones, largest eigenvalue 0.64 + 3.6
        noise += np.repeat(rng.standard_normal((draws, cells // 10)) * 0.6, 10, axis=1)
        spread = math.sqrt(0.64 + 3.6)
    deviation = float(noise.std())
    numbers = np.array([1.0, 5.0, 20.0, 100.0, 200.0])
    sums = np.cumsum(np.sort(np.maximum(noise, 0), axis=1)[:, ::-1], axis=1)[:, numbers.astype(int) - 1]
    bound = largest_positive_parts(cells, numbers, deviation, spread, 0.95)
    assert ((sums <= bound).mean(axis=0) >= 0.95).all()
    assert (bound <= sums.mean(axis=0) + 1.1 * spread * np.sqrt(2 * numbers * math.log(20))).all()


@pytest.mark.parametrize("count", [1, 30])
@pytest.mark.parametrize("folded", [0.0, 0.1, 2.0, 90.0])
def test_noise_beside_an_uncertain_total_stays_below_its_margin_as_often_as_stated(folded: float, count: int) -> None:
    rng = np.random.default_rng(4)
    worst = rng.standard_normal((DRAWS, count)).max(axis=1) * 1.5 + np.abs(rng.standard_normal(DRAWS)) * folded
    assert within_binomial(int((worst <= margin(1.5, folded, count, 0.95)).sum()), DRAWS, 0.95)


def test_a_vanishing_doubt_changes_no_margin() -> None:
    assert margin(551.0, 1e-9, 455, 0.95) == pytest.approx(margin(551.0, 0.0, 455, 0.95), rel=1e-9)
