"""A table file: checked before anything is spent, and read as record batches.

Nothing here knows the domain; values stay what the file says (text in CSV). Messages speak about the structure of the file only,
never about a value or the number of a row. Rows of a CSV with the wrong number of fields are left out, as they cannot be assigned to
columns; so are blank lines.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.dataset as ds

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.formats import DEFAULT_MISSING, DELIMITERS, TableFormat, table_files
from dpsynth_core.sources.sniff import head_records, sniff
from dpsynth_core.vocabulary.bins import column_field

__all__ = [
    "DEFAULT_LIMIT_BYTES",
    "DEFAULT_MISSING",
    "TableFormat",
    "TableSource",
    "check",
    "column_names",
    "open_batches",
    "sniff",
    "table_files",
]

TableSource = str | os.PathLike[str] | pd.DataFrame
DEFAULT_LIMIT_BYTES = 2_000_000_000
BATCH_ROWS = 131_072

_BLOCK_BYTES = 16 << 20  # also the longest row that a CSV may have


def column_names(source: TableSource, form: TableFormat) -> tuple[str, ...]:
    """Names in file order, trimmed. An unnamed first column (an index) is called column_1. No check for repeats; see `check`."""
    if isinstance(source, pd.DataFrame):
        return tuple(str(name) for name in source.columns)
    if form.kind == "parquet":
        return tuple(_parquet(source).schema.names)
    records = head_records(table_files(source)[0], form, most=1)
    if not records:
        raise InputError("data", "the file is empty", "choose a file with a header line and rows")
    names = [name.strip() for name in records[0]]
    return ("column_1" if len(names) > 1 and not names[0] else names[0], *names[1:])


def check(source: TableSource, form: TableFormat, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
    """InputError if this cannot be used as a table: too large, no rows, not a table, blank or repeated column names."""
    if not isinstance(source, pd.DataFrame) and sum(p.stat().st_size for p in table_files(source)) > limit_bytes:
        raise InputError(
            "data", f"the file is larger than the limit of {limit_bytes / 1e6:,.0f} MB", "give a path on the server, or a smaller file"
        )
    names = column_names(source, form)
    _check_names(names)
    if isinstance(source, pd.DataFrame):
        return
    if form.kind == "parquet":
        _check_parquet(source)
    else:
        _check_csv(source, form, names)


def _check_names(names: Sequence[str]) -> None:
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise InputError("data", f"column {position} has no name in the header", "name every column")
        if name in names[: position - 1]:
            raise InputError(column_field(name), "the name appears twice in the header", "rename one of the columns")
    if not names:
        raise InputError("data", "the table has no columns", "choose a file with a header line and rows")


def _check_parquet(source: str | os.PathLike[str]) -> None:
    if not _parquet(source).count_rows():
        raise InputError("data", "the table has no rows", "choose a file with rows")


def _check_csv(source: str | os.PathLike[str], form: TableFormat, names: Sequence[str]) -> None:
    for path in table_files(source):
        records = head_records(path, form)
        if not records or [n.strip() for n in records[0]][1:] != list(names[1:]):
            raise InputError("data", "the files of the folder do not have the same header", "keep files of one table in a folder")
        if len(records) == 1:
            raise InputError("data", "there are no rows below the header", "choose a file with a header line and rows")
        if 2 * sum(len(record) == len(names) for record in records) <= len(records):
            problem = f"most lines do not have as many {DELIMITERS.get(form.delimiter, 'delimiter')}-separated fields as the header"
            raise InputError("data", problem, "check that it is a CSV and that the delimiter is right")


def open_batches(source: TableSource, form: TableFormat, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Record batches with these columns (at least one), rows in file order, never the whole file at once.

    CSV values come as dictionary-encoded text. InputError for a column that is not there or a file that cannot be read.
    """
    there = column_names(source, form)
    for name in columns:
        if name not in there:
            raise InputError(column_field(name), "the data have no column of this name", "drop it from the domain, or correct its name")
        if there.count(name) > 1:
            raise InputError(column_field(name), "the data have two columns of this name", "rename one of them")
    if isinstance(source, pd.DataFrame):
        yield from _frame_batches(source, columns)
        return
    try:
        if form.kind == "parquet":
            yield from _parquet_batches(_parquet(source), columns)
        else:
            for path in table_files(source):
                yield from _csv_batches(path, form, there, columns)
    except (pa.ArrowException, UnicodeError, OSError):
        # the original message may quote a line of the file
        raise InputError("data", "the file is damaged or not what its beginning promises", "check encoding and delimiter") from None


def _parquet(source: str | os.PathLike[str]) -> ds.Dataset:
    files = table_files(source)
    try:
        schema = ds.dataset(files[0], format="parquet").schema
        text = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        form = ds.ParquetFileFormat(dictionary_columns=text)
        if Path(source).is_file():
            return ds.dataset(files[0], format=form)
        return ds.dataset([str(f) for f in files], format=form, partitioning=ds.HivePartitioning.discover(), partition_base_dir=str(source))
    except (pa.ArrowException, OSError):
        raise InputError("data", "the file is not a readable Parquet file", "save it again, or choose another file") from None


def _parquet_batches(dataset: ds.Dataset, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """One row group after the other: scanning the whole dataset at once would read far ahead and fill the memory."""
    for file in dataset.get_fragments():
        for group in file.split_by_row_group():
            yield from group.to_batches(schema=dataset.schema, columns=list(columns), batch_size=BATCH_ROWS, batch_readahead=1)


def _csv_batches(path: Path, form: TableFormat, names: Sequence[str], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    text = pa.dictionary(pa.int32(), pa.string())
    reader = pacsv.open_csv(
        path,
        # names are given and the header is skipped as a row, so that trimming and the unnamed first column come out as announced
        read_options=pacsv.ReadOptions(
            column_names=list(names), skip_rows_after_names=1, block_size=_BLOCK_BYTES, encoding=form.encoding, use_threads=True
        ),
        parse_options=pacsv.ParseOptions(
            delimiter=form.delimiter, newlines_in_values=True, invalid_row_handler=lambda _: "skip"
        ),
        convert_options=pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, text), include_columns=list(columns), strings_can_be_null=False
        ),
    )
    yield from reader


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
