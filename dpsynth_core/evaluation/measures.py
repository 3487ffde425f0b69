"""Measures of error as people choose between them, with their titles and explanations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A measure of error.

    Attributes:
        column: Column of frames with the error.
        title: Name shown to people.
        help: Explanation shown to people.
        percent: Whether the error is a share of the people, shown in percent; otherwise it is an L1
            distance.
    """

    column: str
    title: str
    help: str
    percent: bool = True

    @property
    def axis(self) -> str:
        """The title of an axis, with the unit."""
        return f"{self.title} ({'% of all' if self.percent else 'L1, 0 to 2'})"


MEAN = Metric(
    "mean",
    "People in the wrong group",
    "Of a table, on average over the tables: who would have to move to another cell to make it right. Half the mean L1 error.",
)
LARGEST = Metric("largest", "Largest error of one count", "Of all counts of all tables: the max error of the papers on query release.")
