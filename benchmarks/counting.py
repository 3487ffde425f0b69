"""How long, and with how much memory, all 3-way marginals of a table are counted.

    python -m benchmarks.counting --rows 5000000

Adult as the field's benchmark codes it (where it lies in ../shared/data, or is named), and simulated people as Parquet and as CSV,
written to a temporary folder first. Each is counted in a process of its own, so that peaks do not mix; needs Linux.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import re
import tempfile
import time
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from benchmarks.table import ADULT_FOLDER, RESULTS
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.demo import demo_domain, simulate
from dpsynth_core.sources.sniff import sniff
from dpsynth_core.vocabulary.domain import Domain, load_domain

CHUNK_ROWS = 250_000


@dataclass(frozen=True)
class Counted:
    """One table. base_mb: the process before it saw the file; peak_mb: its largest resident set."""

    table: str
    rows: int
    columns: int
    marginals: int
    cells: int
    file_mb: float
    seconds: float
    base_mb: float
    peak_mb: float


def main() -> None:
    options = _parser().parse_args()
    counted = []
    if options.data.is_file() and options.domain.is_file():
        counted.append(_in_own_process(options.data.stem, load_domain(options.domain), options.data))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        write_people(path, options.rows)
        counted.append(_in_own_process("simulated people", demo_domain(), path))
        as_csv = path.with_suffix(".csv")
        with pacsv.CSVWriter(as_csv, pq.read_schema(path)) as writer:
            for batch in pq.ParquetFile(path).iter_batches():
                writer.write_batch(batch)
        counted.append(_in_own_process("simulated people, CSV", demo_domain(), as_csv))
    for one in counted:
        memory = f"{one.peak_mb:,.0f} MB peak, {one.base_mb:,.0f} MB of it before the first row"
        print(f"{one.table}: {one.rows:,} rows, {one.marginals} marginals of {one.cells:,} cells: {one.seconds:.2f} s, {memory}")
    options.results.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "pyarrow": pa.__version__, "cores": os.cpu_count()}
    document = {"machine": machine, "tables": [asdict(one) for one in counted]}
    (options.results / "counting.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def write_people(path: Path, rows: int) -> None:
    """A Parquet file of simulated people, one row group per chunk."""
    schema = pa.Schema.from_pandas(simulate(1000, seed=0), preserve_index=False)
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, CHUNK_ROWS):
            frame = simulate(min(CHUNK_ROWS, rows - start), seed=start)
            writer.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False))


def count(table: str, domain: Domain, path: Path) -> Counted:
    """Count all 3-way marginals and the rows of one file."""
    base = _peak_mb()
    cliques = list(combinations(domain.names, 3))
    start = time.perf_counter()
    counts = ArrowSource(domain, path, sniff(path)).counts([*cliques, ()])
    seconds = time.perf_counter() - start
    cells = sum(domain.cells(clique) for clique in cliques)
    megabytes = path.stat().st_size / 1e6
    return Counted(table, int(counts[()]), len(domain), len(cliques), cells, megabytes, seconds, base, _peak_mb())


def _in_own_process(table: str, domain: Domain, path: Path) -> Counted:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(count, (table, domain, path))


def _peak_mb() -> float:
    """Largest resident set of this process since it began (the kernel's VmHWM)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000, help="of the simulated people")
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER / "adult-binned.csv")
    parser.add_argument("--domain", type=Path, default=ADULT_FOLDER / "adult-binned-domain.json")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    main()
