"""How long, and with how much memory, all marginals of three columns of a table of 15 are counted: by each engine, and by hand.

    python -m benchmarks counting --rows 1000000 10000000

Invented people (`invented`) as Parquet and as CSV, written to `--folder` first unless they are there. Each count is a process of its own
that is watched from outside: processor time and memory are those of it and of all processes that it starts. Needs Linux.
`benchmarks.scale_model` fits a cost model to the results.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import combinations, product
from math import comb
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from benchmarks import invented, record
from benchmarks.server import cpu_ms
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.vocabulary.blocks import plan
from dpsynth_core.vocabulary.domain import Attribute, Domain

SIZES = (2, 5, 10, 16, 7, 4, 12, 20, 3, 8, 6, 10, 15, 5, 9)
FORMS = {"parquet": TableFormat("parquet"), "csv": TableFormat("csv")}
ENGINES = ("arrow", "dask 1", "dask 2")
BY_HAND = ("pandas", "duckdb")
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Counted:
    """One count. marginals: with `order` columns each. blocks: passes over the rows that they take. wall: seconds. processor: seconds of
    all processes. peak_mb: of their memory together, shared pages once. start_mb: of the process before it looked at the table."""

    engine: str
    form: str
    rows: int
    order: int
    marginals: int
    blocks: int
    file_mb: float
    wall: float
    processor: float
    peak_mb: float
    start_mb: float

    @property
    def rate(self) -> float:
        """Row-marginals a second."""
        return self.rows * self.marginals / self.wall


def people_domain() -> Domain:
    """Codes and texts in turn."""
    names = invented.Invented("", 0, SIZES).names
    columns = zip(names, SIZES, strict=True)
    return Domain(tuple(Attribute.categorical(n, labels(s)) if i % 2 else Attribute.coded(n, s) for i, (n, s) in enumerate(columns)))


def labels(size: int) -> list[str]:
    """The texts of a column."""
    return [f"value {number:02d}" for number in range(size)]


def people(folder: Path, rows: int) -> dict[str, Path]:
    """The files, by kind; written where they are not there."""
    paths = {kind: folder / f"people-{rows}.{kind}" for kind in FORMS}
    if not all(path.exists() for path in paths.values()):
        codes, _ = invented.write(invented.Invented(f"codes-{rows}", rows, SIZES), folder)
        domain = people_domain()
        schema = pa.schema([(a.name, pa.int32() if a.is_coded else pa.string()) for a in domain])
        unfinished = {kind: path.with_name(f"{path.name}.part") for kind, path in paths.items()}
        with pq.ParquetWriter(unfinished["parquet"], schema) as parquet, pacsv.CSVWriter(unfinished["csv"], schema) as csv:
            for batch in pq.ParquetFile(codes).iter_batches(invented.CHUNK_ROWS):
                columns = [c if a.is_coded else pa.array(labels(a.size)).take(c) for a, c in zip(domain, batch.columns, strict=True)]
                table = pa.Table.from_arrays(columns, schema=schema)
                parquet.write_table(table)
                csv.write_table(table)
        for path in paths.values():
            path.with_name(f"{path.name}.part").rename(path)
        codes.unlink()
    return paths


def main() -> None:
    parser = record.parser(__doc__, rows=[1_000_000])
    parser.add_argument("--by-hand", type=int, default=1_000_000, help="rows up to which pandas and DuckDB are tried, too")
    parser.add_argument("--folder", type=Path, help="where the tables are, or are kept (default: a temporary folder)")
    parser.add_argument("--count", nargs=4, metavar=("ENGINE", "FORM", "ORDER", "PATH"), help="count once, for the program itself")
    options = parser.parse_args()
    if options.count is not None:
        engine, form, order, path = options.count
        count(engine, Path(path), FORMS[form], int(order))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = []
        for rows in options.rows:
            paths = people(folder, rows)
            engines = [*ENGINES, *(BY_HAND if rows <= options.by_hand else ())]
            for order, form, engine in product((2, 3), FORMS, engines):
                if engine in BY_HAND and (order, form) != (3, "parquet"):
                    continue
                results.append(watched(engine, form, order, paths[form], rows))
                print(_line(results[-1]), flush=True)
                _write(results, options.results)


def watched(engine: str, form: str, order: int, path: Path, rows: int) -> Counted:
    """Count in a process of its own, and watch it and all that it starts."""
    command = [sys.executable, "-m", "benchmarks", "counting", "--count", engine, form, str(order), str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    processor, peak = watch(process)
    assert process.stdout is not None
    if process.returncode:
        raise RuntimeError(f"{engine} could not count")
    said = json.loads(process.stdout.read().splitlines()[-1])
    domain = people_domain()
    blocks = len(set(plan(domain, list(combinations(domain.names, order))).values()))
    size = path.stat().st_size / 1e6
    tables, processor = comb(len(domain), order), processor - said["before"]
    return Counted(engine, form, rows, order, tables, blocks, size, said["wall"], processor, peak, said["start_mb"])


def watch(process: subprocess.Popen[Any], every: float = _LOOK_SECONDS) -> tuple[float, float]:
    """Processor seconds of a process and all that it starts, until it ends, and the most megabytes that they have together. every: so many
    seconds of the clock they are looked at."""
    used: dict[int, float] = {}
    peak = 0.0
    while process.poll() is None:
        family = _family(process.pid)
        for pid in family:
            with suppress(OSError):  # it has ended
                used[pid] = cpu_ms(pid) / 1000
        peak = max(peak, sum(map(_megabytes, family)))
        time.sleep(every)
    return sum(used.values()), peak


def count(engine: str, path: Path, form: TableFormat, order: int) -> None:
    """Count, and print how long it took from the moment on at which the program was loaded."""
    counting = {"pandas": _by_pandas, "duckdb": _by_duckdb}.get(engine) or _by_engine(engine)
    domain = people_domain()
    before, start = time.process_time(), time.perf_counter()
    base = _megabytes(os.getpid())
    counting(path, form, domain, order)
    print(json.dumps({"wall": time.perf_counter() - start, "before": before, "start_mb": base}))


def _by_engine(engine: str) -> Callable[[Path, TableFormat, Domain, int], None]:
    from dpsynth_core.sources.arrow import ArrowSource
    from dpsynth_core.sources.registry import KINDS

    def counting(path: Path, form: TableFormat, domain: Domain, order: int) -> None:
        cliques = list(combinations(domain.names, order))
        if engine == "arrow":
            ArrowSource(domain, path, form).counts(cliques)
        else:
            section = {**form.section(path), "engine": "dask", "scheduler": None, "workers": int(engine.split()[1])}
            KINDS[form.kind].open(section, domain, None, 1).counts(cliques)

    return counting


def _by_pandas(path: Path, _form: TableFormat, domain: Domain, order: int) -> None:
    import pandas as pd

    frame = pd.read_parquet(path).astype("category")
    for clique in combinations(domain.names, order):
        frame.groupby(list(clique), observed=False).size()


def _by_duckdb(path: Path, _form: TableFormat, domain: Domain, order: int) -> None:
    import duckdb

    sets = ", ".join(f"({', '.join(clique)})" for clique in combinations(domain.names, order))
    duckdb.sql(f"SELECT {', '.join(domain.names)}, count(*) FROM '{path}' GROUP BY GROUPING SETS ({sets})").fetchall()


def _family(pid: int) -> list[int]:
    """The process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    family = [pid]
    for member in family:  # grows while it is gone through
        family += children.get(member, [])
    return family


def _megabytes(pid: int) -> float:
    """Its own memory and its share of what it has in common with others."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0.0


def _line(one: Counted) -> str:
    what = f"{one.engine:7} {one.form:7} {one.rows:>11,} rows, {one.marginals:3} marginals in {one.blocks:3} blocks"
    cost = f"{one.wall:8.2f} s, {one.processor:8.2f} processor s, {one.peak_mb:6,.0f} MB"
    return f"{what}: {cost}, {one.rate / 1e6:7,.0f} million row-marginals/s"


def _write(results: list[Counted], folder: Path) -> None:
    machine = {"python": platform.python_version(), "pyarrow": pa.__version__, "cores": len(os.sched_getaffinity(0))}
    titles = ("engine", "file", "rows", "marginals", "wall s", "processor s", "peak MB", "million row-marginals/s")
    rows = []
    for one in results:
        costs = (f"{one.wall:,.1f}", f"{one.processor:,.1f}", f"{one.peak_mb:,.0f}", f"{one.rate / 1e6:,.0f}")
        rows.append((one.engine, one.form, f"{one.rows:,}", one.marginals, *costs))
    kept = {"machine": machine, "counts": [asdict(one) for one in results]}
    record.write(folder / "counting", kept, record.table(titles, rows))
