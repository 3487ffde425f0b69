"""How a criterion is said, as far as its kind has no words of its own: an error that is to stay within a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpsynth_core.statistics.intervals import Interval

if TYPE_CHECKING:
    from dpsynth_core.claims.criteria.criterion import Criterion, Importance


TOO_SMALL = "Too small a group to measure at this budget."


def possible(share: float, least: float = 0.0) -> float:
    """The part of an estimate of a share that can be; least: -1 of a difference."""
    return min(1.0, max(least, share))


def percent(share: float) -> str:
    """A share for reading; small ones with two digits after the point."""
    return f"{share:.1%}" if share >= 0.00995 or share == 0 else f"{share:.2%}"


@dataclass(frozen=True)
class Within:
    """What the kinds of `criterion.Criterion` share: how they are named, and the words for an error of at least 0."""

    is_share: ClassVar[bool] = True
    by_size: ClassVar[bool] = True

    importance: Importance
    name: str

    def amount(self: Criterion, error: float) -> str:
        """An error or a limit with its unit."""
        return f"{percent(possible(error)) if self.is_share else f'{error:.3g}'} {self.unit_of_error}"

    def requirement(self: Criterion) -> str:
        """What must hold, after the sentence."""
        return f"within {self.amount(self.limit)}"

    def finding(self: Criterion, interval: Interval) -> str:
        """What was measured, where it says anything."""
        if self.is_share and interval.at_most >= 1 and interval.at_least <= 0:
            return TOO_SMALL

        def written(error: float) -> str:
            return percent(possible(error)) if self.is_share else f"{max(0.0, error):.3g}"

        low = f"at least {written(interval.at_least)} and " if interval.at_least > 0 else ""
        return f"Measured: {written(interval.error)}; {low}at most {written(interval.at_most)}, with 95% confidence each."

    def uncertainty(self: Criterion, margin: float) -> str:
        """How far off a measurement may be."""
        return self.amount(margin)

    def rule(self: Criterion, margin: float) -> str:
        """When it will be met, not met or undecided, if the measurement is uncertain by so much."""
        low, high = (self.amount(self.limit + sign * margin) for sign in (-1, 1))
        return f"Measured below {low}, it is met; above {high}, not met; in between it stays undecided."

    def hopeless(self: Criterion, margin: float) -> bool:
        """Whether it can hardly come out as met, however good the rows are."""
        return margin >= self.limit
