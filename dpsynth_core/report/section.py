"""A section that report and data card share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Attributes:
        name: CSS class of its list.
        title: The title, which contains no text of the curator.
        reading: A sentence on how to read the lines.
        lines: Plain text with hostile names, which the page escapes.
    """

    name: str
    title: str
    reading: str
    lines: Sequence[str]
