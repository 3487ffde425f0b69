"""The data player's problem: the record that satisfies the most of some weighted queries, less a perturbation of its values.

    maximise over records x:   sum_i weight_i [query i, or its negation, holds at x]  -  sum_a linear[a][x_a]

A query is "at least `threshold` of these columns have these values", a negation is one minus that: cells of marginals, conjunctions,
disjunctions, thresholds. FEM's exponential perturbation of one-hot records and sepFEM's Laplace weights on one-way queries are both
`linear` (FEM paper, Algorithms 2 and 3). Records that contradict the domain's impossible combinations are never answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.search import Limit, Solution
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.domain import Domain

Codes = NDArray[np.int32]
Linear = tuple[NDArray[np.float64], ...]
"""Cost of each value of each attribute."""
Zeros = tuple[tuple[tuple[int, ...], NDArray[np.bool_]], ...]
"""For some attributes, by position, a table that is True where no record can be."""

NO_COLUMN = -1
"""Fills the rows of queries with fewer columns than others."""


def contradicted(zeros: Zeros, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return a mask that is True for the rows that are impossible, shape (rows,).

    Args:
        zeros: The impossible combinations.
        codes: Codes of the rows, shape (rows, attributes).
    """
    wrong = np.zeros(len(codes), dtype=bool)
    for columns, table in zeros:
        wrong |= table[tuple(codes[:, column] for column in columns)]
    return wrong


@dataclass(frozen=True, eq=False)
class Records:
    """The possible records of a domain.

    Attributes:
        sizes: Number of values of each attribute.
        zeros: The impossible combinations: positions of some attributes, and a table that is True where no record can be.
    """

    sizes: tuple[int, ...]
    zeros: Zeros = ()

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, domain: Domain) -> Records:
        """Return the possible records of a domain. The latest are cached."""
        zeros = tuple((tuple(map(domain.position, clique)), table) for clique, table in domain.zeros.items())
        return cls(tuple(attribute.size for attribute in domain), zeros)

    def possible(self, codes: Codes) -> NDArray[np.bool_]:
        """Return a mask of the rows that contradict no rule, shape (rows,).

        Args:
            codes: Codes of the rows, shape (rows, attributes).
        """
        return ~contradicted(self.zeros, codes)

    @cached_property
    def alike(self) -> tuple[NDArray[np.int64], ...]:
        """A class number per value of each attribute; two values have the same number if the rules treat them alike."""
        numbers = [np.zeros(size, dtype=np.int64) for size in self.sizes]
        for columns, table in self.zeros:
            for axis, column in enumerate(columns):
                rows = np.moveaxis(table, axis, 0).reshape(self.sizes[column], -1)
                row_numbers = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
                combined = numbers[column] * len(rows) + row_numbers
                numbers[column] = np.unique(combined, return_inverse=True)[1].reshape(-1)
        return tuple(numbers)


