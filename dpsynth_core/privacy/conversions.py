"""Privacy arithmetic: zCDP, Gaussian DP and (epsilon, delta); what they mean for an attacker is in `attacker`.

Pure functions of public numbers; this module knows nothing of data, mechanisms or noise. Every result errs on the safe side of
floating point (Proposition 20): a delta or an epsilon is never below its true value, a rho or a mu solved for a budget never above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy

_ROUNDING = 8 * np.finfo(float).eps
"""Relative error allowed for each term of a sum of a few operations that are correctly rounded or off by 1 ulp."""
_TINY = math.ulp(0.0)
_PRECISION = 1e-13
"""Relative width at which a bisection stops; it returns the safe end, so this costs accuracy only."""


# --- zCDP ---------------------------------------------------------------------------------------------------------------


def delta_from(rho: float, epsilon: float) -> float:
    """Return the smallest known delta such that rho-zCDP implies (epsilon, delta)-DP, rounded up.

    Canonne, Kamath and Steinke 2020, Corollary 13.

    Raises:
        ValueError: rho is not positive, or epsilon negative.
    """
    _check(0 < rho < math.inf and 0 <= epsilon < math.inf, "rho must be positive, and epsilon zero or more")
    return _exp_up(_log_delta(rho, epsilon))


@lru_cache(maxsize=4096)
def epsilon_from(rho: float, delta: float) -> float:
    """Return the smallest known epsilon such that rho-zCDP implies (epsilon, delta)-DP, rounded up.

    It is 0 where delta is so large that (0, delta)-DP holds.

    Raises:
        ValueError: rho is not positive, or delta not between 0 and 1.
    """
    _check_budget(rho, delta, "rho")
    return _smallest(lambda epsilon: delta_from(rho, epsilon) <= delta, _epsilon_of_weaker_conversion(rho, math.log(delta)))


@lru_cache(maxsize=4096)
def rho_from(epsilon: float, delta: float) -> float:
    """Return the largest known rho such that rho-zCDP implies (epsilon, delta)-DP, rounded down.

    It is the budget of a kernel under zCDP.

    Raises:
        ValueError: epsilon is not positive, or delta not between 0 and 1.
    """
    _check_budget(epsilon, delta, "epsilon")
    return _largest(lambda rho: delta_from(rho, epsilon) <= delta, _rho_of_weaker_conversion(epsilon, math.log(delta)))


def _log_delta(rho: float, epsilon: float) -> float:
    """Return ln of min over alpha > 1 of exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1 - 1/alpha)^alpha, rounded up.

    The logarithm is convex in alpha; its derivative (2 alpha - 1) rho - epsilon + ln(1 - 1/alpha) is increasing, so that bisection finds
    the minimum. The search is over t = ln(alpha - 1), because alpha - 1 spans hundreds of orders of magnitude. Every alpha gives a valid
    bound, so an inexact search is safe.
    """
    low, high = min(0.0, epsilon - 3 * rho) - 1, math.log((epsilon + 1) / rho + 2)
    for _ in range(64):
        middle = (low + high) / 2
        slope = (1 + 2 * math.exp(middle)) * rho - epsilon - _softplus(-middle)
        low, high = (middle, high) if slope < 0 else (low, middle)
    return min(0.0, _log_delta_at(high, rho, epsilon))


def _log_delta_at(t: float, rho: float, epsilon: float) -> float:
    """Return ln of the bound on delta at the order alpha = 1 + e^t, plus the largest rounding error."""
    excess = math.exp(t)
    terms = [excess * (1 + excess) * rho, -excess * epsilon]
    if t > 0:  # ln(1 + e^t) = t + ln(1 + e^-t): the large terms cancel on paper instead of in floating point
        terms += [-t, -(1 + excess) * math.log1p(1 / excess)]
    else:
        terms += [excess * t, -(1 + excess) * math.log1p(excess)]
    return math.fsum(terms) + _ROUNDING * math.fsum(map(abs, terms))


def _softplus(x: float) -> float:
    """Return ln(1 + e^x) for any x."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _epsilon_of_weaker_conversion(rho: float, log_delta: float) -> float:
    """Return rho + 2 sqrt(rho ln(1/delta)), an epsilon that is never too small, from which a search starts.

    Bun and Steinke 2016, Proposition 1.3.
    """
    return rho + 2 * math.sqrt(-rho * log_delta)


