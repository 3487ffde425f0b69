"""Values that were not listed: noisy counts of a column's texts, of which only those are released that reach a threshold (Proposition 5).

A record has one key (`vocabulary.keys`). Each key that some record has gets its count + Z, rounded normal noise of sigma, and is released
if that is at least T. With m rows per person, T >= m + 1, Pr[Z >= T - m] <= delta and m Pr[Z >= T - 1] <= delta. Since a discrete Gaussian
is k or more no likelier than a normal is k - 1 or more, Pr[Z >= t] <= Phi(-(t - 1) / sigma) for t >= 1 (Canonne, Kamath and Steinke 2020).
"""

from __future__ import annotations

import math
from functools import lru_cache

import scipy

_ROUNDING = 1e-9
"""Allowance for the error of a logarithm of a probability, far above that of log_ndtr."""


@lru_cache(maxsize=256)
def threshold(sigma: float, delta: float, rows: int) -> int:
    """Return the smallest threshold T on noisy numbers of records that Proposition 5 allows.

    A text is released only if its noisy number of records is at least T.

    Args:
        sigma: Standard deviation of the noise, in records.
        delta: Probability with which the guarantee may fail, below 1/2.
        rows: Largest number of rows per person.

    Raises:
        ValueError: A value is out of range.
    """
    if not (0 < sigma < math.inf and 0 < delta < 0.5 and rows >= 1):
        raise ValueError("sigma must be positive, delta a probability below one half, rows 1 or more")
    start = max(rows + 1, math.floor(max(rows - sigma * float(scipy.special.ndtri_exp(math.log(delta))), 0.0)) - 1)
    while not _hides(start, sigma, delta, rows):
        start += 1
    return start


def _hides(t: int, sigma: float, delta: float, rows: int) -> bool:
    limit = math.log(delta) - _ROUNDING
    return max(_log_tail(t - rows, sigma), math.log(rows) + _log_tail(t - 1, sigma)) <= limit


def _log_tail(t: int, sigma: float) -> float:
    """Return ln of an upper bound on Pr[Z >= t] for rounded normal noise Z of sigma and a whole number t >= 1."""
    return float(scipy.special.log_ndtr(-(t - 1) / sigma))
