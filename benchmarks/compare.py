"""How good, how fast and how large programs for private synthetic rows are, on the same machine, table, budget and error function.

    python -m benchmarks compare --epsilon 1 10 --runs 3 --programs aim dpmm-aim dpmm-mst

Each run is a process of its own with fresh noise, and the programs take turns, so that what else happens on the machine
happens to all of them. What was measured so far is written after every run: interrupt it, and go on with --append.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks import record
from benchmarks.programs import DPMM, DPMM_PYTHON, execute, programs, versions
from benchmarks.table import Table, add_table_options, load_table
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.registry import MECHANISMS
from dpsynth_core.release import times
from dpsynth_core.statistics.distances import workload_error

Run = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, epsilon=[1.0, 10.0], delta=1e-9, name="comparison")
    add_table_options(parser)
    parser.add_argument("--runs", type=int, choices=range(1, 101), metavar="N", default=3, help="of each program and epsilon")
    some = f"NAME or NAME:RUNS, of {', '.join(programs())} (default: ours, then dpmm's)"
    parser.add_argument("--programs", nargs="+", metavar="NAME", help=some)
    parser.add_argument("--append", action="store_true", help="keep the runs that were written before")
    options = parser.parse_args(arguments)
    table = load_table(parser, options)
    try:
        chosen, kept = _chosen(options.programs), _record(options, table)
    except InputError as error:
        parser.error(str(error))
    for name, epsilon in _turns(chosen, options.epsilon, options.runs):
        print(f"{name}, epsilon {epsilon:g}", file=sys.stderr)
        run = measure(name, table, epsilon, options.delta)
        print(f"  error {run['error']:.4f}, {run['seconds']:.0f} s, {run['peak_mb']:.0f} MB", file=sys.stderr)
        kept["runs"].append(run)
        record.write(options.results / options.name, kept, _lines(kept))


def measure(name: str, table: Table, epsilon: float, delta: float) -> dict[str, Any]:
    """One run. error: AIM Definition 2 of the rows, in counts, against the table they stand for."""
    program = programs()[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        began = record.now()
        cost = execute(program.command(table, epsilon, delta, folder))
        rows = table.counts(program.rows_file(folder), codes=program.codes)
        error = workload_error(table.workload, table.true, rows, table.rows)
        taken = times.read(folder)
        phases = taken.value["phases"] if taken else {}
    return {
        **{"program": name, "title": program.title, "epsilon": epsilon, "delta": delta, "error": round(error, 5), **asdict(cost)},
        **{"phases": phases, "began": began, "versions": versions(program.maker)},
    }


def _turns(chosen: Mapping[str, int | None], epsilons: Sequence[float], runs: int) -> Iterator[tuple[str, float]]:
    """(program, epsilon), one run of every program before the second run of any."""
    most = max(own or runs for own in chosen.values())
    for epsilon in epsilons:
        for number in range(most):
            yield from ((name, epsilon) for name, own in chosen.items() if number < (own or runs))


def _chosen(asked: Sequence[str] | None) -> dict[str, int | None]:
    """Programs by name with their own number of runs, if they have one. Raises InputError for a program that is not there."""
    known, peer = programs(), DPMM_PYTHON.exists()
    if asked is None:
        if not peer:
            print("dpmm is not installed (`make bench` does it where Python is 3.10 or 3.11); measuring without it", file=sys.stderr)
        return dict.fromkeys([next(iter(MECHANISMS)), *(("dpmm-aim", "dpmm-mst") if peer else ())])
    chosen: dict[str, int | None] = {}
    for text in asked:
        name, colon, runs = text.partition(":")
        if name not in known or (colon and not (runs.isdigit() and int(runs) > 0)):
            raise InputError("--programs", f"{text!r} is not a program", f"use NAME or NAME:RUNS with one of {', '.join(known)}")
        if known[name].maker == DPMM and not DPMM_PYTHON.exists():
            raise InputError("--programs", f"{name} needs dpmm, which is not installed", "use make bench, with Python 3.10 or 3.11")
        chosen[name] = int(runs) if colon else None
    return chosen


def _record(options: argparse.Namespace, table: Table) -> dict[str, Any]:
    """What is written, without runs, or with those of before. Raises InputError if those were made elsewhere or of something else."""
    path = options.results / f"{options.name}.json"
    about = {
        **{"table": table.data.name, "rows": table.rows, "columns": len(table.domain)},
        **{"workload": table.workload_name, "marginals": len(table.workload.cliques), "cells": table.workload.cells},
        "cores": os.cpu_count(),
    }
    if not (options.append and path.exists()):
        return {**about, "runs": []}
    before: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if {name: before.get(name) for name in about} != about:
        raise InputError("--append", f"{path.name} is about another table, workload or machine", "choose another --name")
    return before


def _lines(kept: Mapping[str, Any]) -> list[str]:
    """One line a program and epsilon: means over runs, with the range where there is more than one."""
    runs = kept["runs"]
    head = (
        f"{kept['table']}: {kept['rows']:,} rows, {kept['columns']} columns, {kept['marginals']:,} marginals ({kept['workload']})"
        f" of {kept['cells']:,} cells. {kept['cores']} cores. {_days(runs)}."
    )
    keys = sorted({(run["epsilon"], run["program"]) for run in runs}, key=lambda key: key[0])
    groups = [[run for run in runs if (run["epsilon"], run["program"]) == key] for key in keys]
    heads = ("program", "epsilon", "runs", "workload error", "seconds", "processor seconds", "peak MB", "load")
    return [head, "", *record.table(heads, map(_cells, groups)), "", *_versions(runs)]


def _cells(group: Sequence[Run]) -> tuple[object, ...]:
    def over(name: str, form: Callable[[float], str]) -> str:
        values = [run[name] for run in group if run[name] is not None]
        if not values:
            return "not known"
        alone = form(mean(values))
        return alone if len(values) == 1 else f"{alone} ({form(min(values))} to {form(max(values))})"

    costs = (over(name, "{:.0f}".format) for name in ("seconds", "cpu_seconds", "peak_mb"))
    about = (group[0]["title"], f"{group[0]['epsilon']:g}", len(group))
    return (*about, over("error", "{:.4f}".format), *costs, over("load", "{:.1f}".format))


def _versions(runs: Sequence[Run]) -> list[str]:
    """Each distinct set once, with the programs it belongs to."""
    users: dict[str, set[str]] = {}
    for run in runs:
        users.setdefault(json.dumps(run["versions"]), set()).add(run["program"])
    named = [(", ".join(sorted(names)), json.loads(text)) for text, names in users.items()]
    return [f"- {names}: {', '.join(f'{what} {version}' for what, version in libraries.items())}" for names, libraries in named]


def _days(runs: Sequence[Run]) -> str:
    days = sorted({run["began"][:10] for run in runs})
    return f"Measured on {days[0]}" if len(days) == 1 else f"Measured from {days[0]} to {days[-1]}"
