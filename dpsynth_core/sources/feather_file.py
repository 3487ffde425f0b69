"""Feather and Arrow files as record batches. Every row is one record, so nothing in it can change another.

A file is written by a program, from a table: neighbours are the tables inside. Each value keeps its place in its row, and text that is no
UTF-8 is repaired where it stands. Whether lengths and offsets lie inside the file is checked for each batch, because Arrow trusts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.arrow_types import check_type, repaired
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.locations import Location, Remote
from dpsynth_core.vocabulary.names import trimmed


def names(path: Location, _form: TableFormat) -> tuple[str, ...]:
    """Return the names of the columns, trimmed and in file order.

    Raises:
        InputError: A type cannot be read, or the file is of an outdated version of Feather.
        ArrowException: The file is damaged.
        OSError: The file cannot be read.
    """
    with _mapped(path) as source, _reader(source) as reader:
        for field in reader.schema:
            check_type(field.name, field.type)
        return tuple(map(trimmed, reader.schema.names))


def schema(path: Location, _form: TableFormat) -> pa.Schema:
    """Return the columns of a file with their types, in file order.

    Raises:
        InputError: The file is of an outdated version of Feather.
        ArrowException: The file is damaged.
        OSError: The file cannot be read.
    """
    with _mapped(path) as source, _reader(source) as reader:
        return reader.schema


def batches(path: Location, _form: TableFormat, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield these columns of all records, in file order, at most `rows` rows at a time.

    Raises:
        InputError: The file is of an outdated version of Feather.
        ArrowException: The file is damaged.
        OSError: The file cannot be read.
        ValueError: A column is not in the file.
    """
    with _mapped(path) as source, _reader(source) as reader:
        places = [[trimmed(written) for written in reader.schema.names].index(name) for name in columns]
        whole = (reader.get_batch(i) for i in range(reader.num_record_batches)) if hasattr(reader, "get_batch") else reader
        for batch in whole:
            arrays = [_checked(batch.column(place)) for place in places]
            chosen = pa.RecordBatch.from_arrays(arrays, names=list(columns))
            for start in range(0, chosen.num_rows, rows):
                yield chosen.slice(start, rows)


def _mapped(path: Location) -> pa.NativeFile:
    """Return the file opened for reading; a file on this machine is mapped and takes no memory."""
    return path.open("rb") if isinstance(path, Remote) else pa.memory_map(str(path))


def _reader(source: pa.NativeFile) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Return Arrow's reader for the file, which may be in the file format or in the stream format.

    Raises:
        InputError: It is a Feather file of version 1.
    """
    start = source.read(6)
    source.seek(0)
    if start.startswith(b"FEA1"):
        raise InputError("data", "it is a Feather file of version 1, which nothing writes any more", "save it again as Feather or Parquet")
    return pa.ipc.open_file(source) if start == b"ARROW1" else pa.ipc.open_stream(source)


def _checked(column: pa.Array) -> pa.Array:
    """Return the column with text repaired, after checking that its offsets lie inside the file.

    Values of a fixed width have no offsets. Raises ArrowInvalid for a wrong offset.
    """
    if pa.types.is_dictionary(column.type):
        column.indices.validate(full=True)
        return pa.DictionaryArray.from_arrays(column.indices, _checked(column.dictionary))  # checks that the indices are there
    raw = column.view(_RAW[column.type]) if column.type in _RAW else column
    raw.validate(full=not (pa.types.is_primitive(column.type) or pa.types.is_decimal(column.type)))
    return repaired(column)


_RAW = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
"""Bytes of text, of which it is not asked whether they are UTF-8."""
