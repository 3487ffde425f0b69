"""The tables that a release publishes: the marginals of its rows, or of its noisy answers where it has no rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.statistics.row_counts import row_counts
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.released import combined
from dpsynth_core.vocabulary.rows import Repeated


@dataclass(frozen=True, eq=False)
class Evidence:
    """The parts of a release that a comparison needs.

    Attributes:
        domain: The domain of the rows.
        codes: Codes of the rows, shape (rows, columns); None for answers without rows.
        measurements: The noisy marginals.
        total: Number of people, estimated or public.
    """

    domain: Domain
    codes: NDArray[np.integer] | Repeated | None
    measurements: Sequence[Measurement]
    total: float

    def per(self, records: int) -> Evidence:
        """Return the evidence in people, for tables in which `records` records make one person.

        All measured counts, their noise and the total are divided by `records`; the rows stay. This evidence is not changed.

        Args:
            records: Number of records of each person, at least 1.
        """
        if records == 1:
            return self
        smaller = [
            replace(m, values=m.values / records, sigma=m.sigma / records, rounding=m.rounding / records**2) for m in self.measurements
        ]
        return replace(self, measurements=smaller, total=self.total / records)

    def published(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.float64]]:
        """Return marginals as fractions, each with one axis per column of its clique.

        With rows, they are exact marginals of the rows, divided by the number of rows. Without rows, they are
        the minimum-variance estimates from all measurements that contain the clique, divided by `total`: they
        may be negative, need not sum to 1, and are 0 in impossible cells. Without rows, a clique that no
        measurement contains is left out. Marginals of rows are kept and returned again, so the caller must not change
        them.

        Args:
            cliques: The cliques of the marginals.
        """
        if self.codes is not None:
            rows, lacking = max(1, len(self.codes)), [r for r in cliques if r not in self._counted]
            counted = {r: counts / rows for r, counts in row_counts(self.domain, self.codes, lacking).items()} if lacking else {}
            if len(lacking) > 1:  # those of the workload, which are asked for again and again
                self._counted.update(counted)
            return {r: counted[r] if r in counted else self._counted[r] for r in cliques}
        answers, people = {r: self.measured(r) for r in cliques}, max(1.0, self.total)
        return {r: self.domain.cleared(r, answer.values) / people for r, answer in answers.items() if answer is not None}

    def shares(self, clique: Clique) -> NDArray[np.float64] | None:
        """Return a marginal of the synthetic rows as fractions of the rows, which add up to 1; None without rows.

        The shape has one axis per column of the clique. Without a single row all fractions are 0. The array may be kept
        and returned again, so the caller must not change it.
        """
        return None if self.codes is None else self.published([clique])[clique]

    def people(self, clique: Clique) -> NDArray[np.float64] | None:
        """Return a marginal of the synthetic rows in people: fractions times `total`, float64; None without rows."""
        shares = self.shares(clique)
        return None if shares is None else shares * self.total

    def measured(self, clique: Clique) -> Measurement | None:
        """Return the minimum-variance estimate of a marginal from all measurements that contain it, in the unit of `total`.

        The noise of different measurements is taken to be independent. If a measurement is final for the
        marginal (`measurement.final`), it is returned alone.

        Args:
            clique: The marginal.

        Returns:
            The estimate with its noise; None if no measurement contains the marginal.
        """
        if not clique:
            return combined(self.measurements, clique)
        containing = set[int].intersection(*(self._with_column.get(name, set()) for name in clique))
        return None if not containing else combined([self.measurements[place] for place in sorted(containing)], clique)

    @cached_property
    def _with_column(self) -> dict[str, set[int]]:
        """The indices of the measurements that contain each column."""
        places = defaultdict[str, set[int]](set)
        for place, measurement in enumerate(self.measurements):
            for name in measurement.clique:
                places[name].add(place)
        return places

    @cached_property
    def _counted(self) -> dict[Clique, NDArray[np.float64]]:
        """Cache of the marginals of the rows, as fractions by clique."""
        return {}


def label(clique: Clique) -> str:
    """Return the name of a table for people, such as "age × sex"; "(all rows)" for the empty clique."""
    return " × ".join(clique) or "(all rows)"
