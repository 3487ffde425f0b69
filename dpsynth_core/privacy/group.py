"""Counts of records that count zero, one or several times each, by their public cells of columns.

Every sensitivity holds for them, with a person owning as many records as theirs count together (Propositions 19 and 26). Their number is
never public, because a replaced person may be among them or not.
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
    """A counting source in which some records count several times or not at all.

    Attributes:
        domain: The domain.
        counted: Returns the counts of the underlying source for some cliques.
        times: By column, how often a record with each code counts, shape (codes,), a whole number
            from 0; with several columns, a record counts the product.
    """

    domain: Domain
    counted: Callable[[Collection[Clique]], Counts]
    times: Mapping[str, NDArray[np.int64]]

    def counts(self, cliques: Collection[Clique]) -> Counts:
        """Return exact counts of each canonical clique, in which each record counts as often as its codes say.

        Args:
            cliques: Tuples of columns in domain order. The empty clique gives the sum over all records.

        Returns:
            By clique, whole numbers, shape `domain.sizes(clique)`.
        """
        wide = {clique: self.domain.clique({*clique, *self.times}) for clique in cliques}
        whole = self.counted(list(dict.fromkeys(wide.values())))
        return {clique: self._counted(whole[over], over, clique) for clique, over in wide.items()}

    def _counted(self, counts: NDArray[np.int64], over: Clique, clique: Clique) -> NDArray[np.int64]:
        """Return the marginal over `clique`, each record counted as often as its codes say.

        Args:
            counts: Counts of the underlying source over the columns `over`.
            over: The clique's columns and all columns of `times`.
            clique: The columns of the result.
        """
        for name in self.times:
            counts = counts * expand(self.times[name], (name,), over)
        return project(counts, over, clique)
