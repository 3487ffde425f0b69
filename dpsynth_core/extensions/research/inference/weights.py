"""Distributions that multiplicative weights changes: on every possible record (MWEM), or on the rows of a fixed table (PMW^Pub).

Released and public values only. Impossible records have no mass, and multiplication keeps it zero.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpsynth_core.extensions.research.vocabulary.queries import Incidence, Query, QueryClass, SparseAnswers
from dpsynth_core.inference.model import WeightedRecords, refined, rounded
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand, project
from dpsynth_core.vocabulary.measurement import Clique

MAX_CELLS = 10_000_000
"""Largest number of possible records with a weight each: 80 MB for a distribution."""

Float = NDArray[np.float64]


class Weights(ABC):
    """Weights on records, and the sum of remembered weights; subclasses return their mean by `average`.

    Args:
        weights: Weights, not negative and of any shape; only their ratios count.
    """

    def __init__(self, weights: Float) -> None:
        self._weights = weights
        self._sum = np.zeros_like(weights)
        self._remembered = 0

    @abstractmethod
    def answers(self) -> SparseAnswers:
        """Return the answer to every query of the class, as a fraction of the weight, from 0 to 1."""

    @abstractmethod
    def answer(self, query: Query) -> float:
        """Return the fraction of the weight on records that satisfy a query, from 0 to 1."""

    @abstractmethod
    def reweigh(self, query: Query, step: float) -> None:
        """Multiply the weights of records that satisfy the query by exp(step), in place.

        Answers stay shares of the whole weight, so those to other queries change too.

        Args:
            query: The query.
            step: Logarithm of the factor.
        """

    def remember(self) -> None:
        """Add the present weights, scaled to the sum 1, to the sum that `average` divides."""
        self._sum += self._weights
        self._remembered += 1


@dataclass(frozen=True, eq=False)
class ExplicitDistribution:
    """A `RowModel` with one number for every possible record.

    Attributes:
        domain: The domain.
        cells: Number of people with each record, not negative, one axis per attribute.
    """

    domain: Domain
    cells: Float

    @property
    def total(self) -> float:
        """The sum of the cells, a number of people."""
        return float(self.cells.sum())

    def marginal(self, clique: Clique) -> Float:
        """Return the marginal of a clique in counts of people, shape domain.sizes(clique)."""
        return project(self.cells, self.domain.names, clique)

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n rows in random order, shape (n, attributes).

        Every record occurs as often as its share of n, rounded down or up. Then single values are
        changed to bring the rows closer to the distribution's answers.

        Args:
            n: Number of rows.
            marginals: The marginals that the rows should answer, each with its weight c_r.
            rng: Source of randomness.
        """
        counts = rounded(self.cells.ravel() * (n / self.total), n, rng)
        occupied = np.flatnonzero(counts)
        records = np.column_stack(np.unravel_index(occupied, self.cells.shape)).astype(np.int32)
        codes = rng.permutation(np.repeat(records, counts[occupied], axis=0))
        return refined(self.domain, lambda clique: self.marginal(clique) / self.total, codes, marginals, rng)


