"""How a table is stored: kind, delimiter, encoding, missing markers, and which files make it up. Looks at names of files, not into them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.lines import known_encoding

DEFAULT_MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null"})
LINES, NONE, STANDARD = QUOTINGS = ("lines", "none", "standard")
"""What a quote means in a CSV file; see `csv_file`."""
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SUFFIXES = {"csv": (".csv", ".tsv", ".txt", ".tab"), "parquet": (".parquet", ".pq")}


@dataclass(frozen=True)
class TableFormat:
    """How a table is written: what its curator states, or confirms. Delimiter, encoding and quoting matter for CSV only."""

    kind: str = "csv"  # "csv" | "parquet"
    delimiter: str = ","
    encoding: str = "utf-8"
    missing_markers: frozenset[str] = field(default=DEFAULT_MISSING)
    quoting: str = LINES

    def __post_init__(self) -> None:
        if self.kind not in _SUFFIXES:
            raise InputError("data.kind", "it is not a known kind of table", "use csv or parquet")
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n\0':
            raise InputError("data.delimiter", "it is not one character that can separate fields", "use a comma, semicolon, tab or bar")
        if self.quoting not in QUOTINGS:
            raise InputError("data.quoting", "it is not a known way of quoting", f"use {', '.join(QUOTINGS)}")
        known_encoding(self.encoding)
        object.__setattr__(self, "missing_markers", frozenset(str(marker).strip() for marker in self.missing_markers))


    @classmethod
    def of(cls, section: Mapping[str, Any]) -> TableFormat:
        """From a section of a spec; what is not a file is read like a CSV. Raises InputError."""
        markers = section.get("missing_markers")
        kind = section["kind"] if section["kind"] in _SUFFIXES else "csv"
        missing = DEFAULT_MISSING if markers is None else frozenset(markers)
        return cls(kind, section["delimiter"], section["encoding"], missing, section.get("quoting", LINES))

    def section(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """As a section of a spec."""
        written = {"kind": self.kind, "delimiter": self.delimiter, "encoding": self.encoding, "quoting": self.quoting}
        return {"path": str(path), **written, "missing_markers": sorted(self.missing_markers)}


def table_files(path: str | os.PathLike[str]) -> list[Path]:
    """The file itself, or a folder's CSV or Parquet files in order of their paths.

    InputError if there is nothing to read, for what is neither file nor folder, and for a folder that holds the same file twice (by links):
    its people would own twice as many rows as they do.
    """
    place = Path(path)
    if place.is_file():
        return [place]
    if not place.is_dir():
        if place.exists():
            raise InputError("data", "it is neither a file nor a folder", "copy the table into a file")
        raise InputError("data", "there is no such file or folder", "check the path")
    inside = sorted(p for p in place.rglob("*") if p.is_file() and not _hidden(p.relative_to(place)))
    for suffixes in (_SUFFIXES["parquet"], _SUFFIXES["csv"]):
        if found := [p for p in inside if p.suffix.lower() in suffixes]:
            _refuse_links(found)
            return found
    raise InputError("data", "the folder holds no CSV or Parquet file", "check the path")


def _refuse_links(paths: Sequence[Path]) -> None:
    same = Counter((status.st_dev, status.st_ino) for status in (path.stat() for path in paths))
    if any(count > 1 for count in same.values()):
        raise InputError("data", "the folder holds links to one and the same file", "keep each file once, or everybody in it counts twice")


def _hidden(relative: Path) -> bool:
    return any(part.startswith((".", "_")) for part in relative.parts)
