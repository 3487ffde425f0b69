"""Slow and literal: what the relaxed tables are compared with."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Doubles = NDArray[np.float64]


def simplex_projection(values: Doubles) -> Doubles:
    """The nearest distribution to one vector: the root of sum max(values - tau, 0) = 1."""
    tau = brentq(lambda t: np.maximum(values - t, 0).sum() - 1, values.min() - 1, values.max(), xtol=1e-14)
    return np.maximum(values - tau, 0)


def at_least(factors: Doubles, threshold: int) -> Doubles:
    """Chance that at least `threshold` of k independent events happen; factors: shape (k, ...)."""
    total = np.zeros(factors.shape[1:])
    for happen in itertools.product((0, 1), repeat=len(factors)):
        if sum(happen) >= threshold:
            total += np.prod([f if h else 1 - f for f, h in zip(factors, happen, strict=True)], axis=0)
    return total


def finite_differences(function: Callable[[Doubles], float], place: Doubles, step: float = 1e-5) -> Doubles:
    """Gradient by a central difference of the fourth order."""
    gradient = np.zeros_like(place)
    for index in np.ndindex(place.shape):
        values = []
        for shift in (-2, -1, 1, 2):
            moved = place.copy()
            moved[index] += shift * step
            values.append(function(moved))
        gradient[index] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
    return gradient


