"""Which counting queries the rows of a fixed table satisfy, kept ready for sums over the rows and over the queries.

Algorithms that reweigh rows (multiplicative weights, the best mixture) need both sums many times. In this project the table is a public
or a synthetic one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.research.vocabulary.queries import Numbers, QueryClass
from dpsynth_core.vocabulary.measurement import Clique

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Incidence:
    """codes: shape (rows, attributes of the domain). Needs 4 bytes for each row and marginal, 8 more while it is built."""

    queries: QueryClass
    codes: NDArray[np.int32]

    @property
    def rows(self) -> int:
        return len(self.codes)

    @property
    def numbers(self) -> Numbers:
        """The queries that some row satisfies, ascending; all of them for thresholds."""
        return np.arange(self.queries.size) if self.queries.overlapping else self._cell_places[0]

    @cached_property
    def _cell_places(self) -> tuple[Numbers, NDArray[np.int32]]:
        """The cells that some row falls into, and for each row and marginal the place of its cell among them."""
        cells = self.queries.cells(self.codes)
        if self.queries.overlapping:
            return np.arange(self.queries.size), cells.astype(np.int32)
        seen = np.zeros(self.queries.size, dtype=bool)
        seen[cells.ravel()] = True
        place = np.cumsum(seen, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(seen), place[cells]

    def answers(self, weights: Float) -> Float:
        """For each query of `numbers`, the sum of the weights of the rows that satisfy it. weights: shape (rows,)."""
        cells, places = self._cell_places
        sums = np.asarray(np.bincount(places.ravel(), weights=np.repeat(weights, places.shape[1]), minlength=len(cells)), dtype=np.float64)
        return self._spread(sums) if self.queries.overlapping else sums

    def satisfied(self, values: Float) -> Float:
        """For each row, the sum of the values of the queries that it satisfies. values: one for each of `numbers`."""
        _, places = self._cell_places
        cells = self._spread(values) if self.queries.overlapping else values
        return np.asarray(cells[places].sum(axis=1))

    def _spread(self, values: Float) -> Float:
        """From cells to "at least t columns agree", and back: agreeing is mutual, so that the sum is its own transpose."""
        return self.queries.counts({clique: self._table(values, clique) for clique in self.queries.cliques})

    def _table(self, values: Float, clique: Clique) -> Float:
        return values[self.queries.block(clique)].reshape(self.queries.domain.sizes(clique))


