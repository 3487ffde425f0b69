"""Neighbouring tables in databases: whatever one person's records hold, all others are read as before, and each record by itself.

The suite of files (`neighbouring`) for tables: random records with odd characters at each place, the same with records of one person put
in, in blocks so small that their borders fall everywhere. Records are compared as what is read of them, which is more than their codes.
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from dpsynth_core.extensions.databases import connect, duckdb_engine, postgres_engine, sqlite_engine
from dpsynth_core.sources import persons
from dpsynth_core.sources.formats import TableFormat
from tests import postgres
from tests.sources.neighbouring import COLUMNS, NOBODY, ODD, PLAIN, RAW

FAMILIES, TABLES = 12, 6
ME = ("me", " me", "me\u2028", "\rme")
OTHERS = ("p1", "p1", "p2", "\ufeffp1", '"p2"', "p\ufeff3", *NOBODY)
NUMBERS = (None, 0.0, -0.0, 1.0, 1e300, float("inf"), float("nan"), -9.0)
ENGINES: dict[str, tuple[str, ...]] = {
    "duckdb": ("VARCHAR", "VARCHAR", "DOUBLE"),
    "sqlite": ("TEXT", "INTEGER", "REAL"),
    "postgresql": ("text", "varchar", "double precision"),
}
Record = tuple[Any, ...]
Records = Sequence[Record]


def record(rng: random.Random, engine: str, names: Sequence[str]) -> Record:
    """Whom it names, and whatever may stand in a column of this engine."""
    tokens = [rng.choice((*PLAIN, *ODD)) for _ in range(rng.randrange(4))]
    text: Any = None if rng.random() < 0.1 else "".join(tokens)
    name, number = rng.choice((*names, None)), rng.choice(NUMBERS)
    if engine == "sqlite":  # each value has a type of its own
        text = rng.choice((text, 7, -9, 2.5, rng.choice(RAW)))
        number = rng.choice((number, "abc", "NA", 10**15, b""))
    if engine == "postgresql":
        name, text = (value and value.replace("\0", "") for value in (name, text))
    return (name, text, number)


def written(engine: str, folder: Path, tables: Sequence[Records]) -> list[dict[str, Any]]:
    """The tables in a new database, and the section of each."""
    path = postgres.address() if engine == "postgresql" else str(folder / f"people.{engine}")
    raw: Any = postgres.connect() if engine == "postgresql" else (duckdb if engine == "duckdb" else sqlite3).connect(path)
    names = [postgres.new_table() for _ in tables]
    with raw:
        for name, records in zip(names, tables, strict=True):
            raw.execute(f"CREATE TABLE {name} ({', '.join(map(' '.join, zip(COLUMNS, ENGINES[engine], strict=True)))})")
            if records:
                sign = "%s" if engine == "postgresql" else "?"
                raw.cursor().executemany(f"INSERT INTO {name} VALUES ({sign}, {sign}, {sign})", records)
    raw.close()
    return [{"kind": "database", "path": path, "table": name} for name in names]


def read(section: dict[str, Any], limit: int) -> Counter[str]:
    """The records that count."""
    seen: dict[object, int] = {}
    records: Counter[str] = Counter()
    for batch in connect.DatabaseTable(section, COLUMNS if limit else ()).batches(COLUMNS, "."):
        kept = batch
        if limit:
            named = persons.named(batch.column("id"), TableFormat())
            kept = batch.filter(pa.array(persons.within_limit(named, seen, limit)))
        records.update(map(repr, zip(*(column.to_pylist() for column in kept.columns), strict=True)))
    return records


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(FAMILIES))
def test_one_person_changes_their_own_records_alone(engine: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"{engine}:{seed}")
    monkeypatch.setattr(duckdb_engine, "BATCH_ROWS", 1)
    monkeypatch.setattr(sqlite_engine, "BATCH_ROWS", rng.choice((1, 2, 5)))
    monkeypatch.setattr(postgres_engine, "BATCH_BYTES", rng.choice((1, 20, 100)))
    others = [record(rng, engine, OTHERS) for _ in range(rng.randrange(1, 20))]
    tables: list[list[Record]] = [others]
    for _ in range(TABLES):
        table = list(others)
        for _ in range(rng.randint(1, 4)):
            table.insert(rng.randint(0, len(table)), record(rng, engine, (*ME, *NOBODY)))
        tables.append(table)
    sections = written(engine, tmp_path, [*tables, *([one] for one in tables[1])])
    for limit in (1, 2):
        counted = [read(section, limit) for section in sections[: len(tables)]]
        for number, more in enumerate(counted[1:], start=1):
            assert not counted[0] - more
            for first in counted[:number]:
                assert (first - more).total() <= limit
                assert (more - first).total() <= limit
    alone = [read(section, 0) for section in sections[len(tables) :]]
    assert sum(alone, Counter()) == read(sections[1], 0)
    assert read(sections[1], 0).total() == len(tables[1])
