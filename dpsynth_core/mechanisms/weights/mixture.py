"""How well could a public table represent the private one? The best-mixture error (Liu et al. 2021, section 4), as a run of its own and
as the first step of PMW^Pub.

A run of its own is what answers the question before the budget is spent: the ledger charges all of a run that has read a record, so a
check inside a run comes too late to save anything. Alone it needs a small epsilon, and its ledger entry says what it was.
It publishes the public table's own answers besides, which cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.records import WeightedRecords
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.mechanism import CHECKING, COUNTING, Card, Forecast, Mechanism, Split
from dpsynth_core.mechanisms.steps import Finished, Fitted, Measured, Step
from dpsynth_core.mechanisms.weights import reweighing
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.workload import Workload

FLOOR = 0.01
"""Tables that are at least this good are not told apart: a fraction of the people."""
POOR = 0.03
"""From here on, whatever a mechanism does, some count will be wrong by so much: people are warned."""
MAX_PLACES = 60_000_000
"""Distinct rows times marginals: 12 bytes each while they are found, 4 later."""

_QUANTILE = math.log(1 / 0.05)
"""A Laplace variable is within 3.0 times its scale with 95 % confidence."""
_TOTAL_SHARE = 0.05
"""Of a run of its own, for the number of people where it is secret."""


CONDITION = (
    "This holds on condition that the solver's bounds on the best-mixture error would meet on every table that differs in one person; "
    "nobody checked that. Where they do not, “no answer” is released, and how likely that is can depend on the records."
)


@dataclass(frozen=True)
class Reading:
    """error: a fraction of the people, noisy, in counts of a query; None where there is no answer; half_width: of its 95 % interval."""

    error: float | None
    half_width: float
    floor: float

    @property
    def poor(self) -> bool:
        """Surely a table that cannot do."""
        return self.error is not None and self.error - self.half_width > POOR

    @property
    def sentence(self) -> str:
        """In plain words, with the warning if there is one."""
        if self.error is None:
            return "The check of the public table gave no answer: its solver's bounds did not meet."
        most = max(self.floor, self.error + self.half_width)
        if self.error - self.half_width <= self.floor:
            within = f"weights on its rows can bring every count to within ±{most:.1%} of the people"
            said = f"Nothing speaks against this public table: {within} (95 % sure)."
        else:
            low, near = max(self.floor, self.error - self.half_width), max(self.floor, self.error)
            said = f"This public table can represent your data up to ±{near:.1%} at best (95 % sure: between {low:.1%} and {most:.1%})."
        if self.poor:
            said += " However much is spent, some counts will be that wrong: use another public table, or a mechanism that needs none."
        return said

    def to_json(self) -> dict[str, Any]:
        return {"error": self.error, "half_width": self.half_width, "floor": self.floor, "poor": self.poor, "sentence": self.sentence}


def check(kernel: Kernel, queries: QueryClass, support: NDArray[np.int32], start: NDArray[np.float64], total: float, rho: float) -> Reading:
    """Spend rho on the best-mixture error of weights on `support`. start: public weights above zero. total: number of people."""
    scale = kernel.mixture_l1(total) / math.sqrt(2 * rho)
    noisy = kernel.best_mixture_error(queries, support, start, total, max(1.0, FLOOR * total), scale)
    return Reading(None if noisy is None else noisy / total, _QUANTILE * scale / total, FLOOR)


def refusal(public: PublicTable | None, workload: Workload) -> str:
    """Why a mechanism over the rows of a public table cannot run, or "" ."""
    if public is None:
        return "it needs a public table of the same columns; choose one on the Data page, or with --public"
    if workload.cells > rounds.MAX_CELLS:
        return f"the workload has {workload.cells:,} cells, more than {rounds.MAX_CELLS:,}; use fewer or smaller tables"
    if public.rows * len(workload.cliques) > MAX_PLACES:
        most = MAX_PLACES // len(workload.cliques)
        return f"the public table has {public.rows:,} rows, more than {most:,} for so many tables; use a sample of it, or fewer tables"
    return ""


def memory_mb(public: PublicTable | None, workload: Workload) -> float:
    places = min(MAX_PLACES, public.rows * len(workload.cliques)) if public else 0
    return 250.0 + (24 * places + 70 * min(workload.cells, rounds.MAX_CELLS)) / 1e6


@dataclass(frozen=True)
class Mixture:
    card: ClassVar[Card] = Card(
        name="mixture",
        title="Check of a public table",
        summary=(
            "Says how well weights on the rows of your public table could represent the private one, at best. Run it with a small epsilon "
            "before you spend more on PMW^Pub. Makes no rows."
        ),
        paper="Liu et al.: Leveraging Public Data for Practical Private Query Release (ICML 2021), Definition 4.1",
        privacy=(
            "The least largest error that any weights on the public rows can have moves by at most the rows that one person owns (Lemma "
            "4.2). It is found up to a stated tolerance, which is added to the sensitivity, and released with discrete Laplace noise (rho "
            "= (sensitivity / scale)^2 / 2). Where the number of people is secret, it is measured with rounded Gaussian noise."
        ),
        accountant=ZCDP,
        makes_rows=False,
        takes_thresholds=True,
    )

    public: PublicTable | None = None

    def informed_by(self, public: PublicTable) -> Mechanism:
        return replace(self, public=public)

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        reason = refusal(self.public, workload)
        places = self.public.rows * len(workload.cliques) if self.public else 0
        return Forecast(not reason, 2.0 + 2e-6 * places, memory_mb(self.public, workload), reason)

    def condition(self, _domain: Domain) -> str:
        return CONDITION

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        return ((CHECKING, 1.0),) if total_is_public else ((COUNTING, _TOTAL_SHARE), (CHECKING, 1 - _TOTAL_SHARE))

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Yields the number of people as Measured, where it is secret; the reading as a Fitted event; Finished with public answers."""
        assert self.public is not None, "forecast refuses to run without"
        support, counts = self.public.support()
        counted = reweighing.count_people(kernel, _TOTAL_SHARE)
        if not kernel.total_is_public:
            yield Measured(0, counted, kernel.rho_spent, rounds.done(kernel))
        total, start = reweighing.people(counted), counts / counts.sum()
        reading = check(kernel, QueryClass.of(workload), support, start, total, kernel.rho_left)
        yield Fitted(1, reading.sentence, kernel.rho_spent, 1.0)
        yield Finished(WeightedRecords(kernel.domain, support, start * total), total, {"best_mixture": reading.to_json()})
