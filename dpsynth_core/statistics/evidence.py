"""What a release publishes of tables: the marginals of its rows, or those that its noisy answers give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.released import combined
from dpsynth_core.vocabulary.rows import Repeated, row_marginals


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a release contains that a comparison needs. codes: None for answers without rows. total: people, estimated or public."""

    domain: Domain
    codes: NDArray[np.integer] | Repeated | None
    measurements: Sequence[Measurement]
    total: float

    def per(self, records: int) -> Evidence:
        """In units of so many records, where that is what people are."""
        if records == 1:
            return self
        smaller = [
            replace(m, values=m.values / records, sigma=m.sigma / records, rounding=m.rounding / records**2) for m in self.measurements
        ]
        return replace(self, measurements=smaller, total=self.total / records)

    def published(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.float64]]:
        """Marginals as published, as fractions: the rows', or the noisy answers as fractions of the people where there are no rows. Without
        those that no answer contains."""
        if self.codes is not None:
            rows, lacking = max(1, len(self.codes)), [r for r in cliques if r not in self._counted]
            counted = {r: counts / rows for r, counts in row_marginals(self.domain, self.codes, lacking).items()} if lacking else {}
            if len(lacking) > 1:  # those of the workload, which are asked for again and again
                self._counted.update(counted)
            return {r: counted[r] if r in counted else self._counted[r] for r in cliques}
        answers, people = {r: self.measured(r) for r in cliques}, max(1.0, self.total)
        return {r: self.domain.cleared(r, answer.values) / people for r, answer in answers.items() if answer is not None}

    def shares(self, clique: Clique) -> NDArray[np.float64] | None:
        """A marginal of the synthetic rows, as fractions of them."""
        return None if self.codes is None else self.published([clique])[clique]

    def people(self, clique: Clique) -> NDArray[np.float64] | None:
        """The same in people: as if there were as many rows as people."""
        shares = self.shares(clique)
        return None if shares is None else shares * self.total

    def measured(self, clique: Clique) -> Measurement | None:
        """A marginal from all noisy ones that contain it, in people; None where none does."""
        if not clique:
            return combined(self.measurements, clique)
        containing = set[int].intersection(*(self._with_column.get(name, set()) for name in clique))
        return combined([self.measurements[place] for place in sorted(containing)], clique)

    @cached_property
    def _with_column(self) -> dict[str, set[int]]:
        """The places of the measurements with each column."""
        places = defaultdict[str, set[int]](set)
        for place, measurement in enumerate(self.measurements):
            for name in measurement.clique:
                places[name].add(place)
        return places

    @cached_property
    def _counted(self) -> dict[Clique, NDArray[np.float64]]:
        """Tables of the rows that were asked for together before."""
        return {}


def label(clique: Clique) -> str:
    return " × ".join(clique) or "(all rows)"
