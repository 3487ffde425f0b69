"""A source of private records, as others see it: it returns the counts of marginals, and nothing else.

Another engine (a cluster, a database) is one more class with this one method. Exact counts leave a source in two directions only:
to the privacy kernel and to the curator-only evaluation. A source knows no structural zeros: a record in an impossible cell is counted
there, and nobody is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique


class MarginalSource(Protocol):
    @property
    def domain(self) -> Domain: ...

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """Exact counts of each canonical clique, shape domain.sizes(clique); the empty clique gives the number of rows, shape ()."""


class ValueSource(MarginalSource, Protocol):
    """A source that holds values as they were written, of which any domain can be a coding."""

    def over(self, domain: Domain) -> ValueSource:
        """The same records, each in the cells of another domain."""

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Exact numbers of records by key (`vocabulary.keys`) of a column, in parts that have no key in common."""
