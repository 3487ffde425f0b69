"""The fixed text of a program, with parts of a release put in its places."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_PLACE = re.compile(r"%%([a-z]+)%%")
_DIGITS = 12
"""Digits of released numbers, which other processors round alike in nearly all cases."""


def filled(template: str, parts: Mapping[str, str]) -> bytes:
    """Return a text of this folder as UTF-8, each place %%NAME%% replaced by the part of this name.

    Parts may contain anything: they are not searched for places.

    Args:
        template: File name of the text.
        parts: Code for each place of the text, by name.

    Raises:
        KeyError: A place has no part.
    """
    text = Path(__file__).with_name(template).read_text(encoding="utf-8")
    return _PLACE.sub(lambda place: parts[place[1]], text).encode()


def rounded(number: float) -> str:
    """Return a released number as text with 12 significant digits, as all four programs read it."""
    return f"{number:.{_DIGITS}g}"
