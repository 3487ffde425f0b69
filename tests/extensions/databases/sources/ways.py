"""Databases as kinds of tables that hold values. For `tests/sources/ways.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.extensions.databases import database_tables
from tests.sources.ways import Store


def _database(engine: str) -> Store:
    def store(table: pa.Table, folder: Path) -> tuple[Any, dict[str, Any]]:
        section = database_tables.section(engine, folder, table)
        return section["path"], {"table": section["table"]}

    return store


STORES: dict[str, Store] = {"SQLite": _database("sqlite"), "DuckDB": _database("duckdb"), "PostgreSQL": _database("postgresql")}
