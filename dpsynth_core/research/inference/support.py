"""Weights on the rows of a fixed table, changed by multiplicative weights: the state of PMW^Pub. Public and released values only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.records import WeightedRecords
from dpsynth_core.research.vocabulary.incidence import Incidence
from dpsynth_core.research.vocabulary.queries import Query, SparseAnswers

Float = NDArray[np.float64]


class RowWeights:
    """Weights that add up to 1, one for each row of an incidence."""

    def __init__(self, incidence: Incidence, start: Float) -> None:
        """start: not negative, shape (rows,); to begin with, weights are proportional to it."""
        self._incidence = incidence
        self._weights = start / start.sum()
        self._sum = np.zeros_like(self._weights)
        self._remembered = 0
        self._satisfying: dict[Query, NDArray[np.intp]] = {}

    def answers(self) -> SparseAnswers:
        """To every query of the class, as fractions: those that no row satisfies have the answer 0."""
        return SparseAnswers(self._incidence.numbers, self._incidence.answers(self._weights))

    def answer(self, query: Query) -> float:
        """The share of the weight on rows that satisfy a query."""
        return float(self._weights[self._rows(query)].sum())

    def reweigh(self, query: Query, step: float) -> None:
        """Multiply the rows that satisfy the query by exp(step), then all so that they add up to 1."""
        rows = self._rows(query)
        self._weights[rows] *= np.exp(step)
        self._weights /= self._weights.sum()

    def remember(self) -> None:
        """Add the current weights to the average."""
        self._sum += self._weights
        self._remembered += 1

    def average(self, total: float) -> WeightedRecords:
        """The mean of the remembered weights, as people."""
        return WeightedRecords(self._incidence.queries.domain, self._incidence.codes, self._sum * (total / self._remembered))

    def _rows(self, query: Query) -> NDArray[np.intp]:
        """The rows that satisfy a query, cached: a measured query is needed again in every later round."""
        if query not in self._satisfying:
            self._satisfying[query] = np.flatnonzero(query.of(self._incidence.codes))
        return self._satisfying[query]
