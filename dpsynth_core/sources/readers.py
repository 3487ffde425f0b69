"""Files and folders of every kind, as tables: what they say of themselves, whether they are tables, their records as batches.

Nothing here knows the domain; values stay what the file says (text in CSV). Messages speak about the structure of the file only,
never about a value or the number of a row. Which lines are records, and what becomes of those that cannot be read: `csv_file`.

Kinds that are read by a library in C are asked through `confined`, where these functions run in a process with limits.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import pyarrow as pa

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources import csv_file, jsonl_file, packed, parts
from dpsynth_core.sources.arrow_types import NESTED, declared_type
from dpsynth_core.sources.formats import DELIMITERS, STANDARD, STATISTICAL, TableFormat, table_files
from dpsynth_core.sources.locations import Location, located
from dpsynth_core.sources.parts import WHOLE, Part, Piece
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import declared
from dpsynth_core.vocabulary.names import column_field, told_apart

MAX_STANDARD_LINES = 100
"""A longer record of such a file is taken for the work of a quote that does not belong there."""


class Reader(Protocol):
    """How one file of a kind is read; a module. Both raise InputError, OSError and ArrowException."""

    def names(self, path: Location, form: TableFormat, /) -> tuple[str, ...]:
        """The names of the columns in file order, trimmed."""

    def batches(self, path: Location, form: TableFormat, columns: Sequence[str], rows: int, /) -> Iterator[pa.RecordBatch]:
        """These columns of every record, in file order, with at most about so many rows at once."""


def reader(kind: str) -> Reader:
    """How the files of a kind are read one by one; those of a folder need the same columns. Loads the library that it takes.

    Not for CSV and Parquet, whose folders are read as one.
    """
    if kind == "feather":
        from dpsynth_core.sources import feather_file

        return feather_file
    if kind == "spreadsheet":
        from dpsynth_core.sources import spreadsheet_file

        return spreadsheet_file
    if kind in STATISTICAL:
        from dpsynth_core.sources import statistical_file

        return statistical_file
    return jsonl_file


def names(path: str | os.PathLike[str], form: TableFormat) -> tuple[str, ...]:
    """Names in file order, trimmed; those of a header told apart. No check for repeats; see `check`."""
    paths = table_files(path)
    with reading():
        if form.kind == "parquet":
            from dpsynth_core.sources import parquet_file

            return parquet_file.names(paths, _folder(path))
        if form.kind == "csv":
            return told_apart(_header(paths[0], form))
        return reader(form.kind).names(paths[0], form)


def header(path: str | os.PathLike[str], form: TableFormat) -> tuple[str, ...]:
    """The cells that `names` tells apart, of CSV files and workbooks."""
    first = table_files(path)[0]
    with reading():
        if form.kind == "csv":
            return _header(first, form)
        from dpsynth_core.sources import spreadsheet_file

        return spreadsheet_file.header(first, form)


def described(path: str | os.PathLike[str], form: TableFormat) -> list[Column]:
    """What the table says of its columns besides their names. No record is read. Raises InputError."""
    paths = table_files(path)
    with reading():
        if form.kind in STATISTICAL:
            from dpsynth_core.sources import statistical_file

            return list(statistical_file.described(paths[0], form))
        if form.kind == "parquet":
            from dpsynth_core.sources import parquet_file

            return [declared_type(field) for field in parquet_file.schema(paths, _folder(path))]
        if form.kind == "feather":
            from dpsynth_core.sources import feather_file

            return [declared_type(field) for field in feather_file.schema(paths[0])]
        return [declared(name) for name in names(path, form)]


def check(path: str | os.PathLike[str], form: TableFormat) -> None:
    """InputError if this cannot be used as a table: no rows, not a table, blank or repeated column names.

    Looks at the structure of every file of a folder, and at the whole content only with the quoting "standard" (see `csv_file`).
    """
    paths = table_files(path)
    with reading():
        there = names(path, form)
        check_names(there)
        if form.kind == "parquet":
            from dpsynth_core.sources import parquet_file

            parquet_file.check(paths, _folder(path))
        elif form.kind == "csv":
            _check_csv(paths, form)
        else:
            _check_files(paths, form, there)


def check_person_column(columns: Sequence[Column], person: str) -> None:
    """InputError if the values of a column that is there cannot tell people apart: lists and structures."""
    if any(column.name == person and column.to_do == NESTED for column in columns):
        raise InputError("unit.person_column", "its values are lists or structures", "choose a column of texts or numbers")


def pieces(path: str | os.PathLike[str], form: TableFormat, every: int) -> list[tuple[Piece, int]]:
    """The table in pieces that can be read alone, in file order, with their sizes: row groups of Parquet with their rows, other kinds with
    their bytes: files, and of lines every so many bytes. Raises InputError."""
    paths = table_files(path)
    with reading():
        if form.kind == "parquet":
            from dpsynth_core.sources import parquet_file

            return list(parquet_file.row_groups(paths))
        return [piece for one in paths for piece in _cut(one, form, every)]


def _cut(path: Location, form: TableFormat, every: int) -> Iterator[tuple[Piece, int]]:
    places = csv_file.cuts(path, form, every) if form.kind == "csv" else jsonl_file.cuts(path, form, every) if form.kind == "jsonl" else []
    size = path.stat().st_size
    for piece in parts.cut(str(path), places):
        yield piece, (size if piece.end is None else piece.end) - piece.begin


def batches(
    path: str | os.PathLike[str], form: TableFormat, columns: Sequence[str], rows: int, part: Part = WHOLE
) -> Iterator[pa.RecordBatch]:
    """Record batches with these columns (at least one) of about so many rows, in file order, never the whole file at once; of all records,
    or of a part.

    CSV values come as dictionary-encoded text. InputError for a column that is not there or a file that cannot be read.
    """
    check_columns(names(path, form), columns)
    paths = table_files(path)
    with reading():
        if form.kind == "parquet":
            from dpsynth_core.sources import parquet_file

            yield from parquet_file.batches(paths, _folder(path), columns, rows, part)
        elif form.kind == "csv":
            yield from csv_file.batches(part or parts.whole(paths), form, columns)
        else:
            for piece in part or parts.whole(paths):
                if form.kind == "jsonl":
                    yield from jsonl_file.piece_batches(piece, form, columns)
                else:
                    yield from reader(form.kind).batches(located(piece.file), form, columns, rows)


def check_names(names: Sequence[str]) -> None:
    """InputError unless these can be the names of columns."""
    if not names:
        raise InputError("data", "the table has no columns", "choose a file with a header line and rows")
    if (unnamed := next((at for at, name in enumerate(names, start=1) if not name.strip()), None)) is not None:
        raise InputError("data", f"column {unnamed} has no name", "name every column")
    if (repeated := next((name for name, count in Counter(names).items() if count > 1), None)) is not None:
        raise InputError(column_field(repeated), "two columns have this name", "rename one of the columns")


def check_columns(names: Sequence[str], wanted: Sequence[str]) -> None:
    """InputError if a column that is wanted is not there, or there twice."""
    there = Counter(names)
    for name in wanted:
        if not there[name]:
            raise InputError(column_field(name), "the data have no column of this name", "drop it from the domain, or correct its name")
        if there[name] > 1:
            raise InputError(column_field(name), "the data have two columns of this name", "rename one of them")


def _check_files(paths: Sequence[Location], form: TableFormat, names: Sequence[str]) -> None:
    kind, rows = reader(form.kind), 0
    for path in paths:
        if path != paths[0] and sorted(kind.names(path, form)) != sorted(names):
            raise InputError("data", "the files of the folder do not have the same columns", "keep files of one table in a folder")
        rows += next((batch.num_rows for batch in kind.batches(path, form, names[:1], 1) if batch.num_rows), 0)
    if not rows:
        raise InputError("data", "the table has no rows", "choose a file with rows")


def _check_csv(paths: Sequence[Location], form: TableFormat) -> None:
    header, records = _header(paths[0], form), 0
    for path in paths:
        if _header(path, form) != header:
            raise InputError("data", "the files of the folder do not have the same header", "keep files of one table in a folder")
        if (unit := csv_file.writing(path, form).unit) > 1 and packed.size(path) % unit:
            raise InputError("data.encoding", "the size of the file is not that of such a text", "check the encoding, or save it as UTF-8")
        if (head := csv_file.head(path, form)) is not None:
            malformed = head.malformed()
            records += len(malformed)
            if 2 * malformed.sum() >= len(malformed):
                problem = f"most lines do not have as many {DELIMITERS.get(form.delimiter, 'delimiter')}-separated fields as the header"
                raise InputError("data", problem, "check that it is a CSV and that delimiter and quoting are right")
    if not records:
        raise InputError("data", "there are no rows below the header", "choose a file with a header line and rows")
    if form.quoting == STANDARD:
        _check_well_formed(paths, form)


def _check_well_formed(paths: Sequence[Location], form: TableFormat) -> None:
    """The assumption of the quoting "standard", as far as that shows."""
    for path in paths:
        for block in csv_file.blocks((Piece(str(path)),), form):
            if block.misquoted or block.longest > MAX_STANDARD_LINES:
                problem = f"the file is not well formed: a quote stands where none may, or a record has over {MAX_STANDARD_LINES} lines"
                raise InputError("data.quoting", problem, 'use the quoting "lines" or "none", or mend the file')


@contextmanager
def reading() -> Iterator[None]:
    """What goes wrong with a file, as an InputError without the original message, which may quote a line of it."""
    try:
        yield
    except MemoryError:
        raise CapacityError("data", "reading it takes more memory than there is for it", "save it in smaller pieces, or as CSV") from None
    except PermissionError:
        raise InputError("data", "the file cannot be read", "check its permissions") from None
    except (pa.ArrowException, UnicodeError, OSError):
        raise InputError("data", "the file is damaged or not what its beginning promises", "check encoding and delimiter") from None


def _header(path: Location, form: TableFormat) -> tuple[str, ...]:
    cells = csv_file.header(path, form)
    if not cells:
        raise InputError("data", "the file is empty", "choose a file with a header line and rows")
    return cells


def _folder(source: str | os.PathLike[str]) -> Location | None:
    """The folder that a source is, None for a file."""
    place = located(source)
    return place if place.is_dir() else None
