"""Tables that differ in few patterns: nearer to the truth than as measured, and untouched where there is no noise."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.inference.low_rank import shrunk


@pytest.mark.parametrize("shape", [(44, 12), (12, 44), (40, 30), (3, 44, 12), (44, 12, 3)])
def test_one_pattern_is_found_in_noise(shape: tuple[int, ...]) -> None:
    """Noise of 10 in each cell. What one pattern leaves of it is about (rows + columns) / (rows * columns) of its variance, some 0.1 here,
    for a signal that is far above it, and the sums as much again: less than a third, with any of these seeds (measured: 0.10 to 0.27)."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, columns = sorted(range(len(shape)), key=lambda axis: shape[axis])[-2:]
        patterns = [rng.normal(0, 1, [n if axis == which else 1 for axis, n in enumerate(shape)]) for which in (rows, columns)]
        truth = 20 * patterns[0] * patterns[1] * np.ones(shape)
        expected = rng.normal(1000, 100, shape)
        found = shrunk(expected + truth + rng.normal(0, 10, shape), expected, 10)
        assert ((found - expected - truth) ** 2).mean() < 100 / 3


def test_noise_alone_is_no_pattern() -> None:
    """Largest singular value of noise: above its limit (sqrt(44) + sqrt(12)) * 10 by little, where hardly anything is kept. The sums keep
    (44 + 12 - 1) of 528 parts of its variance: 10.4 on average (measured: 8 to 13)."""
    for seed in range(5):
        found = shrunk(np.random.default_rng(seed).normal(0, 10, (44, 12)), np.zeros((44, 12)), 10)
        assert (found**2).mean() < 20  # of 100


def test_sums_of_rows_and_columns_are_as_measured() -> None:
    values, expected = np.random.default_rng(0).normal(0, 10, (2, 7, 5, 3))
    found = shrunk(values, expected, 10)
    assert not np.allclose(found, values)
    for axis in (0, 1):  # the two longest
        assert np.allclose(found.sum(axis=axis), values.sum(axis=axis))


def test_without_noise_the_table_is_as_it_was() -> None:
    values = np.random.default_rng(0).normal(0, 100, (7, 5, 3))
    assert np.allclose(shrunk(values, np.zeros_like(values), 1e-9), values)
