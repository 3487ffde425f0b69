"""How a table is stored: kind, delimiter, encoding, missing markers, and which files make it up. Looks at names of files, not into them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from dpsynth_core.foundation.errors import InputError

DEFAULT_MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null"})
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SUFFIXES = {"csv": (".csv", ".tsv", ".txt", ".tab"), "parquet": (".parquet", ".pq")}


@dataclass(frozen=True)
class TableFormat:
    """How to read a table. delimiter and encoding matter for CSV only; a DataFrame needs none of them."""

    kind: str = "csv"  # "csv" | "parquet"
    delimiter: str = ","
    encoding: str = "utf-8"
    missing_markers: frozenset[str] = field(default=DEFAULT_MISSING)

    def __post_init__(self) -> None:
        if self.kind not in _SUFFIXES:
            raise InputError("data.kind", "it is not a known kind of table", "use csv or parquet")
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise InputError("data.delimiter", "it is not one character that can separate fields", "use a comma, semicolon, tab or bar")
        try:
            "".encode(self.encoding)
        except LookupError:
            raise InputError("data.encoding", "it is not a known text encoding", "use utf-8, cp1252, latin-1 or utf-16") from None
        object.__setattr__(self, "missing_markers", frozenset(str(marker).strip() for marker in self.missing_markers))


def table_files(path: str | os.PathLike[str]) -> list[Path]:
    """The file itself, or a folder's CSV or Parquet files in order of their paths. InputError if there is nothing to read."""
    place = Path(path)
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise InputError("data", "there is no such file or folder", "check the path")
    inside = sorted(p for p in place.rglob("*") if p.is_file() and not _hidden(p.relative_to(place)))
    for suffixes in (_SUFFIXES["parquet"], _SUFFIXES["csv"]):
        if found := [p for p in inside if p.suffix.lower() in suffixes]:
            return found
    raise InputError("data", "the folder holds no CSV or Parquet file", "check the path")


def _hidden(relative: Path) -> bool:
    return any(part.startswith((".", "_")) for part in relative.parts)
