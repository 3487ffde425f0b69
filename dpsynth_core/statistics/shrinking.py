"""The best estimates of errors that were measured with noise: each is drawn towards what the others say (empirical Bayes).

The tables of one release err alike: those with more cells err more, and most errors are near those of tables as large. So the errors get
a prior, log-normal around a line in the logarithm of the number of cells, which is fitted to what was measured by the EM algorithm
(Dempster, Laird, Rubin 1977). What Bayes' rule then says of each error is closer to the truth than what was measured, is never below 0, and
is not moved by luck as much: the more noise, the less. It holds as far as errors are alike in this way, which simulations support
(`benchmarks/naming.py`); no proof rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FEWEST = 8
"""With fewer errors they say too little of each other."""
_ROUNDS = 30
"""Of EM. Later ones move only a prior whose spread is far below the noise; it is left somewhat too wide then."""
_STEPS = 30
_NODES = np.sinh(np.arange(-4.0, 4.05, 0.1))
_BETWEEN = np.hypot(1.0, _NODES)
"""Where the error of a table is summed over, in deviations of its logarithm, and how far apart the nodes are there: close around the
likeliest error, and far out to where noise leaves a wide prior."""
_NARROWEST = 1e-3
"""The prior's spread is no smaller: errors that agree better than to a thousandth."""


@dataclass(frozen=True, eq=False)
class Likely:
    """What is likely of each error: values[i, j] with probability weights[i, j], in the order of the values."""

    values: Array
    weights: Array

    @property
    def means(self) -> Array:
        """The estimates with the least squared error."""
        return np.asarray((self.weights * self.values).sum(axis=1))

    def quantiles(self, probability: float) -> Array:
        reached = np.cumsum(self.weights, axis=1) - self.weights / 2
        logs = np.log(self.values)
        return np.exp([np.interp(probability, one, log) for one, log in zip(reached, logs, strict=True)])


def likely(measured: Array, sigma: Array, cells: Array) -> Likely | None:
    """Of errors measured with such noise each, of tables with so many cells; None for fewer than `FEWEST`."""
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
    """Logarithms of each error around the likeliest one, and how likely each is. line, spread: mean and deviation of their prior."""
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
