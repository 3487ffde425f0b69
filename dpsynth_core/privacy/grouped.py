"""Counts over groups of values, in addition to counts over values.

Every sensitivity holds for them, because a record is in one cell of each table over groups (Proposition 19).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.regrouping import parent, regrouped

Counts = dict[Clique, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Grouped:
    """A counting source whose domain has further columns: groups of the values of a column.

    Attributes:
        domain: The domain with the groups as columns.
        plain: The domain of the underlying source.
        counted: Returns the counts of the underlying source for some cliques.
        groups: Groups by name.
        roots: The method `roots` of the underlying source, which takes groups itself; None if it
            has none.
    """

    domain: Domain
    plain: Domain
    counted: Callable[[Collection[Clique]], Counts]
    groups: Mapping[str, Groups]
    roots: Callable[[Clique, Mapping[str, Groups]], NDArray[np.int64]] | None

    def counts(self, cliques: Collection[Clique]) -> Counts:
        """Return exact counts of each canonical clique, whose names may be of groups.

        Args:
            cliques: Tuples of names in the order of the domain. The empty clique gives the number of records.

        Returns:
            By clique, whole numbers, shape `domain.sizes(clique)`.
        """
        over = {clique: parent(self.plain, clique, self.groups) for clique in cliques}
        whole = self.counted(list(dict.fromkeys(over.values())))
        return {clique: regrouped(whole[columns], columns, clique, self.groups) for clique, columns in over.items()}
