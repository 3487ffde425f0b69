"""A table file, a folder of them, a DataFrame or a table in a database: checked before anything is spent, and read as record batches.

Text is read here. What a library in C reads is read in a process of its own with limits, because nobody knows what such a library does
with a hostile file. What is read, and how: `readers`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pandas as pd
import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import confined, packed, readers
from dpsynth_core.sources.arrays import is_plain_number, texts
from dpsynth_core.sources.databases.connect import DatabaseTable
from dpsynth_core.sources.formats import STANDARD, TEXT, TableFormat, table_files
from dpsynth_core.sources.locations import Location
from dpsynth_core.sources.parts import WHOLE, Part, Sizes, gathered
from dpsynth_core.sources.sniff import sniff
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.names import told_apart

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

TableSource = str | os.PathLike[str] | pd.DataFrame | DatabaseTable
DEFAULT_LIMIT_BYTES = 2_000_000_000
BATCH_ROWS = 131_072


def column_names(source: TableSource, form: TableFormat) -> tuple[str, ...]:
    """See `readers.names`."""
    if isinstance(source, DatabaseTable):
        return source.names
    if isinstance(source, pd.DataFrame):
        return tuple(str(name) for name in source.columns)
    return readers.names(source, form) if form.kind in TEXT else confined.names(source, form)


def made_names(source: TableSource, form: TableFormat) -> tuple[str, ...]:
    """The names of columns that stand in no header, because one of the same name comes before, or none is there."""
    if isinstance(source, pd.DataFrame | DatabaseTable) or not form.applies("names"):
        return ()
    cells = readers.header(source, form) if form.kind in TEXT else confined.header(source, form)
    return tuple(name for name, cell in zip(told_apart(cells), cells, strict=True) if name != cell)


def check(source: TableSource, form: TableFormat, limit_bytes: int | None = DEFAULT_LIMIT_BYTES) -> None:
    """InputError if this cannot be used as a table: it is too large (None: nothing is), or for one of the reasons of `readers.check`."""
    if isinstance(source, pd.DataFrame | DatabaseTable):
        readers.check_names(column_names(source, form))
        return
    with readers.reading():
        if limit_bytes is not None and _exceeds(table_files(source), form, limit_bytes):
            limit = f"{limit_bytes / 1e6:,.0f} MB"
            raise InputError("data", f"the file is larger than the limit of {limit}", "give a path on the server, or a smaller file")
    if form.kind in TEXT:
        readers.check(source, form)
    else:
        confined.check(source, form)


def _exceeds(paths: Sequence[Location], form: TableFormat, limit_bytes: int) -> bool:
    """Whether the files have more bytes, unpacked; as far as it takes to know."""
    total = sum(path.stat().st_size for path in paths)
    if form.kind not in TEXT:
        return total > limit_bytes
    for path in paths:
        if total > limit_bytes:
            return True
        total += packed.size(path, limit_bytes) - path.stat().st_size
    return total > limit_bytes


def check_person_column(source: str | os.PathLike[str], form: TableFormat, column: str) -> None:
    """See `readers.check_person_column`."""
    readers.check_person_column(described(source, form), column)


def described(source: str | os.PathLike[str], form: TableFormat) -> Sequence[Column]:
    """See `readers.described`."""
    return readers.described(source, form) if form.kind in TEXT else confined.described(source, form)


def sheets(source: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names of the sheets of a workbook in order. Raises InputError."""
    return confined.sheets(source)


def divide(source: TableSource, form: TableFormat, sizes: Sizes) -> list[Part]:
    """The table in parts, at least one. One part are small tables and those whose records cannot be told apart from anywhere inside: of the
    quoting "standard" (packed files are one part each). Raises InputError."""
    if isinstance(source, pd.DataFrame | DatabaseTable) or (form.kind == "csv" and form.quoting == STANDARD):
        return [WHOLE]
    with readers.reading():
        if sum(path.stat().st_size for path in table_files(source)) < sizes.divided:
            return [WHOLE]
    pieces = (readers if form.kind in TEXT else confined).pieces(source, form, sizes.bytes)
    return gathered(pieces, sizes.rows if form.kind == "parquet" else sizes.bytes) or [WHOLE]


def open_batches(source: TableSource, form: TableFormat, columns: Sequence[str], part: Part = WHOLE) -> Iterator[pa.RecordBatch]:
    """See `readers.batches`."""
    if isinstance(source, pd.DataFrame | DatabaseTable):
        readers.check_columns(column_names(source, form), columns)
        if isinstance(source, DatabaseTable):
            return source.batches(columns, form.decimal)
        return _frame_batches(source, columns, form)
    if form.kind in TEXT:
        return readers.batches(source, form, columns, BATCH_ROWS, part)
    return confined.batches(source, form, columns, BATCH_ROWS, part)


def _frame_batches(frame: pd.DataFrame, columns: Sequence[str], form: TableFormat) -> Iterator[pa.RecordBatch]:
    by_name = {str(name): frame.iloc[:, i] for i, name in enumerate(frame.columns)}
    whole = pa.RecordBatch.from_arrays([_series_array(by_name[name], form) for name in columns], names=list(columns))
    for start in range(0, len(frame), BATCH_ROWS):
        yield whole.slice(start, BATCH_ROWS)


def _series_array(series: pd.Series, form: TableFormat) -> pa.Array:
    """A column by its type, or of objects by the type of each value alone: as texts, so that no value says how another is read."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    if series.dtype == object:
        return pa.array([_object_text(value, form) for value in series], pa.string())
    array = pa.array(series, from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _object_text(value: object, form: TableFormat) -> str | None:
    """What a column of nothing but this value would say, in the curator's notation; None for what is missing, or no single value."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    try:
        alone = pa.array([value], from_pandas=True)
    except (pa.ArrowException, OverflowError):
        return str(value)
    if pa.types.is_null(alone.type) or pa.types.is_nested(alone.type):
        return None
    text: str | None = texts(alone)[0].as_py()
    return text.replace(".", form.decimal) if text is not None and is_plain_number(alone.type) else text
