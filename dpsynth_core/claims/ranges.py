"""The largest error of a range such as "from 30 to 45", among all people and within each group of another column.

Two numbers are measured, each with one noisy answer on half of the share: the largest error over all ranges of all ordered columns, and the
largest over all their ranges within each cell of another column. One person moves either by 1, however many ranges there are (Proposition
3). The other columns are those that the workload has in a table with the column. Medians, quintiles and shares of ranges of ages
follow from shares of ranges, so that each has an interval.

With T the number of records and p the share of the rows that is in a range, the largest |M - T p| is measured; for N the true number of
records, |M / N - p| is at most that, and |T - N| p more, divided by a lower bound of N, as for the errors of the certificate. p is 1 at
most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from typing_extensions import override

from dpsynth_core.claims.certificate import CONFIDENCE, floor_of
from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.outcome import Nothing, Open, alike, expect
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.privacy import questions
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.distances import possible
from dpsynth_core.statistics.quantiles import margin
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import FEWEST_IN_ORDER

USUAL_SHARE = 0.02
"""Share of the budget where a workload asks for ranges and the spec states no share."""


@dataclass(frozen=True)
class LargestRange:
    """The measured largest error of a range, as a share of the people.

    Attributes:
        error: The error, unbiased.
        bound95: Its upper bound with 95 % confidence.
        sigma: Standard deviation of its noise, in records.
    """

    error: float
    bound95: float
    sigma: float


@dataclass(frozen=True)
class RangeErrors:
    """The largest errors of ranges.

    Attributes:
        columns: The ordered columns.
        alone: Largest error among all people.
        within: Largest error within one cell of another column; None where the workload has these columns with no other.
        people: Number of records.
        counted: Whether `people` was measured for this claim alone.
    """

    columns: tuple[str, ...]
    alone: LargestRange
    within: LargestRange | None
    people: Total
    counted: bool


def bound(error: float, sigma: float, total: Total, confidence: float = CONFIDENCE) -> float:
    """Return the upper bound of the largest error of a range, as a share of people, at most 1.

    It holds with probability `confidence`, for all ranges at once, because the largest was
    measured.

    Args:
        error: The measured largest error, as a share of `total`.
        sigma: Standard deviation of the measurement's noise, in records.
        total: Number of records.
        confidence: The probability, a fraction.
    """
    share, fewest = floor_of(total, confidence)
    records = error * total.value + margin(sigma, total.sigma, 1, confidence + share)
    return min(1.0, max(0.0, records) / fewest) if fewest > 0 else 1.0


def columns_of(plan: Asked) -> Clique:
    """Return the columns whose ranges are measured: those that the workload asks for, or else all its ordered columns.

    They are in the domain's order unless the workload names them; () if no column has 3 cells in an order.
    """
    if plan.workload.ranges:
        return plan.workload.ranges
    asked = plan.workload.columns
    return tuple(one.name for one in plan.domain if one.name in asked and one.ordered >= FEWEST_IN_ORDER)


def pairs_of(plan: Asked) -> list[Clique]:
    """Return the pairs of a column with ranges and another column that a table of the workload has."""
    ordered = set(columns_of(plan))
    return [pair for pair in plan.workload.closure() if len(pair) == 2 and not ordered.isdisjoint(pair)]


class RangesMeasured(Claim[RangeErrors]):
    """The largest error of a range in the synthetic rows."""

    name = part = noun = "ranges"
    of_everybody = True
    share = BudgetShare(default=0.0, least=0.001, most=0.4, otherwise="0 for none")
    purpose = "measuring the largest error of a range"
    unmeasured = "The run was interrupted before the largest error of a range was measured, although a share of the budget was for it."
    question = "Does the largest error of a range follow?"
    title = "How far off are ranges, such as ages from 30 to 45?"
    reading = (
        "A range is all people whose value of a column lies between two of its cells. The largest error over all ranges was measured once, "
        "with noise, on a share of the budget of its own: the bound holds for every range at once, with 95% confidence. Medians and other "
        "quantiles follow from ranges."
    )
    form = TypeAdapter(RangeErrors | None)

    @override
    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:
        """Return whether the mechanism makes rows, so that a release can have this claim."""
        return mechanism.card.makes_rows

    @override
    def asked(self, plan: Asked) -> bool:
        """Return whether ranges are measured: the claim has a share, and some column has ranges.

        Values that are learnt may turn out to be too few to have ranges.
        """
        return super().asked(plan) and bool(columns_of(plan))

    def _has_share_alone(self, plan: Asked) -> bool:
        """Return whether the plan has a share for ranges, but no column that has any."""
        return super().asked(plan) and not columns_of(plan)

    @override
    def check(self, plan: Asked) -> None:
        """Check that some column of the workload has ranges if the plan sets a share aside for them.

        Raises:
            InputError: No column has an order, although the plan has a share for ranges.
        """
        if self._has_share_alone(plan):
            problem = "no column of the workload has an order, so that there are no ranges"
            raise InputError("budget.ranges", problem, "leave it out, or ask for tables of numbers, dates or ordered categories")

    @override
    def needs(self, plan: Asked) -> list[Clique]:
        """Return the single columns with ranges and their pairs with other columns, which the kernel must count; [] without a share."""
        return [*((name,) for name in columns_of(plan)), *pairs_of(plan)] if self.asked(plan) else []

    @override
    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> RangeErrors | None:  # type: ignore[override]
        """Measure the largest error of a range, alone and within groups, with the kernel's whole remaining budget.

        The budget is divided equally. The result is None for a release without rows, and nothing is charged then.

        Args:
            plan: The plan.
            kernel: The kernel with the share for ranges.
            final: The released rows and tables.
        """
        if final.released.codes is None:
            return None
        counted, total = final.total is None, final.people(kernel)
        every = [_records(tables, total) for tables in _tables(plan, final)]
        sigma = kernel.unit.query_l1 * math.sqrt(len(every) / (2 * kernel.rho_left))
        noisy = [kernel.measure_largest_range(answers, columns_of(plan), sigma) for answers in every]
        errors = [LargestRange(one / total.value, bound(one / total.value, sigma, total), sigma) for one in noisy]
        return RangeErrors(columns_of(plan), errors[0], errors[1] if len(errors) > 1 else None, total, counted)

    @override
    def answers(self, plan: Asked, stated: RangeErrors | None) -> int:
        """Return the number of kernel answers: one or two errors, and people if counted here; 0 if `stated` is None."""
        return 0 if stated is None else 1 + (stated.within is not None) + stated.counted

    def follows(self, received: Received, stated: RangeErrors | None) -> str:
        """Measure the claim again from stored noisy answers; return a clause if it is as stated.

        Digests beside the answers show whether they are about these rows.

        Args:
            received: The release with its answers.
            stated: The claim as the release states it; None if the release has none.

        Raises:
            Wrong: An error is not what was measured or was measured of other rows, or the claim is
                missing though the plan asks for it.
            Open: The digests differ, but another version of the program made the release.
            Nothing: The release has no such claim and need not have one.
        """
        plan, final = received.plan, received.final
        if stated is None:
            expect(not self.asked(plan) or received.interrupted or received.branded(self.brand), "the plan asks for it, and it is missing")
            raise Nothing("no largest error of a range was measured")
        took = self.took(received, stated)
        again = self.again(received, took)
        expect(again is not None and alike(self.to_json(plan, again), self.to_json(plan, stated)), "it is not what was measured")
        asked = [one for one in received.answers[took] if one.operation == "measure_largest_range"]
        wanted = [questions.digests((_records(tables, stated.people),)) for tables in _tables(plan, final)]
        if [one.arguments[2:] for one in asked] != wanted:
            expect(received.other_program, "it was measured of something else than these rows")
            raise Open("whether it was measured of these rows is seen where the versions are those that it names")
        return f"the largest error over all ranges of {len(stated.columns):,} columns follows from what was measured"

    @override
    def sentences(self, plan: Asked, stated: RangeErrors | None, final: Final) -> list[str]:
        """Return sentences with the largest errors and their bounds, unescaped.

        If `stated` is None, the result is [], or one sentence if the plan has a share for ranges but no column has any.
        """
        if stated is None:
            few = f"No column has {FEWEST_IN_ORDER} values in an order, so there are no ranges; their share of the budget was not spent."
            return [few] if self._has_share_alone(plan) else []
        of = stated.columns[0] if len(stated.columns) == 1 else f"{len(stated.columns):,} columns with an order"
        within = [] if stated.within is None else [f"Of such ranges within a group of another column, {_in_words(stated.within)}"]
        return [f"Of all ranges of {of}, {_in_words(stated.alone)}", *within]


RANGES = RangesMeasured()

_Tables = dict[Clique, NDArray[np.float64]]


def _tables(plan: Asked, final: Final) -> list[_Tables]:
    """Return the rows' tables whose ranges are measured, as fractions: single columns, then pairs if there are any."""
    every: list[list[Clique]] = [[(name,) for name in columns_of(plan)], pairs_of(plan)]
    return [final.released.published(cliques) for cliques in every if cliques]


def _records(tables: _Tables, total: Total) -> _Tables:
    return {r: fractions * total.value for r, fractions in tables.items()}


def _in_words(largest: LargestRange) -> str:
    if largest.bound95 >= 1:
        return "nothing is known of how far off the worst is: it may be all people."
    return f"the worst is off by {possible(largest.error):.1%} of the people; with 95% confidence, by {largest.bound95:.1%} at most."
