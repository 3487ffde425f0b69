"""Marginal counts of rows that are codes already: a simulated table in memory."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.sources.tally import Tally
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique


class CodesSource:
    """A `MarginalSource` over codes, shape (rows, columns of the domain)."""

    def __init__(self, domain: Domain, codes: NDArray[np.int32]) -> None:
        if codes.ndim != 2 or codes.shape[1] != len(domain):
            raise ValueError("codes needs one column per attribute of the domain")
        self._domain = domain
        self._codes = codes

    @property
    def domain(self) -> Domain:
        return self._domain

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """See `MarginalSource.counts`."""
        tally = Tally(self._domain, cliques)
        tally.add({name: self._codes[:, self._domain.position(name)] for name in tally.columns}, len(self._codes))
        return tally.counts()
