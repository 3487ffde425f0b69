"""What counting costs as a formula, fitted to the results of `benchmarks.counting`, and what it says of larger tables.

    python -m benchmarks.scale_model

For each engine and kind of file: seconds = a + rows x (b + c x blocks) / workers. Here a is what starting takes, b reading and coding a
row, and c counting it into a block (`vocabulary.tally`). Fitted to the counts of at most `--fit` rows by least squares of relative errors,
none of a, b and c below 0, and checked against all other counts. Prints Markdown for docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.table import RESULTS

Count = Mapping[str, Any]
"""One entry of counting.json."""
_NODES = (10, 100)
_ROWS = (10**9, 10**10)


@dataclass(frozen=True)
class Model:
    """start: seconds. row, block: seconds of one worker for a row, and for a row and a block."""

    start: float
    row: float
    block: float

    def seconds(self, rows: int, blocks: int, workers: int) -> float:
        """What a count takes."""
        return self.start + rows * (self.row + self.block * blocks) / workers


def fit(counts: Sequence[Count], cores: int) -> Model:
    """The model of least relative errors."""
    shares = np.array([count["rows"] / workers(count, cores) for count in counts])
    factors = np.stack([np.ones(len(counts)), shares, shares * np.array([count["blocks"] for count in counts])], axis=1)
    seconds = np.array([count["wall"] for count in counts])
    solution, _ = nnls(factors / seconds[:, None], np.ones(len(seconds)))
    return Model(*map(float, solution))


def workers(count: Count, cores: int) -> int:
    """Processors that a count keeps busy: as many as there are, or as workers of a cluster were asked for."""
    kind, _, asked = count["engine"].partition(" ")
    return min(int(asked), cores) if kind == "dask" else cores


def main() -> None:
    options = _parser().parse_args()
    document = json.loads((options.results / "counting.json").read_text(encoding="utf-8"))
    cores = document["machine"]["cores"]
    blocks = max(count["blocks"] for count in document["counts"])
    print("| engine | file | rows | marginals | workers | fitted | measured s | predicted s |\n|---|---|--:|--:|--:|:-:|--:|--:|")
    models: dict[tuple[str, str], Model] = {}
    for engine, form in (("arrow", "parquet"), ("arrow", "csv"), ("dask", "parquet"), ("dask", "csv")):
        counts = [count for count in document["counts"] if count["engine"].split()[0] == engine and count["form"] == form]
        fitted = [count for count in counts if count["rows"] <= options.fit]
        if len(fitted) < 3:
            continue
        models[engine, form] = model = fit(fitted, cores)
        for count in counts:
            busy = workers(count, cores)
            predicted = model.seconds(count["rows"], count["blocks"], busy)
            what = f"{engine} | {form} | {count['rows']:,} | {count['marginals']} | {busy} | {'yes' if count in fitted else 'no'}"
            print(f"| {what} | {count['wall']:,.1f} | {predicted:,.1f} |")
    print(f"\nAll {comb(15, 3)} marginals of three of 15 columns on nodes of {options.processors} processors, in minutes:\n")
    print("| engine | file | rows | " + " | ".join(f"{nodes} nodes" for nodes in _NODES) + " |\n|---|---|--:|" + "--:|" * len(_NODES))
    for (engine, form), model in models.items():
        for rows in _ROWS if engine == "dask" else ():
            times = [model.seconds(rows, blocks, nodes * options.processors) / 60 for nodes in _NODES]
            print(f"| {engine} | {form} | {rows:,} | " + " | ".join(f"{minutes:,.1f}" for minutes in times) + " |")
    for (engine, form), model in models.items():
        per_row = f"{model.row * 1e9:,.0f} ns a row, {model.block * 1e9:,.2f} ns a row and block"
        print(f"\n{engine}, {form}: {model.start:,.1f} s to start, {per_row}.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--fit", type=int, default=10_000_000, help="rows up to which counts are fitted; the others are the check")
    parser.add_argument("--processors", type=int, default=16, help="of a node")
    return parser


if __name__ == "__main__":
    main()
