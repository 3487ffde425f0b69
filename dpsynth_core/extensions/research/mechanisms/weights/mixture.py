"""The check of a public table (`public_check`) as a run of its own.

It answers the question before the budget is spent: the ledger charges all of a run that has read a record, so a check inside a run comes
too late to save anything. Alone it needs a small epsilon, and its ledger entry says that it was a check. It publishes no tables: the public
table's could not be reproduced from the release alone, and a certificate of their errors would cost what the check is for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research import operations
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.inference.model import WeightedRecords
from dpsynth_core.mechanisms import public_check, rounds
from dpsynth_core.mechanisms.mechanism import CHECKING, COUNTING, Card, Forecast, Mechanism, Split, printed
from dpsynth_core.mechanisms.steps import Finished, Fitted, Step
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload

TOTAL_SHARE = 0.05
"""Share of the budget for the number of people where it is secret."""
_KEPT = (
    "The tolerance of the solver is added to the sensitivity, and what is below a floor is not told apart.",
    "The number of people is measured for 5% of the budget where it is secret; the paper takes it as known.",
)

CONDITION = (
    "This holds on condition that the solver's bounds on the best-mixture error would meet on every table that differs in one person; "
    "nobody checked that. Where they do not, “no answer” is released, and how likely that is can depend on the records."
)


def check(
    kernel: Kernel, queries: QueryClass, support: NDArray[np.int32], start: NDArray[np.float64], total: float, rho: float
) -> public_check.CheckResult:
    """Measure the best-mixture error of weights on public rows, and return its interpretation.

    The best-mixture error is the smallest value, over all weights on the rows, of the largest error of a query.

    Args:
        kernel: The kernel, which is charged.
        queries: The class of queries.
        support: Codes of the public rows, shape (rows, attributes).
        start: Public weights above zero, one per row.
        total: Number of people, public or noisy.
        rho: Budget, in rho, which is spent.

    Raises:
        ValueError: A public argument is out of range (`operations.best_mixture_error`).
    """
    scale = operations.mixture_l1(kernel, total) / math.sqrt(2 * rho)
    floor = max(1.0, public_check.FLOOR * total)
    return public_check.reading(operations.best_mixture_error(kernel, queries, support, start, total, floor, scale), total, scale)


def memory_mb(public: PublicTable | None, workload: Workload) -> float:
    """Return the expected memory of a check, in megabytes.

    Args:
        public: The public table; None for the least that a check takes.
        workload: The workload.
    """
    places = min(public_check.MAX_PLACES, public.rows * len(workload.cliques)) if public else 0
    return 250.0 + (24 * places + 70 * min(workload.cells, rounds.MAX_CELLS)) / 1e6


@dataclass(frozen=True)
class Mixture:
    """The check of a public table as a run of its own: it measures how well weights on the public rows could do, and makes no new rows.

    Attributes:
        public: The public table; None refuses the run.
    """

    card: Card = Card(
        public_check.MECHANISM, "Check of a public table", ZCDP, makes_rows=False, takes_thresholds=True, publishes_tables=False,
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
        differences=_KEPT,
    )
    public: PublicTable | None = None

    def informed_by(self, public: PublicTable) -> Mechanism:
        """Return a copy of the mechanism that uses this public table."""
        return replace(self, public=public)

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused.

        It is refused without a public table, or if the table or the workload is too large.
        """
        reason = public_check.refusal(self.public, workload)
        places = self.public.rows * len(workload.cliques) if self.public else 0
        return Forecast(not reason, 2.0 + 2e-6 * places, memory_mb(self.public, workload), reason)

    def condition(self, _domain: Domain) -> str:
        """Return the condition of the privacy guarantee, as full sentences: that the solver's bounds meet."""
        return CONDITION

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        """Return the planned stages with their shares of the budget: a count of the people (0.05) if it is secret, then the check."""
        return ((CHECKING, 1.0),) if total_is_public else ((COUNTING, TOTAL_SHARE), (CHECKING, 1 - TOTAL_SHARE))

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run the check with the kernel's whole budget; yield its steps.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for the number of people if it is secret, a Fitted with the result in words,
            then a Finished with the public rows and `details["best_mixture"]`.
        """
        assert self.public is not None, "forecast refuses to run without"
        support, counts = self.public.support()
        total, start = rounds.people((yield from rounds.count_people(kernel, TOTAL_SHARE))), counts / counts.sum()
        result = check(kernel, QueryClass.of(workload), support, start, total, kernel.rho_left)
        yield Fitted(1, result.sentence, kernel.rho_spent, 1.0)
        yield Finished(WeightedRecords(kernel.domain, support, start * total), total, {"best_mixture": result.to_json()})


PUBLISHED = Mixture(card=printed(Mixture.card, *_KEPT))
"""Definition 4.1 with the sensitivity of Lemma 4.2 (Liu et al. 2021)."""
