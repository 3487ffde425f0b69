"""The randomness of releases, from OpenDP and the operating system. The noise of tests is in `seeded_noise`.

Noise is added to integers and returns integers: no floating-point trace of the private value survives. This module knows nothing of
sensitivities or budgets; the kernel states the scale.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from opendp import domains, measurements, measures, metrics  # its prelude would load scikit-learn
from opendp.mod import Domain, Measurement, enable_features

from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.privacy import lattice
from dpsynth_core.privacy.view import Integers

enable_features("contrib")

_WORD = 64
"""Number of bits of a word; at most as many coins are tossed together."""


class OpenDPNoise:
    """Exact samplers from OpenDP on the operating system's randomness, about 10 microseconds per draw.

    Each run needs an object of its own, because draws are counted (see `gaussian`).
    """

    private = True

    def __init__(self) -> None:
        self._draws = 0

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        """Return values + rounded normal noise of standard deviation sigma, independently per entry, as whole numbers.

        Args:
            values: Whole numbers of any shape, which is the result's shape too.
            sigma: Standard deviation of the noise, in units of the values.

        Raises:
            BudgetExceeded: This object has drawn more than `lattice.MOST_DRAWS` numbers, up to
                which the distance from normal noise is proved.
            ValueError: sigma is not positive, or 2^58 or more.
        """
        self._draws += values.size
        if self._draws > lattice.MOST_DRAWS:
            raise BudgetExceeded(f"more than {lattice.MOST_DRAWS:,} noisy numbers were asked for, and the guarantee is for fewer")
        b = lattice.bits(sigma)
        fine = measurements.make_gaussian(_vectors(), metrics.l2_distance(T="f64"), scale=math.ldexp(sigma, b))
        return np.asarray(values + lattice.rounded(_drawn(fine, np.zeros(values.shape, dtype=np.int64)), b))

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """Return values + discrete Laplace noise of this scale, independently per entry: whole numbers, shaped like `values`."""
        return _drawn(measurements.make_laplace(_vectors(), metrics.l1_distance(T="i64"), scale=scale), values)

    def noisy_max(self, scores: Integers, scale: float) -> int:
        """Return the index, from 0, of the largest score + Gumbel(scale); `scale` is in units of the scores."""
        return int(_noisy_max(scale)(np.ascontiguousarray(scores, dtype=np.int64)))

    def uniform(self, size: int) -> int:
        """Return a whole number from 0 to size - 1, each with the same probability."""
        return secrets.randbelow(size)

    def bernoulli_exp(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        """Return, for each exponent x >= 0, True with probability exp(-x), independently and exactly: shape (exponents,).

        Canonne, Kamath and Steinke 2020, Algorithm 1. OpenDP contains this sampler but does not
        export it.
        """
        return np.array([_bernoulli_exp(x) for x in exponents], dtype=np.bool_)

    def halved(self, counts: Integers) -> Integers:
        """Return, for each entry, the number of heads among that many fair coins; each coin is one random bit."""
        few = np.minimum(counts, _WORD - 1).astype(np.uint64)
        words = np.frombuffer(secrets.token_bytes(8 * counts.size), dtype=np.uint64).reshape(counts.shape)
        heads = np.bitwise_count(words & ((np.uint64(1) << few) - np.uint64(1))).astype(np.int64)
        for i in np.flatnonzero(counts >= _WORD):
            heads.flat[i] = secrets.randbits(int(counts.flat[i])).bit_count()
        return heads


def _bernoulli_exp(x: Fraction) -> bool:
    """Return True with probability exp(-x), for a fraction x >= 0, using whole numbers only.

    For x above 1, floor(x) draws of exp(-1) and one of the rest must all be True. For x up to 1,
    draw events of probability x/1, x/2, x/3, ... until one does not happen, the K-th: Pr[K odd] = 1
    - x + x^2/2! - ... = exp(-x).
    """
    if x > 1:
        return all(_bernoulli_exp(Fraction(1)) for _ in range(math.floor(x))) and _bernoulli_exp(x - math.floor(x))
    k = 1
    while secrets.randbelow(x.denominator * k) < x.numerator:
        k += 1
    return k % 2 == 1


@lru_cache(maxsize=16)  # many draws at one scale; building it costs as much as a short draw
def _noisy_max(scale: float) -> Measurement:
    return measurements.make_noisy_max(_vectors(), metrics.linf_distance(T="i64"), measures.zero_concentrated_divergence(), scale=scale)


def _vectors() -> Domain:
    return domains.vector_domain(domains.atom_domain(T="i64"))


def _drawn(measurement: Measurement, values: Integers) -> Integers:
    """Return the outcome of an OpenDP measurement on an array, in the array's shape.

    The array is flattened for one call, because OpenDP takes and returns flat vectors.
    """
    if values.size == 0:
        return values.copy()
    flat = np.ascontiguousarray(values, dtype=np.int64).ravel()
    return np.asarray(measurement(flat), dtype=np.int64).reshape(values.shape)
