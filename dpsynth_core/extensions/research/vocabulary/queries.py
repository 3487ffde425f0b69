"""Counting queries: the cells of a workload's marginals as one numbered class, and its thresholds "at least t of these columns agree".

Public vocabulary of the mechanisms that work with single queries instead of whole marginals. It knows the domain, the workload, and the
tables and rows that callers pass; it does not know whether those are private. A class may have millions of queries: it is never laid out as
a matrix of queries by records, and rows are only ever compared with the queries that they satisfy.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import at_least
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

Numbers = NDArray[np.int64]
"""Numbers of queries in their class, ascending unless stated otherwise."""

_HITS_AT_ONCE = 2_000_000
"""Number of pairs of a row and a satisfied query in memory at a time: 16 MB."""


@dataclass(frozen=True)
class Query:
    """The query "at least `threshold` of these columns have these values".

    Attributes:
        clique: The columns.
        values: Their codes, in the same order.
        threshold: Smallest number of columns that agree.
        columns: Positions of `clique` in the domain, counted from 0.
    """

    clique: Clique
    values: tuple[int, ...]
    threshold: int
    columns: tuple[int, ...]

    def of(self, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return a mask of the rows that satisfy the query, shape (rows,).

        Args:
            codes: Codes of the rows, shape (rows, attributes of the domain).
        """
        agree = (codes[:, list(self.columns)] == np.array(self.values, dtype=codes.dtype)).sum(axis=1)
        return np.asarray(agree >= self.threshold)


