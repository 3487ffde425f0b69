"""A section that report and data card share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """name: of its list in the style sheet. title: ours, harmless. reading: how to read the lines. lines: plain text with hostile names,
    which the page that shows them escapes."""

    name: str
    title: str
    reading: str
    lines: Sequence[str]
