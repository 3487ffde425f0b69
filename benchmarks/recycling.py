"""Whether DQRS pays: its games that use samples again beside DualQuery's at the same budget, each at the best of a small grid.

    python -m benchmarks.recycling --epsilons 0.1 1 --runs 3
    python -m benchmarks.recycling --tables titanic --epsilons 10 --runs 3

The tables, workloads and errors are those of `fem_defaults`: the largest error of a cell of 64 random three-way marginals, delta = 1/N^2.
The number of rounds is what the budget affords; no other limit. All settings of DQRS are below eta = 1/4: above it, no sample is cheaper
used again, and DQRS is DualQuery. A point that is in the record is not measured again: interrupt it, and go on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import claims, fem_defaults, slices
from benchmarks.table import RESULTS

NAME = "recycling"
GRID: Mapping[str, Mapping[str, Sequence[float]]] = {
    "dualquery": {"eta": (0.25, 1, 4), "samples": (1, 5, 20)},
    "dqrs": {"eta": (0.05, 0.1), "samples": (5, 20)},
}
UNLIMITED = 100_000
"""Rounds: more than any of these budgets affords."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    place = options.results / NAME
    by_name = dict(fem_defaults.tables(options.tables))
    points = [
        {"table": table, "epsilon": epsilon, "mechanism": mechanism, "settings": {"eta": eta, "samples": samples, "rounds": UNLIMITED}}
        for table, epsilon, (mechanism, grid) in product(by_name, options.epsilons, GRID.items())
        for eta, samples in product(grid["eta"], grid["samples"])
    ]
    measure = fem_defaults.measure
    slices.fill(slices.opened(place), points, options.runs, lambda point: measure(by_name[point["table"]], point), write, place)
    return 0


def write(record: Mapping[str, Any], place: Path) -> None:
    """For each table and epsilon the settings with the least mean error of each mechanism, and which mechanism errs less."""
    frame = pd.DataFrame([{**run["settings"], **run} for run in record["runs"]])
    lines = ["| table | epsilon | DualQuery: eta, s | rounds | error | DQRS: eta, s | rounds | error | DQRS errs |", "|---" * 9 + "|"]
    for (table, epsilon), part in frame.groupby(["table", "epsilon"], sort=False):
        chosen = {name: best(part[part["mechanism"] == name]) for name in GRID}
        if all(len(runs) for runs in chosen.values()):
            cells = " | ".join(_cells(runs) for runs in chosen.values())
            errors = {name: runs["error"].tolist() for name, runs in chosen.items()}
            lines.append(f"| {table} | {epsilon:g} | {cells} | {claims.verdict(errors['dqrs'], errors['dualquery'])} |")
    lines += ["", f"Errors: mean of the runs (their number), the least of what was measured. {claims.DECIDED}."]
    place.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def best(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of the settings whose mean error is least."""
    settings = runs.groupby(["eta", "samples"])
    return settings.get_group(settings["error"].mean().idxmin()) if len(runs) else runs


def _cells(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    return f"{first['eta']:g}, {first['samples']:g} | {runs['rounds'].mean():.0f} | {runs['error'].mean():.4f} ({len(runs)})"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"benchmarks.{NAME}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=fem_defaults.TABLES, default=list(fem_defaults.TABLES))
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
