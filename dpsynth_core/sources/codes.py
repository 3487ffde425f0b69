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
    """A `MarginalSource` over codes, shape (rows, columns of the domain)."""

    def __init__(self, domain: Domain, codes: NDArray[np.int32]) -> None:
        if codes.ndim != 2 or codes.shape[1] != len(domain):
            raise ValueError("codes needs one column per attribute of the domain")
        self.domain = domain
        self._codes = codes

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """See `MarginalSource.counts`."""
        return row_marginals(self.domain, self._codes, cliques)

    def occupied(self, clique: Clique) -> Occupied:
        """See `CellSource.occupied`."""
        return row_cells(self.domain, self._codes, clique)

    def sample(self, most: int) -> NDArray[np.int32]:
        """See `SampledSource.sample`."""
        drawn = Sample(self.domain, most)
        drawn.add({name: self._codes[:, place] for place, name in enumerate(self.domain.names)}, len(self._codes))
        return drawn.records

    def right(self, predictors: Sequence[Predictor]) -> NDArray[np.int64]:
        """See `RecordSource.right`."""
        return right_counts(self.domain, self._codes, predictors)
