"""MWEM: multiplicative weights with the exponential mechanism, on an explicit distribution (Hardt, Ligett, McSherry 2012), with the replay
of Liu et al. 2021, section 5.3, and Gaussian noise.

One number for every possible record, so only for small domains: the ancestor of MWEM+PGM and PMW^Pub, and the yardstick where it fits.
Budget: the number of people where it is secret; then T equal rounds, each a selection (eps^2/8) and a measurement of one counting query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dpsynth_core.inference.explicit import MAX_CELLS, CellWeights
from dpsynth_core.mechanisms import rounds as graphical
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.mechanism import Forecast, Split
from dpsynth_core.mechanisms.parameters import Parameter
from dpsynth_core.mechanisms.steps import Finished, Measured, Step
from dpsynth_core.mechanisms.weights import reweighing
from dpsynth_core.mechanisms.weights.reweighing import Asked
from dpsynth_core.privacy.accountant import ZCDP, Accountant
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.workload import Workload

ROUNDS = 4.0
"""See `reweighing.round_count`."""
_BYTES_PER_CELL = 40
_SECONDS_PER_CELL = 5e-8
"""For each cell of the domain and round: sums for all marginals, the average, and the replay of earlier answers."""


class Mwem:
    name: ClassVar[str] = "mwem"
    title: ClassVar[str] = "MWEM"
    summary: ClassVar[str] = (
        "Keeps one number for every possible row and adjusts all of them, count by count, where they are most wrong. For few columns only."
    )
    paper: ClassVar[str] = "Hardt, Ligett, McSherry: A Simple and Practical Algorithm for Differentially Private Data Release (NIPS 2012)"
    privacy: ClassVar[str] = (
        "Measures the number of people, where it is secret; then every round selects one counting query with the exponential mechanism "
        "(rho = eps^2/8) and measures it with rounded Gaussian noise (rho = rows^2 / (2 sigma^2), rows: the most that one person owns). "
        "The rounds compose adaptively under zero-concentrated differential privacy; a filter refuses what would exceed the total."
    )
    makes_rows: ClassVar[bool] = True
    takes_thresholds: ClassVar[bool] = True
    accountant: ClassVar[Accountant] = ZCDP
    parameters: ClassVar[Sequence[Parameter]] = (
        reweighing.ROUNDS,
        reweighing.MEASURE_SHARE,
        reweighing.SKIP,
    )

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast:
        """Refuses more than MAX_CELLS possible records."""
        cells, reason = domain.cells(domain.names), ""
        if cells > MAX_CELLS:
            remedy = "use fewer columns or bins, or AIM, which needs no such table"
            reason = f"there are more than {MAX_CELLS:,} possible rows, and it keeps a number for each; {remedy}"
        elif workload.cells > graphical.MAX_CELLS:
            reason = f"the workload has {workload.cells:,} cells, more than {graphical.MAX_CELLS:,}; use fewer or smaller tables"
        size = min(cells, MAX_CELLS)
        once = _SECONDS_PER_CELL * size + 2e-7 * min(workload.cells, graphical.MAX_CELLS)
        memory = 200.0 + (_BYTES_PER_CELL * size + 60 * min(workload.cells, graphical.MAX_CELLS)) / 1e6
        rounds = reweighing.round_count(settings, rho, reweighing.SUPPOSED_PEOPLE, ROUNDS)
        return Forecast(not reason, 1.0 + rounds * once, memory, reason)

    def split(self, workload: Workload, settings: Mapping[str, Any], total_is_public: bool) -> Split:  # noqa: ARG002
        return reweighing.split(settings, total_is_public)

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Step]:
        """Yields the number of people as Measured, where it is secret; then a Fitted event each round, then Finished."""
        queries, asked = QueryClass.of(workload), list[Asked]()
        counted = reweighing.count_people(kernel)
        if not kernel.total_is_public:
            yield Measured(0, counted, kernel.rho_spent, graphical.done(kernel))
        total = reweighing.people(counted)
        weights, rounds = CellWeights(queries), reweighing.round_count(settings, kernel.rho_total, total, ROUNDS)
        yield from reweighing.reweigh(kernel, queries, weights, total, rounds, settings, asked)
        details = {"rounds": rounds, "queries": reweighing.told(kernel.domain, asked)}
        yield Finished(weights.average(total), total, details)
