"""The formats of files of rows, in the order of lists. Nothing that writes them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.extension import Deferred, RowFormat

_FILES = f"{__package__}.row_files"
_FEATHER = Deferred(f"{_FILES}:write_feather")
_PARQUET = Deferred(f"{__package__}.document:write_parquet")
_FORMATS = (
    RowFormat("csv", ".csv", "text/csv", "CSV", "For programs: exact values, UTF-8.", Deferred(f"{_FILES}:write_text")),
    RowFormat("parquet", ".parquet", "application/vnd.apache.parquet", "Parquet", "Types and labels kept, small.", _PARQUET),
    RowFormat("feather", ".feather", "application/vnd.apache.arrow.file", "Feather", "Types kept, for Python and R.", _FEATHER),
    RowFormat("jsonl", ".jsonl", "application/x-ndjson", "JSON lines", "One object a line.", Deferred(f"{_FILES}:write_json_lines")),
)
FORMATS: Mapping[str, RowFormat] = {form.name: form for form in extension.ordered(_FORMATS, extension.row_formats())}
"""By the name that the command line has for them."""


def chosen(text: str) -> tuple[str, ...]:
    """Return the names of the formats in a list such as "csv,xlsx", each once, in order.

    Spaces around a name and capital letters do not matter.

    Raises:
        InputError: A format is unknown, or a name is empty.
    """
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    if (unknown := next((name for name in names if name not in FORMATS), None)) is not None:
        raise InputError("--format", f"{shown(unknown)} is not a known format of rows", f"use {', '.join(FORMATS)}")
    return names
