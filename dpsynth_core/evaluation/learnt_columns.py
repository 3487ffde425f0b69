"""The values that a run learnt of each column, and the share of people with other values.

Both follow from released noisy counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import Measurement

NOTABLE = 0.05
"""Share of the people outside the learnt values from which on a column deserves a look."""
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Share:
    """A noisy share of the people with its 95 % interval.

    Attributes:
        value: The estimate, from 0 to 1.
        within: Half the width of the interval, from the noise of the counts.
    """

    value: float
    within: float

    @property
    def words(self) -> str:
        """The share and half its interval in percent, such as "12% ± 3"; the half is at least 1."""
        return f"{100 * self.value:.0f}% ± {max(1.0, 100 * self.within):.0f}"


@dataclass(frozen=True)
class LearntColumn:
    """A column whose values were learnt.

    Attributes:
        attribute: The column with the values or bins that were found.
        found: The share of the people with one of these values.
        outside: The share with another value; for numbers, the share beyond the bounds or with a
            text that is not a number. None if such values have no cell.
        missing: The share with a missing value. None if missing values have no cell.
        lead: How much more people have a learnt value than another value, as a share, -1 to 1.
    """

    attribute: Attribute
    found: Share
    outside: Share | None
    missing: Share | None
    lead: Share

    @property
    def is_learnt(self) -> bool:
        """True if surely more people have a learnt value than another value.

        There must be at least one value, and at least two bins for a column of numbers. Surely:
        `lead` exceeds half the width of its 95 % interval. If other values have no cell, their
        share counts as 0.
        """
        return self.attribute.values >= (2 if self.attribute.is_number else 1) and self.lead.value > self.lead.within

    @property
    def may_be_numbers(self) -> bool:
        """True for a listed column of which every value that was found is a number, also if no value was found.

        Such a column may be learnt as a column of numbers instead.
        """
        return self.attribute.is_listed and all(map(_is_number, self.attribute.categories))

    @property
    def is_doubtful(self) -> bool:
        """True if the column is learnt, but surely more than 5 % of the people have another value (`NOTABLE`).

        Surely: the lower end of the 95 % interval of `outside` is above 5 %. False if other values have no cell,
        because their number is then unknown.
        """
        return self.is_learnt and self.outside is not None and self.outside.value - self.outside.within > NOTABLE


def learnt_columns(evidence: Evidence) -> tuple[LearntColumn, ...]:
    """Return what was learnt of each column that was measured, in the order of the domain.

    Args:
        evidence: The released measurements of a run that learnt the columns of its domain.
    """
    measured = [(attribute, evidence.measured((attribute.name,))) for attribute in evidence.domain]
    return tuple(_learnt(attribute, seen) for attribute, seen in measured if seen is not None)


def _learnt(attribute: Attribute, seen: Measurement) -> LearntColumn:
    people = max(1.0, float(seen.values.sum()))

    def part(codes: list[int]) -> float:
        return min(1.0, max(0.0, float(seen.values[codes].sum()) / people))

    def share(value: float, plus: int, minus: int = 0) -> Share:
        # Of the counts of `plus` cells less those of `minus` ones, both noisy, as a share p of all: d(S / N) = (dS - p dN) / N, in which a
        # cell's noise counts 1 - p, -1 - p or, of the other cells, -p times.
        squares = (1 - value) ** 2 * plus + (1 + value) ** 2 * minus + value**2 * (attribute.size - plus - minus)
        return Share(value, normal((1 + _CONFIDENCE) / 2) * seen.widest * math.sqrt(squares) / people)

    outside, missing, values = attribute.other_code, attribute.missing_code, attribute.values
    found = part(list(range(values)))
    return LearntColumn(
        attribute,
        share(found, values),
        None if outside is None else share(part([outside]), 1),
        None if missing is None else share(part([missing]), 1),
        share(found, values) if outside is None else share(found - part([outside]), values, 1),
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
