"""A table file or a folder of them: checked before anything is spent, and read as record batches, whatever its kind.

Nothing here knows the domain; values stay what the file says (text in CSV). Messages speak about the structure of the file only,
never about a value or the number of a row. Which lines are records, and what becomes of those that cannot be read: `csv_file`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pandas as pd
import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import csv_file, feather_file, jsonl_file, lines, packed, parquet_file, spreadsheet_file, statistical_file
from dpsynth_core.sources.formats import DELIMITERS, STANDARD, TableFormat, table_files
from dpsynth_core.sources.sniff import sniff
from dpsynth_core.vocabulary.names import column_field

__all__ = [
    "DEFAULT_LIMIT_BYTES",
    "TableFormat",
    "TableSource",
    "check",
    "column_names",
    "open_batches",
    "sniff",
    "table_files",
]


class Reader(Protocol):
    """How one file of a kind is read; a module. Both raise InputError, OSError and ArrowException."""

    def names(self, path: Path, form: TableFormat, /) -> tuple[str, ...]:
        """The names of the columns in file order."""

    def batches(self, path: Path, form: TableFormat, columns: Sequence[str], rows: int, /) -> Iterator[pa.RecordBatch]:
        """These columns of every record, in file order, with at most about so many rows at once."""


_READERS: Mapping[str, Reader] = {
    "jsonl": jsonl_file,
    "feather": feather_file,
    "spreadsheet": spreadsheet_file,
    **dict.fromkeys(("spss", "stata", "sas"), statistical_file),
}
"""The kinds whose files are read one by one; those of a folder need the same columns."""

TableSource = str | os.PathLike[str] | pd.DataFrame
DEFAULT_LIMIT_BYTES = 2_000_000_000
BATCH_ROWS = 131_072
MAX_STANDARD_MALFORMED = 3
"""A file of the quoting "standard" with more malformed records is not what this quoting assumes."""
MAX_STANDARD_LINES = 100
"""A longer record of such a file is taken for the work of a quote that does not belong there."""


def column_names(source: TableSource, form: TableFormat) -> tuple[str, ...]:
    """Names in file order, trimmed. An unnamed first column (an index) is called column_1. No check for repeats; see `check`."""
    if isinstance(source, pd.DataFrame):
        return tuple(str(name) for name in source.columns)
    paths = table_files(source)
    with reading():
        if form.kind == "parquet":
            return parquet_file.names(paths, _folder(source))
        if form.kind in _READERS:
            return tuple(name.strip() for name in _READERS[form.kind].names(paths[0], form))
        return _header(paths[0], form)


def check(source: TableSource, form: TableFormat, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
    """InputError if this cannot be used as a table: too large, no rows, not a table, blank or repeated column names.

    Looks at the structure of every file of a folder, and at the whole content only with the quoting "standard" (see `csv_file`).
    """
    if isinstance(source, pd.DataFrame):
        _check_names(column_names(source, form))
        return
    paths = table_files(source)
    with reading():
        if sum(path.stat().st_size for path in paths) > limit_bytes:
            limit = f"{limit_bytes / 1e6:,.0f} MB"
            raise InputError("data", f"the file is larger than the limit of {limit}", "give a path on the server, or a smaller file")
        _check_names(column_names(source, form))
        if form.kind == "parquet":
            parquet_file.check(paths, _folder(source))
        elif form.kind in _READERS:
            _check_files(paths, form)
        else:
            _check_csv(paths, form)


def check_person_column(source: str | os.PathLike[str], form: TableFormat, column: str) -> None:
    """InputError if the values of a column that is there cannot tell people apart: lists and structures."""
    if form.kind == "feather" and pa.types.is_nested(feather_file.schema(table_files(source)[0]).field(column).type):
        raise InputError("unit.person_column", "its values are lists or structures", "choose a column of texts or numbers")
    if form.kind == "parquet" and pa.types.is_nested(parquet_file.column_type(table_files(source), _folder(source), column)):
        raise InputError("unit.person_column", "its values are lists or structures", "choose a column of texts or numbers")


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise InputError("data", "the table has no columns", "choose a file with a header line and rows")
    if (unnamed := next((at for at, name in enumerate(names, start=1) if not name.strip()), None)) is not None:
        raise InputError("data", f"column {unnamed} has no name in the header", "name every column")
    if (repeated := next((name for name, count in Counter(names).items() if count > 1), None)) is not None:
        raise InputError(column_field(repeated), "the name appears twice in the header", "rename one of the columns")


def _check_files(paths: Sequence[Path], form: TableFormat) -> None:
    reader, rows = _READERS[form.kind], 0
    names = reader.names(paths[0], form)
    for path in paths:
        if sorted(reader.names(path, form)) != sorted(names):
            raise InputError("data", "the files of the folder do not have the same columns", "keep files of one table in a folder")
        rows += next((batch.num_rows for batch in reader.batches(path, form, names[:1], 1) if batch.num_rows), 0)
    if not rows:
        raise InputError("data", "the table has no rows", "choose a file with rows")


def _check_csv(paths: Sequence[Path], form: TableFormat) -> None:
    names, records = _header(paths[0], form), 0
    for path in paths:
        if _header(path, form) != names:
            raise InputError("data", "the files of the folder do not have the same header", "keep files of one table in a folder")
        if (unit := lines.code_unit(path, form.encoding)) > 1 and packed.size(path) % unit:
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


def _check_well_formed(paths: Sequence[Path], form: TableFormat) -> None:
    """The assumption of the quoting "standard": no quote stands where it should not, as far as that shows."""
    malformed = 0
    for block in csv_file.blocks(paths, form):
        malformed += int(block.malformed().sum())
        if block.unclosed or malformed > MAX_STANDARD_MALFORMED or block.longest > MAX_STANDARD_LINES:
            problem = "the file is not well formed: quotes stand where none may stand, or fields are lacking"
            raise InputError("data.quoting", problem, 'use the quoting "lines" or "none", or mend the file')


def open_batches(source: TableSource, form: TableFormat, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Record batches with these columns (at least one), rows in file order, never the whole file at once.

    CSV values come as dictionary-encoded text. InputError for a column that is not there or a file that cannot be read.
    """
    there = Counter(column_names(source, form))
    for name in columns:
        if not there[name]:
            raise InputError(column_field(name), "the data have no column of this name", "drop it from the domain, or correct its name")
        if there[name] > 1:
            raise InputError(column_field(name), "the data have two columns of this name", "rename one of them")
    if isinstance(source, pd.DataFrame):
        yield from _frame_batches(source, columns)
        return
    paths = table_files(source)
    with reading():
        if form.kind == "parquet":
            yield from parquet_file.batches(paths, _folder(source), columns, BATCH_ROWS)
        elif form.kind in _READERS:
            for path in paths:
                yield from _READERS[form.kind].batches(path, form, columns, BATCH_ROWS)
        else:
            yield from csv_file.batches(paths, form, columns)


