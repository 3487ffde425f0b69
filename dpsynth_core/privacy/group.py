"""The counts of some of the records: of those that are in certain public cells of columns.

Every sensitivity holds for them (Proposition 19). How many they are is never public: a replaced person may be among them or not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique

Counts = dict[Clique, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Group:
    """A counting source over a part of what another one counts. counted: the other one's counts. cells: codes that are in, by column."""

    domain: Domain
    counted: Callable[[Collection[Clique]], Counts]
    cells: Mapping[str, tuple[int, ...]]

    def counts(self, cliques: Collection[Clique]) -> Counts:
        """Exact counts of each canonical clique; the empty one gives the number of these records."""
        wide = {clique: self.domain.clique({*clique, *self.cells}) for clique in cliques}
        whole = self.counted(list(dict.fromkeys(wide.values())))
        return {clique: self._within(whole[over], over, clique) for clique, over in wide.items()}

    def _within(self, counts: NDArray[np.int64], over: Clique, clique: Clique) -> NDArray[np.int64]:
        """Cells that are not in stay, and are empty."""
        inside = np.zeros_like(counts)
        box = np.ix_(*(self.cells.get(name, range(size)) for name, size in zip(over, counts.shape, strict=True)))
        inside[box] = counts[box]
        return project(inside, over, clique)
