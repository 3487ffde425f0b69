"""One search by CP-SAT, on one thread: within a limit, and with a certificate that is checked here. Does not know what a model stands for.

The search is deterministic given model, parameters and seed unless it runs into its limit of wall time. A limit of work ends it at the
same place every time: with a proof, the answer is the one that it would have found without a limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpsynth_core.research.oracles.answer import Limit, Status

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

MAX_LITERALS = 2**21
"""Of a model of rules: the features of all distinct records together. CP-SAT takes half a kilobyte of memory for each."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """solution: a value for each variable of the model, by index; empty if the search failed.

    value, bound: of the model's objective; the bound is an upper one where it is maximised, else a lower one. seconds: wall time.
    status "optimal": CP-SAT says so and its bound is the value; a search that a gap limit ended is "feasible".
    """

    solution: Sequence[int]
    value: float
    bound: float
    status: Status
    seconds: float


def search(model: cp_model.CpModel, limit: Limit, **parameters: Any) -> SearchResult:
    """Solve a model with an integer objective. limit.gap is relative to the objective, its offset included.

    parameters: CP-SAT's own (sat_parameters.proto), its constants by name. RuntimeError for a model that CP-SAT takes for invalid.
    """
    from ortools.sat.python import cp_model  # takes a while to load, and is needed by some mechanisms only

    solver = cp_model.CpSolver()
    settings = solver.parameters
    settings.num_workers = 1
    settings.random_seed = limit.seed
    settings.max_time_in_seconds = limit.seconds
    settings.max_deterministic_time = limit.work
    settings.relative_gap_limit = limit.gap
    settings.absolute_gap_limit = 0.0
    settings.catch_sigint_signal = False  # Ctrl-C belongs to the program
    for name, value in parameters.items():
        setattr(settings, name, getattr(cp_model, value) if isinstance(value, str) else value)
    status = solver.solve(model)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"the model is not valid: {model.validate()}")
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        nothing = -math.inf if _maximises(model) else math.inf
        return SearchResult((), nothing, -nothing, "failed", solver.wall_time)
    value, bound = solver.objective_value, solver.best_objective_bound
    proved = status == cp_model.OPTIMAL and value == bound
    return SearchResult(list(solver.response_proto.solution), value, bound, "optimal" if proved else "feasible", solver.wall_time)


def _maximises(model: cp_model.CpModel) -> bool:
    return bool(model.proto.objective.scaling_factor < 0)
