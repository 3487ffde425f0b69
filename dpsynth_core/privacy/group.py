"""The counts of records that do not all count once: by their public cells of columns, not at all or several times.

Every sensitivity holds for them, of a person with as many records as theirs count together (Propositions 19 and 26). How many they are is
never public: a replaced person may be among them or not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand, project
from dpsynth_core.vocabulary.measurement import Clique

Counts = dict[Clique, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Group:
    """A counting source over what another one counts. counted: the other one's counts. times: by column, how often a record of each code
    counts, a whole number of 0 or more; with several columns, the product."""

    domain: Domain
    counted: Callable[[Collection[Clique]], Counts]
    times: Mapping[str, NDArray[np.int64]]

    def counts(self, cliques: Collection[Clique]) -> Counts:
        """Exact counts of each canonical clique; the empty one gives what all records count together."""
        wide = {clique: self.domain.clique({*clique, *self.times}) for clique in cliques}
        whole = self.counted(list(dict.fromkeys(wide.values())))
        return {clique: self._counted(whole[over], over, clique) for clique, over in wide.items()}

    def _counted(self, counts: NDArray[np.int64], over: Clique, clique: Clique) -> NDArray[np.int64]:
        """Cells of records that do not count stay, and are empty."""
        for name in self.times:
            counts = counts * expand(self.times[name], (name,), over)
        return project(counts, over, clique)
