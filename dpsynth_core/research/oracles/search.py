"""The limit of an oracle, its answer, and one search by CP-SAT, on one thread, with a certificate that is checked here.

The search is deterministic given model, parameters and seed unless it runs into its limit of wall time. A limit of work ends it at the
same place every time: with a proof, the answer is the one that it would have found without a limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

MAX_LITERALS = 2**21
"""Of a model of rules: the features of all distinct records together. CP-SAT takes half a kilobyte of memory for each."""


Status = Literal["optimal", "feasible", "failed"]
"""optimal: proved; feasible: found within the limit, without a proof; failed: nothing was found."""


@dataclass(frozen=True)
class Limit:
    """When an oracle stops without a proof. seconds: of wall time, for one problem. gap: stop once bound - value <= gap * |value|; 0 asks
    for a proof. work: the same as seconds in CP-SAT's deterministic time, a second each on a fast machine: where it ends a search before
    `seconds` does, the same problem has the same answer on every machine. seed: of the solver."""

    seconds: float = 10.0
    gap: float = 0.0
    work: float = math.inf
    seed: int = 0

    def __post_init__(self) -> None:
        if not (self.seconds > 0 and 0 <= self.gap < math.inf and self.work > 0 and 0 <= self.seed < 2**31):
            raise ValueError("a limit needs positive seconds and work, a gap of at least 0, and a seed that fits 31 bits")
        if min(self.seconds, self.work) == math.inf:
            raise ValueError("a limit has to end every search")

    @classmethod
    def of_work(cls, work: float) -> Limit:
        """A limit of work alone: the answer depends on no clock."""
        return cls(seconds=math.inf, work=work)


@dataclass(frozen=True, eq=False)
class Solution:
    """A record, codes of shape (attributes,), that makes a problem's `value` large. bound: no possible record is worth more; inf without a
    bound. A failed answer has no codes (shape (0,)) and value -inf."""

    codes: NDArray[np.int32]
    value: float
    bound: float
    status: Status

    @property
    def certified(self) -> bool:
        """Whether the solver proved it optimal, for a problem that differs from ours by rounding only: then `gap` is that rounding."""
        return self.status == "optimal"

    @property
    def gap(self) -> float:
        return max(self.bound - self.value, 0.0)

    def to_json(self) -> dict[str, Any]:
        return vars(self) | {"codes": self.codes.tolist()}

    @classmethod
    def from_json(cls, obj: dict[str, Any]) -> Solution:
        return cls(**obj | {"codes": np.array(obj["codes"], dtype=np.int32)})

    @classmethod
    def failed(cls, bound: float) -> Solution:
        return cls(np.zeros(0, dtype=np.int32), -math.inf, bound, "failed")


@dataclass(frozen=True, eq=False)
class SearchResult:
    """solution: a value for each variable of the model, by index; empty if the search failed. bound: of the model's objective, an upper one
    where it is maximised, else a lower one. status "optimal": CP-SAT says so and its bound is the value; a search that
    a gap limit ended is "feasible"."""

    solution: Sequence[int]
    bound: float
    status: Status


def search(model: cp_model.CpModel, limit: Limit, **parameters: Any) -> SearchResult:
    """Solve a model with an integer objective. limit.gap is relative to the objective, its offset included. parameters: CP-SAT's own
    (sat_parameters.proto), its constants by name. RuntimeError for a model that CP-SAT takes for invalid."""
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
        unbounded = math.inf if model.proto.objective.scaling_factor < 0 else -math.inf  # negative where it is maximised
        return SearchResult((), unbounded, "failed")
    bound = solver.best_objective_bound
    proved = status == cp_model.OPTIMAL and solver.objective_value == bound
    return SearchResult(list(solver.response_proto.solution), bound, "optimal" if proved else "feasible")