@contextmanager
def reading() -> Iterator[None]:
    """What goes wrong with a file, as an InputError without the original message, which may quote a line of it."""
    try:
        yield
    except PermissionError:
        raise InputError("data", "the file cannot be read", "check its permissions") from None
    except (pa.ArrowException, UnicodeError, OSError):
        raise InputError("data", "the file is damaged or not what its beginning promises", "check encoding and delimiter") from None


def _header(path: Path, form: TableFormat) -> tuple[str, ...]:
    names = csv_file.header(path, form)
    if not names:
        raise InputError("data", "the file is empty", "choose a file with a header line and rows")
    return names


def _folder(source: str | os.PathLike[str]) -> Path | None:
    """The folder that a source is, None for a file."""
    return Path(source) if Path(source).is_dir() else None


def _frame_batches(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    by_name = {str(name): frame.iloc[:, i] for i, name in enumerate(frame.columns)}
    whole = pa.RecordBatch.from_arrays([_series_array(by_name[name]) for name in columns], names=list(columns))
    for start in range(0, len(frame), BATCH_ROWS):
        yield whole.slice(start, BATCH_ROWS)


def _series_array(series: pd.Series) -> pa.Array:
    try:
        array = pa.array(series, from_pandas=True)
    except pa.ArrowException:  # objects of several types
        array = pa.array([None if pd.isna(value) else str(value) for value in series], pa.string())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