@dataclass(frozen=True, eq=False)
class SignedQueries:
    """Weighted queries and negations that all draws of one round share. Immutable, and small enough to send to a process.

    The same query may occupy several rows, with either sign.

    Attributes:
        records: The possible records.
        columns: Positions of each query's columns, from 0, shape (m, k); NO_COLUMN (-1) where a query has fewer
            than k columns.
        values: Codes that the columns should have, shape (m, k); NO_COLUMN (-1) where `columns` has it.
        thresholds: Number of columns that must agree, shape (m,).
        signs: 1 for the query, -1 for its negation, shape (m,).
        weights: Not negative, shape (m,); whole numbers if they are multiplicities.

    Raises:
        ValueError: The shapes differ, or a column, value, threshold, sign or weight is out of
            range.
    """

    records: Records
    columns: NDArray[np.int32]
    values: NDArray[np.int32]
    thresholds: NDArray[np.int32]
    signs: NDArray[np.int8]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        used = self.columns != NO_COLUMN
        sizes = np.array(self.records.sizes, dtype=np.int64)
        ordered = np.sort(self.columns, axis=1)
        if not (self.columns.ndim == 2 and self.columns.shape == self.values.shape):
            raise ValueError("columns and values are two tables of one shape")
        if not len(self.columns) == len(self.thresholds) == len(self.signs) == len(self.weights):
            raise ValueError("every query needs a threshold, a sign and a weight")
        if ((self.columns[used] < 0) | (self.columns[used] >= len(sizes))).any() or (np.diff(ordered)[ordered[:, 1:] >= 0] == 0).any():
            raise ValueError("a query names a column that is not there, or one twice")
        if ((self.values[used] < 0) | (self.values[used] >= sizes[self.columns[used]])).any():
            raise ValueError("a query names a value that its column does not have")
        if ((self.thresholds < 1) | (self.thresholds > used.sum(axis=1))).any():
            raise ValueError("a threshold is at least 1 and at most the number of columns")
        if not np.isin(self.signs, (-1, 1)).all() or not (np.isfinite(self.weights) & (self.weights >= 0)).all():
            raise ValueError("signs are 1 or -1, and weights are finite and not negative")

    @classmethod
    def of(cls, queries: QueryClass, numbers: NDArray[np.int64], signs: NDArray[np.int8]) -> SignedQueries:
        """Return the queries of a class with these numbers and signs, in order, each of weight 1.

        Args:
            queries: The class.
            numbers: Numbers of the queries; repeated queries count several times.
            signs: 1 for a query, -1 for its negation, one per number.

        Raises:
            IndexError: A number is not from 0 to size - 1.
            ValueError: There are not as many signs as numbers, or a sign is not 1 or -1.
        """
        chosen = [queries.query(int(number)) for number in numbers]
        longest = max((len(query.values) for query in chosen), default=1)
        columns = np.full((len(chosen), longest), NO_COLUMN, dtype=np.int32)
        values = columns.copy()
        for i, query in enumerate(chosen):
            columns[i, : len(query.columns)] = query.columns
            values[i, : len(query.values)] = query.values
        thresholds = np.array([query.threshold for query in chosen], dtype=np.int32)
        return cls(Records.of(queries.domain), columns, values, thresholds, np.asarray(signs, dtype=np.int8), np.ones(len(chosen)))

    @cached_property
    def net(self) -> NetQueries:
        """An equal sum of weights, written as distinct queries with a constant.

        A negation of weight w is the constant w minus the query with weight w; queries whose
        weights cancel are left out.
        """
        keys = np.hstack([self.columns, self.values, self.thresholds[:, None]])
        _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        weights = np.zeros(len(first))
        np.add.at(weights, place.reshape(-1), self.weights * self.signs)
        kept = weights != 0
        rows = first[kept]
        constant = float(self.weights[self.signs < 0].sum())
        return NetQueries(self.columns[rows], self.values[rows], self.thresholds[rows], weights[kept], constant)

    def worth(self, codes: Codes) -> NDArray[np.float64]:
        """Return, for each row, the sum of the weights of the queries and negations that hold, shape (rows,).

        Args:
            codes: Codes of the rows, shape (rows, attributes).
        """
        return self.net.worth(codes)


@dataclass(frozen=True, eq=False)
class NetQueries:
    """Distinct queries with weights of either sign, never 0, and a constant.

    A record's worth is the sum of the weights of the queries that it satisfies, plus `constant`.

    Attributes:
        columns: Positions of each query's columns, shape (m, k); NO_COLUMN as padding.
        values: Codes that the columns should have, shape (m, k).
        thresholds: Number of columns that must agree, shape (m,).
        weights: Weight of each query, shape (m,).
        constant: The constant.
    """

    columns: NDArray[np.int32]
    values: NDArray[np.int32]
    thresholds: NDArray[np.int32]
    weights: NDArray[np.float64]
    constant: float

    def worth(self, codes: Codes) -> NDArray[np.float64]:
        """Return the worth of each row, shape (rows,), in the unit of the weights.

        Args:
            codes: Codes of the rows, shape (rows, attributes).
        """
        agree = np.zeros((len(codes), len(self.weights)), dtype=np.int32)
        for column, value in zip(self.columns.T, self.values.T, strict=True):
            agree += (codes[:, column] == value) & (column != NO_COLUMN)
        return np.asarray((agree >= self.thresholds) @ self.weights + self.constant)


