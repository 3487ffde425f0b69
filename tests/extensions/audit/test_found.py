"""The trade-off curve of an audit against brute force, Gaussian draws with a known curve, and scores that say nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.extensions.audit.evidence import Accounted
from dpsynth_core.extensions.audit.found import RATES, Found, gaussian_area
from dpsynth_core.privacy.accountant import GDP, ZCDP

Floats = NDArray[np.float64]


def found(without: Floats, with_person: Floats, mu: float = 1.0) -> Found:
    return Found.of(Accounted(GDP, mu**2 / 2), without, with_person)


def by_force(without: Floats, with_person: Floats, rate: float) -> float:
    """The best test at a rate: any threshold, or a coin between two of them."""
    points = [(0.0, 0.0)]
    for threshold in np.unique(np.concatenate([without, with_person])):
        points.append((float((without >= threshold).mean()), float((with_person >= threshold).mean())))
    best = max(tpr for fpr, tpr in points if fpr <= rate)
    for low in points:
        for high in points:
            if low[0] < rate < high[0] and not any(low[0] < other[0] < high[0] for other in points):
                share = (rate - low[0]) / (high[0] - low[0])
                top = {fpr: max(tpr for at, tpr in points if at == fpr) for fpr, _ in (low, high)}
                best = max(best, (1 - share) * top[low[0]] + share * top[high[0]])
    return best


def test_curve_and_area_are_those_of_all_thresholds_and_all_pairs() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        without, with_person = rng.integers(0, 6, 30) / 2, rng.integers(1, 8, 25) / 2
        curve = found(without, with_person)
        assert curve.power == pytest.approx([by_force(without, with_person, rate) for rate in RATES])
        pairs = np.subtract.outer(with_person, without)
        area = (pairs > 0).mean() + (pairs == 0).mean() / 2
        assert gaussian_area(curve.mu) == pytest.approx(area)


def test_intervals_hold_the_curve_of_gaussian_noise() -> None:
    rng, mu, trials = np.random.default_rng(2), 0.8, 100
    held, held_rates = 0, np.zeros(len(RATES))
    for _ in range(trials):
        curve = found(rng.normal(0, 1, 400), rng.normal(mu, 1, 400), mu)
        held += curve.mu_low <= mu <= curve.mu_high
        held_rates += (curve.low <= curve.promised) & (curve.promised <= curve.high)
    # of 100 intervals with 95 %, fewer than 85 hold by chance in fewer than one of 10,000 cases
    assert held >= 85
    assert (held_rates[1:] >= 80).all(), "percentile intervals of few draws hold a little less often"


def test_scores_that_say_nothing_find_nothing() -> None:
    same = np.zeros(50)
    curve = found(same, same)
    assert curve.power == pytest.approx(RATES)
    assert (curve.mu, curve.share) == (0, 0)


def test_scores_that_say_everything_are_stated_as_numbers() -> None:
    curve = found(np.zeros(50), np.ones(50))
    assert curve.power == pytest.approx(np.ones(len(RATES)))
    assert math.isfinite(curve.mu)
    assert curve.mu > 6


def test_lines_name_a_promise_or_a_yardstick() -> None:
    scores = np.arange(40.0), np.arange(40.0) + 10
    gdp, zcdp = (list(Found.of(Accounted(accountant, 0.5), *scores).lines()) for accountant in (GDP, ZCDP))
    assert "promised 1.000" in gdp[0]
    assert "Gaussian noise with the same charge 1.000" in zcdp[0]
    assert len(gdp) == 2 + len(RATES)
