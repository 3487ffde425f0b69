"""Compute the expected errors of simpler mechanisms for the same marginals, from the plan and the number of records.

Errors are expected shares of people in a wrong cell, as in a certificate. The noise of the Gaussian
answers and of ResidualPlanner is exact from the plan. The error of Independent depends on the data and is measured (`columns_alone`).
"""

from __future__ import annotations

import math

from dpsynth_core.mechanisms.answers.residual_planner import cell_sigma, planned
from dpsynth_core.mechanisms.rounds import least_error_shares
from dpsynth_core.privacy.residuals import sensitivity
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique
from dpsynth_core.vocabulary.workload import Workload

_MOST_PARTS = 100_000
"""Subsets of all marginals together up to which the noise of ResidualPlanner's answers is worked out: some seconds."""


def gaussian(workload: Workload, rho: float, l2: float, total: float) -> dict[Clique, float]:
    """Return by marginal the expected error of `mechanisms.gaussian` if it spends all of `rho`, as a share of records in a wrong cell.

    The error of a cell is E|noise|, and 0 for a cell that a rule of the domain excludes; the error of
    a marginal is half the sum over its cells, divided by `total`. The noise is the noise of the
    precision-weighted mean of the marginal's own answer and of the answers of its supersets in the
    workload, summed over the columns that it lacks.

    Args:
        workload: The marginals with their weights, by which rho is divided.
        rho: The budget (zCDP).
        l2: L2 sensitivity of one marginal, in records.
        total: Number of records, above 0.
    """
    cells = dict(zip(workload.cliques, workload.table_cells.tolist(), strict=True))
    variance = {r: l2**2 / (2 * share * rho) for r, share in least_error_shares(workload.domain, workload.weights).items()}
    widest = max(map(len, cells))
    errors = {}
    for r, size in cells.items():
        containing = [s for s in cells if set(r) <= set(s)] if len(r) < widest else [r]
        precision = math.fsum(size / (cells[s] * variance[s]) for s in containing)
        errors[r] = IN_WRONG_CELL * HALF_NORMAL * workload.domain.possible_cells(r) / (math.sqrt(precision) * total)
    return errors


def residual_planner(workload: Workload, rho: float, unit: Unit, total: float) -> dict[Clique, float]:
    """Return by marginal the expected error of `mechanisms.residual_planner` run with all of `rho`, as a share of people.

    The error is E|noise| summed over the possible cells, halved and divided by `total`. The dict is empty if the
    marginals have more than 100,000 subsets together, because the computation would take too long.

    Args:
        workload: The marginals with their weights.
        rho: The budget (zCDP).
        unit: The privacy unit, which gives the sensitivity.
        total: Number of records, above 0.
    """
    domain = workload.domain
    if sum(2 ** len(r) for r in workload.cliques) > _MOST_PARTS:
        return {}
    sigmas = planned(workload, lambda part, sigma: sensitivity(unit, domain.sizes(part), sigma), rho)
    per_sigma = IN_WRONG_CELL * HALF_NORMAL / total
    return {r: per_sigma * domain.possible_cells(r) * cell_sigma(domain, r, sigmas) for r in workload.cliques}