@dataclass(frozen=True, eq=False)
class RecordProblem:
    """One draw: the queries of a round and the perturbation of this draw.

    Attributes:
        queries: The queries.
        linear: Cost of each value of each attribute, in the unit of the queries' weights.

    Raises:
        ValueError: The perturbation has another shape, or is not finite.
    """

    queries: SignedQueries
    linear: Linear

    def __post_init__(self) -> None:
        if tuple(map(len, self.linear)) != self.queries.records.sizes:
            raise ValueError("a perturbation needs one number for each value of each attribute")
        if not all(np.isfinite(costs).all() for costs in self.linear):
            raise ValueError("a perturbation is finite")

    @classmethod
    def unperturbed(cls, queries: SignedQueries) -> RecordProblem:
        """Return the problem in which every value costs zero."""
        return cls(queries, tuple(np.zeros(size) for size in queries.records.sizes))

    def values(self, codes: Codes) -> NDArray[np.float64]:
        """Return the value of each row, possible or not: its worth less the costs of its values, shape (rows,).

        The worth of a row is the sum of the weights of the queries and negations that hold.

        Args:
            codes: Codes of the rows, shape (rows, attributes).
        """
        perturbation = sum((costs[codes[:, a]] for a, costs in enumerate(self.linear)), np.zeros(len(codes)))
        return np.asarray(self.queries.worth(codes) - perturbation)

    def value(self, codes: Codes) -> float:
        """Return the value of one record: its worth less the costs of its values (`values`).

        Args:
            codes: Codes of the record, shape (attributes,).
        """
        return float(self.values(codes[None, :])[0])


MAX_RECORDS = 5_000
"""Largest number of records for which trying all of them is faster than a solver."""


@dataclass(frozen=True, eq=False)
class Exhaustion:
    """The oracle for small domains, which tries every possible record. It is exact, and needs no process.

    It has the interface of `pool.Pool`.

    Attributes:
        possible: Codes of all possible records, shape (m, attributes).
    """

    possible: Codes

    @classmethod
    def of(cls, records: Records) -> Exhaustion:
        """Return the oracle that tries every combination of values that the domain does not forbid.

        Raises:
            ValueError: There are more than 5,000 combinations, forbidden ones included.
        """
        if not fits(records):
            raise ValueError("too many records to try them all")
        places = np.unravel_index(np.arange(math.prod(records.sizes)), records.sizes)
        codes = np.stack(places, axis=1).astype(np.int32)
        return cls(codes[records.possible(codes)])

    def solve_many(self, problems: Sequence[RecordProblem], limit: Limit) -> list[Solution]:  # noqa: ARG002
        """Return the best record of each problem, in order; the first one of equally good records. [] without problems.

        The worth of all records is computed once for problems with the same SignedQueries object.

        Args:
            problems: The problems.
            limit: Not used; every solution is optimal.

        Raises:
            ValueError: The domain allows no record.
        """
        worth = {id(problem.queries): problem.queries.worth(self.possible) for problem in problems}
        best = []
        for problem in problems:
            values = worth[id(problem.queries)].copy()
            for attribute, costs in enumerate(problem.linear):
                values -= costs[self.possible[:, attribute]]
            best.append((int(values.argmax()), float(values.max())))
        return [Solution(self.possible[place], value, value, "optimal") for place, value in best]


def fits(records: Records) -> bool:
    """Return whether there are at most 5,000 combinations of values, forbidden ones included."""
    return math.prod(records.sizes) <= MAX_RECORDS
