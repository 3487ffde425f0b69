"""The record oracle for small domains: every possible record is tried for all draws of a round at once. Exact, and needs no process."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsynth_core.research.oracles.records.problem import Codes, RecordProblem, Records
from dpsynth_core.research.oracles.search import Limit, Solution

MAX_RECORDS = 5_000
"""Up to this many, trying all records is faster than a solver."""


@dataclass(frozen=True, eq=False)
class Exhaustion:
    """Answers as `pool.Pool` does. possible: all possible records, shape (m, attributes)."""

    possible: Codes

    @classmethod
    def of(cls, records: Records) -> Exhaustion:
        """ValueError above MAX_RECORDS records."""
        if not fits(records):
            raise ValueError("too many records to try them all")
        places = np.unravel_index(np.arange(math.prod(records.sizes)), records.sizes)
        codes = np.stack(places, axis=1).astype(np.int32)
        return cls(codes[records.possible(codes)])

    def solve_many(self, problems: Sequence[RecordProblem], limit: Limit) -> list[Solution]:  # noqa: ARG002
        """The best record of each problem, in order, the first of equally good ones. What problems share is computed once."""
        started = time.perf_counter()
        worth = {id(problem.queries): problem.queries.worth(self.possible) for problem in problems}
        best = []
        for problem in problems:
            values = worth[id(problem.queries)].copy()
            for attribute, costs in enumerate(problem.linear):
                values -= costs[self.possible[:, attribute]]
            best.append((int(values.argmax()), float(values.max())))
        seconds = (time.perf_counter() - started) / max(1, len(problems))
        return [Solution(self.possible[place], value, value, "optimal", seconds) for place, value in best]


def fits(records: Records) -> bool:
    """Whether a domain is small enough."""
    return math.prod(records.sizes) <= MAX_RECORDS
