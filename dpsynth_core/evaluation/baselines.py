"""What simpler ways to publish the same marginals would have cost in accuracy, from the plan and from released values only: yardsticks.

Errors are expected L1 distances to the private table as fractions of the records, like those of a certificate. The noise of the Gaussian
answers is exact from the plan alone. The error of Independent has a part that depends on the data, how far the marginals are from the
product of their columns; the published marginals stand in for the private ones there, which makes it an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpsynth_core.evaluation.quantiles import HALF_NORMAL
from dpsynth_core.measurement import Clique
from dpsynth_core.mechanisms.shares import least_error_shares
from dpsynth_core.workload import Workload

Array = NDArray[np.float64]
_NO_NOISE = 1e-150
"""Instead of 0 as a standard deviation, to divide by."""


def gaussian(workload: Workload, rho: float, l2: float, total: float) -> dict[Clique, float]:
    """Expected error of `mechanisms.gaussian` with the whole of rho: E|noise| of every cell, supersets of a marginal combined with it."""
    cells = {r: workload.domain.cells(r) for r in workload.cliques}
    variance = {r: l2**2 / (2 * share * rho) for r, share in least_error_shares(workload.domain, workload.weights).items()}
    widest = max(map(len, cells))
    errors = {}
    for r, size in cells.items():
        containing = [s for s in cells if set(r) <= set(s)] if len(r) < widest else [r]
        precision = math.fsum(size / (cells[s] * variance[s]) for s in containing)
        errors[r] = HALF_NORMAL * size / (math.sqrt(precision) * total)
    return errors


def independent(
    published: Mapping[Clique, Array], columns: Mapping[str, Array], rho: float, l2: float, total: float
) -> dict[Clique, float]:
    """Expected error of `mechanisms.independent` with the whole of rho.

    published, columns: marginals and single columns as fractions. A cell's error is normal around its distance from the product, with the
    noise of the columns to first order; E|.| of that is a folded normal mean.
    """
    sigma = l2 * math.sqrt(len(columns) / (2 * rho)) / total
    return {r: _folded_sum(table, [columns[name] for name in r], sigma) for r, table in published.items()}


def _folded_sum(table: Array, columns: list[Array], sigma: float) -> float:
    distance = table - reduce(np.multiply.outer, columns)
    spread = np.zeros(table.shape)
    for axis in range(len(columns)):
        others = [np.ones_like(c) if i == axis else c**2 for i, c in enumerate(columns)]
        spread += reduce(np.multiply.outer, others)
    deviation = np.maximum(sigma * np.sqrt(spread), _NO_NOISE)
    ratio = distance / deviation
    return float(np.sum(deviation * HALF_NORMAL * np.exp(-(ratio**2) / 2) + distance * (1 - 2 * ndtr(-ratio))))
