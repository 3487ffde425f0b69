"""Quantiles that error bounds are made of: sums of absolute normal noise, the largest of many, and noise beside an uncertain total.

Pure numerics in units of a standard deviation; nothing here knows data. The kernel's noise is normal noise rounded to whole numbers. Its
standard deviation, rounding included, is `Measurement.deviation`: with it noise is sub-Gaussian (a test looks), so that what follows from
moments holds; the exact quantiles of normal sums hold for it up to the rounding to whole people.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.vocabulary.measurement import HALF_NORMAL

_HALF_NORMAL_DEVIATION = math.sqrt(1 - 2 / math.pi)
_TAIL = 1e-8
"""Largest neglected part of the integral over a characteristic function, whose tail is long where it has few terms."""
_STEP = 0.05
_REACH = 12.0
"""Standard deviations beyond which no probability of interest lies."""
PANELS, FEW_PANELS = 64, 12
"""Numbers of panels for means over |X|, for any function and for one as smooth as the normal distribution function of |X| / 2: exact to
1e-12.
"""


def normal(confidence: float) -> float:
    """Return the quantile of the standard normal distribution at probability `confidence`."""
    return float(scipy.special.ndtri(confidence))


@lru_cache(maxsize=4096)
def absolute_sum(terms: int, confidence: float) -> float:
    """Return the quantile of |X_1| + ... + |X_n| for independent standard normal X, by inverting the characteristic function.

    E exp(it|X|) = w(t / sqrt 2) with the Faddeeva function w; the inversion follows Gil-Pelaez. The absolute error is below 1e-6 standard
    deviations of the sum. One and two terms have closed forms (the contour of two terms is a square whose sides are independent normals).

    Args:
        terms: Number of terms n.
        confidence: Probability of the quantile.
    """
    if terms == 1:
        return normal((1 + confidence) / 2)
    if terms == 2:
        return math.sqrt(2) * normal((1 + math.sqrt(confidence)) / 2)
    deviation = math.sqrt(terms) * _HALF_NORMAL_DEVIATION
    # |w(z)| is at most about 1 / (sqrt(pi) z): beyond `reach` the integral of |w(t / deviation / sqrt 2)|^terms / t is below _TAIL
    reach = max(40.0, math.sqrt(2 / math.pi) * deviation * (1 / (terms * _TAIL)) ** (1 / terms))
    t = _STEP * (np.arange(math.ceil(reach / _STEP)) + 0.5)
    # the sum minus its mean, over its deviation; a power of a whole number, so that the branch of the logarithm does not matter
    characteristic = np.exp(terms * np.log(scipy.special.wofz(t / deviation / math.sqrt(2))) - 1j * t * (terms * HALF_NORMAL / deviation))

    def excess(x: float) -> float:
        return 0.5 - _STEP / math.pi * float(np.sum((np.exp(-1j * t * x) * characteristic).imag / t)) - confidence

    lowest = -terms * HALF_NORMAL / deviation
    from scipy.optimize import brentq  # a quarter of a second, which reading a spec need not wait for

    return terms * HALF_NORMAL + deviation * float(brentq(excess, max(-_REACH, lowest), _REACH, xtol=1e-9))


def largest_positive_parts(
    cells: int, chosen: NDArray[np.float64], deviation: float, spread: float, confidence: float
) -> NDArray[np.float64]:
    """Return bounds on the sum of the `chosen` largest of max(0, Z_1), ..., max(0, Z_n), each with this confidence, shape (k,).

    The mean is at most m t + n E(Z - t)+ for every t >= 0, smallest at n deviation phi(t / deviation) with P(Z > t) = m / n. The sum is a
    sqrt(m)-Lipschitz function, so it exceeds its mean by spread sqrt(2 m ln(1 / alpha)) with probability alpha at most.

    Args:
        cells: Number n of jointly normal Z with mean 0.
        chosen: Numbers m of summed parts, shape (k,).
        deviation: Standard deviation of each Z.
        spread: Root of the largest eigenvalue of the covariance of Z.
        confidence: Probability, below 1, with which each bound holds.
    """
    t = scipy.special.ndtri(1 - np.minimum(chosen / cells, 0.5))
    mean = cells * deviation * np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(mean + spread * np.sqrt(2 * chosen * math.log(1 / (1 - confidence))))


@lru_cache(maxsize=4096)
def margin(sigma: float, folded: float, count: int, confidence: float) -> float:
    """Return the smallest b with P(max(Z_1, ..., Z_count) + |G| <= b) >= confidence, in the unit of `sigma`.

    Args:
        sigma: Standard deviation of each Z, above 0.
        folded: Standard deviation of G; 0 without G. Z and G are normal and independent.
        count: Number of Z.
        confidence: Probability with which the bound holds.
    """
    if folded == 0:
        return sigma * normal(confidence ** (1 / count))
    g, mass = half_normal_nodes()

    def excess(b: float) -> float:
        return float(np.sum(mass * scipy.special.ndtr((b - folded * g) / sigma) ** count)) - confidence

    from scipy.optimize import brentq  # a quarter of a second, which reading a spec need not wait for

    return float(brentq(excess, -_REACH * sigma, _REACH * (sigma + folded), rtol=1e-12))


@lru_cache(maxsize=2)
def half_normal_nodes(panels: int = PANELS) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes x and weights w such that sum(w f(x)) is the mean of f(|X|) for standard normal X.

    It is Gauss-Legendre quadrature on panels from 0 to 12. Both arrays have shape (8 panels,). They are kept and
    returned again, so the caller must not change them.

    Args:
        panels: Number of panels of eight nodes each.
    """
    nodes, weights = np.polynomial.legendre.leggauss(8)
    width = _REACH / panels
    g = (np.arange(panels)[:, None] + (nodes + 1) / 2) * width
    mass = np.broadcast_to(weights * width / 2, g.shape) * 2 * np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi)
    return g.ravel(), mass.ravel()
