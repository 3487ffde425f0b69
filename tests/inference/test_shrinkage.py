"""Tables that differ in few patterns, or in few cells: nearer to the truth than as measured, and untouched where there is no noise."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.inference.shrinkage import shrunk


@pytest.mark.parametrize("shape", [(44, 12), (12, 44), (40, 30), (3, 44, 12), (44, 12, 3)])
def test_one_pattern_is_found_in_noise(shape: tuple[int, ...]) -> None:
    """Noise of 10 in each cell. What one pattern leaves of it is about (rows + columns) / (rows * columns) of its variance, some 0.1 here,
    for a signal that is far above it, and the sums as much again; cells for themselves keep nearly all. Half of both is about a third:
    less than a half, with any of these seeds (measured: 0.28 to 0.39)."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, columns = sorted(range(len(shape)), key=lambda axis: shape[axis])[-2:]
        patterns = [rng.normal(0, 1, [n if axis == which else 1 for axis, n in enumerate(shape)]) for which in (rows, columns)]
        truth = 20 * patterns[0] * patterns[1] * np.ones(shape)
        expected = rng.normal(1000, 100, shape)
        found = shrunk(expected + truth + rng.normal(0, 10, shape), expected, 10)
        assert ((found - expected - truth) ** 2).mean() < 100 / 2


def test_noise_alone_is_no_pattern() -> None:
    """Largest singular value of noise: above its limit (sqrt(44) + sqrt(12)) * 10 by little, where hardly anything is kept. The sums keep
    (44 + 12 - 1) of 528 parts of its variance: 10.4 on average (measured: 8 to 13)."""
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(0, 10, (44, 12))
        expected = np.full((44, 12), 100.0)
        assert ((shrunk(expected + noise, expected, 10) - expected) ** 2).mean() < 20  # of 100


def test_empty_cells_are_found_in_noise() -> None:
    """Groups that lie within one of four regions each: three of four cells are empty, which no pattern says. Of the noise's variance sums
    keep 47 of 176 parts; of the rest full cells, a quarter, keep all, and empty ones a quarter, for patterns keep nearly all of it and are
    half of the mean: 0.59 together (measured: 0.60 to 0.64)."""
    for seed in range(3):
        truth = np.zeros((44, 4))
        truth[np.arange(44), np.arange(44) % 4] = 600
        values = truth + np.random.default_rng(seed).normal(0, 40, truth.shape)
        expected = np.outer(truth.sum(axis=1), truth.sum(axis=0)) / truth.sum()
        assert ((shrunk(values, expected, 40) - truth) ** 2).mean() < 0.7 * ((values - truth) ** 2).mean()


def test_sums_of_rows_and_columns_are_as_measured() -> None:
    values, expected = np.random.default_rng(0).uniform(0, 30, (2, 7, 5, 3))
    found = shrunk(values, expected, 10)
    assert not np.allclose(found, values)
    for axis in (0, 1):  # the two longest
        assert np.allclose(found.sum(axis=axis), values.sum(axis=axis))


def test_without_noise_the_table_is_as_it_was() -> None:
    """Whatever was expected, and of cells that nobody expected too."""
    values, expected = np.random.default_rng(0).uniform(0, 100, (2, 7, 5, 3))
    expected[::2] = 0
    assert np.allclose(shrunk(values, expected, 1e-4), values, atol=1e-2)
