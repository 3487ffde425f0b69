"""What do sets of rows cost beside the run and the rows of their release?

Releases Adult, writes its rows, makes sets of rows that vary by the noise, and writes them. Each step's processor seconds are those of one
process with one thread of linear algebra. Files are written to memory. The goal is that 20 sets take at most twice as long as run and rows.

    python -m benchmarks set_costs
    python -m benchmarks set_costs --mechanisms aim --workload all-3way --runs 5
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.table import ADULT_FOLDER, file_section, released, spec
from dpsynth_core.cli.release_commands import parse_workload
from dpsynth_core.extensions.intervals.sets import Sets
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release.document import write_csv
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.domain import Domain

KEYS = ("mechanism", "workload", "epsilon", "sets")


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    """Yield the settings that options ask for."""
    for workload in options.workload:
        for epsilon in options.epsilons:
            for mechanism in options.mechanisms:
                yield {"mechanism": mechanism, "workload": workload, "epsilon": epsilon, "sets": options.sets}


def measure(point: record.Point) -> record.Point:
    """Return the processor seconds of one release with its rows, of preparing its sets, and of all sets."""
    domain = load_domain(ADULT_FOLDER / "adult-binned-domain.json")
    stated = {"workload": parse_workload(point["workload"], domain).to_json(), "domain_origin": "public"}
    data = file_section(ADULT_FOLDER / "adult-binned.csv")
    plan = Plan.of(spec(data, domain, point["mechanism"], {"epsilon": point["epsilon"]}, **stated))
    _warm()
    return _seconds(plan, point["sets"])


def _seconds(plan: Plan, sets: int) -> dict[str, float]:
    began = time.process_time()
    made = released(plan)
    assert made.values is not None, "these mechanisms make rows"
    write_csv(made.values, io.BytesIO())
    ran = time.process_time()
    prepared = Sets.of(made)
    ready = time.process_time()
    for one in prepared.first(sets):
        write_csv(one.rows, io.BytesIO())
    done = time.process_time()
    return {"run": round(ran - began, 2), "preparing": round(ready - ran, 2), "drawing": round(done - ready, 2)}


@cache
def _warm() -> None:
    """Load what a first release and its sets load, which no step is to count."""
    columns = Domain.from_json({"a": 3, "b": 2})
    source = CodesSource(columns, np.random.default_rng(0).integers(0, 2, (500, 2)).astype(np.int32))
    made = released(Plan.of(spec({"kind": "demo"}, columns, "aim", {"epsilon": 1.0}, domain_origin="public")), source)
    list(Sets.of(made).first(1))


def lines(kept: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of settings: the median of each step and of the ratio, with the smallest and the largest ratio."""
    settings = list(dict.fromkeys(tuple(run[key] for key in KEYS) for run in kept["runs"]))
    rows = []
    for setting in settings:
        runs = [run for run in kept["runs"] if tuple(run[key] for key in KEYS) == setting]
        ratios = [(run["preparing"] + run["drawing"]) / run["run"] for run in runs]
        seconds = [f"{statistics.median(run[step] for run in runs):.1f}" for step in ("run", "preparing", "drawing")]
        rows.append([*setting, len(runs), *seconds, f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"])
    titles = ("releases", "processor s of run and rows", "of preparing sets", "of drawing sets", "sets by run and rows: median (extremes)")
    yield from record.table([*KEYS, *titles], rows)


PROGRAM = record.Program(
    name="set_costs",
    about=__doc__,
    points=points,
    measure=measure,
    lines=lines,
    defaults={"mechanisms": ["aim", "mst"], "workload": ["all-2way"], "epsilons": [1.0], "sets": 20, "runs": 5},
    among={"mechanisms": ["aim", "mst", "independent"]},
)
main = PROGRAM.main

if __name__ == "__main__":
    sys.exit(main())
