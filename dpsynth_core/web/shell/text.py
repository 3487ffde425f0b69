"""Escape column names, values and file names, which may be hostile, before they are shown on a page.

Streamlit reads labels, alerts, tooltips and captions as Markdown with its own additions (math, coloured text, icons, emoji short codes).
`literal` makes a text mean only itself there; `code` sets it in a code span. Cells of tables, options of select boxes and chart data are
drawn as they are and need neither.
"""

from __future__ import annotations

import re
import unicodedata

from dpsynth_core.foundation.visible import escaped, listed, shortened, visible

WHOLE = 20_000
"""The limit of texts that readers decide by, a verdict, a warning or a reason: longer than any in this program's own releases."""

_WORD_JOINER = "\u2060"
_COLON, _WEB = re.compile(r"\\:(?! )"), re.compile(r"(?<=[wW])\\\.(?! )")
"""An escaped colon, and an escaped full stop after "w", where a short code or a web address could continue."""


def one_line(text: object, limit: int = 80) -> str:
    """Return the text on one line: each invisible character and each run of spaces becomes one space.

    A text longer than `limit` characters ends in "…".
    """
    return shortened(" ".join(visible(str(text)).split()), limit)


def literal(text: object, limit: int = 400) -> str:
    """Return a text on one line, escaped for places that read Markdown, so that no mark in it has an effect.

    Invisible characters and line breaks become spaces. Streamlit recognises icon short codes and bare web addresses
    even in escaped text, so an invisible word joiner follows a colon and separates "w" from "." to break
    them up. It is not put before a space, so that most sentences stay free of invisible characters.

    Args:
        text: The text, which may be hostile.
        limit: The largest number of characters; longer texts are shortened.
    """
    without_marks = escaped(one_line(text, limit))
    apart = _COLON.sub(rf"\\:{_WORD_JOINER}", _WEB.sub(rf"{_WORD_JOINER}\\.", without_marks))
    return apart.replace(r"\@", rf"{_WORD_JOINER}\@")


def code(text: object, limit: int = 60) -> str:
    """Return a text as a Markdown code span, on one line.

    The fence is longer than any run of backticks inside. Streamlit replaces icon short codes even
    in code, so a word joiner breaks them up.

    Args:
        text: The text, which may be hostile; an empty one gives a span with a space.
        limit: The largest number of characters; longer texts are shortened.
    """
    line = one_line(text, limit).replace(":material/", f":{_WORD_JOINER}material/") or " "
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    return f"{fence} {line} {fence}"


def names(items: list[str] | tuple[str, ...], limit: int = 5) -> str:
    """Return the first `limit` names as code spans, separated by commas, followed by " and N more" if N are left out.

    The result is "" for no names; each name is shortened to 40 characters.
    """
    return listed([code(item, 40) for item in items], limit)


def capital(text: str) -> str:
    """Return a text with a capital first letter. A first letter that is not ASCII, such as ε, and a name with a dot stay."""
    is_name = not text[:1].isascii() or "." in text.partition(" ")[0].rstrip(".")
    return text if is_name else text[:1].upper() + text[1:]


def file_stem(name: str, limit: int = 40) -> str:
    """Return a name as the beginning of a file name: lower-case ASCII letters, digits and hyphens.

    It has at most `limit` characters; it is "release" if nothing of the name is left.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:limit].rstrip("-") or "release"
