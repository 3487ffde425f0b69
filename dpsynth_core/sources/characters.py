"""Characters that mean or look the same. Each text is rewritten by itself, so no record changes how another one is read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

EXACT, LOOK, CASE = SAME_TEXTS = ("exact", "look", "case")
"""Rules of which texts count as the same: equal texts; also texts that look the same; also texts that differ only in capitals."""

_SPACES = "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_UNSEEN = "[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]"
_CONTROLS = "[\\x00-\\x08\\x0e-\\x1f\\x7f]"
"""Control characters of ASCII that are not blanks."""
_DASHES = "[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]"
_APOSTROPHES = "[\u02b9\u02bc\u2018\u2019\u201b\u2032\u00b4\uff07]"
_QUOTES = "[\u201c-\u201f\u2033\u00ab\u00bb\uff02]"
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""The wide forms that East Asian keyboards write in place of ASCII."""


def plain(text: pa.Array, decimal: str = ".") -> pa.Array:
    """Return texts of numbers, dates or times with plain ASCII digits, signs and spaces; null stays null.

    Digits of any script, full-width forms, dashes and special spaces are replaced.

    Args:
        text: Trimmed texts.
        decimal: The decimal mark that replaces the Arabic one.
    """
    return _rewritten(text, lambda one: _plain(one, decimal))


def folded(text: pa.Array, same: str) -> pa.Array:
    """Return texts rewritten so that texts that count as the same become equal; null stays null.

    Args:
        text: Trimmed texts.
        same: The rule by which texts count as the same: "exact" (the texts are returned unchanged), "look" (they look
            the same) or "case" (they also may differ in capitals).
    """
    if same == EXACT:
        return text
    visible = pc.replace_substring_regex(text, _CONTROLS, "")
    look = pc.replace_substring_regex(_rewritten(visible, _look), r"\s+", " ")
    return look if same == LOOK else pc.ascii_lower(_rewritten(look, str.casefold))


def fold(text: str, same: str) -> str:
    """Return a text rewritten so that texts that count as the same become equal.

    Args:
        text: A trimmed text.
        same: The rule by which texts count as the same: "exact" (the text is returned unchanged), "look" (they look
            the same) or "case" (they also may differ in capitals).
    """
    return str(folded(pa.array([text], pa.string()), same)[0].as_py())


def _plain(text: str, decimal: str) -> str:
    """Return the text of a number, date or time with plain ASCII digits, signs and spaces (`plain`)."""
    seen = re.sub(_DASHES, "-", re.sub(_SPACES, " ", re.sub(_UNSEEN, "", unicodedata.normalize("NFC", text)))).translate(_WIDE)
    digits = "".join(str(unicodedata.decimal(one)) if one.isdecimal() else one for one in seen)
    return digits.replace("\u066b", decimal).replace("\u066a", "%").strip()


def _look(text: str) -> str:
    """Return a text without invisible characters, with plain ones for look-alike characters."""
    seen = re.sub(_UNSEEN, "", unicodedata.normalize("NFC", text)).translate(_WIDE)
    straight = re.sub(_QUOTES, '"', re.sub(_APOSTROPHES, "'", re.sub(_DASHES, "-", re.sub(_SPACES, " ", seen))))
    return unicodedata.normalize("NFC", straight).strip()


def _rewritten(text: pa.Array, rewrite: Callable[[str], str]) -> pa.Array:
    """Return the texts with `rewrite` applied to those that are not ASCII."""
    if pc.all(pc.fill_null(pc.string_is_ascii(text), True)).as_py():
        return text
    return pa.array([one if one is None or one.isascii() else rewrite(one) for one in text.to_pylist()], pa.string())
