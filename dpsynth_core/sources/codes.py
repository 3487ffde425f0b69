"""Marginal counts of rows that are codes already: a simulated table in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.sources.sampling import Sample
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.occupied import Occupied, row_cells
from dpsynth_core.vocabulary.predictors import Predictor
from dpsynth_core.vocabulary.rows import right_counts, row_marginals


class CodesSource:
    """A source of exact counts over rows of codes in memory, such as a simulated table.

    Args:
        domain: The domain of the codes.
        codes: The rows, shape (rows, columns of the domain).

    Raises:
        ValueError: The codes have another shape.
    """

    def __init__(self, domain: Domain, codes: NDArray[np.int32]) -> None:
        if codes.ndim != 2 or codes.shape[1] != len(domain):
            raise ValueError("codes needs one column per attribute of the domain")
        self.domain = domain
        self._codes = codes

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """Return the exact marginal over each clique, by clique, int64: numbers of rows, one axis per column.

        The columns of a clique are in the order of the domain. See `MarginalSource.counts`.
        """
        return row_marginals(self.domain, self._codes, cliques)

    def occupied(self, clique: Clique) -> Occupied:
        """Return the non-empty cells of the marginal over a clique, with row counts.

        The columns of the clique are in the order of the domain. See `CellSource.occupied`.

        Raises:
            ValueError: The marginal has more than 2^62 cells.
        """
        return row_cells(self.domain, self._codes, clique)

    def sample(self, most: int) -> NDArray[np.int32]:
        """Return a uniform random sample of at most `most` rows, in random order, int32 of shape (rows, columns of the domain).

        The seed is fixed: the same rows give the same sample.
        """
        drawn = Sample(self.domain, most)
        drawn.add({name: self._codes[:, place] for place, name in enumerate(self.domain.names)}, len(self._codes))
        return drawn.records

    def right(self, predictors: Sequence[Predictor]) -> NDArray[np.int64]:
        """Return how many rows have the target value that each predictor guesses, int64 of shape (predictors,)."""
        return right_counts(self.domain, self._codes, predictors)
