"""The limit of an oracle, its answer, and one search by CP-SAT, on one thread, with a certificate that is checked here.

The search is deterministic given model, parameters and seed unless it runs into its limit of wall time. A limit of work ends it at the
same place every time: with a proof, the answer is the one that it would have found without a limit.
"""

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
"""Largest number of literals of a model of rules: the features of all distinct records together. CP-SAT takes half a kilobyte for each."""


Status = Literal["optimal", "feasible", "failed"]
"""optimal: proved; feasible: found within the limit, without a proof; failed: nothing was found."""


@dataclass(frozen=True)
class Limit:
    """The limit of a search without a proof.

    Attributes:
        seconds: Wall time for one problem, in seconds; infinity for no limit of time.
        gap: Stop once bound - value <= gap * |value|; 0 asks for a proof.
        work: CP-SAT's deterministic time, about a second each on a fast machine. If it ends a search before `seconds` does, the same
            problem has the same answer on every machine.
        seed: Seed of the solver.

    Raises:
        ValueError: A number is out of range, or neither `seconds` nor `work` is finite.
    """

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
        """Return a limit of work without a limit of time, so that the answer is the same on every machine.

        Args:
            work: CP-SAT's deterministic time, about a second per unit on a fast machine.

        Raises:
            ValueError: The work is not above 0 and finite.
        """
        return cls(seconds=math.inf, work=work)


@dataclass(frozen=True, eq=False)
class Solution:
    """A record that makes a problem's value large.

    Attributes:
        codes: The record, shape (attributes,); shape (0,) after a failed search.
        value: Its value, in the unit of the queries' weights; -inf after a failed search.
        bound: Upper bound of the value of every possible record, or inf.
        status: optimal, feasible or failed.
    """

    codes: NDArray[np.int32]
    value: float
    bound: float
    status: Status

    @property
    def certified(self) -> bool:
        """True if the status is optimal: the solver proved that no record is better, by more than `gap`.

        The gap is not 0 where the solver's objective was rounded.
        """
        return self.status == "optimal"

    @property
    def gap(self) -> float:
        """The distance from the value to the upper bound of all records, at least 0; inf without a bound and after a failed search."""
        return max(self.bound - self.value, 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the fields codes (a list), value, bound and status by name; the numbers may be infinite."""
        return vars(self) | {"codes": self.codes.tolist()}

    @classmethod
    def from_json(cls, obj: dict[str, Any]) -> Solution:
        """Return the solution whose fields `to_json` wrote."""
        return cls(**obj | {"codes": np.array(obj["codes"], dtype=np.int32)})

    @classmethod
    def failed(cls, bound: float) -> Solution:
        """Return the result of a search that found no record.

        Args:
            bound: Upper bound of the value of every possible record, or inf.
        """
        return cls(np.zeros(0, dtype=np.int32), -math.inf, bound, "failed")


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search.

    Attributes:
        solution: Value of each variable of the model, by index; empty if the search failed.
        bound: Bound of the objective: an upper one where it is maximised, else a lower one.
        status: "optimal" if CP-SAT says so and its bound equals the value; "feasible" if a gap limit ended the search.
    """

    solution: Sequence[int]
    bound: float
    status: Status


def search(model: cp_model.CpModel, limit: Limit, **parameters: Any) -> SearchResult:
    """Solve a CP-SAT model with an integer objective on one thread.

    A search that finds no solution, also because none exists, has the status "failed", no values
    and the bound inf if the objective is maximised, -inf if it is minimised.

    Args:
        model: The model; not changed.
        limit: The limits and the seed; limit.gap is relative to the objective with its offset.
        **parameters: Further parameters of CP-SAT (sat_parameters.proto). A text is the name of a
            constant of the module `cp_model`.

    Raises:
        RuntimeError: CP-SAT considers the model invalid.
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
        unbounded = math.inf if model.proto.objective.scaling_factor < 0 else -math.inf  # negative where it is maximised
        return SearchResult((), unbounded, "failed")
    bound = solver.best_objective_bound
    proved = status == cp_model.OPTIMAL and solver.objective_value == bound
    return SearchResult(list(solver.response_proto.solution), bound, "optimal" if proved else "feasible")
