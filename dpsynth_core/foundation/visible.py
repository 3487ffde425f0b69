"""Hostile text without what nobody sees (line breaks, control characters, marks that turn the direction of what follows) and without
what has a meaning in Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$&@:^=/'\"])")


def shortened(text: str, most: int) -> str:
    """The text, or its beginning with a mark that it goes on, in so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(texts: Sequence[str], most: int) -> str:
    """The first texts, and how many more there are."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most:,} more" if len(texts) > most else "")


def visible(text: str) -> str:
    """The text with a space for every character that is not seen, or that no standard knows."""
    if text.isprintable():  # quick, and nothing of it is in any of these categories
        return text
    return "".join(" " if unicodedata.category(character) in _INVISIBLE else character for character in text)


def escaped(text: str) -> str:
    """The text with a backslash before every character that may mean something in Markdown."""
    return _MARKS.sub(r"\\\1", text)