class CellWeights(Weights):
    """One weight for every possible record, uniform at first: exact, for small domains only.

    Weights are stored up to a common factor, so that a change touches only the records that satisfy
    its query.

    Args:
        queries: The class of queries; its domain may have at most 10 million records (`MAX_CELLS`), which is
            not checked.
    """

    def __init__(self, queries: QueryClass) -> None:
        self._queries, domain = queries, queries.domain
        cells = np.ones(domain.sizes(domain.names))
        for clique, impossible in domain.zeros.items():
            cells *= expand(np.where(impossible, 0.0, 1.0), clique, domain.names)
        super().__init__(cells)
        self._mass = float(cells.sum())

    @override
    def answers(self) -> SparseAnswers:
        """Return the answer to every query of the class, as a fraction of the weight, from 0 to 1; all are listed."""
        tables = marginals(self._queries.domain, self._weights, self._queries.cliques)
        return SparseAnswers.all_of(self._queries.counts(tables) / self._mass)

    @override
    def answer(self, query: Query) -> float:
        """Return the fraction of the weight on records that satisfy a query, from 0 to 1."""
        if query.threshold == len(query.clique):
            return float(self._weights[self._slice(query)].sum()) / self._mass
        marginal = project(self._weights, self._queries.domain.names, query.clique)
        return float((marginal * self._agreeing(query)).sum()) / self._mass

    @override
    def reweigh(self, query: Query, step: float) -> None:
        """Multiply the weights of records that satisfy the query by exp(step), in place."""
        before, factor = self.answer(query), math.exp(step)
        if query.threshold == len(query.clique):
            self._weights[self._slice(query)] *= factor
        else:
            self._weights *= expand(np.where(self._agreeing(query), factor, 1.0), query.clique, self._queries.domain.names)
        self._mass *= 1.0 + (factor - 1.0) * before

    @override
    def remember(self) -> None:
        """Scale the weights to the sum 1, and add them to the sum that `average` divides."""
        self._weights /= self._weights.sum()
        self._mass = 1.0
        super().remember()

    def average(self, total: float) -> ExplicitDistribution:
        """Return the mean of the remembered weights as counts that add up to `total`; `remember` must have been called.

        Args:
            total: A number of people.
        """
        return ExplicitDistribution(self._queries.domain, self._sum * (total / self._remembered))

    def _slice(self, query: Query) -> tuple[int | slice, ...]:
        fixed = dict(zip(query.columns, query.values, strict=True))
        return tuple(fixed.get(axis, slice(None)) for axis in range(self._weights.ndim))

    def _agreeing(self, query: Query) -> NDArray[np.bool_]:
        """Return a mask of the cells of the query's marginal that satisfy it, of the marginal's shape."""
        domain = self._queries.domain
        agree = [np.arange(size) == value for size, value in zip(domain.sizes(query.clique), query.values, strict=True)]
        return np.asarray(sum(np.ix_(*[column.astype(np.int8) for column in agree])) >= query.threshold)


class RowWeights(Weights):
    """Weights that add up to 1, one for each row of an incidence.

    Args:
        incidence: The rows with the queries that they satisfy.
        start: Initial weights up to a factor, not negative, shape (rows,).
    """

    def __init__(self, incidence: Incidence, start: Float) -> None:
        super().__init__(start / start.sum())
        self._incidence = incidence
        self._satisfying: dict[Query, NDArray[np.intp]] = {}

    @override
    def answers(self) -> SparseAnswers:
        """Return the answer to every query of the class, as a fraction of the weight; queries that no row satisfies have 0."""
        return SparseAnswers(self._incidence.numbers, self._incidence.answers(self._weights))

    @override
    def answer(self, query: Query) -> float:
        """Return the fraction of the weight on rows that satisfy a query, from 0 to 1."""
        return float(self._weights[self._rows(query)].sum())

    @override
    def reweigh(self, query: Query, step: float) -> None:
        """Multiply the weights of rows that satisfy the query by exp(step), in place, and scale all to the sum 1."""
        rows = self._rows(query)
        self._weights[rows] *= np.exp(step)
        self._weights /= self._weights.sum()

    def average(self, total: float) -> WeightedRecords:
        """Return the rows with the mean of the remembered weights, scaled to add up to `total`; `remember` must have been called.

        Args:
            total: A number of people.
        """
        return WeightedRecords(self._incidence.queries.domain, self._incidence.codes, self._sum * (total / self._remembered))

    def _rows(self, query: Query) -> NDArray[np.intp]:
        """Return the numbers of the rows that satisfy a query, cached, because replays ask for it in later rounds."""
        if query not in self._satisfying:
            self._satisfying[query] = np.flatnonzero(query.of(self._incidence.codes))
        return self._satisfying[query]


def marginals(domain: Domain, cells: Float, cliques: Collection[Clique]) -> dict[Clique, Float]:
    """Return many marginals of a table at once.

    Attribute by attribute, the largest first, the table is summed over the attribute for the
    marginals without it and stays unchanged for the others, so that few sums go over the full
    table.

    Args:
        domain: The domain.
        cells: A number for every possible record, one axis per attribute.
        cliques: The marginals.

    Returns:
        The table of each clique, in the unit of `cells`.
    """
    tables: dict[Clique, Float] = {}
    order = sorted(domain.names, key=lambda name: -domain[name].size)
    branches: list[tuple[Float, Clique, int, list[Clique]]] = [(cells, domain.names, 0, list(cliques))]
    while branches:
        table, names, done, wanted = branches.pop()
        if done == len(order):
            tables[names] = table
            continue
        name = order[done]
        if without := [clique for clique in wanted if name not in clique]:
            rest = tuple(other for other in names if other != name)
            branches.append((project(table, names, rest), rest, done + 1, without))
        if having := [clique for clique in wanted if name in clique]:
            branches.append((table, names, done + 1, having))
    return tables