@dataclass(frozen=True, eq=False)
class QueryClass:
    """The counting queries of marginals, numbered 0 .. size - 1: marginal by marginal, the cells of each in C order.

    Cell y of marginal r is the query "all columns of r equal y" or, with a threshold t, "at least t
    of the columns of r equal y".

    Attributes:
        domain: The domain.
        cliques: The marginals, each by its columns in domain order.
        threshold: The t of all queries, at most the number of columns of the smallest marginal;
            None for all columns.

    Raises:
        ValueError: A marginal is missing, empty or not in domain order, or the threshold is out of
            range.
    """

    domain: Domain
    cliques: tuple[Clique, ...]
    threshold: int | None = None

    def __post_init__(self) -> None:
        if not self.cliques or any(not clique or self.domain.clique(clique) != clique for clique in self.cliques):
            raise ValueError("a class of queries needs marginals, each named by columns in domain order")
        if self.threshold is not None and not 1 <= self.threshold <= min(map(len, self.cliques)):
            raise ValueError("a threshold is at least 1 and at most the number of columns")

    @classmethod
    def of(cls, workload: Workload) -> QueryClass:
        """Return the counting queries of a workload, with the workload's threshold."""
        return cls(workload.domain, workload.cliques, workload.threshold)

    @property
    def size(self) -> int:
        """The number of queries."""
        return self._starts[-1]

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return (0, *accumulate(map(self.domain.cells, self.cliques)))

    @cached_property
    def _place(self) -> dict[Clique, int]:
        return {clique: i for i, clique in enumerate(self.cliques)}

    def block(self, clique: Clique) -> slice:
        """Return the slice of the class's numbers, from 0, that belong to the queries of one marginal.

        Raises:
            KeyError: The marginal is not in the class.
        """
        place = self._place[clique]
        return slice(self._starts[place], self._starts[place + 1])

    def query(self, number: int) -> Query:
        """Return the query with this number.

        Raises:
            IndexError: The number is not from 0 to size - 1.
        """
        if not 0 <= number < self.size:
            raise IndexError(f"there is no query {number}")
        place = bisect_right(self._starts, number) - 1
        clique = self.cliques[place]
        values = np.unravel_index(number - self._starts[place], self.domain.sizes(clique))
        columns = tuple(self.domain.position(name) for name in clique)
        return Query(clique, tuple(map(int, values)), self.threshold or len(clique), columns)

    def counts(self, marginals: Mapping[Clique, NDArray[Any]]) -> NDArray[Any]:
        """Return the answers to all queries of the class, in the order of their numbers, shape (size,).

        Sums of integers are exact.

        Args:
            marginals: The table of each marginal, of counts or of fractions; the answers have its
                unit.
        """
        return np.concatenate([at_least(marginals[clique], self.threshold or len(clique)).ravel() for clique in self.cliques])

    def hits(self, codes: NDArray[np.int32]) -> tuple[Numbers, NDArray[np.int64]]:
        """Return the queries that any row satisfies, with the number of rows that satisfy each query.

        Without a threshold this takes rows * marginals steps. A threshold is satisfied by many
        rows, so that a pass over the whole class is needed in addition.

        Args:
            codes: Codes of the rows, shape (rows, attributes of the domain).

        Returns:
            The numbers of the queries, ascending, and the number of rows for each, at least 1; two empty arrays without rows.
        """
        if not self.overlapping and len(codes) * len(self.cliques) <= min(_HITS_AT_ONCE, self.size):
            numbers, times = np.unique(self.cells(codes), return_counts=True)
            return numbers, times.astype(np.int64)
        # one counter for each query: three times as fast, for a thousand rows, as one `released.of_codes` after the other
        cells = np.zeros(self.size, dtype=np.int64)
        for part in np.array_split(codes, math.ceil(len(codes) * len(self.cliques) / _HITS_AT_ONCE) or 1):
            cells += np.bincount(self.cells(part).ravel(), minlength=self.size)
        if self.overlapping:
            cells = self.counts({clique: cells[self.block(clique)].reshape(self.domain.sizes(clique)) for clique in self.cliques})
        numbers = np.flatnonzero(cells)
        return numbers, cells[numbers]

    @property
    def overlapping(self) -> bool:
        """True if a row may satisfy several queries of one marginal."""
        return self.threshold is not None and any(len(clique) > self.threshold for clique in self.cliques)

    def cells(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the number of the cell that each row is in, for each marginal, shape (rows, marginals).

        Cells are numbered like the queries of a class without a threshold, through all marginals and from 0. A threshold makes no
        difference.

        Args:
            codes: Codes of the rows, shape (rows, attributes of the domain).
        """
        steps, starts = self._steps
        return (codes.astype(np.float64) @ steps + starts).astype(np.int64)  # whole numbers below 2^53: exact, and fast

    @cached_property
    def _steps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Strides of attributes, shape (attributes, marginals), and each marginal's first number."""
        steps = np.zeros((len(self.domain), len(self.cliques)))
        for place, clique in enumerate(self.cliques):
            step = 1
            for name in reversed(clique):
                steps[self.domain.position(name), place] = step
                step *= self.domain[name].size
        return steps, np.array(self._starts[:-1], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class SparseAnswers:
    """Public answers to the queries of a class, in counts unless a function states fractions.

    Attributes:
        numbers: Numbers of the queries with an answer of their own, from 0 and strictly ascending.
        values: The answers to these queries.
        elsewhere: The answer to every other query.

    Raises:
        ValueError: Numbers and values have different shapes, or the numbers are negative or not
            strictly ascending.
    """

    numbers: Numbers
    values: NDArray[np.float64]
    elsewhere: float = 0.0

    def __post_init__(self) -> None:
        if self.numbers.ndim != 1 or self.numbers.shape != self.values.shape or (np.diff(self.numbers) <= 0).any():
            raise ValueError("answers need one value for each number, and numbers in ascending order")
        if len(self.numbers) and self.numbers[0] < 0:
            raise ValueError("queries are numbered from 0")

    @classmethod
    def of_rows(cls, queries: QueryClass, codes: NDArray[np.int32], weight: float = 1.0) -> SparseAnswers:
        """Return the answers of a table of rows, in people; queries that no row satisfies are answered by 0.

        Args:
            queries: The class of queries.
            codes: Codes of the rows, shape (rows, attributes of the domain).
            weight: Number of people that each row stands for.
        """
        numbers, times = queries.hits(codes)
        return cls(numbers, times.astype(np.float64) * weight)

    @classmethod
    def all_of(cls, values: NDArray[np.float64]) -> SparseAnswers:
        """Return the answers to every query of a class.

        Args:
            values: The answers in the order of the queries' numbers, shape (size of the class,).
        """
        return cls(np.arange(len(values), dtype=np.int64), np.asarray(values, dtype=np.float64))

    def at(self, numbers: Numbers) -> NDArray[np.float64]:
        """Return the answers to the queries with these numbers, given in any order; the result has their shape and order."""
        return values_at(self.numbers, self.values, numbers, self.elsewhere)

    def scaled(self, factor: float) -> SparseAnswers:
        """Return all answers, also the answer elsewhere, times a factor."""
        return SparseAnswers(self.numbers, self.values * factor, self.elsewhere * factor)

    def plus(self, other: SparseAnswers) -> SparseAnswers:
        """Return the sum of two sets of answers to the same class.

        The sum has an answer of its own for every query for which either set has one, and both answers
        elsewhere are added for the others.
        """
        numbers = merged(self.numbers, other.numbers)
        return SparseAnswers(numbers, self.at(numbers) + other.at(numbers), self.elsewhere + other.elsewhere)


def values_at(numbers: Numbers, values: NDArray[Any], wanted: Numbers, elsewhere: float = 0) -> NDArray[Any]:
    """Look up each wanted number in an ascending list, and return the values that belong to them, in the order of `wanted`.

    Args:
        numbers: The list of numbers, ascending.
        values: The value of each number in the list; the result has its dtype.
        wanted: Numbers to look up, in any order.
        elsewhere: Value of a number that is not in the list.
    """
    if not len(numbers):
        return np.full(len(wanted), elsewhere, dtype=values.dtype)
    place = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    return np.where(numbers[place] == wanted, values[place], values.dtype.type(elsewhere))


def merged(one: Numbers, other: Numbers) -> Numbers:
    """Return the union of two ascending lists of numbers, ascending.

    A number that occurs several times is returned once. Sorting merges the ordered runs in one
    pass, while `numpy.union1d` would hash millions of numbers.
    """
    both = np.sort(np.concatenate([one, other]), kind="stable")
    return both[np.append(True, both[1:] != both[:-1])] if len(both) else both


Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Incidence:
    """The queries that each row of a fixed table satisfies, prepared for sums over the rows and over the queries.

    Algorithms that reweigh rows need both sums many times. Takes 4 bytes for each row and marginal, and 8 more while it is built.

    Attributes:
        queries: The class.
        codes: Codes of a public or synthetic table, shape (rows, attributes of the domain).
    """

    queries: QueryClass
    codes: NDArray[np.int32]

    @property
    def rows(self) -> int:
        """The number of rows of the table."""
        return len(self.codes)

    @property
    def numbers(self) -> Numbers:
        """The numbers of the queries that some row satisfies, ascending; of all queries if a row may satisfy several of one marginal."""
        return np.arange(self.queries.size) if self.queries.overlapping else self._cell_places[0]

    @cached_property
    def _cell_places(self) -> tuple[Numbers, NDArray[np.int32]]:
        """The cells that any row is in, ascending (all cells for thresholds), and the places of the rows' cells.

        A place is an index into these cells, for each row and marginal: shape (rows, marginals).
        """
        cells = self.queries.cells(self.codes)
        if self.queries.overlapping:
            return np.arange(self.queries.size), cells.astype(np.int32)
        seen = np.zeros(self.queries.size, dtype=bool)
        seen[cells.ravel()] = True
        place = np.cumsum(seen, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(seen), place[cells]

    def answers(self, weights: Float) -> Float:
        """Return, for each query of `numbers` and in their order, the sum of the weights of the rows that satisfy it.

        Args:
            weights: Weight of each row, shape (rows,); the sums have its unit.
        """
        cells, places = self._cell_places
        sums = np.asarray(np.bincount(places.ravel(), weights=np.repeat(weights, places.shape[1]), minlength=len(cells)), dtype=np.float64)
        return self._spread(sums) if self.queries.overlapping else sums

    def satisfied(self, values: Float) -> Float:
        """Return, for each row, the sum of the values of the queries that it satisfies, shape (rows,).

        Args:
            values: Value of each query of `numbers`, in their order.
        """
        _, places = self._cell_places
        cells = self._spread(values) if self.queries.overlapping else values
        return np.asarray(cells[places].sum(axis=1))

    def _spread(self, values: Float) -> Float:
        """Return, for each cell, the sum of the values of all cells that agree with it in at least t columns.

        Agreement is mutual, so this linear map is its own transpose: it leads from sums by cell to
        answers by threshold query, and from values of threshold queries to sums by cell.
        """
        queries = self.queries
        return queries.counts({r: values[queries.block(r)].reshape(queries.domain.sizes(r)) for r in queries.cliques})