def _rho_of_weaker_conversion(epsilon: float, log_delta: float) -> float:
    """Return the rho with rho + 2 sqrt(rho ln(1/delta)) = epsilon, computed without cancellation.

    It is never too large for (epsilon, delta), so that a search starts from it.
    """
    return (epsilon / (math.sqrt(epsilon - log_delta) + math.sqrt(-log_delta))) ** 2


# --- Gaussian DP --------------------------------------------------------------------------------------------------------


def gdp_delta(mu: float, epsilon: float) -> float:
    """Return the delta for which mu-GDP implies (epsilon, delta)-DP: Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2).

    It is rounded up, and exact for one Gaussian with l2/sigma = mu (Balle and Wang 2018, Theorem
    8).

    Raises:
        ValueError: mu is not positive, or epsilon negative.
    """
    _check(0 < mu < math.inf and 0 <= epsilon < math.inf, "mu must be positive, and epsilon zero or more")
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if near < 0:  # no cancellation: the first term is above 1/2, the second below it
        log_second = epsilon - far * far / 2 + math.log(_mills(far) / math.sqrt(2 * math.pi))
        return _up(float(scipy.special.ndtr(-near)) * (1 + _ROUNDING) - math.exp(log_second) * (1 - (far * far + epsilon + 1) * _ROUNDING))
    # e^eps phi(far) = phi(near), so that delta = phi(near) * (Mills(near) - Mills(far))
    mills = _mills(near) - _mills(far) + _ROUNDING * _mills(near)
    return _exp_up(-near * near / 2 * (1 - _ROUNDING) + math.log(mills / math.sqrt(2 * math.pi)))


def gdp_mu_from(epsilon: float, delta: float) -> float:
    """Return the largest mu such that mu-GDP implies (epsilon, delta)-DP, rounded down.

    One Gaussian of sigma = l2/mu spends exactly this budget.

    Raises:
        ValueError: epsilon is not positive, or delta not between 0 and 1.
    """
    _check_budget(epsilon, delta, "epsilon")
    return _largest(lambda mu: gdp_delta(mu, epsilon) <= delta, math.sqrt(2 * rho_from(epsilon, delta)))


def gdp_epsilon_from(mu: float, delta: float) -> float:
    """Return the smallest epsilon such that mu-GDP implies (epsilon, delta)-DP, rounded up.

    Raises:
        ValueError: mu is not positive, or delta not between 0 and 1.
    """
    _check_budget(mu, delta, "mu")
    return _smallest(lambda epsilon: gdp_delta(mu, epsilon) <= delta, _epsilon_of_weaker_conversion(mu * mu / 2, math.log(delta)))


def _mills(x: float) -> float:
    """Return (1 - Phi(x)) / phi(x), without underflow for large x."""
    return math.sqrt(math.pi / 2) * float(scipy.special.erfcx(x / math.sqrt(2)))


# --- Bisection and rounding ---------------------------------------------------------------------------------------------


def _largest(allowed: Callable[[float], bool], start: float) -> float:
    """Return nearly the largest x > 0 that is allowed, found by bisection; the result itself is allowed.

    Args:
        allowed: Returns whether x is allowed; true from 0 up to some bound.
        start: A guess. The relative error of the result is at most `_PRECISION`.
    """
    low = start
    while not allowed(low):
        low /= 2
    high = 2 * low
    while allowed(high):
        low, high = high, 2 * high
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low


def _smallest(allowed: Callable[[float], bool], start: float) -> float:
    """Return nearly the smallest x >= 0 that is allowed, found by bisection; the result itself is allowed.

    Args:
        allowed: Returns whether x is allowed; true from some bound on.
        start: A guess. The relative error of the result is at most `_PRECISION`.
    """
    if allowed(0.0):
        return 0.0
    low, high = 0.0, start
    while not allowed(high):
        high *= 2
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        low, high = (low, middle) if allowed(middle) else (middle, high)
    return high


def _exp_up(x: float) -> float:
    return _up(math.exp(min(x, 0.0)))


def _up(probability: float) -> float:
    """Return a probability rounded up, never 0, because 0 would claim pure differential privacy."""
    return min(1.0, max(_TINY, probability * (1 + _ROUNDING)))


def _check(usable: bool, problem: str) -> None:
    if not usable:
        raise ValueError(problem)


def _check_budget(value: float, delta: float, name: str) -> None:
    _check(0 < value < math.inf and 0 < delta < 1, f"{name} must be positive, and delta between 0 and 1")
