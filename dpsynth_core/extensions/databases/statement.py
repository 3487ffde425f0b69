"""The statement that reads records: some columns of a SELECT, each as a plain type of Arrow, in an order that the records' content decides.

No expression here fails for a value: a failure would end the statement for all, and reveal that some record has this value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.extensions.databases.catalogue import Column, unlike
from dpsynth_core.sources.arrow_types import kind_of_type

Expression = Callable[[str, Column], str]
"""Writes an expression of a column, from its qualified name."""
_ENDS = {
    "date": ("DATE '0001-01-01'", "DATE '9999-12-31'"),
    "timestamp": ("TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
    "time": ("TIME '00:00:00'", "TIME '23:59:59.999999'"),
}
"""The first and last that Arrow reads. What is before or behind, such as infinity, is read as these."""


def reading(select: str, columns: Sequence[Column], order: Sequence[Column], value: Expression, key: Expression) -> str:
    """Return the SQL statement that reads some columns of a SELECT, named c0, c1, and so on.

    Args:
        select: The SELECT.
        columns: The columns to read, at least one.
        order: The columns by which records are sorted, see `DatabaseTable`; empty for any order.
        value: Returns the SQL expression of a column's value, from its quoted, qualified name and the column.
        key: Returns the SQL expression that the column is sorted by, from the same two. Two values with the same
            key must be read as the same value, or else the order of records would be open.
    """
    records = unlike(column.name for column in (*columns, *order))

    def named(column: Column) -> str:
        return f"{records}.{quoted(column.name)}"

    values = ", ".join(f"{value(named(column), column)} AS c{place}" for place, column in enumerate(columns))
    keys = ", ".join(key(named(column), column) for column in order)
    return f"SELECT {values} FROM ({select}\n) AS {records}" + (f" ORDER BY {keys}" if keys else "")


def plain(name: str, column: Column) -> str:
    """Return the SQL expression of a column's value in DuckDB or PostgreSQL, in its Arrow type.

    A column that is read as text is cast to text. Dates and times before or after those that Arrow can hold
    become the first or last one. A timestamp with a zone becomes the time in UTC.

    Args:
        name: The qualified name of the column, quoted.
        column: The column.
    """
    if pa.types.is_string(column.arrow):
        return f"CAST({name} AS text)"
    if column.type.lower().startswith("timestamp") and "with time zone" in column.type.lower():
        name = f"({name} AT TIME ZONE 'UTC')"
    if (ends := _ENDS.get(kind_of_type(column.arrow))) is None:
        return name
    first, last = ends
    return f"CASE WHEN {name} < {first} THEN {first} WHEN {name} > {last} THEN {last} ELSE {name} END"


def one_zero(values: pa.Array) -> pa.Array:
    """Return the values with 0 in place of -0; values that are not floating-point numbers are returned as they are.

    A database treats both as equal, and DuckDB may return either one, depending on other values.
    """
    return pc.add(values, pa.scalar(0, values.type)) if pa.types.is_floating(values.type) else values


def quoted(name: str) -> str:
    """Return a name as a quoted identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
