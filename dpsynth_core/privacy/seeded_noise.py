"""Noise that can be repeated, by NumPy: for tests and demonstrations. A release that was made with it is branded "not private"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.view import Integers


class SeededNoise:
    """Repeatable noise from a seed, not private: for tests and demonstrations on invented people only.

    Args:
        seed: Seed of the noise; the same calls with the same seed give the same noise.
    """

    private = False

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        """Return values + rounded normal noise of standard deviation sigma, independently per entry: whole numbers."""
        return np.asarray(values + np.rint(self._rng.normal(0.0, sigma, values.shape)).astype(np.int64))

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """Return values + discrete Laplace noise of this scale, independently per entry."""
        # the difference of two geometric variables; -expm1(-1/scale) is the probability of a success
        first, second = self._rng.geometric(-math.expm1(-1 / scale), (2, *values.shape))
        return np.asarray(values + first - second)

    def noisy_max(self, scores: Integers, scale: float) -> int:
        """Return the index, from 0, of the largest score + Gumbel(scale); `scale` is in units of the scores."""
        return int(np.argmax(scores + self._rng.gumbel(0.0, scale, scores.shape)))

    def uniform(self, size: int) -> int:
        """Return a whole number from 0 to size - 1, each with the same probability."""
        return int(self._rng.integers(size))

    def bernoulli_exp(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        """Return, for each exponent x >= 0, True with probability exp(-x), independently."""
        return np.asarray(self._rng.random(len(exponents)) < np.exp([-float(x) for x in exponents]))

    def halved(self, counts: Integers) -> Integers:
        """Return, for each entry, the number of heads among that many fair coins."""
        return np.asarray(self._rng.binomial(counts, 0.5), dtype=np.int64)
