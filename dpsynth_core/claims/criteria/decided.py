"""The outcome of a criterion: what was measured of it, beside its limit."""

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
    """A criterion and the measured error. The interval is `UNKNOWN` if the release does not determine it, None if the run ended before."""

    criterion: Criterion
    interval: Interval | None = None

    @property
    def outcome(self) -> str:
        """`MET` only if the error is within the limit including all noise, `NOT_MET` only if it is above the limit including all noise."""
        if self.interval is None:
            return UNMEASURED
        if self.interval.at_most <= self.criterion.limit:
            return MET
        return NOT_MET if self.interval.at_least > self.criterion.limit else UNDECIDED

    def is_must(self, *outcomes: str) -> bool:
        """Return whether the criterion has importance `MUST` and one of these outcomes."""
        return self.criterion.importance == MUST and self.outcome in outcomes

    @property
    def failed(self) -> bool:
        """True if the release misses a requirement of its plan."""
        return self.is_must(NOT_MET)

    @property
    def needs_reason(self) -> bool:
        """True if the release may be published only with a written reason."""
        return self.is_must(NOT_MET, UNMEASURED)


Outcomes = tuple[Decided, ...]


def counted(decided: Sequence[Decided]) -> str:
    """Return how many criteria have each outcome, in words; outcomes without a criterion are left out."""
    outcomes = Counter(one.outcome for one in decided)
    return ", ".join(f"{outcomes[kind]:,} {kind}" for kind in OUTCOMES if outcomes[kind])
