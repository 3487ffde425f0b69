"""The record oracle that tries every record, one problem at a time: the truth that tests compare with. `exhaustion` is for use."""

from __future__ import annotations

import math

import numpy as np

from dpsynth_core.extensions.research.oracles.records.problem import RecordProblem
from dpsynth_core.extensions.research.oracles.search import Solution
from dpsynth_core.foundation.errors import CapacityError

MAX_RECORDS = 2_000_000
_AT_ONCE = 20_000


def brute_force(problem: RecordProblem) -> Solution:
    """The best record by exhaustion. CapacityError above MAX_RECORDS records."""
    records = problem.queries.records
    number = math.prod(records.sizes)
    if number > MAX_RECORDS:
        raise CapacityError("domain", f"it has {number:,} different records, too many to try them all", "use another oracle")
    best = Solution.failed(-math.inf)
    for first in range(0, number, _AT_ONCE):
        places = np.unravel_index(np.arange(first, min(first + _AT_ONCE, number)), records.sizes)
        codes = np.stack(places, axis=1).astype(np.int32)
        codes = codes[records.possible(codes)]
        values = problem.values(codes)
        if len(values) and values.max() > best.value:
            top = float(values.max())
            best = Solution(codes[values.argmax()], top, top, "optimal")
    return best
