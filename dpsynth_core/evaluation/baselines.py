"""What simpler ways to publish the same marginals would have cost in accuracy, from the plan and from released values only: yardsticks.

Errors are expected shares of people in a wrong cell, like those of a certificate. The noise of the Gaussian
answers and of ResidualPlanner's is exact from the plan alone. The error of Independent has a part that depends on the data, how far the
marginals are from the product of their columns; the published marginals stand in for the private ones there, which makes it an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpsynth_core.evaluation.distances import IN_WRONG_CELL
from dpsynth_core.mechanisms.answers.residual_planner import cell_sigma, planned
from dpsynth_core.mechanisms.shares import least_error_shares
from dpsynth_core.privacy.residuals import sensitivity
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique
from dpsynth_core.vocabulary.workload import Workload

Array = NDArray[np.float64]
_SURE = 1e3
_NO_NOISE = 1e-150
"""Instead of 0 as a standard deviation, to divide by."""
_FITTING_ROUNDS = 20
_MOST_PARTS = 100_000
"""Subsets of all marginals together up to which the noise of ResidualPlanner's answers is worked out: some seconds."""


def gaussian(workload: Workload, rho: float, l2: float, total: float) -> dict[Clique, float]:
    """Expected error of `mechanisms.gaussian` with the whole of rho: E|noise| of every cell that is possible, supersets of a marginal
    combined with it."""
    cells = {r: workload.domain.cells(r) for r in workload.cliques}
    variance = {r: l2**2 / (2 * share * rho) for r, share in least_error_shares(workload.domain, workload.weights).items()}
    widest = max(map(len, cells))
    errors = {}
    for r, size in cells.items():
        containing = [s for s in cells if set(r) <= set(s)] if len(r) < widest else [r]
        precision = math.fsum(size / (cells[s] * variance[s]) for s in containing)
        errors[r] = IN_WRONG_CELL * HALF_NORMAL * workload.domain.possible_cells(r) / (math.sqrt(precision) * total)
    return errors


def residual_planner(workload: Workload, rho: float, unit: Unit, total: float) -> dict[Clique, float]:
    """Expected error of `mechanisms.residual_planner` with the whole of rho: E|noise| of every cell that is possible. Empty for a workload
    with more than _MOST_PARTS subsets of marginals."""
    domain = workload.domain
    if sum(2 ** len(r) for r in workload.cliques) > _MOST_PARTS:
        return {}
    sigmas = planned(workload, lambda part, sigma: sensitivity(unit, domain.sizes(part), sigma), rho)
    per_sigma = IN_WRONG_CELL * HALF_NORMAL / total
    return {r: per_sigma * domain.possible_cells(r) * cell_sigma(domain, r, sigmas) for r in workload.cliques}


def independent(
    domain: Domain, published: Mapping[Clique, Array], columns: Mapping[str, Array], rho: float, l2: float, total: float
) -> dict[Clique, float]:
    """Expected error of `mechanisms.independent` with the whole of rho.

    published, columns: marginals and single columns as fractions. A cell's error is normal around its distance from the product, with the
    noise of the columns to first order; E|.| of that is a folded normal mean. Columns agree in the number of rows, which takes an n-th of
    the variance of each of n cells. Impossible cells have none, and the product is then the distribution nearest to it without them that
    has the same columns.
    """
    sigma = l2 * math.sqrt(len(columns) / (2 * rho)) / total
    return {r: _folded_sum(table, [columns[name] for name in r], sigma, domain.impossible_cells(r)) for r, table in published.items()}


def _folded_sum(table: Array, columns: list[Array], sigma: float, impossible: NDArray[np.bool_] | None) -> float:
    distance = table - _product(columns, impossible)
    spread = np.zeros(table.shape)
    for axis in range(len(columns)):
        others = [np.full_like(c, 1 - 1 / c.size) if i == axis else c**2 for i, c in enumerate(columns)]
        spread += reduce(np.multiply.outer, others)
    if impossible is not None:
        spread[impossible] = 0.0
    deviation = np.maximum(sigma * np.sqrt(spread), _NO_NOISE)
    ratio = np.clip(distance / deviation, -_SURE, _SURE)  # squares of larger ones are no numbers, and the noise hides nothing there
    return IN_WRONG_CELL * float(np.sum(deviation * HALF_NORMAL * np.exp(-(ratio**2) / 2) + distance * (1 - 2 * ndtr(-ratio))))


def _product(columns: list[Array], impossible: NDArray[np.bool_] | None) -> Array:
    """The product of the columns; with impossible cells, by iterative proportional fitting of what is left of it."""
    product = np.asarray(reduce(np.multiply.outer, columns))
    if impossible is None:
        return product
    product = np.where(impossible, 0.0, product)
    for _ in range(_FITTING_ROUNDS):
        for axis, column in enumerate(columns):
            now = project(product, range(product.ndim), (axis,))
            factor = np.divide(column, now, out=np.zeros_like(column), where=now > 0)
            product = product * factor.reshape([-1 if i == axis else 1 for i in range(product.ndim)])
    return product
