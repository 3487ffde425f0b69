"""Written queries for RAP: their cells, and a form of them that a relaxed table can be fitted to, with its gradient.

A relaxed row has a distribution for each column. The relaxed answer of a query is the probability that the codes, drawn independently, add
up to the limit. That is a polynomial in the one-hot columns, linear in each of them, and equal to the query where the row is a person's
(the paper's threshold polynomial, appendix D, is the case of weights 1). It is computed from the distribution of the sum over the columns
before each one, and the probability that the columns behind it suffice: the gradient follows from both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.measurement import Clique

Columns = NDArray[np.floating[Any]]
"""Shape (columns of the one-hot space, relaxed rows)."""


@dataclass(frozen=True, eq=False)
class Halfspace:
    """A query about codes: the whole numbers that they add reach a limit.

    Attributes:
        points: By column, in the domain's order, the number that each code adds, int64 of shape (size of the column,).
        limit: The smallest sum that meets the query.
    """

    points: Mapping[str, NDArray[np.int64]]
    limit: int

    @property
    def columns(self) -> Clique:
        """The columns that the query looks at, in the domain's order."""
        return tuple(self.points)

    @property
    def table(self) -> NDArray[np.bool_]:
        """Whether a person in each cell of the table over `columns` meets the query, with one axis for each column."""
        sums = np.zeros((), dtype=np.int64)
        for points in self.points.values():
            sums = np.add.outer(sums, points)
        return np.asarray(sums >= self.limit)

    @cached_property
    def levels(self) -> tuple[NDArray[np.int64], ...]:
        """The different numbers that codes of each column add, ascending."""
        return tuple(np.unique(points) for points in self.points.values())

    @cached_property
    def ends(self) -> tuple[tuple[int, int], ...]:
        """The smallest and the largest sum over the columns before each one, and last over all."""
        ends = [(0, 0)]
        for level in self.levels:
            ends.append((ends[-1][0] + int(level[0]), ends[-1][1] + int(level[-1])))
        return tuple(ends)

    @property
    def work(self) -> int:
        """The number of multiplications for one relaxed row."""
        return sum(3 * len(level) * (high - low + 1) for level, (low, high) in zip(self.levels, self.ends, strict=False))

    def slopes(self, shares: Sequence[Columns]) -> tuple[Columns, list[Columns]]:
        """Return the relaxed answer of each row, shape (rows,), and its derivatives in `shares`, in the same form.

        Args:
            shares: For each column, by level the sum of the one-hot columns of the codes that add it, shape (levels, rows).
        """
        rows, dtype = shares[0].shape[1], shares[0].dtype
        before = [np.ones((1, rows), dtype=dtype)]
        for level, share, (low, _), (least, most) in zip(self.levels, shares, self.ends, self.ends[1:], strict=False):
            sums = np.zeros((most - least + 1, rows), dtype=dtype)
            for number, part in zip(level.tolist(), share, strict=True):
                start = low + number - least
                sums[start : start + len(before[-1])] += before[-1] * part
            before.append(sums)
        low, high = self.ends[-1]
        enough = np.repeat((np.arange(low, high + 1) >= self.limit).astype(dtype)[:, None], rows, axis=1)
        answer = (before[-1] * enough).sum(axis=0)
        derivatives = list[Columns]()
        for place in reversed(range(len(shares))):
            level, share, (low, high), (least, _) = self.levels[place], shares[place], self.ends[place], self.ends[place + 1]
            own, earlier = np.empty_like(share), np.zeros((high - low + 1, rows), dtype=dtype)
            for number, (part, of_level) in enumerate(zip(share, level.tolist(), strict=True)):
                start = low + of_level - least
                reached = enough[start : start + high - low + 1]
                own[number] = np.einsum("sn,sn->n", before[place], reached)
                earlier += part * reached
            derivatives.append(own)
            enough = earlier
        return answer, derivatives[::-1]


@dataclass(frozen=True, eq=False)
class Counts:
    """The counts of several queries, as RAP measures and fits them.

    Attributes:
        queries: The queries.
        places: By column of the domain, its position.
    """

    queries: tuple[Halfspace, ...]
    places: Mapping[str, int]

    @property
    def cells(self) -> list[tuple[Clique, NDArray[np.float64]]]:
        """For each query, its columns, and 1 for each cell of their table that meets it, else 0."""
        return [(one.columns, one.table.astype(np.float64)) for one in self.queries]

    @property
    def work(self) -> int:
        """The number of multiplications for one relaxed row."""
        return sum(one.work for one in self.queries)

    def loss(self, starts: NDArray[np.int64], targets: NDArray[np.float64], weights: NDArray[np.float64]) -> WrittenLoss:
        """Return the loss: the sum over the queries of weight * (answer - target)^2.

        Args:
            starts: First one-hot column of each attribute.
            targets: Noisy answers as fractions, shape (queries,).
            weights: Weights, shape (queries,).
        """
        return WrittenLoss(self, starts, targets, weights)


@dataclass(frozen=True, eq=False)
class WrittenLoss:
    """The sum over queries of weight * (answer - target)^2, where answers are means of the relaxed rows' answers.

    Attributes:
        counts: The queries.
        starts: First one-hot column of each attribute.
        targets: Noisy answers as fractions, shape (queries,).
        weights: Weights, shape (queries,).
    """

    counts: Counts
    starts: NDArray[np.int64]
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]

    def __call__(self, table: Columns) -> tuple[float, Columns]:
        """Return the loss and its gradient, in the table's shape and precision."""
        gradient, loss, rows = np.zeros_like(table), 0.0, table.shape[1]
        for query, target, weight in zip(self.counts.queries, self.targets.tolist(), self.weights.tolist(), strict=True):
            codes = [self._codes(query, name, level) for name, level in zip(query.points, query.levels, strict=True)]
            shares = [np.stack([table[of].sum(axis=0) for of in column]) for column in codes]
            answer, slopes = query.slopes(shares)
            gap = float(answer.mean(dtype=np.float64)) - target
            loss += weight * gap**2
            for column, slope in zip(codes, slopes, strict=True):
                for of, own in zip(column, slope, strict=True):
                    gradient[of] += own * table.dtype.type(2 * weight * gap / rows)
        return loss, gradient

    def _codes(self, query: Halfspace, name: str, levels: NDArray[np.int64]) -> list[NDArray[np.intp]]:
        """Return, by level, the one-hot columns of the codes of a column that add it."""
        start = int(self.starts[self.counts.places[name]])
        return [start + np.flatnonzero(query.points[name] == level) for level in levels]
