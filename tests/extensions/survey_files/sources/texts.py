"""Odd texts that files of survey programs can hold, by ending. For `tests/sources/test_converters.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.sources.neighbouring import ODD

IN_XML = tuple(text for text in ODD if all(char.isprintable() or char in "\t " for char in text))
IN_ASCII = tuple(text for text in IN_XML if text.isascii())
IN_PORTABLE = tuple(text for text in IN_ASCII if all(char.isalnum() or char in " \"',;=+?" for char in text))
IN_STATISTICS = tuple(text for text in ODD if "\0" not in text)
TEXTS: Mapping[str, Sequence[str]] = {
    ".ods": IN_XML,
    ".sav": IN_STATISTICS,
    ".zsav": IN_STATISTICS,
    ".dta": IN_STATISTICS,
    ".por": IN_PORTABLE,
    ".xpt": IN_ASCII,
}
