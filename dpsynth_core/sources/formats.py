"""The format in which a table is stored: its kind, and the curator's statement of how it is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.foundation.extension import FileKind
from dpsynth_core.sources.characters import EXACT
from dpsynth_core.sources.file_kinds import FILE_KINDS
from dpsynth_core.sources.notation import DEFAULT_MISSING, Notation
from dpsynth_core.sources.spelling import COLON, ISO_DATES, SIGN

LINES, NONE, STANDARD = QUOTINGS = ("lines", "none", "standard")
"""The meanings of a quote in a CSV file; see `csv_file`."""
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
ALL_DELIMITERS = DELIMITERS | {" ": "space"}
"""All delimiters, also the ones that divide a header only if they are stated."""
_UTF8 = "utf-8"
MAX_MARKERS = 1000
MAX_SKIPPED = 1000
"""Lines above a header."""
NOTATION = ("decimal", "thousands", "date_format", "time_format", "negative", "units", "same_text")
"""Fields of `TableFormat` that say how values are written as text."""
_OF_ALL_KINDS = {"kind", "missing_markers", *NOTATION}
"""Fields that every kind of file has; the others are in `FileKind.fields`."""
_USUAL = frozenset({"(usual)"})
"""Stands for the usual markers of a kind until the kind is known."""


def usual_markers(kind: str) -> frozenset[str]:
    """Return the texts that mean missing in a kind of table by default.

    They are "", "NA", "NULL" and the like (`DEFAULT_MISSING`) for text files; only "" for kinds whose files mark
    missing values themselves, and for unknown kinds.
    """
    return DEFAULT_MISSING if kind in FILE_KINDS and FILE_KINDS[kind].has_texts else frozenset({""})


@dataclass(frozen=True)
class TableFormat:
    """The format of a table, stated or confirmed by its curator.

    A field that a kind of file does not have is ignored (`applies`).

    Attributes:
        kind: The kind of file, a key of `FILE_KINDS`.
        delimiter: The character between the fields of a CSV file.
        encoding: The encoding of a text file.
        missing_markers: Texts that mean missing, see `Notation`.
        quoting: The meaning of quotes in a CSV file, see `csv_file`.
        decimal: The decimal mark, see `Notation`.
        thousands: The mark between thousands, see `Notation`.
        date_format: The spelling of dates, see `Notation`.
        time_format: The spelling of times, see `Notation`.
        negative: The spelling of negative numbers, see `Notation`.
        units: Texts next to numbers that are ignored, see `Notation`.
        same_text: The rule by which texts count as the same, see `Notation`.
        names: The column names if the first line is a record; empty if the first line is the
            header.
        sheet: The sheet of a workbook, "" for the first.
        skip: The number of lines or workbook rows with content above the header that are left out.

    Raises:
        InputError: A field has a value that is not allowed.
    """

    kind: str = "csv"
    delimiter: str = ","
    encoding: str = _UTF8
    missing_markers: frozenset[str] = _USUAL
    quoting: str = LINES
    decimal: str = "."
    thousands: str = ""
    date_format: str = ISO_DATES
    time_format: str = COLON
    negative: str = SIGN
    units: tuple[str, ...] = ()
    same_text: str = EXACT
    names: tuple[str, ...] = ()
    sheet: str = ""
    skip: int = 0

    def __post_init__(self) -> None:
        if self.kind not in FILE_KINDS:
            raise InputError("data.kind", "it is not a known kind of table", f"use one of {', '.join(FILE_KINDS)}")
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n\0':
            raise InputError("data.delimiter", "it is not one character that can separate fields", "use a comma, semicolon, tab or bar")
        if self.quoting not in QUOTINGS:
            raise InputError("data.quoting", "it is not a known way of quoting", f"use {', '.join(QUOTINGS)}")
        if self.encoding != _UTF8:
            from dpsynth_core.sources.lines import known_encoding  # loaded for the encodings of files alone

            known_encoding(self.encoding)
        if self.missing_markers is _USUAL:
            object.__setattr__(self, "missing_markers", usual_markers(self.kind))
        if not 0 <= self.skip <= MAX_SKIPPED:
            raise InputError("data.skip", "this is not a number of lines above a header", f"give a number from 0 to {MAX_SKIPPED}")
        if len(self.missing_markers) > MAX_MARKERS:
            raise CapacityError("data.missing_markers", f"there are more than {MAX_MARKERS:,}", "list only what means missing")
        object.__setattr__(self, "names", tuple(name.strip() for name in self.names))
        object.__setattr__(self, "units", tuple(self.units))
        object.__setattr__(self, "missing_markers", self.notation.missing_markers)

    @cached_property
    def notation(self) -> Notation:
        """The fields that state how values are written as text."""
        stated = {field.name: getattr(self, field.name) for field in fields(Notation)}
        return Notation(**stated | {"missing_markers": frozenset(self.missing_markers)})

    @property
    def file_kind(self) -> FileKind:
        """The kind of file."""
        return FILE_KINDS[self.kind]

    def applies(self, name: str) -> bool:
        """Return whether the field `name` has a meaning for this kind of file."""
        return name in _OF_ALL_KINDS or name in self.file_kind.fields

    @classmethod
    def of(cls, section: Mapping[str, Any]) -> TableFormat:
        """Return the format that a `data` section of a spec states; fields that it lacks have their defaults.

        A table that is not a file has the kind "csv".

        Args:
            section: The section, with at least "kind".

        Raises:
            InputError: A field has a value that is not allowed.
            CapacityError: There are more than 1,000 missing markers.
        """
        given = {field.name: section[field.name] for field in fields(cls) if section.get(field.name) is not None}
        markers = {"missing_markers": usual_markers(given["kind"])}
        return cls(**markers | given | {"kind": given["kind"] if given["kind"] in FILE_KINDS else "csv"})

    def section(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Return the format and a path as a `data` section of a spec, which `of` reads.

        Fields that were added to specs later are left out if they have their defaults.
        """
        written = {"kind": self.kind, "delimiter": self.delimiter, "encoding": self.encoding, "quoting": self.quoting}
        later = {name: getattr(self, name) for name in (*NOTATION, "names", "sheet", "skip")}
        further = {name: list(value) if type(value) is tuple else value for name, value in later.items() if value != _DEFAULTS[name]}
        return {"path": str(path), **written, **further, "missing_markers": sorted(self.missing_markers)}


FIELDS = tuple(field.name for field in fields(TableFormat))
"""The names of the fields, which are also the names of a spec's entries."""
_DEFAULTS = {field.name: field.default for field in fields(TableFormat) if field.default is not MISSING}
