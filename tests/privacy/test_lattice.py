"""Rounded noise from a fine lattice: what it commutes with, and how far it is from a continuous normal."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from dpsynth_core.privacy import lattice
from dpsynth_core.vocabulary.measurement import ROUNDING
from tests.refusals import refused


def total_variation(s: float) -> float:
    """Between discrete Gaussian noise of parameter s and a normal variable rounded to whole numbers, term by term."""
    k = np.arange(-math.ceil(40 * s), math.ceil(40 * s) + 1)
    discrete = np.exp(-((k / s) ** 2) / 2)
    rounded = ndtr((0.5 - np.abs(k)) / s) - ndtr((-0.5 - np.abs(k)) / s)
    return float(np.abs(discrete / math.fsum(discrete) - rounded).sum()) / 2


@pytest.mark.parametrize("s", [1.0, 1.5, 2.0, 5.0, 20.0, 80.0])
def test_the_distance_from_a_rounded_normal_is_below_the_bound_and_not_far_below(s: float) -> None:
    assert 0.2 / (16 * s**2) < total_variation(s) < 1 / (16 * s**2)


def test_all_draws_of_a_source_are_as_near_as_stated() -> None:
    assert lattice.MOST_DRAWS / Fraction(16 * 2**114) <= Fraction(lattice.DISTANCE)


@given(st.floats(2.0**-5, 2.0**57))
def test_the_lattice_is_always_fine(sigma: float) -> None:
    assert 2.0**57 <= math.ldexp(sigma, lattice.bits(sigma)) < 2.0**58


@pytest.mark.parametrize("sigma", [2.0**-6, 1e-9, 1e-300])
def test_tiny_noise_stays_within_64_bits(sigma: float) -> None:
    b = lattice.bits(sigma)
    assert b == 62
    assert 32 * math.ldexp(sigma, b) <= 2.0**61  # rounds to 0 unless 32 standard deviations off


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf, 2.0**58])
def test_noise_that_cannot_be_drawn_is_refused(sigma: float) -> None:
    refused(lattice.bits, sigma, kind=ValueError, saying="sigma")


@given(st.integers(-(2**61), 2**61), st.integers(0, 20), st.integers(-1000, 1000))
def test_rounding_commutes_with_whole_numbers(noise: int, b: int, count: int) -> None:
    """This is what makes the noisy count a function of the noise on the lattice with the count added to it."""
    z = np.array([noise], dtype=np.int64)
    assert (lattice.rounded(z, b) + count).tolist() == lattice.rounded(z + (count << b), b).tolist()
    assert lattice.rounded(z, b).tolist() == [math.floor(Fraction(noise, 2**b) + Fraction(1, 2))]


def test_the_stated_deviation_makes_rounded_noise_sub_gaussian() -> None:
    """E exp(t X) <= exp(t^2 (sigma^2 + 1/12) / 2), for t from nearly 0 to 10 / sigma."""
    for sigma in np.geomspace(0.05, 4, 25):
        k = np.arange(-math.ceil(60 * max(sigma, 1)), math.ceil(60 * max(sigma, 1)) + 1)
        mass = ndtr((0.5 - np.abs(k)) / sigma) - ndtr((-0.5 - np.abs(k)) / sigma)
        for t in np.geomspace(1e-2, 10, 25) / sigma:
            logs = t * k[mass > 0] + np.log(mass[mass > 0])
            assert np.logaddexp.reduce(logs) <= t**2 * (sigma**2 + ROUNDING) / 2 + 1e-12
