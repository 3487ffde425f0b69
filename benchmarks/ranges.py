"""Ranges of ordered columns, "from 30 to 45": their largest error in rows that are made for all pairs, and in rows made for ranges.

    python -m benchmarks ranges --tables adult titanic --epsilons 0.1 1 --runs 3

Of every ordered column the largest error of any range, of everybody and within each cell of another column, in % of the people: the mean
over the columns (over the columns and the other column) and the largest of all. Without a certificate, with seeds that count upwards. True
counts are looked at: the tables are public or invented.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from benchmarks import record
from benchmarks.discovery import adult as adult_by_its_codebook
from benchmarks.shapes import SHAPES, coded, rows
from benchmarks.table import ADULT_FOLDER
from dpsynth_core.mechanisms import registry
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import largest_run
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload, all_kway, ranges

SEVEN = ("education", "age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
"""Of Adult as the AIM paper bins it, where every column holds codes."""
WAYS: Mapping[str, tuple[str, Callable[[Workload], Workload]]] = {
    "pairs": ("all pairs", lambda asked: all_kway(asked.domain, 2)),
    "ranges": ("ranges", lambda asked: asked),
    "columns": ("ranges of columns alone", lambda asked: Workload(asked.domain, {(n,): 1.0 for n in asked.ranges}, ranges=asked.ranges)),
}
"""What rows are made for; columns alone show what the whole budget could buy of them."""


def main(arguments: Sequence[str] | None = None) -> None:
    among = {"tables": TABLES, "ways": WAYS}
    defaults = {"tables": list(TABLES), "ways": list(WAYS), "epsilons": [0.1, 1.0], "mechanisms": ["aim"], "runs": 3}
    parser = record.parser(__doc__, among, **defaults)
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER)
    options = parser.parse_args(arguments)
    place = options.results / "ranges"
    for name in options.tables:
        source, columns = TABLES[name](options.data)
        asked = ranges(source.domain, columns)
        for epsilon in options.epsilons:
            for mechanism in options.mechanisms:
                for way in options.ways:
                    run: dict[str, Any] = {"table": name, "epsilon": epsilon, "mechanism": mechanism, "way": way}
                    run |= _measured(source, asked, WAYS[way][1](asked), mechanism, epsilon, options.runs)
                    print(run, file=sys.stderr, flush=True)
                    record.write(place, record.instead(record.earlier(place), run, "table", "epsilon", "mechanism", "way"))
    record.write(place, record.earlier(place), record.table(_HEAD, _rows(record.earlier(place))))


def _measured(source: CodesSource, asked: Workload, workload: Workload, mechanism: str, epsilon: float, runs: int) -> dict[str, Any]:
    """Errors and processor seconds of each seed."""
    every, seconds = [], []
    for seed in range(runs):
        start = time.process_time()
        codes = rows(source, workload, registry.get(mechanism), epsilon, seed)
        seconds.append(round(time.process_time() - start, 1))
        every.append(errors(asked, source.counts(asked.cliques), row_marginals(source.domain, codes, asked.cliques)))
    return {name: [round(one[name], 6) for one in every] for name in every[0]} | {"seconds": seconds}


def errors(asked: Workload, true: Mapping[Any, NDArray[Any]], made: Mapping[Any, NDArray[Any]]) -> dict[str, float]:
    """Shares of the people, of ranges of columns alone and within cells of another column."""
    gaps = {r: made[r] / made[r].sum() - true[r] / true[r].sum() for r in asked.cliques}
    cells = {name: range(asked.domain[name].ordered) for name in asked.ranges}
    alone = [float(largest_run(gaps[name,], 0, cells[name])) for name in asked.ranges]
    within = [float(largest_run(gaps[r], r.index(name), cells[name])) for r in gaps for name in cells if len(r) > 1 and name in r]
    return {"mean": statistics.fmean(alone), "largest": max(alone), "within": statistics.fmean(within), "within_largest": max(within)}


def _fine(folder: Path) -> CodesSource:
    """Adult with a cell for each year of age and hour of work, and narrow ones for amounts."""
    numbers = {"age": (17, 90, 74), "fnlwgt": (0, 1_500_000, 150), "capital-gain": (0, 99_999, 200), "hours-per-week": (1, 99, 99)}
    fine = {name: Attribute.integer(name, low, high, bins=bins).unfolded() for name, (low, high, bins) in numbers.items()}
    domain = Domain(tuple(fine.get(one.name, one) for one in adult_by_its_codebook()))
    return coded(domain, folder / "adult.csv", TableFormat("csv", missing_markers=frozenset({"?"})))


TABLES: Mapping[str, Callable[[Path], tuple[CodesSource, Sequence[str]]]] = {
    "adult": lambda folder: (SHAPES["adult"].read(folder), SEVEN),
    "adult-fine": lambda folder: (_fine(folder), ()),
    "titanic": lambda folder: (SHAPES["titanic"].read(folder), ()),
    "demo": lambda folder: (SHAPES["demo"].read(folder), ()),
}


def _rows(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    tables, ways = list(TABLES), list(WAYS)
    for run in sorted(runs, key=lambda one: (tables.index(one["table"]), one["epsilon"], one["mechanism"], ways.index(one["way"]))):
        shares = (f"{statistics.fmean(run[name]):.2%}" for name in ("mean", "largest", "within", "within_largest"))
        about = (run["table"], f"{run['epsilon']:g}", run["mechanism"], WAYS[run["way"]][0], len(run["seconds"]))
        yield (*about, *shares, f"{statistics.fmean(run['seconds']):.1f}")


_HEAD = (
    *("table", "epsilon", "mechanism", "rows for", "runs", "column, mean", "column, largest"),
    *("within a cell, mean", "within a cell, largest", "processor seconds"),
)
