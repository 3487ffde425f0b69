"""The rows of a release as values, in batches: they are never all in memory at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

GROUP_ROWS = 250_000
"""Rows of a group of a Parquet file."""


class Rows(Protocol):
    """Rows as values that can be iterated over repeatedly, always in the same batches."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows in order as tables, at least one, which may be empty.

        Batches have the same rows for any choice of columns.

        Args:
            columns: Names of the columns; None for all.
        """
        ...


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Rows of a table in memory, as one batch."""

    table: pa.Table

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the whole table once, with the named columns, or all columns for None."""
        yield self.table if columns is None else self.table.select(columns)


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows in a Parquet file that this program wrote."""

    path: Path

    @property
    def num_rows(self) -> int:
        """The number of rows, from the file's footer."""
        return int(pq.read_metadata(self.path).num_rows)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield each row group of the file as a table; one empty table for a file without row groups.

        Args:
            columns: Names of the columns; None for all.
        """
        with pq.ParquetFile(self.path) as file:
            yield from (file.read_row_group(number, columns) for number in range(file.num_row_groups))
            if not file.num_row_groups:
                empty = file.schema_arrow.empty_table()
                yield empty if columns is None else empty.select(columns)


def in_groups(rows: Rows) -> Iterator[pa.Table]:
    """Yield the rows in tables of GROUP_ROWS rows, the last one smaller, each contiguous in memory.

    There is at least one table, which may be empty. The division does not depend on the batches of
    `rows`, so that the bytes of files do not either.
    """
    held: list[pa.Table] = []
    number = 0
    for batch in rows.batches():
        held.append(batch)
        number += batch.num_rows
        while number > GROUP_ROWS:
            some = pa.concat_tables(held)
            yield some.slice(0, GROUP_ROWS).combine_chunks()
            held, number = [some.slice(GROUP_ROWS)], number - GROUP_ROWS
    yield pa.concat_tables(held).combine_chunks()


def as_table(rows: Rows) -> pa.Table:
    """Return all rows as one table in memory."""
    return pa.concat_tables(rows.batches())
