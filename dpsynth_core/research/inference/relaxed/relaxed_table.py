"""The relaxed table as a model: it answers any marginal itself, and writes rows by randomised rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation import threads
from dpsynth_core.inference.model import refined
from dpsynth_core.research.inference.relaxed.onehot import Columns, OneHot
from dpsynth_core.research.inference.relaxed.products import marginal
from dpsynth_core.research.inference.relaxed.rounding import rounded
from dpsynth_core.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import at_least
from dpsynth_core.vocabulary.measurement import Clique


@dataclass(frozen=True, eq=False)
class RelaxedTable:
    """columns: distributions, shape (columns of the one-hot space, relaxed rows); all relaxed rows together stand for `total` people."""

    domain: Domain
    columns: Columns
    total: float

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Counts, shape domain.sizes(clique), of any marginal."""
        return self._fractions(clique) * self.total

    def answers(self, queries: QueryClass) -> SparseAnswers:
        """To every query, in whole counts: what a selection compares with. A fraction of a person is far below any selection's noise, and
        whole numbers leave few different scores. One marginal at a time is laid out."""
        numbers, values = [], []
        for clique in queries.cliques:
            fractions = at_least(self._fractions(clique), queries.threshold or len(clique))
            counts = np.rint(fractions.reshape(-1) * self.total)
            nonzero = np.flatnonzero(counts)
            numbers.append(nonzero + queries.block(clique).start)
            values.append(counts[nonzero])
        return SparseAnswers(np.concatenate(numbers), np.concatenate(values))

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.int32]:
        """Codes, shape (n, attributes): rounded rows, then single values changed to bring them closer to this table's own answers to
        `marginals` (weights c_r)."""
        with threads.one_thread():  # answers in float32 are rounded by how many there are, and whoever repeats a release has one
            return refined(self.domain, self._fractions, rounded(self.domain, self.columns, n, rng), marginals, rng)

    def _fractions(self, clique: Clique) -> NDArray[np.float64]:
        flat = marginal(self.columns, OneHot(self.domain).blocks(clique))
        return flat.astype(np.float64).reshape(self.domain.sizes(clique))
