"""The limit of an oracle, and its answer: a solution, its value, and an upper bound on the value of every solution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Status = Literal["optimal", "feasible", "failed"]
"""optimal: proved; feasible: found within the limit, without a proof; failed: nothing was found."""


@dataclass(frozen=True)
class Limit:
    """When an oracle stops without a proof.

    seconds: of wall time, for one problem.  gap: stop once bound - value <= gap * |value|; 0 asks for a proof.
    work: the same as seconds in CP-SAT's deterministic time, a second each on a fast machine: where it ends a search before `seconds`
    does, the same problem has the same answer on every machine.  seed: of the solver.
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
        """A limit of work alone: the answer depends on no clock."""
        return cls(seconds=math.inf, work=work)


@dataclass(frozen=True, eq=False)
class Solution:
    """A record, codes of shape (attributes,), that makes a problem's `value` large.

    bound: no possible record is worth more; inf without a bound.  seconds: wall time.
    A failed answer has no codes (shape (0,)) and value -inf.
    """

    codes: NDArray[np.int32]
    value: float
    bound: float
    status: Status
    seconds: float

    @property
    def certified(self) -> bool:
        """Whether the solver proved it optimal, for a problem that differs from ours by rounding only: then `gap` is that rounding."""
        return self.status == "optimal"

    @property
    def gap(self) -> float:
        """By how much the best record could be better, at most."""
        return max(self.bound - self.value, 0.0)

    def to_json(self) -> dict[str, Any]:
        return vars(self) | {"codes": self.codes.tolist()}

    @classmethod
    def from_json(cls, obj: dict[str, Any]) -> Solution:
        return cls(**obj | {"codes": np.array(obj["codes"], dtype=np.int32)})

    @classmethod
    def failed(cls, bound: float, seconds: float) -> Solution:
        return cls(np.zeros(0, dtype=np.int32), -math.inf, bound, "failed", seconds)
