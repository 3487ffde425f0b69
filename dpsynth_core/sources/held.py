"""A table in memory or at a place of an extension, with the methods of a file's table (`files.FileTable`).

It is one part and has no header.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import headers, readable
from dpsynth_core.sources.arrays import is_plain_number, texts
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.parts import NOTHING_LISTED, WHOLE, Listed, Part, Sizes

if TYPE_CHECKING:
    import pandas as pd

    from dpsynth_core.sources.locations import Location
    from dpsynth_core.vocabulary.column import Column


class Batches(Protocol):
    """A table that yields batches: `Frame`, `memory.Columns` or `PlacedTable`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""

    @property
    def schema(self) -> pa.Schema:
        """The columns with their types."""
        ...

    def batches(self, columns: Sequence[str], decimal: str, /) -> Iterator[pa.RecordBatch]:
        """Yield all records in order, with these columns; nothing without records.

        Args:
            columns: The names of the columns.
            decimal: The decimal mark of numbers that become text.
        """
        ...


class PlacedTable(Batches, Protocol):
    """A table that an extension reads from a place of its own, such as a database (`foundation.extension.Place`)."""

    @property
    def declared(self) -> Sequence[Column]:
        """The columns as the place declares them, in order."""
        ...


@dataclass(frozen=True, eq=False)
class HeldTable:
    """A table in memory, or one that an extension reads, with its format; it has the methods of `files.FileTable`."""

    source: Batches
    form: TableFormat
    files: ClassVar[tuple[Location, ...]] = ()
    """The table has no files and no folder."""
    folder: ClassVar[Location | None] = None

    def column_names(self) -> tuple[str, ...]:
        """Return the names of the columns, in order."""
        return self.source.names

    def made_names(self) -> tuple[str, ...]:
        """Return an empty tuple, because the tool makes up no column names here."""
        return ()

    def check(self) -> None:
        """Check that there are columns, and that each name is neither blank nor repeated.

        Raises:
            InputError: There are no columns, or a name is blank or repeated.
        """
        headers.check_names(self.source.names)

    def divide(self, _sizes: Sizes) -> list[Part]:
        """Return a single part, the whole table (`[WHOLE]`), because such a table is not divided."""
        return [WHOLE]

    def batches(self, columns: Sequence[str], _part: Part = WHOLE, _listed: Listed = NOTHING_LISTED) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all records, in order; the part and the listed values are ignored.

        Raises:
            InputError: The table lacks a column or has it twice.
        """
        headers.check_columns(self.source.names, columns)
        return self.source.batches(columns, self.form.decimal)


@dataclass(frozen=True, eq=False)
class Frame:
    """A pandas DataFrame as a table that yields record batches."""

    frame: pd.DataFrame

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(map(str, self.frame.columns))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns with their Arrow types, from the pandas types at the first request; later batches must keep them."""
        empty = (_array(self.frame.iloc[:0, place], ".") for place in range(len(self.names)))
        return pa.schema([(name, array.type) for name, array in zip(self.names, empty, strict=True)])

    def batches(self, columns: Sequence[str], decimal: str) -> Iterator[pa.RecordBatch]:
        """Yield all rows in order, with these columns, at most `headers.BATCH_ROWS` (131,072) at a time.

        Args:
            columns: The names of the columns.
            decimal: The decimal mark of numbers that become text.

        Raises:
            InputError: The type of a column changed since `schema` was first requested.
            KeyError: The frame lacks a column.
        """
        place = {name: i for i, name in enumerate(self.names)}
        arrays = [_array(self.frame.iloc[:, place[name]], decimal) for name in columns]
        if any(array.type != self.schema.field(place[name]).type for name, array in zip(columns, arrays, strict=True)):
            raise InputError("data", "the type of a column changed since the plan was made", "make the plan again")
        whole = pa.RecordBatch.from_arrays(arrays, names=list(columns))
        for start in range(0, len(self.frame), headers.BATCH_ROWS):
            yield whole.slice(start, headers.BATCH_ROWS)


def _array(series: pd.Series, decimal: str) -> pa.Array:
    """Return a pandas column as an Arrow array; the conversion depends on the column's type only.

    Objects become their texts one by one, so that no value decides how another one is read.
    """
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        places, categories = series.cat.codes.to_numpy(), _array(series.cat.categories.to_series(), decimal)
        return pa.DictionaryArray.from_arrays(pa.array(places, mask=places < 0), categories, ordered=series.cat.ordered)
    if series.dtype == object or getattr(series.dtype, "storage", "") == "python":
        return pa.array([_text(value, decimal) for value in series], pa.string())
    try:
        array = pa.array(series.iloc[:0], from_pandas=True)
    except pa.ArrowException:  # Arrow has no such type
        return pa.ExtensionArray.from_storage(readable.opaque(str(series.dtype)), pa.nulls(len(series)))
    array = pa.array(series, from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _text(value: object, decimal: str) -> str | None:
    """Return the text of a value in an object column; None for a missing value or one with parts.

    It is the text that the value has in a typed column, and numbers have the decimal mark
    `decimal`.
    """
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    try:
        alone = pa.array([value], from_pandas=True)
    except Exception:  # noqa: BLE001  # it may be any object, and must not end a run
        return _words(value)
    if pa.types.is_null(alone.type) or pa.types.is_nested(alone.type):
        return None
    text: str | None = texts(alone)[0].as_py()
    return text.replace(".", decimal) if text is not None and is_plain_number(alone.type) else text


def _words(value: object) -> str | None:
    """Return `str(value)`; None if that fails, as for a number of more than 4,300 digits."""
    try:
        return str(value).encode(errors="replace").decode()
    except Exception:  # noqa: BLE001  # the same
        return None
