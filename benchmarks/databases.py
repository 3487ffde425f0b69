"""What it costs to count all three-way marginals of 15 columns in a database, beside what a person would write by hand.

    python -m benchmarks databases --rows 1000000
    python -m benchmarks databases --rows 10000000 --postgres postgresql://USER@HOST/DATABASE

The table is invented: 15 columns that depend on each other. It is made in a temporary folder and, in PostgreSQL, in a table of its own
that is dropped again. By hand: one DuckDB statement with GROUPING SETS of the columns as they are, all at once or a few at a time.
Results go to benchmarks/results/databases-ROWS.json and .md.
"""

from __future__ import annotations

import os
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
import pyarrow as pa

from benchmarks import record
from dpsynth_core.sources.registry import KINDS
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

SIZES = (2, 2, 3, 4, 5, 5, 6, 8, 8, 10, 10, 12, 16, 20, 32)
NAMES = [f"c{place}" for place in range(len(SIZES))]
PART = 1_000_000
TABLE = "dpsynth_benchmark"
BY_HAND = 30
"""Grouping sets in one statement by hand."""


def domain() -> Domain:
    return Domain(tuple(Attribute.integer(name, 0, size - 1, missing=True) for name, size in zip(NAMES, SIZES, strict=True)))


def parts(rows: int) -> Iterator[pa.Table]:
    """The records, a million at a time."""
    rng = np.random.default_rng(1)
    for first in range(0, rows, PART):
        number = min(PART, rows - first)
        common = rng.normal(size=number)
        ranks = ((1 + np.tanh(0.5 * common + rng.normal(size=number))) / 2 for _ in SIZES)
        codes = (np.minimum(rank * size, size - 1).astype(np.int32) for rank, size in zip(ranks, SIZES, strict=True))
        yield pa.table(dict(zip(NAMES, codes, strict=True)))


def fill_duckdb(path: Path, rows: int) -> None:
    with duckdb.connect(str(path)) as connection:
        for place, records in enumerate(parts(rows)):
            connection.register("records", records)
            connection.execute(f"{f'INSERT INTO {TABLE}' if place else f'CREATE TABLE {TABLE} AS'} SELECT * FROM records")


def fill_sqlite(path: Path, rows: int) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE {TABLE} ({', '.join(f'{name} INTEGER' for name in NAMES)})")
        for records in parts(rows):
            columns = (column.to_pylist() for column in records.columns)
            connection.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * len(SIZES))})", zip(*columns, strict=True))
    connection.close()


@contextmanager
def filled_postgres(address: str, rows: int) -> Iterator[None]:
    from pyarrow import csv

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {TABLE} ({', '.join(f'{name} integer' for name in NAMES)})")
        try:
            for records in parts(rows):
                sink = pa.BufferOutputStream()
                csv.write_csv(records, sink, csv.WriteOptions(include_header=False))
                with connection.cursor().copy(f"COPY {TABLE} FROM STDIN CSV") as copy:
                    copy.write(memoryview(sink.getvalue()))
            connection.execute(f"ANALYZE {TABLE}")
            yield
        finally:
            connection.execute(f"DROP TABLE {TABLE}")


def counted(address: str) -> None:
    source = KINDS["database"].open({"kind": "database", "path": address, "table": TABLE}, domain(), None, 1)
    source.counts(list(combinations(source.domain.names, 3)))


def by_hand(path: Path) -> None:
    triples = list(combinations(NAMES, 3))
    with duckdb.connect(str(path), read_only=True) as connection:
        for first in range(0, len(triples), BY_HAND):
            sets = ", ".join(f"({', '.join(triple)})" for triple in triples[first : first + BY_HAND])
            names = ", ".join(dict.fromkeys(name for triple in triples[first : first + BY_HAND] for name in triple))
            connection.execute(f"SELECT {names}, count(*) FROM {TABLE} GROUP BY GROUPING SETS ({sets})").fetchnumpy()


def measured(work: Callable[[], None]) -> dict[str, float]:
    """Seconds by the clock and by our processors; a server's own processors are not ours."""
    began, busy = time.monotonic(), time.process_time()
    work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"seconds": time.monotonic() - began, "own_processor_seconds": time.process_time() - busy, "peak_mb_so_far": peak}


def measure(rows: int, postgres: str | None, with_sqlite: bool) -> dict[str, Any]:
    results: dict[str, Any] = {"rows": rows, "columns": len(SIZES), "marginals": len(list(combinations(SIZES, 3))), "ways": {}}
    ways: dict[str, Mapping[str, float]] = results["ways"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.duckdb"
        fill_duckdb(path, rows)
        ways["DuckDB"] = measured(lambda: counted(str(path)))
        ways["DuckDB by hand"] = measured(lambda: by_hand(path))
        if with_sqlite:
            small = Path(folder) / "records.sqlite"
            fill_sqlite(small, rows)
            ways["SQLite"] = measured(lambda: counted(str(small)))
    if postgres is not None:
        with filled_postgres(postgres, rows):
            ways["PostgreSQL"] = measured(lambda: counted(postgres))
    return results | {"load": os.getloadavg()[1]}


def _lines(results: Mapping[str, Any]) -> list[str]:
    rows = [
        (name, f"{way['seconds']:.1f}", f"{way['own_processor_seconds']:.1f}", f"{way['peak_mb_so_far']:,.0f}")
        for name, way in results["ways"].items()
    ]
    lines = [f"All {results['marginals']} three-way marginals of {results['rows']:,} rows x {results['columns']} columns.", ""]
    lines += record.table(("way", "seconds", "processor seconds of our process", "largest memory so far, MB"), rows)
    if results["load"] > (os.cpu_count() or 1):
        lines += ["", f"Other programs used the machine meanwhile (load {results['load']:.0f}): the clock says more than these ways need."]
    return lines


def main() -> None:
    parser = record.parser(__doc__, rows=1_000_000)
    parser.add_argument("--postgres", metavar="ADDRESS", help="of a database in which a table may be created and dropped")
    parser.add_argument("--sqlite", action="store_true", help="SQLite, too, which takes long")
    options = parser.parse_args()
    results = measure(options.rows, options.postgres, options.sqlite)
    record.write(options.results / f"databases-{options.rows}", results, _lines(results))
