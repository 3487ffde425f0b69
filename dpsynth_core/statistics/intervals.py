"""Measured errors with their bounds, and confidence intervals of ratios of noisy numbers. Pure numerics."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONFIDENCE = 0.95
LUCKY = math.sqrt(2 * math.log(1 / (1 - CONFIDENCE)))
"""Upper bound, in deviations, of an error that was measured as 0. No smaller limit is ever kept."""


@dataclass(frozen=True)
class Interval:
    """A measured error with its two bounds, all in the same unit.

    Attributes:
        error: The measured error; NaN where nothing is known.
        at_least: Lower bound of the true error.
        at_most: Upper bound of the true error; infinite where nothing is known.
    """

    error: float
    at_least: float
    at_most: float


@dataclass(frozen=True)
class Noisy:
    """A measured number with the standard deviation of its noise; 0 for an exact number."""

    value: float
    sigma: float


def fieller(above: float, below: float, covariances: tuple[float, float, float], reach: float) -> tuple[float, float]:
    """Return the confidence interval (low, high) of the ratio of two sums measured with normal noise (Fieller 1954).

    The interval holds every t for which above - t below is within `reach` standard deviations of 0. It is (-inf, inf) if `below` does
    not exceed its noise.

    Args:
        above: Measured numerator.
        below: Measured denominator.
        covariances: Var(above), Cov(above, below), Var(below) of the noise.
        reach: Number of standard deviations.
    """
    own, both, under = (reach**2 * one for one in covariances)
    curvature = below**2 - under
    if below <= 0 or curvature <= 0:
        return -math.inf, math.inf
    middle = above * below - both
    root = math.sqrt(max(0.0, under * above**2 + curvature * own + both * (both - 2 * above * below)))
    return (middle - root) / curvature, (middle + root) / curvature


def fraction(count: Noisy, people: Noisy, reach: float) -> tuple[float, float]:
    """Return the confidence interval (low, high) of count / people for independent noises.

    It is (-inf, inf) if the number of people does not exceed its noise.

    Args:
        count: Measured numerator.
        people: Measured denominator.
        reach: Half width of the interval in standard deviations, such as 1.96.
    """
    return fieller(count.value, people.value, (count.sigma**2, 0.0, people.sigma**2), reach)
