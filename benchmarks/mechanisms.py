"""Every mechanism on the same tables: how far its rows, or its answers where it makes none, are from the truth, and what they cost.

    python -m benchmarks.mechanisms --tables demo adult --workloads all-2way all-3way --epsilon 1

Each run is a process of its own, the command line as a user types it, with fresh noise. Refusals are results too: they are written down.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.programs import execute, ours
from benchmarks.table import ADULT_FOLDER, Table
from dpsynth_core.cli.release_commands import parse_workload
from dpsynth_core.mechanisms.registry import MECHANISMS
from dpsynth_core.release.document import ROWS_CSV, load
from dpsynth_core.sources import demo
from dpsynth_core.statistics.distances import workload_error
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.released import combined

WORKLOADS = ("all-2way", "all-3way")
TABLES = ("demo", "adult")
HEAD = ("table", "workload", "mechanism", "error", "of", "seconds", "peak MB", "load before")


def main(arguments: Sequence[str] | None = None) -> int:
    options = record.parser(
        __doc__,
        {"tables": TABLES, "mechanisms": MECHANISMS},
        tables=list(TABLES),
        workloads=list(WORKLOADS),
        mechanisms=list(MECHANISMS),
        epsilon=1.0,
        delta=1e-9,
    ).parse_args(arguments)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        for name in options.tables:
            for workload in options.workloads:
                table = _table(name, workload, Path(place))
                for mechanism in options.mechanisms:
                    runs.append({"table": name, "workload": workload, **measure(mechanism, table, options.epsilon, options.delta)})
                    _write(runs, options)
    return 0


def measure(mechanism: str, table: Table, epsilon: float, delta: float) -> dict[str, Any]:
    """One run. error: AIM Definition 2 in counts, of the rows or of the answers (`of`); without it, the reason why it was refused."""
    about = {"mechanism": mechanism, "epsilon": epsilon, "delta": delta, "began": record.now()}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        try:
            cost = execute(ours(mechanism)(table, epsilon, delta, folder))
        except RuntimeError as refusal:
            if not str(refusal).startswith("exit code 2 "):  # the command line's way to say that a plan cannot be run
                raise
            return {**about, "refused": str(refusal).splitlines()[-1]}
        makes_rows = MECHANISMS[mechanism].card.makes_rows
        published = table.counts(folder / ROWS_CSV) if makes_rows else _answers(table, folder)
    error = workload_error(table.workload, table.true, published, table.rows)
    return {**about, "of": "rows" if makes_rows else "answers", "error": round(error, 5), **asdict(cost)}


def _answers(table: Table, folder: Path) -> Mapping[Clique, NDArray[np.float64]]:
    """What a release without rows says about the workload."""
    measurements = load(folder).measurements
    answers = {clique: combined(measurements, clique) for clique in table.workload.cliques}
    return {clique: answer.values for clique, answer in answers.items() if answer is not None}


def _table(name: str, workload: str, folder: Path) -> Table:
    if name == "demo":
        data, domain_file = folder / "demo.csv", folder / "demo.json"
        demo.simulate().to_csv(data, index=False)
        domain_file.write_text(json.dumps(demo.demo_domain().to_json()), encoding="utf-8")
    else:
        data, domain_file = ADULT_FOLDER / "adult-binned.csv", ADULT_FOLDER / "adult-binned-domain.json"
    domain = load_domain(domain_file)
    return Table(data, domain_file, domain, workload, parse_workload(workload, domain))


def _cells(run: Mapping[str, Any]) -> tuple[str, ...]:
    about = (run["table"], run["workload"], MECHANISMS[run["mechanism"]].card.title)
    if "refused" in run:
        return (*about, "refused", run["refused"], "", "", "")
    return (*about, f"{run['error']:.4f}", run["of"], f"{run['seconds']:.0f}", f"{run['peak_mb']:.0f}", f"{run['load']:.1f}")


def _write(runs: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> None:
    kept = {"epsilon": options.epsilon, "delta": options.delta, **record.machine(), "runs": list(runs)}
    head = f"One run each at epsilon {options.epsilon:g}, delta {options.delta:g}, on {os.cpu_count()} cores, {runs[-1]['began'][:10]}."
    record.write(options.results / "mechanisms", kept, [head, "", *record.table(HEAD, map(_cells, runs))])


if __name__ == "__main__":
    sys.exit(main())
