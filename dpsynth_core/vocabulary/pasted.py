"""A codebook that was pasted from a spreadsheet: column and value, and perhaps a label, with or without a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.codebook import domain_from_codebook, parse_domain
from dpsynth_core.vocabulary.domain import Domain

FIELD = "pasted lines"
_HEADER = ("column", "value", "label")


def pasted_domain(text: str) -> Domain:
    """The domain of the lines: a value of a column each, or its bounds, such as 17..90. A line that names no column goes on with the one
    before, as merged cells do. JSON and codebooks with a header are read too. Raises InputError."""
    if _is_json(text):
        return parse_domain(text)
    rows = _rows(text)
    if not rows:
        raise InputError(FIELD, "there are none", "paste two columns: the name of a column and one of its values")
    first = [cell.strip().lower() for cell in rows[0]]
    header = first if {"column", "value"} <= set(first) else None
    return domain_from_codebook(_filled(rows if header is None else rows[1:], header or _HEADER))


def holds_values(text: str) -> bool:
    """Whether the lines say values of columns, and not names alone."""
    rows = _rows(text)
    return _is_json(text) or (len(rows) > 1 and any(len(row) > 1 for row in rows))


def pasted_names(text: str) -> tuple[str, ...]:
    """Names of columns: one a line, or side by side in the first line as in a header. Raises InputError if one is there twice."""
    rows = _rows(text)
    cells = rows[0] if len(rows) == 1 else [row[0] for row in rows]
    names = [cell.strip() for cell in cells if cell.strip()]
    if not names:
        raise InputError(FIELD, "there are no names", "paste the names of the columns")
    if len(set(names)) < len(names):
        raise InputError(FIELD, "a name is there twice", "give every column a name of its own")
    return tuple(names)


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _rows(text: str) -> list[list[str]]:
    """The cells of each line that has any text."""
    delimiter = next((mark for mark in "\t;," if mark in text), "\t")
    lines = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, skipinitialspace=True)
    return [cells for cells in lines if any(cell.strip() for cell in cells)]


def _filled(rows: list[list[str]], header: list[str] | tuple[str, ...]) -> Iterator[dict[str, str]]:
    column = ""
    for row in rows:
        cells = dict(zip(header, (*row, *[""] * len(header)), strict=False))
        if len([cell for cell in row if cell.strip()]) == 1 and cells["column"].strip() and not cells["value"].strip():
            raise InputError(FIELD, "a line has a single field", "paste two columns: the name of a column and one of its values")
        column = cells["column"] = cells["column"].strip() or column
        yield cells
