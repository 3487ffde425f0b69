"""Files of DuckDB, which nothing changes while they are open: DuckDB locks them. Records come as its own Arrow batches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dpsynth_core.extensions.databases.address import Address
from dpsynth_core.extensions.databases.catalogue import Batches, Column, Opened
from dpsynth_core.extensions.databases.statement import plain, reading

CATALOGUE = (
    "SELECT table_schema, table_name FROM information_schema.tables"
    " WHERE table_catalog IN (SELECT database_name FROM duckdb_databases() WHERE NOT internal)"
)
BATCH_ROWS = 131_072
_TYPES = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "UTINYINT": pa.uint8(),
    "USMALLINT": pa.uint16(),
    "UINTEGER": pa.uint32(),
    "UBIGINT": pa.uint64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMP WITH TIME ZONE": pa.timestamp("us"),
    "TIME": pa.time64("us"),
}
"""Arrow types by the database's types. All other types count as text."""


def opened(address: Address, _timeout: int) -> Opened:
    """Return a read-only connection to a DuckDB file; ignores `_timeout`.

    Names are looked up among DuckDB's own only, because a macro in the file may have the name of a
    function or operator.

    Raises:
        InputError: The file does not exist.
        duckdb.Error: The file cannot be opened as such a database.
    """
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "temp_directory": "",  # records never reach a disk
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "arrow_large_buffer_size": "true",  # texts of any length
        "disabled_optimizers": "common_subexpressions",  # it takes what fails out of TRY (see `query`)
    }
    raw = duckdb.connect(address.file(), read_only=True, config=settings)
    (database,) = raw.execute("SELECT current_database()").fetchone() or ("",)
    raw.execute("SET enable_progress_bar = false")
    raw.execute("SET TimeZone = 'UTC'")
    raw.execute("SET search_path = 'system.main'")
    return Opened(raw, database=(database,))


def columns(raw: Any, select: str) -> list[Column]:
    """Return the columns of a SELECT with their Arrow types, in order, without reading a record.

    Args:
        raw: The connection object of the driver (`Opened`).
        select: The SELECT.

    Raises:
        duckdb.Error: The database refuses the SELECT.
    """
    described = raw.execute(f"DESCRIBE {select}").fetchall()
    raw.execute(f"EXPLAIN {select}").fetchall()  # refuses constants that cannot be meant, which would otherwise end the run later
    return [Column(name, _arrow(kind), kind) for name, kind, *_ in described]


def _arrow(kind: str) -> pa.DataType:
    """Return the Arrow type for a type of DuckDB; text for a type without one."""
    if digits := re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", kind):
        return pa.decimal128(int(digits[1]), int(digits[2]))
    return _TYPES.get(kind, pa.string())


def batches(raw: Any, select: str, columns: Sequence[Column], order: Sequence[Column], _decimal: str) -> Batches:
    """Yield the records of a SELECT, sorted by `order`, as Arrow batches with columns c0, c1, ... of 131,072 rows at most.

    Records are sorted by the bytes of texts and by the values of other types.

    Args:
        raw: The connection object of the driver (`Opened`).
        select: The SELECT.
        columns: The columns of the batches, at least one.
        order: The columns by which records are sorted; empty for any order.

    Raises:
        duckdb.Error: The database refuses the statement.
    """

    def key(name: str, column: Column) -> str:
        return f"encode(CAST({name} AS text))" if pa.types.is_string(column.arrow) else name  # bytes have no collation

    yield from raw.execute(reading(select, columns, order, plain, key)).to_arrow_reader(BATCH_ROWS)
