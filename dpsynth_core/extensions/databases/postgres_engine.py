"""Tables of a PostgreSQL server, all of whose passes are one transaction and so see one snapshot.

Records come by COPY, some megabytes at a time, and Arrow reads their columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import csv

from dpsynth_core.extensions.databases.address import Address
from dpsynth_core.extensions.databases.catalogue import Batches, Column, Opened
from dpsynth_core.extensions.databases.statement import plain, reading
from dpsynth_core.sources.arrow_types import repaired

LOCK_TIMEOUT = 30
"""Seconds that PostgreSQL waits for a table that another program has locked."""
CATALOGUE = (
    "SELECT nspname::text, relname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
    " WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'"
    " AND has_schema_privilege(pg_namespace.oid, 'USAGE') AND has_any_column_privilege(pg_class.oid, 'SELECT')"
)
BATCH_BYTES = 8 << 20
_MOST_DIGITS = 38
_END = "1e308"
"""Numbers beyond it, such as infinity, are read as it."""
_TYPES = {
    "boolean": pa.bool_(),
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "double precision": pa.float64(),
    "date": pa.date32(),
    "timestamp without time zone": pa.timestamp("us"),
    "timestamp with time zone": pa.timestamp("us"),
    "time without time zone": pa.time64("us"),
}
"""Arrow types by the database's types. All other types count as text."""


def opened(address: Address, timeout: int) -> Opened:
    """Connect and return the connection, in a read-only transaction that sees one snapshot of the database.

    Statements have to name tables with their schema, and name only functions, operators and types that
    PostgreSQL brings along: the database's own schemas, which may have others of the same names, are not
    searched.

    Args:
        address: The address of the database.
        timeout: The seconds that one statement may take.

    Raises:
        psycopg.Error: The server cannot be reached, or refuses the connection.
    """
    import psycopg

    wait = min(1000 * LOCK_TIMEOUT, 900 * timeout)  # ends before the statement does, so that it can be told why
    settings = (
        f"-c default_transaction_read_only=on -c statement_timeout={timeout * 1000} -c lock_timeout={wait} -c jit=off"
        " -c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=postgres -c extra_float_digits=3 -c standard_conforming_strings=on"
    )
    raw = psycopg.connect(address.place, options=settings, application_name="dpsynth", connect_timeout=10, autocommit=True)
    (search_path,) = raw.execute("SELECT current_schemas(false)::text[]").fetchone() or ([],)
    raw.execute("SET search_path = pg_catalog")
    raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    return Opened(raw, search_path=tuple(search_path))


def columns(raw: Any, select: str) -> list[Column]:
    """Return the columns of a SELECT with their Arrow types, in order, without reading a record.

    Args:
        raw: The connection object of the driver (`Opened`).
        select: The SELECT.

    Raises:
        psycopg.Error: The database refuses the SELECT.
    """
    described = raw.execute(f"SELECT * FROM ({select}\n) AS records LIMIT 0").description or ()
    asked = ", ".join(f"format_type({column.type_code}, {column._fmod})" for column in described)
    kinds = raw.execute(f"SELECT {asked}").fetchone()
    return [Column(column.name, _arrow(kind), kind) for column, kind in zip(described, kinds, strict=True)]


def _arrow(kind: str) -> pa.DataType:
    """Return the Arrow type for a type of PostgreSQL; text for a type without one."""
    if kind.startswith("numeric") and not kind.endswith("[]"):
        digits, scale = map(int, (re.findall(r"-?\d+", kind) or (0, 0)))
        return pa.decimal128(digits, scale) if 0 <= scale <= digits and 0 < digits <= _MOST_DIGITS else pa.string()
    return _TYPES.get(re.sub(r"\(\d+\)", "", kind), pa.string())


def batches(raw: Any, select: str, columns: Sequence[Column], order: Sequence[Column], decimal: str) -> Batches:
    """Yield the records of a SELECT, sorted by `order`, as Arrow batches with columns c0, c1, ... of some megabytes.

    Numbers of any size become text with the mark `decimal`. Records are sorted by the bytes of texts and by the values of other types.

    Args:
        raw: The connection object of the driver (`Opened`).
        select: The SELECT.
        columns: The columns of the batches, at least one.
        order: The columns by which records are sorted; empty for any order.
        decimal: The decimal mark of numbers that become text.

    Raises:
        psycopg.Error: The database refuses the statement.
    """

    def value(name: str, column: Column) -> str:
        if not column.is_number_as_text:
            return plain(name, column)
        within = f"CASE WHEN {name} <> 'NaN' THEN least(greatest({name}, -{_END}), {_END}) END"
        return f"replace(trim_scale({within})::text, '.', '{decimal}')"

    def key(name: str, column: Column) -> str:
        return f'CAST({name} AS text) COLLATE "C"' if pa.types.is_string(column.arrow) else name

    of_text = ", ".join(f"c{place}" for place, column in enumerate(columns) if pa.types.is_string(column.arrow))
    form = "FORMAT csv, NULL '\\N', ENCODING 'UTF8'" + (f", FORCE_QUOTE ({of_text})" if of_text else "")
    content = bytearray()
    with raw.cursor().copy(f"COPY ({reading(select, columns, order, value, key)}\n) TO STDOUT ({form})") as copied:
        for record in copied:  # a whole one
            content += record
            if len(content) >= BATCH_BYTES:
                yield _read(bytes(content), columns)
                content.clear()
    if content:
        yield _read(bytes(content), columns)


def _read(content: bytes, columns: Sequence[Column]) -> pa.RecordBatch:
    """Return one block of records from the CSV that COPY wrote.

    Texts are in quotes, so that no text is taken for NULL, the end of a record or a byte order
    mark.
    """
    types = {f"c{place}": column.arrow for place, column in enumerate(columns)}
    table = csv.read_csv(
        pa.BufferReader(content),
        csv.ReadOptions(column_names=list(types), block_size=len(content) + 1, use_threads=False),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            check_utf8=False,
            column_types=types,
            null_values=["\\N", "NaN"],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    arrays = [repaired(column.combine_chunks()) for column in table.columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(types))
