"""Both noise sources draw the stated distributions, and OpenDP's own maps put the stated price on them."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.privacy import lattice
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.view import Noise
from tests.privacy.tables import FALSE_ALARM, frequency_p_value, p_value, rounded_normal
from tests.refusals import refused

DRAWS = 60_000
SOURCES = pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(20)], ids=["opendp", "seeded"])
scales = st.floats(-3, 6).map(lambda x: 10.0**x)
SCORES = np.array([0, 3, 5, 8, 8, -2], dtype=np.int64)


def softmax(scores: np.ndarray, scale: float) -> np.ndarray:
    weights = np.exp((scores - scores.max()) / scale)
    return weights / weights.sum()


@SOURCES
@pytest.mark.parametrize("sigma", [0.4, 1.0, 7.3, 250.0])
def test_gaussian_noise_is_a_rounded_normal(noise: Noise, sigma: float) -> None:
    drawn = noise.gaussian(np.zeros(DRAWS, dtype=np.int64), sigma)
    assert p_value(drawn, rounded_normal(sigma), int(12 * sigma) + 2) > FALSE_ALARM


@SOURCES
@pytest.mark.parametrize("scale", [0.5, 2.0, 40.0])
def test_discrete_laplace_follows_its_mass_function(noise: Noise, scale: float) -> None:
    drawn = noise.discrete_laplace(np.zeros(DRAWS, dtype=np.int64), scale)
    assert p_value(drawn, lambda x: np.exp(-np.abs(x) / scale), int(40 * scale) + 2) > FALSE_ALARM


@SOURCES
def test_noisy_max_is_the_exponential_mechanism(noise: Noise) -> None:
    scale = 2.5
    drawn = [noise.noisy_max(SCORES, scale) for _ in range(15_000)]
    assert frequency_p_value(drawn, softmax(SCORES, scale)) > FALSE_ALARM


@SOURCES
@pytest.mark.parametrize("size", [1, 7])
def test_uniform_numbers_are_uniform(noise: Noise, size: int) -> None:
    drawn = [noise.uniform(size) for _ in range(10_000)]
    assert frequency_p_value(drawn, np.full(size, 1 / size)) > FALSE_ALARM if size > 1 else set(drawn) == {0}


@SOURCES
@pytest.mark.parametrize("exponent", [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(0.8) + Fraction(1, 3)], ids=str)
def test_coins_land_with_the_exponential_of_their_exponent(noise: Noise, exponent: Fraction) -> None:
    drawn = noise.bernoulli_exp([exponent] * 8_000)
    chance = np.exp(-float(exponent))
    assert frequency_p_value(drawn.astype(int).tolist(), np.array([1 - chance, chance])) > FALSE_ALARM


@SOURCES
@pytest.mark.parametrize("coins", [1, 9, 63, 64, 200])
def test_fair_coins_are_fair_and_counted(noise: Noise, coins: int) -> None:
    heads = noise.halved(np.array([0, *[coins] * 6_000], dtype=np.int64))
    assert heads[0] == 0
    middle = np.clip(heads[1:], coins // 2 - 3, coins // 2 + 3) - max(0, coins // 2 - 3)
    low, high = max(0, coins // 2 - 3), min(coins, coins // 2 + 3)
    chances = binom.pmf(np.arange(low, high + 1), coins, 0.5)
    chances[0], chances[-1] = binom.cdf(low, coins, 0.5), binom.sf(high - 1, coins, 0.5)
    assert frequency_p_value(middle.tolist(), chances) > FALSE_ALARM


@SOURCES
def test_each_coin_has_its_own_exponent(noise: Noise) -> None:
    assert noise.bernoulli_exp([Fraction(0), Fraction(200), Fraction(0)]).tolist() == [True, False, True]


def test_these_tests_notice_a_scale_that_is_four_percent_off() -> None:
    noise = SeededNoise(22)
    gaussian = noise.gaussian(np.zeros(DRAWS, dtype=np.int64), 7.3 * 0.96)
    laplace = noise.discrete_laplace(np.zeros(DRAWS, dtype=np.int64), 2.0 * 0.96)
    assert p_value(gaussian, rounded_normal(7.3), 90) < FALSE_ALARM
    assert p_value(laplace, lambda x: np.exp(-np.abs(x) / 2.0), 82) < FALSE_ALARM


def test_these_tests_notice_a_selection_of_the_wrong_scale() -> None:
    noise = SeededNoise(23)
    drawn = [noise.noisy_max(SCORES, 2.5 * 1.15) for _ in range(15_000)]
    assert frequency_p_value(drawn, softmax(SCORES, 2.5)) < FALSE_ALARM


@SOURCES
def test_noise_is_added_to_the_values_and_keeps_their_shape(noise: Noise) -> None:
    values = np.arange(24, dtype=np.int64).reshape(2, 3, 4) * 1_000_000
    for drawn in (noise.gaussian(values, 2.0), noise.discrete_laplace(values, 2.0)):
        assert drawn.shape == values.shape
        assert drawn.dtype == np.int64
        assert np.abs(drawn - values).max() < 1000  # 500 scales: never seen


@SOURCES
def test_noise_is_independent_between_cells(noise: Noise) -> None:
    drawn = noise.gaussian(np.zeros(40_000, dtype=np.int64), 5.0).astype(float)
    correlation = np.corrcoef(drawn[:-1], drawn[1:])[0, 1]
    assert abs(correlation) < 4.9 / np.sqrt(drawn.size)  # 4.9 standard errors: one in a million


@SOURCES
def test_an_empty_table_gets_empty_noise(noise: Noise) -> None:
    assert noise.gaussian(np.zeros((0, 3), dtype=np.int64), 1.0).shape == (0, 3)


def test_seeded_noise_repeats_and_opendp_noise_does_not() -> None:
    zeros = np.zeros(50, dtype=np.int64)
    assert np.array_equal(SeededNoise(5).gaussian(zeros, 9.0), SeededNoise(5).gaussian(zeros, 9.0))
    assert not np.array_equal(OpenDPNoise().gaussian(zeros, 9.0), OpenDPNoise().gaussian(zeros, 9.0))
    assert OpenDPNoise().private
    assert not SeededNoise(5).private


def test_a_source_of_noise_stops_where_its_guarantee_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "MOST_DRAWS", 100)
    noise = OpenDPNoise()
    noise.gaussian(np.zeros((10, 6), dtype=np.int64), 3.0)
    noise.gaussian(np.zeros(40, dtype=np.int64), 3.0)
    refused(noise.gaussian, np.zeros(1, dtype=np.int64), 3.0, kind=BudgetExceeded, saying="noisy numbers")


def test_a_marginal_of_100_000_cells_takes_seconds_at_most() -> None:
    start = time.process_time()
    OpenDPNoise().gaussian(np.zeros(100_000, dtype=np.int64), 60.0)
    assert time.process_time() - start < 10  # 1 s measured on a quiet machine


@given(scales, st.integers(1, 20))
def test_gaussian_costs_what_opendp_says(sigma: float, l2: int) -> None:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    # OpenDP rounds its float arithmetic upwards: equal to a relative 1e-12
    assert Gaussian(sigma, l2).rho == pytest.approx(dp.m.make_gaussian(*space, scale=sigma).map(float(l2)), rel=1e-12)


@given(scales, st.integers(1, 10**6))
def test_selection_costs_what_opendp_says(eps: float, sensitivity: int) -> None:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    choose = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=2 * sensitivity / eps)
    assert Selection(eps).rho == pytest.approx(choose.map(sensitivity), rel=1e-12)
