"""Tables that a program holds in memory. A spec is a document and names a table by a text: here is which table is meant.

A name means something in this process alone, and for as long as somebody holds its table. Nothing of the table is written anywhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import headers
from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.arrow_types import check_type, repaired
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.held import Frame, HeldTable

if TYPE_CHECKING:
    import pandas as pd

KIND = "memory"


@dataclass(frozen=True, eq=False)
class Columns:
    """An Arrow table in memory, with the methods of `held.Batches`."""

    table: pa.Table

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.table.column_names)

    @property
    def schema(self) -> pa.Schema:
        """The columns with their types."""
        return self.table.schema

    def batches(self, columns: Sequence[str], _decimal: str) -> Iterator[pa.RecordBatch]:
        """Yield all rows in order, with these columns, at most `headers.BATCH_ROWS` (131,072) at a time.

        Bytes of text that are not UTF-8 become U+FFFD. `_decimal` is ignored.

        Raises:
            KeyError: The table lacks a column.
        """
        for batch in self.table.select(list(columns)).to_batches(max_chunksize=headers.BATCH_ROWS):
            yield pa.RecordBatch.from_arrays([repaired(column) for column in batch.columns], names=list(columns))


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table in memory with the name that stands for it in specs.

    Attributes:
        name: A random name, valid in this process as long as this object exists.
        source: The table.
    """

    name: str
    source: Frame | Columns

    def opened(self, form: TableFormat) -> HeldTable:
        """Return the table as one that can be read in the given format."""
        return HeldTable(self.source, form)

    def check(self) -> None:
        """Check that there are columns, that no column name is blank or repeated, and that each type can be read.

        A type can be read unless it is a timestamp with an unknown time zone.

        Raises:
            InputError: There are no columns, a name is blank or repeated, or a type cannot be read.
        """
        headers.check_names(self.source.names)
        for field in self.source.schema:
            check_type(field.name, field.type)

    def content(self) -> Iterator[bytes]:
        """Yield bytes that identify the content: each column's name, then its cells as texts.

        Tables of pandas and Arrow with equal cells give the same bytes. Ledgers store hashes of
        these bytes, so the bytes must never change: numbers and times keep the texts that the first
        version gave them.
        """
        for name in self.source.names:
            yield name.encode() + b"\0"
            for batch in self.source.batches([name], "."):
                column = batch.column(0)
                column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
                cells = _hashed_texts(column).cast(pa.large_string())
                for start in range(0, len(cells), _CELLS):
                    yield pa.record_batch([cells[start : start + _CELLS]], names=["cells"]).serialize()


def _hashed_texts(values: pa.Array) -> pa.Array:
    """Return the texts of values in the way of the first version, whose hashes ledgers store.

    They differ from `arrays.texts` in numbers with exponents, decimals and times, which keep zeros
    at the end.
    """
    kind = values.type
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_nan(values), None, values).cast(pa.string())
    if pa.types.is_timestamp(kind):
        return pc.replace_substring_regex(values.cast(pa.string()), r"\.0+$", "")
    return values.cast(pa.string()) if pa.types.is_decimal(kind) or pa.types.is_time(kind) else texts(values)


_CELLS = 1 << 16
_NAMED: WeakValueDictionary[str, NamedTable] = WeakValueDictionary()


def hold(table: pd.DataFrame | pa.Table) -> NamedTable:
    """Return an object that gives the table a name, for as long as the object exists.

    The name is random and valid in this process alone. The table is not copied.
    """
    held = NamedTable(secrets.token_hex(8), Columns(table) if isinstance(table, pa.Table) else Frame(table))
    _NAMED[held.name] = held
    return held


def named(name: str) -> NamedTable:
    """Return the table in memory with this name (`hold`).

    Raises:
        InputError: The table is not held any more, or never was in this process.
    """
    held = _NAMED.get(name)
    if held is None:
        raise InputError("data", "the table was held in memory by a program, and is not held any more", "run the program again")
    return held
