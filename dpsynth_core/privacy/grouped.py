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
    """A counting source on top of another one.

    Attributes:
        domain: The domain with the groups.
        plain: The domain of the other source.
        counted: Counts of the other source.
        groups: Groups by name.
        roots: Sums of roots of the other source, which knows groups, if it has any.
    """

    domain: Domain
    plain: Domain
    counted: Callable[[Collection[Clique]], Counts]
    groups: Mapping[str, Groups]
    roots: Callable[[Clique, Mapping[str, Groups]], NDArray[np.int64]] | None

    def counts(self, cliques: Collection[Clique]) -> Counts:
        """Return exact counts of each canonical clique; the empty clique gives the number of records."""
        over = {clique: parent(self.plain, clique, self.groups) for clique in cliques}
        whole = self.counted(list(dict.fromkeys(over.values())))
        return {clique: regrouped(whole[columns], columns, clique, self.groups) for clique, columns in over.items()}
