"""The record oracle on HiGHS, SciPy's solver of mixed integer programs: a second opinion on CP-SAT, in floating point.

The constraints are those of `cpsat`. HiGHS takes weights and perturbation as they are, and proves optimality within its tolerances
(1e-6 on each constraint): what it calls optimal is a strong hint, and no certificate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint
from scipy.optimize import milp as highs

from dpsynth_core.extensions.research.oracles.records.presolve import Reduced, reduce
from dpsynth_core.extensions.research.oracles.records.problem import NO_COLUMN, RecordProblem
from dpsynth_core.extensions.research.oracles.search import Limit, Solution

_OPTIMAL = 0
_Row = tuple[list[int], list[float], float, float]
"""Variables, coefficients, lower and upper limit of a sum."""


def milp(problem: RecordProblem, limit: Limit | None = None) -> Solution:
    """The best record as HiGHS finds it. limit: seconds, and a gap relative to the value less the negated weights; no work, no seed."""
    limit = limit or Limit(math.nextafter(math.inf, 0))
    reduced = reduce(problem.queries)
    costs, values = reduced.costs(problem.linear)
    objective = np.concatenate([costs, -reduced.queries.weights])
    options = {"time_limit": limit.seconds, "mip_rel_gap": limit.gap}
    result = highs(objective, constraints=_constraints(reduced), integrality=1, bounds=Bounds(0, 1), options=options)
    constant = reduced.queries.constant
    bound = reduced.ceiling(costs) if result.mip_dual_bound is None else constant - result.mip_dual_bound
    if result.x is None:
        return Solution.failed(bound)
    codes = values[np.flatnonzero(result.x[: reduced.size] > 0.5)]
    value = problem.value(codes)
    proved = result.status == _OPTIMAL and limit.gap == 0
    return Solution(codes, value, max(bound, value), "optimal" if proved else "feasible")


def _constraints(reduced: Reduced) -> LinearConstraint:
    rows = list(_rows(reduced))
    where = np.repeat(np.arange(len(rows)), [len(variables) for variables, *_ in rows])
    variables = np.concatenate([row[0] for row in rows])
    coefficients = np.concatenate([row[1] for row in rows])
    shape = (len(rows), reduced.size + len(reduced.literals))
    lower, upper = (np.array([row[i] for row in rows]) for i in (2, 3))
    return LinearConstraint(sparse.csr_array((coefficients, (where, variables)), shape=shape), lower, upper)


def _rows(reduced: Reduced) -> Iterator[_Row]:
    """One option of each attribute; what is impossible; families; when a query counts."""
    for block in reduced.blocks():
        yield list(block), [1.0] * len(block), 1.0, 1.0
    for clause in reduced.clauses():
        premise, then = len(clause.premise), len(clause.then)
        yield [*clause.premise, *clause.then], [-1.0] * premise + [1.0] * then, 1.0 - premise, math.inf
    for family in reduced.families():
        shared = len(family.shared)
        variables = [*family.shared, *family.outside, *(reduced.size + query for query in family.queries)]
        yield variables, [-1.0] * shared + [1.0] * (len(variables) - shared), 1.0 - shared, math.inf
    for i, (numbers, threshold, weight) in enumerate(
        zip(reduced.literals.tolist(), reduced.queries.thresholds.tolist(), reduced.queries.weights, strict=True)
    ):
        counts, literals = reduced.size + i, [number for number in numbers if number != NO_COLUMN]
        if weight < 0:
            yield [*literals, counts], [1.0] * len(literals) + [threshold - 1.0 - len(literals)], -math.inf, threshold - 1.0
        elif threshold == len(literals):  # one row for each literal: a tighter relaxation than their sum
            for literal in literals:
                yield [literal, counts], [1.0, -1.0], 0.0, math.inf
        else:
            yield [*literals, counts], [1.0] * len(literals) + [-float(threshold)], 0.0, math.inf
