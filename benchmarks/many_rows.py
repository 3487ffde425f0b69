"""What a release costs as its table grows: counting, the mechanism after counting, and the rows, made, written and packed.

    python -m benchmarks many_rows --rows 10000 100000 1000000
    python -m benchmarks many_rows --rows 1000000 --written 10000000
    python -m benchmarks many_rows --table binary --rows 21574 215740 2157400

Simulated people, or an invented table of the shape of NLTCS (16 binary columns) or of NIST's taxi rides (ten columns of up to 77 values);
all pairs of their columns, AIM; noise and rows are seeded. As many rows are written as the table has, or as --written says, as CSV and as
Parquet, to a temporary folder, and packed from there as a bundle packs them. Each table is measured in a process of its own, with one
thread of linear algebra, and made before that. Processor seconds, because other processes take wall time too. Needs Linux.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import invented, record
from benchmarks.server import memory_mb
from dpsynth_core.bundle.pack import zipped
from dpsynth_core.foundation.content import stored
from dpsynth_core.inference.rows import in_random_order
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.steps import Finished, RowModel
from dpsynth_core.planning.about_spec import AboutSpec
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.release.about import About
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.decoding import DrawnRows
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.demo import demo_domain, simulate
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.workload import all_kway

DELTA = 1e-9
CHUNK_ROWS = 250_000
STEPS = ("counting", "mechanism", "rows", "their marginals", "CSV", "Parquet", "hashes and ZIP")
PEOPLE = "people"
SHAPES = {"binary": (2,) * 16, "taxi": (77, 77, 24, 12, 12, 10, 7, 6, 5, 4)}
"""Invented tables: the number of values of each column."""


@dataclass(frozen=True)
class Cost:
    """table: which. rows: of it. written: synthetic ones. cpu, wall: seconds by step. peak_mb: the largest resident set so far, by step."""

    table: str
    rows: int
    written: int
    cpu: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    peak_mb: dict[str, float] = field(default_factory=dict)
    load: float = 0.0

    @contextmanager
    def of(self, step: str) -> Iterator[None]:
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.cpu[step], self.wall[step] = round(time.process_time() - cpu, 2), round(time.perf_counter() - wall, 2)
        self.peak_mb[step] = round(memory_mb(os.getpid(), "VmHWM"))


def main() -> None:
    parser = record.parser(__doc__, rows=[10_000, 100_000, 1_000_000, 10_000_000], epsilon=1.0)
    parser.add_argument("--table", choices=(PEOPLE, *SHAPES), default=PEOPLE)
    parser.add_argument("--written", type=int, help="synthetic rows (default: as many as the table has)")
    options = parser.parse_args()
    costs = [_in_own_process(options.table, rows, options.written or rows, options.epsilon) for rows in options.rows]
    place = options.results / "many_rows"
    tables: list[Any] = (record.earlier(place) or {"tables": []})["tables"]
    for cost in costs:
        tables = record.instead(tables, asdict(cost), "table", "rows", "written")
    kept = {**record.machine(), "epsilon": options.epsilon}
    kept["tables"] = sorted(tables, key=lambda one: (one["table"], one["written"], one["rows"]))
    record.write(place, kept, _lines(kept))


def measured(table: str, rows: int, written: int, epsilon: float, folder: str) -> Cost:
    """One table from its file to the packed files of its synthetic rows."""
    cost, place = Cost(table, rows, written, load=os.getloadavg()[0]), Path(folder)
    domain = demo_domain() if table == PEOPLE else load_domain(place / f"{table}.json")
    workload, mechanism = all_kway(domain, 2), registry.configured(registry.get("aim"), {})
    accountant, path = mechanism.card.accountant, place / f"{table}.parquet"
    rho = accountant.rho_from(epsilon, DELTA)
    kernel = PrivacyKernel(ArrowSource(domain, path, default_format(path)), Unit(), rho, SeededNoise(1), accountant=accountant)
    with cost.of("counting"):
        kernel.prepare([*workload.cliques, *((name,) for name in domain.names)])
    with cost.of("mechanism"):
        *_, finished = mechanism.steps(kernel, workload)
    rng, model = np.random.default_rng(1), cast(RowModel, cast(Finished, finished).model)
    with cost.of("rows"):
        codes = in_random_order(model.rows(written, workload.weights, rng), rng)
    with cost.of("their marginals"):
        Evidence(domain, codes, (), float(rows)).published(workload.cliques)
    values = DrawnRows(domain, codes, rng.bit_generator.state, 1)
    about = About("0" * 64, 1.0, 1e-9, protects=False, stated=AboutSpec())
    for step in ("CSV", "Parquet"):
        with cost.of(step), (place / step).open("wb") as stream:
            FORMATS[step.lower()].write(values, domain, stream, about)
    with cost.of("hashes and ZIP"), (place / "release.zip").open("wb") as stream:
        zipped({step: stored(place / step) for step in ("CSV", "Parquet")}, stream)
    return cost


def write_people(path: Path, rows: int) -> None:
    """A Parquet file of simulated people, one row group per chunk."""
    schema = pa.Schema.from_pandas(simulate(1000, seed=0), preserve_index=False)
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, CHUNK_ROWS):
            frame = simulate(min(CHUNK_ROWS, rows - start), seed=start)
            writer.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False))


def _in_own_process(table: str, rows: int, written: int, epsilon: float) -> Cost:
    with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("spawn").Pool(1) as pool:
        if table == PEOPLE:
            write_people(Path(folder) / "people.parquet", rows)
        else:
            invented.write(invented.Invented(table, rows, SHAPES[table]), Path(folder))
        return pool.apply(measured, (table, rows, written, epsilon, folder))


def _lines(kept: dict[str, Any]) -> list[str]:
    about = f"Processor seconds of each step; {kept['cores']} cores, {kept['day']}, revision {kept['versions']['revision']}."
    rows = []
    for one in kept["tables"]:
        cells = [one["table"], f"{one['rows']:,}", f"{one['written']:,}", *(f"{one['cpu'][step]:.1f}" for step in STEPS)]
        rows.append([*cells, f"{sum(one['wall'].values()):.0f}", f"{max(one['peak_mb'].values()):,.0f}", f"{one['load']:.0f}"])
    heads = ("table", "its rows", "rows written", *STEPS, "wall seconds in all", "peak MB", "load")
    return [f"{about} AIM, all pairs, epsilon {kept['epsilon']:g}.", "", *record.table(heads, rows)]
