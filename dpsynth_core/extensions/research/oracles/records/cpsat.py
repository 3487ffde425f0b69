"""The record oracle on CP-SAT: one Boolean for each option of each attribute, and one for each distinct query.

One option of each attribute is taken. A query of positive weight may count only if enough of its options are taken; one of negative
weight must count if they are (what the objective pushes for needs no constraint). The model depends on the queries of a round alone, and
each draw puts its perturbation into the objective.

CP-SAT maximises whole numbers: weights and perturbation are multiplied by a power of two and rounded, so a certified answer is a best one
for the rounded problem. Every record's value changes by at most `rounding` on the way, which is part of the stated bound: the
value of the best record is at most `bound`, rounding included, so that a certified answer has a gap of at most twice `rounding`. Where
all numbers are whole (multiplicities, a perturbation on a grid), nothing is rounded and the gap is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.records.climbing import Climber
from dpsynth_core.extensions.research.oracles.records.presolve import Options, Reduced, reduce
from dpsynth_core.extensions.research.oracles.records.problem import NO_COLUMN, Linear, RecordProblem, SignedQueries
from dpsynth_core.extensions.research.oracles.search import Limit, Solution, Status, search

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

OBJECTIVE_BITS = 40
"""Bits of a scaled objective: exact as a float, and far from the end of CP-SAT's 64 bits."""

