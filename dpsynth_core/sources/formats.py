"""The format in which a table is stored: its kind, and the curator's statement of how it is written. Only names of files are used here."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Self, TypeVar
from urllib.parse import unquote

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources.characters import EXACT
from dpsynth_core.sources.lines import known_encoding
from dpsynth_core.sources.locations import Location, Remote, inner, located
from dpsynth_core.sources.notation import DEFAULT_MISSING, Notation
from dpsynth_core.sources.spelling import COLON, ISO_DATES, SIGN

LINES, NONE, STANDARD = QUOTINGS = ("lines", "none", "standard")
"""The meanings of a quote in a CSV file; see `csv_file`."""
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
ALL_DELIMITERS = DELIMITERS | {" ": "space"}
"""All delimiters, also the ones that divide a header only if they are stated."""
MAX_FILES = 20_000
"""Files and folders inside a folder that is one table."""
MAX_MARKERS = 1000
MAX_SKIPPED = 1000
"""Lines above a header."""
SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "csv": (".csv", ".tsv", ".txt", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow", ".ipc"),
    "spreadsheet": (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"),
    "spss": (".sav", ".zsav", ".por"),
    "stata": (".dta",),
    "sas": (".sas7bdat", ".xpt"),
}
"""The kinds of table files, by the endings of their names."""
COMPRESSED = (".gz", ".zst")
"""Endings that may follow the ending of a text file."""
KNOWN = "CSV, JSON lines, Parquet, Feather, Excel, ODS, SPSS, Stata or SAS"
TEXT = ("csv", "jsonl")
_ONLY_HERE = ("spreadsheet", "spss", "stata", "sas")
STATISTICAL = ("spss", "stata", "sas")
WRITTEN_AS_TEXT = (*TEXT, "spreadsheet")
"""Kinds in which numbers and dates are usually, or often, text."""
NOTATION = ("decimal", "thousands", "date_format", "time_format", "negative", "units", "same_text")
"""Fields of `TableFormat` that say how values are written as text."""
_STATED: Mapping[str, tuple[str, ...]] = {
    "kind": tuple(SUFFIXES),
    "encoding": (*TEXT, *STATISTICAL),
    "delimiter": ("csv",),
    "quoting": ("csv",),
    "names": ("csv", "spreadsheet"),
    "decimal": tuple(SUFFIXES),
    "thousands": tuple(SUFFIXES),
    "date_format": tuple(SUFFIXES),
    "time_format": tuple(SUFFIXES),
    "negative": tuple(SUFFIXES),
    "units": tuple(SUFFIXES),
    "same_text": tuple(SUFFIXES),
    "missing_markers": tuple(SUFFIXES),
    "sheet": ("spreadsheet",),
    "skip": ("csv", "spreadsheet"),
}
"""The kinds of files that have each field."""

_USUAL = frozenset({"(usual)"})
"""Stands for the usual markers of a kind until the kind is known."""


def usual_markers(kind: str) -> frozenset[str]:
    """Return the texts that mean missing in a kind of table by default.

    Only "" does in kinds whose files mark missing values themselves.
    """
    return DEFAULT_MISSING if kind in WRITTEN_AS_TEXT else frozenset({""})


@dataclass(frozen=True)
class TableFormat:
    """The format of a table, stated or confirmed by its curator.

    A field that a kind of file does not have is ignored (`applies`).

    Attributes:
        kind: The kind of file, a key of `SUFFIXES`.
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
    encoding: str = "utf-8"
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
        if self.kind not in SUFFIXES:
            raise InputError("data.kind", "it is not a known kind of table", f"use one of {', '.join(SUFFIXES)}")
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n\0':
            raise InputError("data.delimiter", "it is not one character that can separate fields", "use a comma, semicolon, tab or bar")
        if self.quoting not in QUOTINGS:
            raise InputError("data.quoting", "it is not a known way of quoting", f"use {', '.join(QUOTINGS)}")
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

    def applies(self, name: str) -> bool:
        """Return whether the field `name` has a meaning for this kind of file."""
        return self.kind in _STATED[name]

    @classmethod
    def of(cls, section: Mapping[str, Any]) -> TableFormat:
        """Return the format that a `data` section of a spec states.

        A table that is not a file has the kind "csv". Raises InputError.
        """
        given = {field.name: section[field.name] for field in fields(cls) if section.get(field.name) is not None}
        markers = {"missing_markers": usual_markers(given["kind"])}
        return cls(**markers | given | {"kind": given["kind"] if given["kind"] in SUFFIXES else "csv"})

    def section(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Return the format and a path as a `data` section of a spec.

        Fields that were added to specs later are left out if they have their defaults.
        """
        written = {"kind": self.kind, "delimiter": self.delimiter, "encoding": self.encoding, "quoting": self.quoting}
        later = {name: getattr(self, name) for name in (*NOTATION, "names", "sheet", "skip")}
        further = {name: list(value) if type(value) is tuple else value for name, value in later.items() if value != _DEFAULTS[name]}
        return {"path": str(path), **written, **further, "missing_markers": sorted(self.missing_markers)}


FIELDS = tuple(field.name for field in fields(TableFormat))
"""The names of the fields, which are also the names of a spec's entries."""
_DEFAULTS = {field.name: field.default for field in fields(TableFormat) if field.default is not MISSING}


@dataclass(frozen=True)
class Files:
    """The files of a table, in the order of their paths (`table_files`).

    Attributes:
        files: The files.
        folder: The folder that contains them; None for a single file.
        form: The format of the files.
    """

    files: tuple[Location, ...]
    folder: Location | None
    form: TableFormat

    @classmethod
    def of(cls, path: str | os.PathLike[str], form: TableFormat) -> Self:
        """Return the table file or files at a path. Raises as `table_files`."""
        place = located(path).absolute()
        return cls(tuple(table_files(place)), place if place.is_dir() else None, form)

    @property
    def size(self) -> int:
        """The number of bytes of all files together, as they are stored."""
        return sum(file.stat().st_size for file in self.files)

    def to_json(self) -> list[Any]:
        """Return paths, folder and format as JSON, to send them to another process."""
        return [list(map(str, self.files)), self.folder and str(self.folder), self.form.section("")]

    @classmethod
    def from_json(cls, obj: list[Any]) -> Self:
        """Return the files from the JSON that `to_json` returned."""
        files, folder, form = obj
        return cls(tuple(map(located, files)), folder and located(folder), TableFormat.of(form))


def kind_of(path: Location) -> str | None:
    """Return the kind of table that the ending of a file's name shows; None without a known ending."""
    name = path.name.lower()
    packed = next((ending for ending in COMPRESSED if name.endswith(ending)), "")
    kinds = TEXT if packed else tuple(SUFFIXES)
    return next((kind for kind in kinds if name.removesuffix(packed).endswith(SUFFIXES[kind])), None)


def table_files(path: str | os.PathLike[str]) -> list[Location]:
    """Return a list of the file itself, or of the table files of a folder in order of their paths.

    Hidden files and files without the ending of a table are ignored (`left_out`).

    Raises:
        InputError: There is nothing to read, the path is neither a file nor a folder, or a folder
            holds tables of several kinds, links to nothing or to folders, or the same file twice by
            links. Such files would be left out without notice, or their people would be counted
            twice.
        CapacityError: A folder holds more than `MAX_FILES` files and folders.
    """
    place = located(path)
    if isinstance(place, Remote):
        return _remote_files(place)
    if os.path.isfile(place):  # unlike Path's methods, these take any text
        if not os.path.getsize(place):  # some files of the system are called empty, and are waited for in vain
            raise InputError("data", "the file is empty", "choose a file with a header line and rows")
        return [place]
    if not os.path.isdir(place):
        if os.path.lexists(place):
            raise InputError("data", "the path is neither a file nor a folder", "copy the table into a file")
        raise InputError("data", "there is no such file or folder", "check the path")
    tables = _of_one_kind(place, sorted(_inside(place)))
    same = Counter((status.st_dev, status.st_ino) for status in (path.stat() for path in tables))
    if any(count > 1 for count in same.values()):
        raise InputError("data", "the folder holds links to one and the same file", "keep each file once, or everybody in it counts twice")
    return list(tables)


def left_out(place: Location) -> int:
    """Return the number of visible files of a folder whose names lack the ending of a table."""
    return sum(kind_of(file) is None for file in (place.inside() if isinstance(place, Remote) else _inside(place)))


def partition(place: Location, file: Location) -> tuple[str, ...]:
    """Return the column names in the folder names between `place` and a file below it.

    For data/sex=f/part.parquet below data, it is ("sex",).
    """
    within = PurePosixPath(inner(file)).relative_to(inner(place)).parent.parts
    return tuple(unquote(part.partition("=")[0]) for part in within if "=" in part)


def _remote_files(place: Remote) -> list[Location]:
    """Return the table files at a place in an object store. Raises InputError as `table_files`."""
    try:
        if place.is_file():
            if not place.stat().st_size:
                raise InputError("data", "the file is empty", "choose a file with a header line and rows")
            return [_readable_there(place)]
        if not place.is_dir():
            raise InputError("data", "there is no such file or folder", "check the address")
        inside = sorted(islice(place.inside(), MAX_FILES + 1))
    except OSError:
        remedy = "check address, region and permissions; credentials come from the environment or the usual files"
        raise InputError("data", "the object store does not let it be read", remedy) from None
    if len(inside) > MAX_FILES:
        raise CapacityError("data", f"the folder holds more than {MAX_FILES:,} files", "choose a folder that holds one table")
    return [_readable_there(file) for file in _of_one_kind(place, inside)]


def _readable_there(file: Remote) -> Remote:
    """Return the file if its kind can be read from an object store.

    Raises InputError for workbooks and files of SPSS, Stata and SAS, which are read from this
    machine only.
    """
    if kind_of(file) in _ONLY_HERE:
        raise InputError("data", "files of this kind are read from this machine only", "copy it here, or save it as Parquet")
    return file


_File = TypeVar("_File", bound=Location)


def _of_one_kind(place: Location, inside: Sequence[_File]) -> list[_File]:
    """Return the table files among the files of a folder.

    Raises:
        InputError: The folder holds no table or several kinds of tables, or has unusable folder
            names like column=value.
    """
    tables = [file for file in inside if kind_of(file) is not None]
    kinds = sorted({str(kind_of(file)) for file in tables})
    if not kinds:
        raise InputError("data", "the folder holds no table", f"give a folder of files that are {KNOWN}")
    if len(kinds) > 1:
        raise InputError("data", f"the folder holds files of several kinds ({', '.join(kinds)})", "keep the files of one table in a folder")
    columns = {partition(place, file) for file in tables}
    if kinds != ["parquet"] and columns != {()}:
        problem = "folders with names such as column=value are read of Parquet files alone"
        raise InputError("data", problem, "save the table as Parquet, or give the files the column and rename the folders")
    if len({tuple(sorted(names)) for names in columns}) > 1:
        problem = "some of its files are in folders with names such as column=value, and others not in the same ones"
        raise InputError("data", problem, "move every file into such folders of the same columns")
    return tables


def _inside(place: Path) -> Iterator[Path]:
    """Yield the files of a folder, at any depth, that are not hidden.

    Raises:
        CapacityError: There are more than `MAX_FILES` files and folders.
        InputError: A folder cannot be read, or an entry is a link to a folder or to nothing.
    """
    seen = 0
    for folder, folders, names in os.walk(place, onerror=_refuse_folder):
        folders[:] = [name for name in folders if not _hidden(name)]
        seen += len(folders) + len(names)
        if seen > MAX_FILES:
            raise CapacityError("data", f"the folder holds more than {MAX_FILES:,} files", "choose a folder that holds one table")
        if any(os.path.islink(os.path.join(folder, name)) for name in folders):
            raise InputError("data", "the folder holds a link to a folder, which is not followed", "give that folder, or copy its files")
        for file in (Path(folder, name) for name in names if not _hidden(name)):
            if not os.path.isfile(file):
                raise InputError("data", "the folder holds a link that leads nowhere, or another entry that is not a file", "remove it")
            yield file


def _refuse_folder(_: OSError) -> None:
    raise InputError("data", "a folder in it cannot be read", "check its permissions") from None


def _hidden(name: str) -> bool:
    """Return whether a name begins with a dot or underscore."""
    return name.startswith((".", "_"))
