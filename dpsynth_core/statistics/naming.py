"""Bounds of errors by which tables are named good or not: they hold for 95 of 100 tables, and luck names few by them.

With noise of s, a bound "measured + 1.64 s" holds for 95 of 100 tables, and names those whose noise was luckiest. Here a limit is excluded
where a worse table would look as good as this one did at most `failure` times as often as a perfect table does: the CLs rule (Read 2002),
Proposition 23. It names no table whose noise is much larger than the limit, and its bounds are above 0. Among the named alone fewer would
hold, the fewer are named: so their bounds are worked out with a smaller `failure`, up to the limit itself (`claims.certificate`). How many
of the named are wrong depends on how many tables are good, and was measured (`benchmarks/naming.py`).

All numbers are in records. What is measured is d + Z: Z is normal noise of `sigma`, and d is off the true distance by `folded` |G| at most,
G standard normal, because the number of records is uncertain (`totals`); of a table without error it is just that far off.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.statistics.quantiles import FEW_PANELS, PANELS, half_normal_nodes

Array = NDArray[np.float64]
LIMIT = 0.1
"""Share of people in a wrong cell up to which a table is good enough, unless somebody has another limit."""
MOSTLY = 0.8
"""A group of tables is good enough if this share of them is."""
_STEPS = 30
_TOGETHER = 64
"""Distances that are looked at together: as many as a processor's nearest caches hold."""
_PRECISION = 1e-9
"""Of a quantile, in standard deviations."""
_STEEPEST = 300.0
"""Logarithm of the longest of these steps per unit of logarithm: far beyond any that does not leave the ends between which z is."""
_LEAST_NOISE = 1 / 20
"""Noise counts as at least this share of `folded`: the nodes of |G| tell no less apart, and more noise makes a bound larger."""


def surely_below(measured: Array, sigma: float, folded: Array | float, failure: float) -> Array:
    """Return an upper bound of the true distance for each measured distance, by the CLs rule.

    Args:
        measured: Measured distances, in records, shape (k,).
        sigma: Standard deviation of the noise of a distance, in records.
        folded: Standard deviation of the further error due to the uncertain number of records, in
            records: one for all or one per distance.
        failure: Probability that a bound fails, at most.

    Returns:
        Bounds above 0, in records, shape (k,).
    """
    if len(measured) > _TOGETHER:
        some = [slice(start, start + _TOGETHER) for start in range(0, len(measured), _TOGETHER)]
        beside = [folded[part] if isinstance(folded, np.ndarray) else folded for part in some]
        return np.concatenate([surely_below(measured[i], sigma, off, failure) for i, off in zip(some, beside, strict=True)])
    off, mass = _beside(folded, sigma)
    noise = np.broadcast_to(np.maximum(sigma, _LEAST_NOISE * np.asarray(folded)), measured.shape)
    perfect = _log_mean(scipy.special.log_ndtr((measured[:, None] - off) / noise[:, None]), mass)
    return np.asarray(measured - _quantiles(perfect + math.log(failure), noise, off, mass))


def surely_above(measured: Array, sigma: float, folded: Array | float, failure: float, most: Array | float) -> Array:
    """Return a lower bound of the true distance for each measured distance, in records, shape (k,); it may be below 0.

    It is `most` minus the upper bound of `most` minus the distance (`surely_below`).

    Args:
        measured: Measured distances, in records, shape (k,).
        sigma: Standard deviation of the noise of a distance, in records.
        folded: Standard deviation of the further error due to the uncertain number of records, in records.
        failure: Probability that a bound fails, at most.
        most: The largest possible distance of a table, in records: one for all or one per distance.
    """
    return np.asarray(most - surely_below(most - measured, sigma, folded, failure))


def _quantiles(log_probability: Array, sigma: Array, off: Array, mass: Array) -> Array:
    """Return z with ln P(Z - folded |G| <= z) = log_probability, one per distance, by Newton's method.

    The function is concave. All steps but the first come from below, and none goes beyond the z for
    a folded |G| of 0 or of the largest node.

    Args:
        log_probability: Logarithms of the probabilities, shape (k,).
        sigma: Standard deviations of Z, shape (k,).
        off: Values of folded |G| at its nodes (`_beside`).
        mass: Weights of the nodes.
    """
    z = highest = np.asarray(sigma * scipy.special.ndtri_exp(log_probability))
    lowest = highest - off.max(axis=-1)
    for _ in range(_STEPS if off.any() else 0):
        scaled = (z[:, None] + off) / sigma[:, None]
        value, density = _log_mean(scipy.special.log_ndtr(scaled), mass), _log_mean(-(scaled**2) / 2, mass)
        pace = np.exp(np.minimum(value - density, _STEEPEST)) * math.sqrt(2 * math.pi) * sigma
        before, z = z, np.clip(z - (value - log_probability) * pace, lowest, highest)
        if (np.abs(z - before) <= _PRECISION * sigma).all():
            break
    return z


def _log_mean(logs: Array, mass: Array) -> Array:
    """Return ln of the weighted mean of exp(logs) over the last axis; several times as fast as SciPy's `logsumexp`.

    Args:
        logs: The logarithms.
        mass: Weight of each entry of the last axis.
    """
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top) @ mass) + top[..., 0])


def _beside(folded: Array | float, sigma: float) -> tuple[Array, Array]:
    """Return nodes of folded |G|, and their weights in a mean over G standard normal.

    Args:
        folded: Standard deviation of the error, one for all distances or one per distance.
        sigma: Standard deviation of the noise; fewer nodes suffice if `folded` is much smaller.

    Returns:
        The values of folded |G|, with the nodes as last axis, and the weights of the nodes.
    """
    panels = FEW_PANELS if np.max(folded) <= sigma / 2 else PANELS
    nodes, mass = half_normal_nodes(panels) if np.any(folded) else (np.zeros(1), np.ones(1))
    return np.multiply.outer(folded, nodes), mass
