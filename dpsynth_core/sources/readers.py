"""Files and folders of every kind, as tables: their own declarations, the check that they are tables, and their records as batches.

Nothing here knows the domain; values stay as the file holds them (text in CSV). Messages are about the structure of the file only,
never about a value or the number of a row. The rules of which lines are records, and of unreadable lines, are in `csv_file`.

For kinds that a library in C reads, `files` lets a process with limits run these functions (`reading_work`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any

import pyarrow as pa

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources import csv_file, packed, parts
from dpsynth_core.sources.arrow_types import declared_type
from dpsynth_core.sources.file_kinds import FILE_KINDS
from dpsynth_core.sources.formats import ALL_DELIMITERS, NONE, STANDARD, TableFormat
from dpsynth_core.sources.headers import check_columns, check_names
from dpsynth_core.sources.listing import Files
from dpsynth_core.sources.locations import Location, located
from dpsynth_core.sources.parts import NOTHING_LISTED, WHOLE, Listed, Part, Piece
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import declared
from dpsynth_core.vocabulary.names import told_apart, trimmed

MAX_STANDARD_LINES = 100
"""A longer record of such a file is taken for the work of a quote that does not belong there."""


def reader(kind: str) -> ModuleType:
    """Return the module that reads a kind of file.

    All functions of these modules raise InputError, OSError and ArrowException. Those of CSV and Parquet take
    other parameters and are described in their modules: Parquet takes the files of a folder together, CSV takes a
    part and has `header` in place of `names`.

    Every other module reads a single file, with these functions:

    - All kinds: `names(path, form)` returns the trimmed column names in file order; `batches(path, form, columns,
      rows)` yields these columns of every record in file order, at most about `rows` rows at a time.
    - Kinds that declare types or labels: `schema(path, form)`.
    - Kinds that declare labels: `described(path, form)` and `encoding_of(path)`; `batches` also takes listed
      values.
    - Lines of text: `cuts(path, form, every)` and `piece_batches(piece, form, columns)`.
    - Kinds that usually store numbers as text: `first_texts(path, form, rows)`.
    - Kinds with the fields "names" and "sheet" of the format: `header(path, form)` and `sheets(path)`.

    Args:
        kind: A name in `FILE_KINDS`.
    """
    return import_module(FILE_KINDS[kind].reader)


def names(table: Files) -> tuple[str, ...]:
    """Return the column names in file order, trimmed; repeated names in the header of a CSV file or workbook are numbered.

    Repeated names of other kinds of files stay, and `check` refuses them. In a folder, the first file decides.

    Raises:
        InputError: The file cannot be read.
    """
    with reading():
        if table.form.file_kind.as_dataset:
            return tuple(reader(table.form.kind).names(table.files, table.folder))
        if table.form.kind == "csv":
            return told_apart(_header(table.files[0], table.form))
        return tuple(reader(table.form.kind).names(table.files[0], table.form))


def header(table: Files) -> tuple[str, ...]:
    """Return the trimmed header cells of a CSV file or workbook; `names` makes them distinct.

    If names are stated in place of a header, these are returned.

    Raises:
        InputError: The file cannot be read or is empty.
    """
    with reading():
        read = _header if table.form.kind == "csv" else reader(table.form.kind).header
        return tuple(read(table.files[0], table.form))


def described(table: Files) -> list[dict[str, Any]]:
    """Return the columns as the table itself declares them, as JSON of `Column`, in file order, without reading a record.

    Labels or types are declared by some kinds of files alone. Others (CSV) declare only names: all their columns are open
    ("to_do"). In a folder, the first file decides.

    Raises:
        InputError: The file cannot be read.
    """
    columns: Iterable[Column]
    kind, read = table.form.file_kind, reader(table.form.kind)
    with reading():
        if kind.declares == "labels":
            columns = read.described(table.files[0], table.form)
        elif kind.declares == "types":
            place = (table.files, table.folder) if kind.as_dataset else (table.files[0], table.form)
            columns = map(declared_type, read.schema(*place))
        else:
            columns = map(declared, names(table))
        return [column.to_json() for column in columns]


def schema(table: Files) -> bytes:
    """Return the columns with their types as a serialised Arrow schema, in bytes. No record is read.

    The columns are trimmed and in file order. A column is listed once for each type that it has in
    a file of a folder. All columns of CSV and JSON lines are strings.

    Raises:
        InputError: A file cannot be read.
    """
    form = table.form
    with reading():
        if form.file_kind.as_dataset:
            schemas = reader(form.kind).schemas(table.files, table.folder)
        elif form.file_kind.declares in ("types", "labels"):
            schemas = [reader(form.kind).schema(path, form) for path in table.files]
        else:
            schemas = [pa.schema([(name, pa.string()) for name in names(table)])]
        fields = dict.fromkeys((trimmed(field.name), field.type) for one in schemas for field in one)
        return pa.schema(list(fields)).serialize().to_pybytes()


def check(table: Files) -> None:
    """Check that these files are one table with named columns and with rows.

    The structure of every file of a folder is checked, such as equal headers. The whole content is
    read only with the quoting "standard" (see `csv_file`).

    Raises:
        InputError: A file cannot be read; a column has no name or the name of another one; the files of a folder have
            different columns; there are no rows; or at least half of the lines at the beginning of a CSV file are
            malformed, or its quotes break the stated quoting.
    """
    with reading():
        there = names(table)
        check_names(there)
        if table.form.file_kind.as_dataset:
            reader(table.form.kind).check(table.files, table.folder)
        elif table.form.kind == "csv":
            _check_csv(table.files, table.form)
        else:
            _check_files(table.files, table.form, there)


def first_texts(table: Files, rows: int) -> dict[str, list[str]]:
    """Return by column the texts in about the first `rows` records of the first file, in order; private.

    Values of other types and empty texts are left out, so a column of numbers has an empty list.

    Raises:
        InputError: The file cannot be read.
    """
    kind, path = table.form.file_kind, table.files[0]
    with reading():
        if kind.has_texts and kind.name != "csv":
            texts: dict[str, list[str]] = reader(kind.name).first_texts(path, table.form, rows)
            return texts
        if kind.name == "csv":
            head = csv_file.head(path, table.form)
            batch = head.batch(head.names).slice(0, rows) if head is not None else None
        else:
            check_names(there := names(table))
            batch = next(batches(table, there, rows), None)
    columns = {} if batch is None else dict(zip(batch.schema.names, batch.columns, strict=True))
    return {name: _texts(column) for name, column in columns.items()}


def _texts(column: pa.Array) -> list[str]:
    """Return the non-empty texts of a column; an empty list for a column of another type."""
    values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    return [text for text in values.to_pylist() if text] if is_text else []


def pieces(table: Files, every: int) -> list[tuple[Piece, int]]:
    """Return pieces of the table that can be read independently, in file order, with their sizes.

    The pieces of Parquet are row groups, and their sizes are rows. The pieces of other kinds are
    files, and their sizes are bytes; CSV and JSON lines are cut about every `every` bytes.

    Raises:
        InputError: A file cannot be read.
    """
    with reading():
        if table.form.file_kind.as_dataset:
            return list(reader(table.form.kind).row_groups(table.files))
        return [piece for one in table.files for piece in _cut(one, table.form, every)]


def _cut(path: Location, form: TableFormat, every: int) -> Iterator[tuple[Piece, int]]:
    """Yield the pieces of one file with their sizes in bytes."""
    places = reader(form.kind).cuts(path, form, every) if form.file_kind.is_text else []
    size = path.stat().st_size
    for piece in parts.cut(str(path), places):
        yield piece, (size if piece.end is None else piece.end) - piece.begin


def batches(
    table: Files, columns: Sequence[str], rows: int, part: Part = WHOLE, listed: Listed = NOTHING_LISTED
) -> Iterator[pa.RecordBatch]:
    """Yield record batches of a table in file order, never the whole file at once.

    Values of CSV are dictionary-encoded text.

    Args:
        table: The files.
        columns: The columns of the batches, at least one.
        rows: The approximate number of rows of a batch.
        part: The part to read; the whole table by default.
        listed: Listed values by column, which are never missing, even if the file declares them
            missing.

    Raises:
        InputError: A column does not exist, or a file cannot be read.
    """
    check_columns(names(table), columns)
    form, part = table.form, part or parts.uncut(table.files)
    kind, read = form.file_kind, reader(form.kind)
    with reading():
        if kind.as_dataset:
            yield from read.batches(table.files, table.folder, columns, rows, part)
        elif kind.name == "csv":
            yield from csv_file.batches(part, form, columns)
        elif kind.is_text:
            for piece in part:
                yield from read.piece_batches(piece, form, columns)
        else:
            declared_missing = (listed,) if kind.declares == "labels" else ()
            for piece in part:
                yield from read.batches(located(piece.file), form, columns, rows, *declared_missing)


def _check_files(paths: Sequence[Location], form: TableFormat, names: Sequence[str]) -> None:
    """Raise InputError if the files differ in their columns or have no rows."""
    kind, rows = reader(form.kind), 0
    for path in paths:
        if path != paths[0] and sorted(kind.names(path, form)) != sorted(names):
            raise InputError("data", "the files of the folder do not have the same columns", "keep files of one table in a folder")
        rows += next((batch.num_rows for batch in kind.batches(path, form, names[:1], 1) if batch.num_rows), 0)
    if not rows:
        raise InputError("data", "the table has no rows", "choose a file with rows")


def _check_csv(paths: Sequence[Location], form: TableFormat) -> None:
    """Raise InputError if CSV files differ in the header, have no rows, or break their format."""
    header, records = _header(paths[0], form), 0
    quoted = form.quoting != NONE and any(cell.startswith('"') for cell in header)
    if quoted and f'{form.delimiter} "' in csv_file.header_text(paths[0], form):
        problem = "a blank stands before a quote in the header, so that quotes would be part of names and values"
        raise InputError("data.quoting", problem, 'export it without such blanks, or state the quoting "none" if quotes belong to names')
    for path in paths:
        if _header(path, form) != header:
            raise InputError("data", "the files of the folder do not have the same header", "keep files of one table in a folder")
        if (unit := csv_file.writing(path, form).unit) > 1 and packed.size(path) % unit:
            raise InputError("data.encoding", "the size of the file is not that of such a text", "check the encoding, or save it as UTF-8")
        if (head := csv_file.head(path, form)) is not None:
            malformed = head.malformed()
            records += len(malformed)
            if 2 * malformed.sum() >= len(malformed):
                raise _other_width(head)
    if not records:
        raise InputError("data", "there are no rows below the header", "choose a file with a header line and rows")
    for block in csv_file.blocks(parts.uncut(paths), form) if form.quoting == STANDARD else ():  # its assumption, as far as that shows
        if block.misquoted or block.longest > MAX_STANDARD_LINES:
            problem = f"the file is not well formed: a quote stands where none may, or a record has over {MAX_STANDARD_LINES} lines"
            raise InputError("data.quoting", problem, 'use the quoting "lines" or "none", or correct the file')


def _other_width(head: csv_file.Block) -> InputError:
    """Return the error for a file in which most lines do not have as many fields as the header."""
    field, wider = f"{ALL_DELIMITERS.get(head.form.delimiter, 'delimiter')}-separated field", replace(head, names=(*head.names, "one more"))
    if 2 * (other := wider.malformed()).sum() < len(other):
        problem = f"most lines have one {field} more than the header, as where R writes names of rows, or a delimiter ends each line"
        return InputError("data", problem, "name that field in the header, or export the table without it")
    remedy = "check that it is a CSV, that delimiter and quoting are right, and how many lines are above the header (skip)"
    return InputError("data", f"most lines do not have as many {field}s as the header", remedy)


@contextmanager
def reading() -> Iterator[None]:
    """Turn errors of reading a file, in the body of a `with` statement, into an InputError.

    The original message is dropped, because it may quote a line of the file.

    Raises:
        InputError: The body raised an error of Arrow, of decoding or of the operating system.
        CapacityError: The body ran out of memory.
    """
    try:
        yield
    except MemoryError:
        raise CapacityError("data", "reading it takes more memory than there is for it", "save it in smaller pieces, or as CSV") from None
    except PermissionError:
        raise InputError("data", "the file cannot be read", "check its permissions") from None
    except (pa.ArrowException, UnicodeError, OSError):
        raise InputError("data", "the file is damaged or not what its beginning promises", "check encoding and delimiter") from None


def _header(path: Location, form: TableFormat) -> tuple[str, ...]:
    """Return the header cells of a CSV file. Raises InputError for an empty file."""
    cells = csv_file.header(path, form)
    if not cells:
        raise InputError("data", "the file is empty", "choose a file with a header line and rows")
    return cells
