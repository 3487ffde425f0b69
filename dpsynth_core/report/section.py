"""A section that report and data card share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class HeatMap:
    """A table of shares of its lines, drawn as squares that are the stronger the larger the share.

    Attributes:
        title: What it shows; hostile text.
        down: Label of each line; hostile text.
        across: Label of each column; hostile text.
        shares: The shares from 0 to 1, line by line; NaN in a line that nobody is in.
        caption: A sentence below it, plain text.
    """

    title: str
    down: Sequence[str]
    across: Sequence[str]
    shares: Sequence[Sequence[float]]
    caption: str


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Attributes:
        name: CSS class of its list.
        title: The title, which contains no text of the curator.
        reading: A sentence on how to read the lines.
        lines: Plain text with hostile names, which the page escapes.
        maps: Heat maps behind the lines, in the report alone.
    """

    name: str
    title: str
    reading: str
    lines: Sequence[str]
    maps: Sequence[HeatMap] = ()
