"""Hostile text without invisible characters (line breaks, control characters, bidirectional marks) and without Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$&@:^=/'\"])")


def shortened(text: str, most: int) -> str:
    """Return the text, or its beginning with an ellipsis (…), in at most `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(texts: Sequence[str], most: int) -> str:
    """Return the first `most` texts, separated by commas, followed by " and N more" if there are N more; "" without texts."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most:,} more" if len(texts) > most else "")


def visible(text: str) -> str:
    """Return the text with a space for every invisible or unassigned character."""
    if text.isprintable():  # quick, and nothing of it is in any of these categories
        return text
    return "".join(" " if unicodedata.category(character) in _INVISIBLE else character for character in text)


def escaped(text: str) -> str:
    """Return the text with a backslash before every character that may mean something in Markdown."""
    return _MARKS.sub(r"\\\1", text)
