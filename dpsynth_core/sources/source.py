"""Where private records live, seen from outside: something that returns the counts of marginals, and nothing else.

Another engine (a cluster, a database) is one more class with this one method. Exact counts leave a source in two directions only:
to the privacy kernel and to the curator-only evaluation. A source knows no structural zeros: a record in an impossible cell is counted
there, and nobody is told.
"""

from __future__ import annotations

from collections.abc import Collection
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
