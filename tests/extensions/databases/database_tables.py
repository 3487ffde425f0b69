"""Arrow tables as tables of databases, and their values as each database has them."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from dpsynth_core.foundation import arrow_times
from tests import postgres

TABLE = "records"


def section(engine: str, folder: Path, records: pa.Table) -> dict[str, Any]:
    """The `data` section of a table with these records in a new database."""
    return {"kind": "database", **_MAKERS[engine](folder, _without_durations(records))}


def _without_durations(records: pa.Table) -> pa.Table:
    """Durations are counted as text there: intervals of databases know months."""
    for place, field in enumerate(records.schema):
        if pa.types.is_duration(field.type):
            records = records.set_column(place, field.name, arrow_times.readable(records.column(place).combine_chunks()))
    return records


def _duckdb(folder: Path, records: pa.Table) -> dict[str, Any]:
    path = folder / "records.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("given", records)
        connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM given")
    return {"path": str(path), "table": TABLE}


def _sqlite(folder: Path, records: pa.Table) -> dict[str, Any]:
    path = folder / "records.sqlite"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        columns = ", ".join(f'"{field.name}" {_SQLITE_TYPES.get(str(field.type), "TEXT")}' for field in records.schema)
        connection.execute(f"CREATE TABLE {TABLE} ({columns})")
        rows = [[_for_sqlite(value) for value in row.values()] for row in records.to_pylist()]
        connection.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * records.num_columns)})", rows)
    connection.close()
    return {"path": str(path), "table": TABLE}


def _postgres(_folder: Path, records: pa.Table) -> dict[str, Any]:
    table = postgres.new_table()
    with postgres.connect() as connection:
        columns = ", ".join(f'"{field.name}" {_postgres_type(field.type)}' for field in records.schema)
        connection.execute(f"CREATE TABLE {table} ({columns})")
        with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for row in records.to_pylist():
                copy.write_row(tuple(row.values()))
    return {"path": postgres.address(), "table": table}


_MAKERS = {"duckdb": _duckdb, "sqlite": _sqlite, "postgresql": _postgres}
_SQLITE_TYPES = {"int64": "INTEGER", "int32": "INTEGER", "double": "REAL", "bool": "BOOLEAN"}


def _for_sqlite(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value) if isinstance(value, date | time | Decimal) else value


def _postgres_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    if pa.types.is_time(kind):
        return "time"
    if pa.types.is_list(kind):
        return f"{_postgres_type(kind.value_type)}[]"
    names = {"int64": "bigint", "int32": "integer", "float": "real", "double": "double precision", "bool": "boolean", "date32[day]": "date"}
    return names.get(str(kind), "text")
