"""What counting costs as a formula, fitted to the results of `benchmarks.counting`, and what it says of larger tables.

    python -m benchmarks scale_model

For each engine and kind of file: processor seconds = a x processes + rows x (b + c x blocks). Here a is what starting a process takes, b
reading and coding a row, and c counting it into a block (`vocabulary.tally`). Processor seconds, as other programs slow the clock down more
than them. Fitted to the counts of at most `--fit` rows by least squares of relative errors, none of a, b and c below 0, and checked
against all other counts. Workers that are kept busy take a + rows x (b + c x blocks) / workers by the clock. Prints Markdown for
docs/scale.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks import record

Count = Mapping[str, Any]
"""One entry of counting.json."""
_NODES = (10, 100)
_ROWS = (10**9, 10**10)
_HEAD = ("engine", "file", "rows", "marginals", "processes", "fitted", "measured s", "predicted s")


@dataclass(frozen=True)
class Model:
    """Processor seconds. start: of a process. row, block: for a row, and for a row and a block."""

    start: float
    row: float
    block: float

    def processor(self, rows: int, blocks: int, processes: int) -> float:
        """What a count takes of all processors together."""
        return self.start * processes + rows * (self.row + self.block * blocks)

    def clock(self, rows: int, blocks: int, workers: int) -> float:
        """What it takes where all workers are busy until the end."""
        return self.start + rows * (self.row + self.block * blocks) / workers


def fit(counts: Sequence[Count]) -> Model:
    """The model of least relative errors."""
    facts = [(count["rows"], count["blocks"], processes(count), count["processor"]) for count in counts]
    rows, blocks, started, seconds = np.array(facts, dtype=float).T
    factors = np.stack([started, rows, rows * blocks], axis=1)
    solution, _ = nnls(factors / seconds[:, None], np.ones(len(seconds)))
    return Model(*map(float, solution))


def processes(count: Count) -> int:
    """That a count starts: itself, and the workers of a cluster."""
    kind, _, asked = count["engine"].partition(" ")
    return 1 + int(asked) if kind == "dask" else 1


def main() -> None:
    parser = record.parser(__doc__, processors=16)
    parser.add_argument("--fit", type=int, default=10_000_000, help="rows up to which counts are fitted; the others are the check")
    options = parser.parse_args()
    document = record.earlier(options.results / "counting")
    blocks = max(count["blocks"] for count in document["counts"])
    models: dict[tuple[str, str], Model] = {}
    rows: list[Sequence[object]] = []
    for engine, form in (("arrow", "parquet"), ("arrow", "csv"), ("dask", "parquet"), ("dask", "csv")):
        counts = [count for count in document["counts"] if count["engine"].split()[0] == engine and count["form"] == form]
        fitted = [count for count in counts if count["rows"] <= options.fit]
        if len(fitted) < 3:
            continue
        models[engine, form] = model = fit(fitted)
        for count in counts:
            started = processes(count)
            predicted = model.processor(count["rows"], count["blocks"], started)
            about = (engine, form, f"{count['rows']:,}", count["marginals"], started, "yes" if count in fitted else "no")
            rows.append((*about, f"{count['processor']:,.1f}", f"{predicted:,.1f}"))
    print("\n".join(record.table(_HEAD, rows)))
    print(f"\nAll {comb(15, 3)} marginals of three of 15 columns on nodes of {options.processors} processors, in seconds:\n")
    rows = []
    for (engine, form), model in models.items():
        for number in _ROWS if engine == "dask" else ():
            times = [f"{model.clock(number, blocks, nodes * options.processors):,.0f}" for nodes in _NODES]
            rows.append((engine, form, f"{number:,}", *times))
    print("\n".join(record.table(("engine", "file", "rows", *(f"{nodes} nodes" for nodes in _NODES)), rows)))
    for (engine, form), model in models.items():
        per_row = f"{model.row * 1e9:,.0f} ns a row, {model.block * 1e9:,.2f} ns a row and block"
        print(f"\n{engine}, {form}: {model.start:,.1f} s to start, {per_row}.")
