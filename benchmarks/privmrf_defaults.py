"""When should PrivMRF measure a pair? By theta alone, as its paper says, or also where its dependence is more than its noise.

    python -m benchmarks.privmrf_defaults --tables demo rows values dense titanic few --epsilons 0.1 1 --runs 3

Errors are those of rows, AIM's Definition 2, with seeds that count upwards. What the record has is not measured again.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import compression, slices
from benchmarks.shapes import SHAPES
from benchmarks.slices import Point
from benchmarks.table import ADULT_FOLDER, RESULTS
from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.vocabulary.workload import all_kway

NAME = "privmrf_defaults"
RULES = (
    {"theta": 6.0, "dependence": 0.0},
    {"theta": 3.0, "dependence": 0.0},
    {"theta": 1.5, "dependence": 0.0},
    {"theta": 6.0, "dependence": 1.0},
)
"""The authors' theta, smaller ones, and ours."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    asked = itertools.product(options.tables, options.epsilons, RULES, range(options.runs))
    points = [{"table": table, "epsilon": epsilon, **rule, "seed": seed} for table, epsilon, rule, seed in asked]
    place = options.results / NAME
    slices.fill(slices.opened(place), points, 1, measure, write, place)
    return 0


def measure(point: Point) -> dict[str, Any]:
    """One run."""
    source, workload, true = _question(point["table"])
    mechanism = configured(get("privmrf"), {"theta": point["theta"], "dependence": point["dependence"]})
    begun = time.process_time()
    error = compression.error(source, workload, true, mechanism, point["epsilon"], point["seed"])
    return {"error": round(error, 4), "cpu_seconds": round(time.process_time() - begun, 1)}


@lru_cache(maxsize=1)
def _question(table: str) -> tuple[Any, Any, Any]:
    shape = SHAPES[table]
    source = shape.read(ADULT_FOLDER)
    workload = all_kway(source.domain, shape.k)
    return source, workload, source.counts(workload.cliques)


def write(record: Mapping[str, Any], place: Path) -> None:
    """A line for each table, epsilon and rule."""
    frame = pd.DataFrame(record["runs"])
    lines = ["| table | epsilon | theta | dependence | runs | error | processor seconds |", "|---|---|---|---|---|---|---|"]
    for (table, epsilon, theta, dependence), runs in frame.groupby(["table", "epsilon", "theta", "dependence"]):
        numbers = f"{len(runs)} | {runs['error'].mean():.4f} | {runs['cpu_seconds'].mean():.1f}"
        lines.append(f"| {table} | {epsilon:g} | {theta:g} | {dependence:g} | {numbers} |")
    place.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=SHAPES, default=["demo", "titanic", "few", "values", "dense"])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 0.5, 1.0, 3.0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
