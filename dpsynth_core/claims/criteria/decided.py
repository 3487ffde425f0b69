"""The outcome of a criterion: its measured error and bounds, beside its limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpsynth_core.claims.criteria.outcomes import MET, MUST, NOT_MET, OUTCOMES, UNDECIDED, UNMEASURED

if TYPE_CHECKING:
    from dpsynth_core.claims.criteria.criterion import Criterion
    from dpsynth_core.statistics.intervals import Interval


@dataclass(frozen=True)
class Decided:
    """A criterion with its measured error.

    Attributes:
        criterion: The criterion.
        interval: The error with its bounds; `UNKNOWN` if the release does not determine it, None if
            the run ended before it was measured.
    """

    criterion: Criterion
    interval: Interval | None = None

    @property
    def outcome(self) -> str:
        """The outcome: MET, NOT_MET, UNDECIDED or UNMEASURED.

        It is UNMEASURED without an interval, MET if the upper bound of the error is within the limit, NOT_MET if the
        lower bound is above the limit, and else UNDECIDED.
        """
        if self.interval is None:
            return UNMEASURED
        if self.interval.at_most <= self.criterion.limit:
            return MET
        return NOT_MET if self.interval.at_least > self.criterion.limit else UNDECIDED

    def is_must(self, *outcomes: str) -> bool:
        """Return whether the criterion has importance `MUST` and one of these outcomes, such as NOT_MET."""
        return self.criterion.importance == MUST and self.outcome in outcomes

    @property
    def failed(self) -> bool:
        """True if the criterion has importance `MUST` and is not met."""
        return self.is_must(NOT_MET)

    @property
    def needs_reason(self) -> bool:
        """True if the criterion has importance `MUST` and is not met or not measured.

        The release may then be published only with a written reason.
        """
        return self.is_must(NOT_MET, UNMEASURED)


Outcomes = tuple[Decided, ...]


def counted(decided: Sequence[Decided]) -> str:
    """Return the number of criteria with each outcome as text, such as "2 met, 1 undecided"; "" for no criteria.

    The order is met, not met, undecided, not measured. Outcomes that no criterion has are left out.
    """
    outcomes = Counter(one.outcome for one in decided)
    return ", ".join(f"{outcomes[kind]:,} {kind}" for kind in OUTCOMES if outcomes[kind])
