"""Databases as engines. For `tests/sources/engines.py`."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from dpsynth_core.sources.registry import KINDS
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.vocabulary.domain import Domain
from tests import postgres
from tests.extensions.databases import database_tables
from tests.sources.engines import Engine, Open


def _in_database(engine: str) -> Open:
    def open_source(folder: Path, records: pa.Table, domain: Domain, person: str | None, rows: int) -> MarginalSource:
        return KINDS["database"].open(database_tables.section(engine, folder, records), domain, person, rows)

    return open_source


def _overwrite(folder: Path) -> None:
    for path in folder.glob("records.*"):
        path.write_bytes(bytes(path.stat().st_size))


def _drop(_folder: Path) -> None:
    postgres.end_all()


ENGINES: dict[str, Engine] = {
    "duckdb": Engine(_in_database("duckdb"), _overwrite, ordered=False),
    "sqlite": Engine(_in_database("sqlite"), _overwrite, ordered=False, decimals=False),
    "postgresql": Engine(_in_database("postgresql"), _drop, ordered=False),
}
