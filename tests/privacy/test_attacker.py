"""The attacker's trade-off: an upper bound that is reached, tighter than what (epsilon, delta) says, above what Gaussian noise allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.privacy.attacker import gdp_power, posterior_odds, tradeoff, zcdp_power
from dpsynth_core.privacy.conversions import delta_from, rho_from
from tests.refusals import refused
from tests.tiers import examples

RHOS = (1e-9, 1e-4, 0.015, 0.1, 1.0, 10.0)


@pytest.mark.parametrize("rho", RHOS)
def test_the_curve_rises_from_corner_to_corner_above_guessing(rho: float) -> None:
    fpr, tpr = meaning.tradeoff(ZCDP, rho)
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert np.all(np.diff(fpr) > 0)
    assert np.all(np.diff(tpr) >= 0)
    assert np.all(tpr >= fpr)


@pytest.mark.parametrize("rho", RHOS)
def test_gaussian_noise_of_the_same_rho_stays_below_the_curve(rho: float) -> None:
    """The one mechanism whose exact trade-off is known: a Gaussian of mu^2 = 2 rho is rho-zCDP."""
    fpr, tpr = meaning.tradeoff(ZCDP, rho)
    gaussian = ndtr(ndtri(fpr) + math.sqrt(2 * rho))
    assert np.all(gaussian <= tpr + 1e-12)


@pytest.mark.parametrize("rho", RHOS)
def test_the_curve_is_below_every_epsilon_and_delta_that_rho_implies(rho: float) -> None:
    """Up to a relative 5e-4 on the side of caution: a finite number of Rényi orders is tried."""
    fpr, tpr = meaning.tradeoff(ZCDP, rho)
    for epsilon in np.geomspace(1e-3, 60, 60):
        delta = delta_from(rho, epsilon)
        allowed = np.minimum(np.exp(epsilon) * fpr + delta, 1 - np.exp(-epsilon) * (1 - delta - fpr))
        assert np.all(tpr <= allowed * (1 + 5e-4) + 1e-12)


@pytest.mark.parametrize("rho", [0.015, 1.0])
def test_a_bit_at_the_curve_satisfies_zcdp_and_one_above_does_not(rho: float) -> None:
    """Brute force over orders of its own: the bound is the largest one that all divergences allow."""
    orders = 1 + np.geomspace(1e-3, 1e4, 4001)

    def divergence(p: float, q: float) -> float:
        sums = orders * math.log(p) + (1 - orders) * math.log(q), orders * math.log(1 - p) + (1 - orders) * math.log(1 - q)
        return float(np.max(np.logaddexp(*sums) / (orders - 1) / orders))

    for rate in (0.001, 0.01, 0.1, 0.5):
        best = float(zcdp_power(rho, np.array([rate]))[0])
        inside, outside = rate + (best - rate) * 0.999, rate + (best - rate) * 1.001
        assert max(divergence(inside, rate), divergence(rate, inside)) <= rho
        assert outside >= 1 or max(divergence(outside, rate), divergence(rate, outside)) > rho


@pytest.mark.parametrize("rho", RHOS)
def test_no_point_of_the_curve_beats_the_guess(rho: float) -> None:
    fpr, tpr = meaning.tradeoff(ZCDP, rho)
    assert np.max(1 + tpr - fpr) / 2 <= meaning.reading(ZCDP, rho).guess + 1e-12


def test_slack_allows_a_little_more_and_is_itself_a_bound() -> None:
    """The worst case: with probability delta everything is published, otherwise a Gaussian of the same rho."""
    rho, slack = 0.1, 0.01
    fpr, tpr = meaning.tradeoff(ZCDP, rho, slack)
    assert np.all(tpr >= zcdp_power(rho, fpr) - 1e-12)
    threshold = np.linspace(-8, 8, 2001)
    detected, accused = slack + (1 - slack) * ndtr(math.sqrt(2 * rho) - threshold), (1 - slack) * ndtr(-threshold)
    assert np.all(detected <= zcdp_power(rho, accused, slack) + 1e-12)
    assert np.max(1 + detected - accused) / 2 <= meaning.reading(ZCDP, rho, slack).guess + 1e-12


def test_the_exact_accounting_promises_more_than_epsilon_and_delta() -> None:
    odds = meaning.reading(ZCDP, rho_from(1, 1e-9))
    assert odds.guess == pytest.approx(0.543, abs=5e-4)
    assert (odds.at_1, odds.at_10) == pytest.approx((0.0166, 0.1418), abs=5e-5)
    assert posterior_odds(1, 1e-9) > 0.73


@pytest.mark.parametrize("rho", [0.0, -1.0, math.inf, math.nan])
def test_a_budget_that_is_none_is_refused(rho: float) -> None:
    refused(meaning.tradeoff, ZCDP, rho, kind=ValueError, saying="positive")
    refused(meaning.tradeoff, ZCDP, 1.0, 1.0, kind=ValueError, saying="probability")


# GDP


@pytest.mark.parametrize("rho", RHOS)
def test_the_curve_of_gdp_is_that_of_one_gaussian_and_below_that_of_zcdp(rho: float) -> None:
    fpr, tpr = meaning.tradeoff(GDP, rho)
    gaussian = ndtr(ndtri(fpr) + math.sqrt(2 * rho))
    assert np.all(tpr >= gaussian)
    assert np.allclose(tpr[1:], gaussian[1:], rtol=1e-11)  # without false positives, the distance from a continuous normal is all there is
    assert tpr[0] < 2e-7
    assert np.all(tpr[1:] <= meaning.tradeoff(ZCDP, rho)[1][1:] + 1e-12)
    assert np.max(1 + tpr - fpr) / 2 <= meaning.reading(GDP, rho).guess + 1e-12
    assert meaning.reading(GDP, rho).guess == pytest.approx(float(ndtr(math.sqrt(rho / 2))), rel=1e-11)


def test_a_distance_moves_both_rates_of_a_test_by_itself() -> None:
    """The worst case: with probability d everything is published of a member, and someone else looks like one."""
    fpr, d = np.linspace(0, 1, 101), 0.01
    assert gdp_power(0.5, fpr, d)[0] > d
    detected = ndtr(ndtri(fpr) + 0.5) + d
    assert np.all(np.minimum(1.0, detected) <= gdp_power(0.5, np.maximum(0.0, fpr - d), d) + 1e-12)


# (epsilon, delta) alone


@given(st.floats(0, 20), st.floats(0, 0.5))
@examples(50)
def test_attacker_curve_obeys_both_inequalities_of_the_definition(epsilon: float, delta: float) -> None:
    fpr, tpr = tradeoff(epsilon, delta)
    assert fpr[0] == 0
    assert fpr[-1] == 1
    assert np.all(np.diff(fpr) > 0)
    assert np.all(np.diff(tpr) >= -1e-15)  # one rounding of a number below 1
    assert np.all(tpr >= fpr - 1e-15)
    # the definition for the event "present" and for its complement; 1e-9 of rounding where e^20 multiplies
    assert np.all(tpr <= math.exp(epsilon) * fpr + delta + 1e-15)
    assert np.all(1 - fpr <= math.exp(epsilon) * (1 - tpr) + delta + 1e-7)


def test_a_coin_flip_of_prior_ends_at_most_73_percent_right_at_epsilon_one() -> None:
    assert posterior_odds(1, 0) == pytest.approx(math.e / (1 + math.e), rel=1e-12)
    assert posterior_odds(1, 1e-9) == pytest.approx(0.7310585786, abs=1e-9)


def test_nothing_is_learned_at_epsilon_zero_and_everything_at_delta_one() -> None:
    assert posterior_odds(0, 0, prior=0.3) == pytest.approx(0.7)
    assert posterior_odds(0, 1, prior=0.3) == pytest.approx(1.0)
