"""MWEM: multiplicative weights with the exponential mechanism, on an explicit distribution (Hardt, Ligett, McSherry 2012), with the replay
of Liu et al. 2021, section 5.3, and Gaussian noise.

One number for every possible record, so only for small domains: the ancestor of MWEM+PGM and PMW^Pub, and the yardstick where it fits.
Budget: the number of people where it is secret; then T equal rounds, each a selection (eps^2/8) and a measurement of one counting query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.mechanism import Card, Forecast, Split, printed
from dpsynth_core.mechanisms.steps import Finished, Step, Unmoved
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.research.inference.weights import MAX_CELLS, CellWeights
from dpsynth_core.research.mechanisms.weights import reweighing
from dpsynth_core.research.mechanisms.weights.reweighing import Reweighing, Select
from dpsynth_core.research.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.workload import Workload

_BYTES_PER_CELL = 40
_SECONDS_PER_CELL = 5e-8
"""For each cell of the domain and round: sums for all marginals, the average, and the replay of earlier answers."""


@dataclass(frozen=True)
class Mwem(Reweighing):
    card: Card = Card(
        name="mwem",
        title="MWEM",
        summary=(
            "Keeps one number for every possible row and adjusts all of them, count by count, where they are most wrong. For few columns "
            "only."
        ),
        paper="Hardt, Ligett, McSherry: A Simple and Practical Algorithm for Differentially Private Data Release (NIPS 2012)",
        privacy=(
            "Measures the number of people, where it is secret; then every round selects one counting query with the exponential mechanism "
            "(rho = eps^2/8) and measures it with rounded Gaussian noise (rho = rows^2 / (2 sigma^2), rows: the most that one person "
            "owns). The rounds compose adaptively under zero-concentrated differential privacy; a filter refuses what would exceed the "
            "total."
        ),
        accountant=ZCDP,
        takes_thresholds=True,
        differences=reweighing.DIFFERENCES,
    )
    scale: ClassVar[float] = 4.0
    select: Select = reweighing.exponentially

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Refuses more than MAX_CELLS possible records."""
        cells = workload.domain.cells(workload.domain.names)
        if cells > MAX_CELLS:
            remedy = "use fewer columns or bins, or AIM, which needs no such table"
            reason = f"there are more than {MAX_CELLS:,} possible rows, and it keeps a number for each; {remedy}"
        else:
            reason = rounds.too_many_cells(workload.cells)
        size = min(cells, MAX_CELLS)
        once = _SECONDS_PER_CELL * size + 2e-7 * min(workload.cells, rounds.MAX_CELLS)
        memory = 200.0 + (_BYTES_PER_CELL * size + 60 * min(workload.cells, rounds.MAX_CELLS)) / 1e6
        count = self.round_count(rho, reweighing.SUPPOSED_PEOPLE)
        return Forecast(not reason, 1.0 + count * once, memory, reason)

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        return self.split_after((), total_is_public)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Yields the number of people as Measured, where it is secret; then a Fitted event each round, then Finished."""
        queries = QueryClass.of(workload)
        counted = yield from rounds.count_people(kernel, reweighing.TOTAL_SHARE)
        total = rounds.people(counted)
        weights, count = CellWeights(queries), self.round_count(kernel.rho_total, total)
        measured = yield from self.reweigh(kernel, queries, weights, total, count, self.select)
        details = {"rounds": count, "queries": reweighing.described(kernel.domain, measured)}
        yield Finished(self.finish(weights.average(total)), total, details)


PUBLISHED = Mwem(
    card=printed(Mwem.card, "As Liu et al. 2021 run it (section 5.3): permute-and-flip, Gaussian noise, replay.", *reweighing.KEPT),
    measure_share=0.5,
    skip=0.0,
    select=reweighing.by_permute_and_flip,
    finish=Unmoved,
)
"""Hardt, Ligett and McSherry 2012 with the improvements of Liu et al. 2021, section 5.3."""
