"""Counts of a table of codes that is at hand, shape (rows, attributes of the domain)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Predictor, RightCounts
from dpsynth_core.vocabulary.tally import Tally


def row_marginals(domain: Domain, codes: NDArray[np.integer], cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
    """Many marginals, as counts: one pass over the rows."""
    tally = Tally(domain, cliques)
    tally.add({name: codes[:, domain.position(name)] for name in tally.columns}, len(codes))
    return tally.counts()


def right_counts(domain: Domain, codes: NDArray[np.int32], predictors: Sequence[Predictor]) -> NDArray[np.int64]:
    """How many rows each predictor is right about."""
    counts = RightCounts(domain, predictors)
    counts.add({name: codes[:, domain.position(name)] for name in counts.columns}, len(codes))
    return counts.numbers
