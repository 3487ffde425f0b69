"""Which queries can be far from an answer at all, judged by noisy columns: a selection need not include the others.

A selection among millions of queries of which nearly all are nearly empty mostly finds noise: the largest of m noises is about ln(m) scales
above zero. A cell is no larger than the smallest of its columns. Knows released values only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.research.vocabulary.queries import QueryClass


def out_of_reach(
    queries: QueryClass, columns: Mapping[str, NDArray[np.float64]], least: float, keep: int, most: int = 20_000_000
) -> NDArray[np.int64]:
    """Numbers of the queries whose counts are below `least`, judged by the counts of single columns; ascending. At least `keep` queries
    stay in reach, the ones with the largest bounds. In a class of more than `most` queries all of them do: a list would be too long."""
    if queries.size > most:
        return np.zeros(0, dtype=np.int64)
    bounds = np.concatenate(
        [_largest([columns[name] for name in clique], queries.threshold or len(clique)).reshape(-1) for clique in queries.cliques]
    )
    if keep >= queries.size:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(bounds < min(least, float(np.partition(bounds, -keep)[-keep])))


def _largest(columns: Sequence[NDArray[np.float64]], threshold: int) -> NDArray[np.float64]:
    """The largest possible count of each cell of a marginal, or of records that agree with it in `threshold` columns. Such a record agrees
    in one of any k - threshold + 1 columns, so the count is at most the sum of the smallest k - threshold + 1 column counts."""
    k = len(columns)
    shaped = np.broadcast_arrays(*(column.reshape([-1 if i == j else 1 for j in range(k)]) for i, column in enumerate(columns)))
    if threshold == k:
        return np.asarray(np.minimum.reduce(shaped))
    return np.asarray(np.sort(np.stack(shaped), axis=0)[: k - threshold + 1].sum(axis=0))