PARAMETERS = {
    "linearization_level": 2,
    "search_branching": "LP_SEARCH",
    "cut_level": 0,
    "cp_model_probing_level": 0,
    "symmetry_level": 0,
    "max_presolve_iterations": 1,
}
"""The full linear relaxation proves optimality here: with less of it proofs take many times as long. Branching by the relaxation
without cuts helps where proofs are hard, and a short presolve where they are easy. Times: `docs/accuracy.md`."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """The objective of one draw in whole numbers.

    Attributes:
        weights: Weight of each query, times `scale`, rounded.
        costs: Cost of each option, times `scale`, rounded.
        scale: A power of two; 1 if all numbers are whole.
        rounding: Largest difference between the rounded value of a record, divided by `scale`, and
            its true value.
    """

    weights: NDArray[np.int64]
    costs: NDArray[np.int64]
    scale: float
    rounding: float


def rounded(reduced: Reduced, costs: NDArray[np.float64]) -> Rounded:
    """Return the objective of one draw in whole numbers.

    It is exact, with scale 1, if all weights and costs are whole numbers.

    Args:
        reduced: The reduced problem.
        costs: Cost of each option in this draw, shape (options of all attributes,).
    """
    weights = reduced.queries.weights
    firsts = reduced.starts[:-1]
    total = float(np.abs(weights).sum() + reduced.queries.constant + np.maximum.reduceat(np.abs(costs), firsts).sum())
    whole = total < 2.0**OBJECTIVE_BITS and bool((np.rint(weights) == weights).all() and (np.rint(costs) == costs).all())
    scale = 1.0 if whole else 2.0 ** (OBJECTIVE_BITS - math.frexp(total)[1])
    scaled_weights, scaled_costs = np.rint(weights * scale), np.rint(costs * scale)
    off = np.maximum.reduceat(np.abs(scaled_costs / scale - costs), firsts)  # one option of each attribute is taken
    rounding = float(np.abs(scaled_weights / scale - weights).sum() + off.sum())
    return Rounded(scaled_weights.astype(np.int64), scaled_costs.astype(np.int64), scale, rounding)


class CpSatOracle:
    """The CP-SAT model of one set of queries, built once for all draws of a round. Not for several threads at a time.

    Args:
        queries: The queries.
    """

    def __init__(self, queries: SignedQueries) -> None:
        self._queries = queries
        self._reduced = reduce(queries)
        self._climber = Climber(self._reduced)
        self._model = _model(self._reduced)

    def answer(self, linear: Linear, limit: Limit) -> Solution:
        """Search for the best record under one perturbation.

        CP-SAT starts from the record that a local search finds. Without a proof, the better record
        of both searches is returned.

        Args:
            linear: Cost of each value of each attribute, in the unit of the queries' weights.
            limit: Limit of the search; its seed is also the seed of the local search.

        Returns:
            The solution, whose bound includes the rounding of the objective; a failed one if
            neither search found a record.
        """
        costs, values = self._reduced.costs(linear)
        objective = rounded(self._reduced, costs)
        start = self._climber.climb(costs, np.random.default_rng(limit.seed))
        target = self._model.proto.objective  # the negated sum is minimised
        target.coeffs.clear()
        target.coeffs.extend(np.concatenate([objective.costs, -objective.weights]).tolist())
        target.offset = -self._reduced.queries.constant * objective.scale
        self._start_from(start)
        result = search(self._model, limit, **PARAMETERS)
        chosen = np.flatnonzero(result.solution[: self._reduced.size])
        bound = min(result.bound / objective.scale + objective.rounding, self._reduced.ceiling(costs))
        records = [values[options] for options in (chosen, start) if options is not None and len(options)]
        if not records:
            return Solution.failed(bound)
        problem = RecordProblem(self._queries, linear)
        codes = records[0] if result.status == "optimal" else max(records, key=problem.value)
        value = problem.value(codes)
        status: Status = "optimal" if result.status == "optimal" else "feasible"
        return Solution(codes, value, max(bound, value), status)

    def _start_from(self, options: Options | None) -> None:
        """Set the model's hint to a record, with a value for every variable, as CP-SAT requires.

        Args:
            options: The option of each attribute; None for no hint.
        """
        self._model.clear_hints()
        if options is None:
            return
        chosen = np.zeros(self._reduced.size + 1, dtype=bool)  # the last one stands for NO_COLUMN
        chosen[options] = True
        holds = chosen[self._reduced.literals].sum(axis=1) >= self._reduced.queries.thresholds
        hint = self._model.proto.solution_hint
        hint.vars.extend(range(len(chosen) - 1 + len(holds)))
        hint.values.extend([*chosen[:-1].astype(int).tolist(), *holds.astype(int).tolist()])


def _model(reduced: Reduced) -> cp_model.CpModel:
    """Return the model of a reduced problem; its objective has coefficients of 1 until a draw sets them.

    Its variables are the options, then the queries.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    options = [model.new_bool_var("") for _ in range(reduced.size)]
    for block in reduced.blocks():
        model.add_exactly_one(options[block.start : block.stop])
    for clause in reduced.clauses():
        model.add_bool_or([*(~options[i] for i in clause.premise), *(options[i] for i in clause.then)])
    counted = []
    queries = zip(reduced.literals.tolist(), reduced.queries.thresholds.tolist(), reduced.queries.weights.tolist(), strict=True)
    for numbers, threshold, weight in queries:
        counts = model.new_bool_var("")
        literals = [options[i] for i in numbers if i != NO_COLUMN]
        (_only_if if weight > 0 else _if)(model, counts, literals, threshold)
        counted.append(counts)
    for family in reduced.families():
        outside = [options[i] for i in family.outside]
        model.add_bool_or([*(~options[i] for i in family.shared), *outside, *(counted[i] for i in family.queries)])
    model.maximize(cp_model.LinearExpr.sum(options + counted))
    return model


def _only_if(model: cp_model.CpModel, counts: Any, literals: Sequence[Any], threshold: int) -> None:
    """Add the constraint that the query counts only if at least `threshold` of its literals hold."""
    if threshold == len(literals):
        for literal in literals:
            model.add_implication(counts, literal)
    elif threshold == 1:
        model.add_bool_or([~counts, *literals])
    else:
        model.add(sum(literals) >= threshold * counts)


def _if(model: cp_model.CpModel, counts: Any, literals: Sequence[Any], threshold: int) -> None:
    """Add the constraint that the query counts if at least `threshold` of its literals hold."""
    if threshold == len(literals):
        model.add_bool_or([counts, *(~literal for literal in literals)])
    elif threshold == 1:
        for literal in literals:
            model.add_implication(literal, counts)
    else:
        model.add(sum(literals) <= threshold - 1 + (len(literals) - threshold + 1) * counts)
