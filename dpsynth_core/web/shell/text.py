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
    """Return the text without line breaks, control characters and direction marks, shortened to `limit` characters."""
    return shortened(" ".join(visible(str(text)).split()), limit)


def literal(text: object, limit: int = 400) -> str:
    """Return the text escaped for a place that reads Markdown, so that it shows exactly as written.

    Every mark is escaped. Streamlit recognises short codes and bare web addresses after it undoes escapes; a word joiner after a colon, and
    between "w" and ".", keeps them from becoming emoji, icons or links. No word joiner stands before a space: most sentences need none, and
    a reader who copies them copies nothing invisible.
    """
    without_marks = escaped(one_line(text, limit))
    apart = _COLON.sub(rf"\\:{_WORD_JOINER}", _WEB.sub(rf"{_WORD_JOINER}\\.", without_marks))
    return apart.replace(r"\@", rf"{_WORD_JOINER}\@")


def code(text: object, limit: int = 60) -> str:
    """Return the text as a Markdown code span, with a fence longer than any run of backticks inside.

    Streamlit looks for icon short codes before it parses Markdown, also inside code: those get a word joiner.
    """
    line = one_line(text, limit).replace(":material/", f":{_WORD_JOINER}material/") or " "
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    return f"{fence} {line} {fence}"


def names(items: list[str] | tuple[str, ...], limit: int = 5) -> str:
    """Return the first names as code spans, and how many more there are."""
    return listed([code(item, 40) for item in items], limit)


def capital(text: str) -> str:
    """Return the text as the beginning of a sentence; symbols and names of files are not changed."""
    is_name = not text[:1].isascii() or "." in text.partition(" ")[0].rstrip(".")
    return text if is_name else text[:1].upper() + text[1:]


def file_stem(name: str, limit: int = 40) -> str:
    """Return a name as the beginning of a file name: ASCII letters, digits and hyphens; "release" if nothing else is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:limit].rstrip("-") or "release"
