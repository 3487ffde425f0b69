"""Parquet files as record batches. Every row is one record, so nothing in it can change another.

Each file is read by its own types: the meaning of a value is settled later, value by value, and a folder's files may differ there. Text
that is not UTF-8 is repaired where it stands. A folder name like `sex=f` in `sex=f/part.parquet` is a column, whose values are always
texts, regardless of the names of other folders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import parts
from dpsynth_core.sources.arrow_types import check_type, repaired
from dpsynth_core.sources.listing import partition
from dpsynth_core.sources.locations import Location, inner, located, together
from dpsynth_core.sources.parts import WHOLE, Part, Piece
from dpsynth_core.vocabulary.names import column_field, trimmed


def names(paths: Sequence[Location], folder: Location | None) -> tuple[str, ...]:
    """Return the names of the columns of the first file, trimmed, and then those in folder names.

    Args:
        paths: The files.
        folder: The folder of the files; None for a single file.

    Raises:
        InputError: The files cannot be read.
    """
    return tuple(map(trimmed, _dataset(paths, folder).schema.names))


def check(paths: Sequence[Location], folder: Location | None) -> None:
    """Check that the files are readable, have rows, have the same columns, and that each column's type can be read.

    Args:
        paths: The files.
        folder: The folder of the files; None for a single file.

    Raises:
        InputError: A file cannot be read, the columns differ, there are no rows in any file, a column has timestamps of
            an unknown time zone, or a column is both in the files and in the names of their folders.
    """
    try:
        fragments = list(_dataset(paths, folder).get_fragments())
        schemas = [fragment.physical_schema for fragment in fragments]
        rows = sum(fragment.count_rows() for fragment in fragments)
    except (pa.ArrowException, OSError):
        raise _unreadable() from None
    if any(sorted(schema.names) != sorted(schemas[0].names) for schema in schemas):
        raise InputError("data", "the files of the folder do not have the same columns", "keep files of one table in a folder")
    for field in {(field.name, field.type) for schema in schemas for field in schema}:
        check_type(*field)
    if not rows:
        raise InputError("data", "the table has no rows", "choose a file with rows")


def schemas(paths: Sequence[Location], folder: Location | None) -> list[pa.Schema]:
    """Return the schema of the table, and then the schema of each file.

    The table has the columns of the first file, and those in folder names.

    Args:
        paths: The files.
        folder: The folder of the files; None for a single file.

    Raises:
        InputError: The files cannot be read.
    """
    dataset = _dataset(paths, folder)
    return [dataset.schema, *(fragment.physical_schema for fragment in dataset.get_fragments())]


def schema(paths: Sequence[Location], folder: Location | None) -> pa.Schema:
    """Return the columns with their types: columns of the first file, then the text columns of folder names.

    Args:
        paths: The files.
        folder: The folder of the files; None for a single file.

    Raises:
        InputError: The files cannot be read.
    """
    return _dataset(paths, folder).schema


def row_groups(paths: Sequence[Location]) -> Iterator[tuple[Piece, int]]:
    """Yield each row group of the files, in order, as a piece with its number of rows.

    Raises:
        ArrowException: A file is damaged.
        OSError: A file cannot be read.
    """
    for path in paths:
        with path.open("rb") as file:
            metadata = pq.read_metadata(file)
        for group in range(metadata.num_row_groups):
            yield Piece(str(path), group, group + 1), metadata.row_group(group).num_rows


def batches(
    paths: Sequence[Location], folder: Location | None, columns: Sequence[str], rows: int, part: Part = WHOLE
) -> Iterator[pa.RecordBatch]:
    """Yield these columns of a table or part, in file order, at most `rows` rows at a time.

    Row groups are read one after the other: scanning the whole dataset at once would read far ahead
    and fill the memory.

    Args:
        paths: The files.
        folder: The folder of the files; None for a single file.
        columns: The names of the columns.
        rows: The largest number of rows of a batch.
        part: The part to read; the whole table by default.

    Raises:
        ArrowException: A file is damaged.
        OSError: A file cannot be read.
        InputError: A file does not exist any more.
    """
    dataset = _dataset(paths, folder)
    written = {trimmed(name): name for name in dataset.schema.names}
    fragments = {fragment.path: fragment for fragment in dataset.get_fragments()}
    for piece in part or parts.uncut(paths):
        fragment = fragments.get(inner(located(piece.file)))
        if fragment is None:
            raise InputError("data", "a file of the table is gone since it was looked at", "leave the table as it is until the run ends")
        own = fragment.physical_schema
        schema = pa.schema([*own, *(field for field in dataset.schema if field.name not in own.names)])
        for group in fragment.split_by_row_group()[piece.begin : piece.end]:
            for batch in group.to_batches(schema=schema, columns=[written[name] for name in columns], batch_size=rows, batch_readahead=1):
                yield pa.RecordBatch.from_arrays([repaired(column) for column in batch.columns], names=list(columns))


def _dataset(paths: Sequence[Location], folder: Location | None) -> ds.Dataset:
    """Return the files as an Arrow dataset, with a column of text for each name in folder names.

    Text is read as dictionaries. Raises InputError.
    """
    try:
        filesystem, files = together(paths)
        schema = ds.dataset(files[0], format="parquet", filesystem=filesystem).schema
        own = {trimmed(name) for name in schema.names}
        said = dict.fromkeys(name for path in paths for name in (() if folder is None else partition(folder, path)))
        if both := next((name for name in said if trimmed(name) in own), None):
            problem = "both the files and the names of their folders say it"
            raise InputError(column_field(both), problem, "rename it in the files, or rename the folders")
        text = [field.name for field in schema if _is_text(field.type)]
        form = ds.ParquetFileFormat(dictionary_columns=text)
        if folder is None:
            return ds.dataset(files[0], format=form, filesystem=filesystem)
        names = ds.HivePartitioning(pa.schema([(name, pa.string()) for name in said]))
        return ds.dataset(files, format=form, filesystem=filesystem, partitioning=names, partition_base_dir=inner(folder))
    except (pa.ArrowException, OSError):
        raise _unreadable() from None


def _is_text(kind: pa.DataType) -> bool:
    """Return whether values of an Arrow type are text.

    Text is read in dictionary encoding, because Arrow then accepts bytes that are not UTF-8 instead
    of refusing the file.
    """
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _unreadable() -> InputError:
    return InputError("data", "the file is not a readable Parquet file", "save it again, or choose another file")
