"""The meaning of a guarantee for an attacker who tests whether one person is in the table.

The measure is the best trade-off between members identified (true positives) and others wrongly accused (false positives).

Pure functions of public numbers. All curves are upper bounds: no test does better, with any knowledge and any computation. They hold for an
attacker who knows every other record; an attacker who knows less does worse.

A run is accounted by zCDP or by GDP (`accountant`); each has its own curves here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]
"""False-positive and true-positive rates, both increasing from 0 to 1."""

_ORDERS = 1 + np.geomspace(1e-4, 1e6, 400)
"""Rényi orders that are tried. Any set of orders is safe: each one only excludes impossible tests."""
_SLACK = 1e-12
"""Relative rounding allowed for a divergence before it counts as too large."""
_HALVINGS = 45
RATES = np.unique(np.concatenate([np.linspace(0, 1, 101), np.geomspace(1e-6, 1, 100), [0.01, 0.1]]))
"""False-positive rates at which curves are drawn, 1 % and 10 % among them. Shared: do not write to it."""
RATES.flags.writeable = False
_ALL = 1 - 1e-9
"""False-positive rate from which on the largest true-positive rate counts as 1, because floating point has little precision above it."""


@dataclass(frozen=True)
class Reading:
    """A budget as the odds of an attacker; all three numbers are upper bounds.

    Attributes:
        at_1: Share of members identified (true-positive rate) when 1 % of others are wrongly
            accused.
        at_10: Share of members identified when 10 % of others are wrongly accused.
        guess: Probability that a guess about one person's presence is right, if it was 1/2 before.
    """

    at_1: float
    at_10: float
    guess: float


def zcdp_power(rho: float, fpr: NDArray[np.float64], slack: float = 0.0) -> NDArray[np.float64]:
    """Return the largest true-positive rates of membership tests under slack-approximate rho-zCDP.

    Proposition 21: tpr <= slack + (1 - slack) * power(fpr / (1 - slack)), where both Rényi
    divergences of the test's outcomes are at most alpha * rho.

    Args:
        rho: Parameter of zCDP.
        fpr: False-positive rates of the tests, from 0 to 1, shape (rates,).
        slack: The delta of steps whose guarantee fails with that probability.

    Returns:
        True-positive rates from 0 to 1, shape (rates,).

    Raises:
        ValueError: rho is not positive, or slack no probability below 1.
    """
    if not 0 < rho < math.inf or not 0 <= slack < 1:
        raise ValueError("rho must be positive, slack a probability below 1")
    return np.minimum(1.0, slack + (1 - slack) * _power(rho, np.minimum(1.0, fpr / (1 - slack))))


def _power(rho: float, fpr: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `zcdp_power` for a slack of 0."""
    inside = (fpr > 0) & (fpr < _ALL)
    low, high = fpr[inside], np.ones(inside.sum())
    for _ in range(_HALVINGS):  # tpr = 1 is impossible for fpr < 1: one of the divergences is infinite
        middle = (low + high) / 2
        possible = _possible(rho, fpr[inside], middle)
        low, high = np.where(possible, middle, low), np.where(possible, high, middle)
    tpr = np.where(fpr > 0, 1.0, 0.0)
    tpr[inside] = high
    return tpr


