"""Bounds that survive choosing: what they promise, by numerical integration and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from dpsynth_core.statistics.naming import surely_above, surely_below
from dpsynth_core.statistics.quantiles import PANELS, margin
from tests.tiers import examples

measured = st.floats(-120, 2000)
folded_parts = st.one_of(st.just(0.0), st.floats(0.5, 200))


def bound(number: float, sigma: float, folded: float, failure: float = 0.05) -> float:
    return float(surely_below(np.array([number]), sigma, folded, failure)[0])


def probability(z: float, sigma: float, folded: float) -> float:
    """P(Z + folded |G| <= z), by adaptive integration."""
    density = lambda g: 2 * stats.norm.pdf(g) * stats.norm.cdf((z - folded * g) / sigma)  # noqa: E731
    return float(integrate.quad(density, 0, 12, limit=200, epsabs=1e-14)[0])


def test_without_doubt_about_the_people_it_is_read_s_rule() -> None:
    for number in (-90.0, 0.0, 30.0, 500.0):
        limit = bound(number, 40.0, 0.0)
        assert stats.norm.cdf((number - limit) / 40) == pytest.approx(0.05 * stats.norm.cdf(number / 40), rel=1e-9)


@examples(40)
@given(measured, folded_parts)
def test_a_worse_table_looks_as_good_a_twentieth_as_often_as_a_perfect_one(number: float, folded: float) -> None:
    limit = bound(number, 40.0, folded)
    worse, perfect = probability(number - limit, 40.0, -folded), probability(number, 40.0, folded)
    assert worse == pytest.approx(0.05 * perfect, rel=1e-5, abs=1e-13)


@examples(60)
@given(measured, folded_parts)
def test_it_is_above_nothing_and_above_the_bound_of_one_table_alone(number: float, folded: float) -> None:
    assert bound(number, 40.0, folded) > 0
    assert bound(number, 40.0, folded) >= (number + margin(40.0, folded, 1, 0.95)) * (1 - 1e-9)


@examples(60)
@given(st.floats(-1e12, 1e12), st.floats(-3, 4), st.one_of(st.just(0.0), st.floats(-3, 6)), st.floats(1e-9, 0.5))
def test_it_is_a_number_above_nothing_whatever_was_measured(number: float, noise: float, ratio: float, failure: float) -> None:
    """Noisy answers of many values add up to many times the people, and so does what doubt about the people does to them."""
    sigma = 10.0**noise
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        below = bound(number, sigma, sigma * 10.0**ratio if ratio else 0.0, failure)
    assert math.isfinite(below)
    assert below >= min(number, 0.0)


@pytest.mark.parametrize("ratio", [25.0, 300.0, 1e5])
@pytest.mark.parametrize("true", [0.0, 300.0])
def test_it_covers_95_of_100_where_doubt_about_the_people_is_many_times_the_noise(ratio: float, true: float) -> None:
    """As below, of doubt beside which the noise is nearly nothing."""
    rng, draws = np.random.default_rng(29), 4_000
    off = 2.0 * ratio * np.abs(rng.normal(size=draws))
    lucky = np.maximum(0.0, true - off) if true else off
    below = surely_below(lucky + rng.normal(0, 2, draws), 2.0, 2.0 * ratio, 0.05)
    assert (below < true).mean() <= 0.05 + 5 * math.sqrt(0.05 * 0.95 / draws)


@examples(60)
@given(st.floats(-100, 2000), st.floats(0.01, 200), st.one_of(st.just(0.0), st.floats(0.5, 40)))
def test_it_rises_with_what_is_measured(number: float, more: float, folded: float) -> None:
    """Down to 2.5 deviations below nothing: what is named is what was measured up to some number."""
    assert bound(number + more, 40.0, folded) > bound(number, 40.0, folded)


def test_where_noise_is_small_beside_the_error_it_is_the_ordinary_bound() -> None:
    assert bound(1000.0, 40.0, 25.0) == pytest.approx(1000 + margin(40.0, 25.0, 1, 0.95), rel=1e-9)


@examples(40)
@given(measured, folded_parts)
def test_the_lower_bound_is_the_upper_one_seen_from_the_worst(number: float, folded: float) -> None:
    low = float(surely_above(np.array([number]), 40.0, folded, 0.05, 2600.0)[0])
    assert low == pytest.approx(2600 - bound(2600 - number, 40.0, folded), rel=1e-9)
    assert low < number


@pytest.mark.parametrize("folded", [0.0, 60.0])
@pytest.mark.parametrize("true", [0.0, 80.0, 300.0])
def test_it_covers_95_of_100_and_those_that_are_named_are_named_rarely(true: float, folded: float) -> None:
    """8,000 seeded draws of the worst case: 5 standard deviations of a share of 5 % are 0.0122."""
    rng, limit, draws = np.random.default_rng(23), 120.0, 8_000
    off = folded * np.abs(rng.normal(size=draws))
    lucky = np.maximum(0.0, true - off) if true else off  # the displacement that makes a table look best; a perfect one has no choice
    bounds = surely_below(lucky + rng.normal(0, 50, draws), 50.0, folded, 0.05)
    assert (bounds < true).mean() <= 0.05 + 0.0122
    perfect = surely_below(off + rng.normal(0, 50, draws), 50.0, folded, 0.05)
    if true >= limit:
        assert (bounds <= limit).mean() <= 0.05 * (perfect <= limit).mean() + 0.0122


@pytest.mark.parametrize("folded", [0.1, 10.0, 25.0])
def test_fewer_panels_are_as_good_where_the_number_of_people_is_nearly_known(folded: float, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = np.linspace(-100.0, 1_000.0, 50)
    few = surely_below(measured, 50.0, folded, 0.05)
    monkeypatch.setattr("dpsynth_core.statistics.naming.FEW_PANELS", PANELS)
    assert few == pytest.approx(surely_below(measured, 50.0, folded, 0.05), rel=1e-9)


def test_noise_that_hides_the_limit_names_nothing() -> None:
    """A hundred people, noise of 76 points, a limit of 10: the luckiest of a million tables is not named."""
    luckiest = 2 * 76 * float(stats.norm.ppf(1e-6))
    assert bound(luckiest, 2 * 76.0, 0.0) > 2 * 10
    assert not math.isnan(bound(luckiest, 2 * 76.0, 20.0))
