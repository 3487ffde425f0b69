"""Best estimates of errors that were measured with noise: each is drawn towards the others (empirical Bayes).

The tables of one release err alike: larger tables err more, and most errors are near the errors of tables of the same size. So the errors
have a log-normal prior around a line in the logarithm of the number of cells, fitted to the measured errors by the EM algorithm (Dempster,
Laird, Rubin 1977). The posterior mean is closer to the truth than the measured error, is never below 0, and moves less by luck, the more
noise there is. This holds as far as errors are alike in this way, which simulations support (`benchmarks/naming.py`); no proof rests on
this estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FEWEST = 8
"""Smallest number of errors; fewer say too little of each other."""
_ROUNDS = 30
"""Rounds of EM. Later rounds move only a prior whose spread is far below the noise, which is left somewhat too wide."""
_STEPS = 30
_NODES = np.sinh(np.arange(-4.0, 4.05, 0.1))
_BETWEEN = np.hypot(1.0, _NODES)
"""Distances between the nodes of the sum over a table's error, in deviations of its logarithm: dense around the likeliest error, and
reaching far out for a wide prior.
"""
_NARROWEST = 1e-3
"""Smallest spread of the prior, for errors that agree better than to a thousandth."""


@dataclass(frozen=True, eq=False)
class Likely:
    """The posterior distributions of k errors.

    Attributes:
        values: Possible values of each error, above 0, ascending, shape (k, nodes); in the unit of the measured errors.
        weights: Probability of each value, adding up to 1 for each error, shape (k, nodes).
    """

    values: Array
    weights: Array

    @property
    def means(self) -> Array:
        """The posterior means, which have the least expected squared error, shape (k,)."""
        return np.asarray((self.weights * self.values).sum(axis=1))

    def quantiles(self, probability: float) -> Array:
        """Return the posterior quantile of each error at `probability`, shape (k,), interpolated on a logarithmic scale."""
        reached = np.cumsum(self.weights, axis=1) - self.weights / 2
        logs = np.log(self.values)
        return np.exp([np.interp(probability, one, log) for one, log in zip(reached, logs, strict=True)])


def likely(measured: Array, sigma: Array, cells: Array) -> Likely | None:
    """Return the posterior distributions of measured errors, in their order; None for fewer than `FEWEST` (8) errors.

    Args:
        measured: Measured errors, shape (k,).
        sigma: Standard deviation of the noise of each error, in the same unit, shape (k,).
        cells: Number of cells of each table, shape (k,).
    """
    number = len(measured)
    if number < FEWEST:
        return None
    basis = np.column_stack([np.ones(number), np.log(cells) - np.log(cells).mean()])
    freedom = number - np.linalg.matrix_rank(basis)
    line = np.full(number, np.log(max(measured.mean(), sigma.mean() / np.sqrt(number))))
    spread = 1.0
    for _ in range(_ROUNDS):
        logs, weights = _posterior(measured, sigma, line, spread)
        line = basis @ np.linalg.lstsq(basis, (weights * logs).sum(axis=1), rcond=None)[0]
        spread = max(_NARROWEST, float(np.sqrt((weights * (logs - line[:, None]) ** 2).sum() / freedom)))
    logs, weights = _posterior(measured, sigma, line, spread)
    return Likely(np.exp(logs), weights)


def _posterior(measured: Array, sigma: Array, line: Array, spread: float) -> tuple[Array, Array]:
    """Return the logarithms of each error at its nodes and their probabilities, both of shape (k, nodes).

    Args:
        measured: Measured errors, shape (k,).
        sigma: Standard deviation of the noise of each error, shape (k,).
        line: Prior means of the logarithms, shape (k,).
        spread: Prior standard deviation of the logarithms.
    """
    centre = line.copy()
    for _ in range(_STEPS):  # Newton's, with a curvature that is never below 0
        error = np.exp(centre)
        slope = (measured - error) * error / sigma**2 - (centre - line) / spread**2
        bend = np.maximum(error, 2 * error - measured) * error / sigma**2 + 1 / spread**2
        centre = centre + np.clip(slope / bend, -1, 1)
    width = 1 / np.sqrt((np.exp(centre) / sigma) ** 2 + 1 / spread**2)
    logs = centre[:, None] + width[:, None] * _NODES
    fit = -(((measured[:, None] - np.exp(logs)) / sigma[:, None]) ** 2) / 2 - ((logs - line[:, None]) / spread) ** 2 / 2
    weights = _BETWEEN * np.exp(fit - fit.max(axis=1, keepdims=True))
    return logs, weights / weights.sum(axis=1, keepdims=True)