def _possible(rho: float, fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> NDArray[np.bool_]:
    limit = _ORDERS * rho * (1 + _SLACK) + _SLACK
    return np.asarray(((_divergences(tpr, fpr) <= limit) & (_divergences(fpr, tpr) <= limit)).all(axis=1))


def _divergences(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Rényi divergences D_alpha(Bernoulli(p) || Bernoulli(q)) for all orders alpha in `_ORDERS`.

    Args:
        p: Probabilities strictly between 0 and 1, shape (rates,).
        q: Probabilities strictly between 0 and 1, shape (rates,).

    Returns:
        Shape (rates, orders).
    """
    yes, no = (np.log(a)[:, None] * _ORDERS + np.log(b)[:, None] * (1 - _ORDERS) for a, b in ((p, q), (1 - p, 1 - q)))
    return np.logaddexp(yes, no) / (_ORDERS - 1)


def zcdp_least(fpr: NDArray[np.float64], tpr: NDArray[np.float64], slack: float = 0.0) -> NDArray[np.float64]:
    """Return the smallest rho whose slack-approximate zCDP allows a test with these rates: the inverse of `zcdp_power`.

    Args:
        fpr: False-positive rates from 0 to 1, shape (rates,).
        tpr: True-positive rates from 0 to 1, shape (rates,).
        slack: The delta of steps whose guarantee fails with that probability.

    Returns:
        One rho per pair of rates; 0 where tpr <= fpr, inf where no finite rho allows the test.
    """
    low, high = np.minimum(1.0, fpr / (1 - slack)), np.maximum(0.0, (tpr - slack) / (1 - slack))
    least = np.where(high > low, np.inf, 0.0)  # a rate of 0 or 1 that the other world does not share
    inside = (high > low) & (low > 0) & (high < 1)
    p, q = high[inside], low[inside]
    least[inside] = (np.maximum(_divergences(p, q), _divergences(q, p)) / _ORDERS).max(axis=1) if inside.any() else 0.0
    return least


def gdp_power(mu: float, fpr: NDArray[np.float64], distance: float = 0.0) -> NDArray[np.float64]:
    """Return the largest true-positive rates of membership tests under mu-GDP: Phi(Phi^-1(fpr) + mu).

    A single Gaussian attains them (Dong, Roth and Su 2022, 2.2).

    Args:
        mu: Parameter of GDP.
        fpr: False-positive rates, from 0 to 1.
        distance: Largest total variation, over all tables, between the release and one that
            satisfies mu-GDP. Each rate of a test moves by at most this distance.

    Returns:
        True-positive rates from 0 to 1, shaped like `fpr`.

    Raises:
        ValueError: mu is not positive, or distance no probability below 1.
    """
    if not 0 < mu < math.inf or not 0 <= distance < 1:
        raise ValueError("mu must be positive, distance a probability below 1")
    reached = scipy.special.ndtr(scipy.special.ndtri(np.minimum(1.0, fpr + distance)) + mu)
    return np.minimum(1.0, reached * (1 + _SLACK) + distance)


def gdp_least(fpr: NDArray[np.float64], tpr: NDArray[np.float64], distance: float = 0.0) -> NDArray[np.float64]:
    """Return the smallest mu whose GDP allows a test with these rates: the inverse of `gdp_power` for mu.

    Args:
        fpr: False-positive rates from 0 to 1.
        tpr: True-positive rates from 0 to 1, of the same shape.
        distance: Total variation between the release and one that satisfies mu-GDP.

    Returns:
        One mu per pair of rates; 0 where tpr <= fpr, inf where no finite mu allows the test.
    """
    low, high = np.minimum(1.0, fpr + distance), np.maximum(0.0, tpr - distance)
    least = np.zeros(np.shape(low))
    apart = high > low
    least[apart] = scipy.special.ndtri(high[apart]) - scipy.special.ndtri(low[apart])
    return least


@lru_cache(maxsize=128)
def gdp_reading(mu: float, distance: float = 0.0) -> Reading:
    """Return the meaning of mu-GDP for an attacker in three numbers from 0 to 1 (`Reading`).

    The best guess is at the point of the curve where tpr = 1 - fpr = Phi(mu / 2).

    Args:
        mu: Parameter of GDP.
        distance: Total variation between the release and one that satisfies mu-GDP.

    Raises:
        ValueError: mu is not positive, or distance no probability below 1.
    """
    at_1, at_10 = gdp_power(mu, np.array([0.01, 0.1]), distance).tolist()
    return Reading(at_1, at_10, min(1.0, float(scipy.special.ndtr(mu / 2)) * (1 + _SLACK) + distance))


def tradeoff(epsilon: float, delta: float, points: int = 200) -> Curve:
    """Return false-positive rates and the largest true-positive rates under (epsilon, delta)-DP.

    tpr <= min(e^eps fpr + delta, 1 - e^-eps (1 - delta - fpr), 1): Kairouz, Oh and Viswanath 2015,
    Theorem 2.1. delta = 0 is allowed here.

    Args:
        epsilon: Epsilon, 0 or more.
        delta: Delta, 0 or more.
        points: Number of evenly spaced false-positive rates, and of logarithmically spaced ones;
            the corners of the curve are added.

    Raises:
        ValueError: Epsilon or delta is negative or not finite.
    """
    if not (0 <= epsilon < math.inf and 0 <= delta < math.inf):
        raise ValueError("epsilon and delta must be zero or more")
    corner = (1 - delta) / (1 + math.exp(min(epsilon, 700.0)))
    fpr = np.unique(np.concatenate([np.linspace(0, 1, points), np.geomspace(1e-6, 1, points), [corner, 1 - delta]]))
    with np.errstate(over="ignore", invalid="ignore"):
        rising = np.where(fpr > 0, np.exp(epsilon) * fpr, 0.0) + delta
    falling = 1 - math.exp(-epsilon) * (1 - delta - fpr)
    return fpr, np.minimum(1.0, np.minimum(rising, falling))


def posterior_odds(epsilon: float, delta: float, prior: float = 0.5) -> float:
    """Return the largest probability of guessing a person's presence right after seeing the release.

    It is a number from 0 to 1 and not odds: the maximum of prior * tpr + (1 - prior) * (1 - fpr) over
    the trade-off curve of (epsilon, delta)-DP, which is reached at one of its corners.

    Args:
        epsilon: Epsilon, 0 or more.
        delta: Delta, 0 or more.
        prior: Probability of presence that the guesser assumed before.

    Raises:
        ValueError: A parameter is out of range.
    """
    fpr, tpr = tradeoff(epsilon, delta, points=2)
    if not 0 <= prior <= 1:
        raise ValueError("prior is a probability")
    return float(np.max(prior * tpr + (1 - prior) * (1 - fpr)))


@lru_cache(maxsize=128)
def zcdp_reading(rho: float, slack: float = 0.0) -> Reading:
    """Return the meaning of slack-approximate rho-zCDP for an attacker in three numbers from 0 to 1 (`Reading`).

    Args:
        rho: Parameter of zCDP.
        slack: The delta of steps whose guarantee fails with that probability.

    Raises:
        ValueError: rho is not positive, or slack no probability below 1.
    """
    at_1, at_10 = zcdp_power(rho, np.array([0.01, 0.1]), slack).tolist()
    return Reading(at_1, at_10, min(1.0, slack + (1 - slack) * _guess(rho)))


def _guess(rho: float) -> float:
    """Return the largest probability (1 + tpr - fpr) / 2 of a right guess under rho-zCDP, from prior 1/2.

    Tests with tpr = 1 - fpr suffice (Proposition 21).
    """
    low, high = np.array([0.5]), np.array([1.0])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _possible(rho, 1 - middle, middle).all() else (low, middle)
    return float(high[0])
