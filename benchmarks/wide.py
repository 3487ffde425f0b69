"""Tables of many columns and all their pairs, through the command line: time, memory, and where both go.

    python -m benchmarks wide                             # 35, 100 and 300 columns, AIM
    python -m benchmarks wide --columns 100 --mechanisms independent mst aim mwem_pgm gaussian residual_planner

Each run is a process of its own, at the defaults of the command line, certificate included. The tables are invented.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.invented import Invented, codes, sizes, write
from benchmarks.programs import OURS, execute, synthesize, versions
from dpsynth_core.inference import all_pairs
from dpsynth_core.release import times

ROWS = 50_000
SIZES = {
    35: (2, 2, 3, 5, 9, 16, 24, 42, 99, 181),
    100: (2, 2, 3, 4, 5, 6, 8, 10, 16, 32),
    300: (2, 2, 3, 4, 5, 6, 8, 10, 12, 16),
}
"""By number of columns, the numbers of values that they are drawn from."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, columns=list(SIZES), rows=ROWS, mechanisms=["aim"], epsilon=1.0)
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of the mechanism; may be repeated")
    options = parser.parse_args(arguments)
    kept = options.results / "wide"
    with tempfile.TemporaryDirectory() as place:
        for columns in options.columns:
            table = table_of(columns, options.rows)
            data, domain = write(table, Path(place))
            for mechanism in options.mechanisms:
                out = Path(place) / f"{mechanism}-{columns}"
                run = measured(data, domain, columns, options, mechanism, out)
                if (out / "synthetic.csv").exists():
                    run["error"] = round(error(table, out / "synthetic.csv"), 5)
                runs = record.instead(record.earlier(kept), run, "columns", "mechanism", "rows", "epsilon")
                print(_line(run), file=sys.stderr, flush=True)
                record.write(kept, runs, [_markdown(runs)])


def table_of(columns: int, rows: int = ROWS) -> Invented:
    """The invented table of so many columns."""
    return Invented(f"wide-{columns}", rows, sizes(columns, SIZES.get(columns, SIZES[100]), seed=columns), seed=columns)


def error(table: Invented, made: Path) -> float:
    """People in a wrong cell, as a share, mean over all pairs of columns."""
    lines = all_pairs.Lines(table.sizes)
    true, ours = (_together(lines, rows) for rows in (codes(table), pd.read_csv(made, dtype=np.int32).to_numpy()))
    return float(np.abs(true - ours)[lines.between].sum() / 4 / math.comb(len(table.sizes), 2))


def _together(lines: all_pairs.Lines, rows: NDArray[np.int32]) -> NDArray[np.float32]:
    """Shares of the rows with each two values."""
    return all_pairs.counted(lines, rows) / np.float32(len(rows))


def measured(data: Path, domain: Path, columns: int, options: argparse.Namespace, mechanism: str, out: Path) -> dict[str, Any]:
    """One run: what the process cost, the phases that it states, the sizes of its files; or why it was refused."""
    command = synthesize(data, domain, out, workload="all-2way", mechanism=mechanism, epsilon=options.epsilon)
    command += [part for pair in options.set for part in ("--set", pair)]
    asked = {"columns": columns, "rows": options.rows, "mechanism": mechanism, "epsilon": options.epsilon, "settings": options.set}
    made = {"cores": os.cpu_count(), "began": record.now(), "versions": versions(OURS)}
    try:
        cost = execute(command)
    except RuntimeError as error:
        return {**asked, **made, "refused": str(error).strip().splitlines()[-1]}
    stated = times.read(out)
    sizes_mb = {path.name: round(path.stat().st_size / 1e6, 2) for path in sorted(out.iterdir())}
    details = json.loads((out / "release.json").read_text(encoding="utf-8"))["details"]
    facts = {"rounds": details.get("rounds"), "phases": stated.value["phases"] if stated else {}, "files_mb": sizes_mb}
    return {**asked, **made, **asdict(cost), **facts}


def _line(run: dict[str, Any]) -> str:
    what = f"{run['mechanism']}, {run['columns']} columns"
    if "refused" in run:
        return f"{what}: refused: {run['refused']}"
    largest = sorted(run["phases"].items(), key=lambda phase: -phase[1])[1:6]
    phases = ", ".join(f"{name} {seconds:.0f}" for name, seconds in largest)
    return f"{what}: {run['seconds']:.0f} s, {run['cpu_seconds']:.0f} processor seconds, {run['peak_mb']:,} MB; {phases} s"


def _markdown(runs: list[dict[str, Any]]) -> str:
    lines = [
        "All pairs of many columns, through the command line at its defaults (certificate included), each run a process of its own.",
        "The tables are invented (`benchmarks/invented.py`). Error: people in a wrong cell, as a share, mean over all pairs. Load: of the",
        "machine, in the last minute; above the number of cores, wall seconds mean little.",
        "",
    ]
    rows = []
    for run in sorted(runs, key=lambda run: (run["columns"], run["mechanism"], run["epsilon"])):
        pairs = run["columns"] * (run["columns"] - 1) // 2
        about = [run["columns"], f"{pairs:,}", f"{run['rows']:,}", run["mechanism"], f"{run['epsilon']:g}"]
        if "refused" in run:
            rows.append([*about, "", f"refused: {run['refused']}", *[""] * 6])
            continue
        costs = [run["rounds"] or "", run.get("error", "")]
        costs += [f"{run['seconds']:,.0f}", f"{run['cpu_seconds']:,.0f}", f"{run['peak_mb']:,}", f"{run['load']:.1f}"]
        rows.append([*about, *costs, *(f"{run['files_mb'].get(name, 0):.1f}" for name in ("release.json", "release.zip"))])
    return "\n".join([*lines, *record.table(_HEAD, rows)])


_HEAD = (
    *("columns", "pairs", "rows", "mechanism", "epsilon", "rounds", "error", "seconds", "processor seconds", "peak MB", "load"),
    *("release.json MB", "bundle MB"),
)
