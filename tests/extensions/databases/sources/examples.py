"""A small table in a database. For `tests/sources/examples.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from tests.extensions.databases import database_tables
from tests.sources.examples import THREE, Example, codes


def _database(folder: Path) -> Example:
    table = pa.table({name: codes()[:, place] for place, name in enumerate(THREE.names)})
    return Example(database_tables.section("duckdb", folder, table), THREE, codes())


EXAMPLES: dict[str, Callable[[Path], Example]] = {"database": _database}
