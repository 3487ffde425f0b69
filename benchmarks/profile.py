"""Where the time of one run goes: the phases that its release states, and the functions that are busy in it.

    python -m benchmarks.profile --epsilon 1 --mechanism aim

Two runs, for a profiler slows down what it watches: one as a user would make it, for the phases, then one in this process under
cProfile, for the functions of its main thread (what the others do appears there as waiting).
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import site
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import CodeType
from typing import Any

from benchmarks.programs import OURS, execute, ours, versions
from benchmarks.table import RESULTS, ROOT, add_table_options, load_table
from dpsynth_core import cli
from dpsynth_core.release import times

_STANDARD = Path(sysconfig.get_path("stdlib"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    table = load_table(parser, options)
    began = datetime.now(UTC).isoformat(timespec="seconds")
    command = ours(options.mechanism, *(part for pair in options.set for part in ("--set", pair)))
    with tempfile.TemporaryDirectory() as place:
        plain, watched = Path(place) / "plain", Path(place) / "watched"
        cost = execute(command(table, options.epsilon, options.delta, plain))
        taken = times.read(plain)
        phases = taken.value["phases"] if taken else {}
        functions = busiest(cli_arguments(command(table, options.epsilon, options.delta, watched)), options.top)
    record = {
        **{"table": table.data.name, "workload": table.workload_name, "mechanism": options.mechanism, "settings": options.set},
        **{"epsilon": options.epsilon, "delta": options.delta, "cores": os.cpu_count(), "began": began, "versions": versions(OURS)},
        **{**asdict(cost), "phases": phases, "functions": functions},
    }
    options.results.mkdir(parents=True, exist_ok=True)
    stem = f"profile_{table.data.stem}_{options.mechanism}_eps{options.epsilon:g}"
    (options.results / f"{stem}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (options.results / f"{stem}.md").write_text(_markdown(record), encoding="utf-8")
    print(_markdown(record))
    return 0


def cli_arguments(command: Sequence[str]) -> list[str]:
    """What follows `python -m dpsynth_core`."""
    return list(command[command.index("dpsynth_core") + 1 :])


def busiest(arguments: Sequence[str], top: int) -> list[dict[str, Any]]:
    """The functions with most time of their own (`own`) in one run of the command line; `all`: with what they call. In seconds."""
    profiler = cProfile.Profile()
    if profiler.runcall(cli.main, list(arguments)) != 0:
        raise RuntimeError("the run under the profiler failed")
    entries = sorted(profiler.getstats(), key=lambda entry: entry.inlinetime, reverse=True)[:top]
    return [
        {"function": _name(entry.code), "calls": entry.callcount, "own": round(entry.inlinetime, 2), "all": round(entry.totaltime, 2)}
        for entry in entries
    ]


def _name(code: CodeType | str) -> str:
    """File from the project or from its packages, line, and name; builtins have only a name."""
    if isinstance(code, str):
        return code
    path = Path(code.co_filename)
    base = next((base for base in (ROOT, *map(Path, site.getsitepackages()), _STANDARD) if path.is_relative_to(base)), path.parent)
    return f"{path.relative_to(base)}:{code.co_firstlineno} {code.co_qualname}"


def _markdown(record: Mapping[str, Any]) -> str:
    what = f"{record['mechanism']} on {record['table']}, {record['workload']}, epsilon {record['epsilon']:g}, delta {record['delta']:g}"
    spent = f"{record['seconds']:.1f} s, {record['cpu_seconds']:.1f} processor seconds, {record['peak_mb']:.0f} MB, {record['cores']} cores"
    return "\n".join(
        [
            *(f"{what}: {spent}. {record['began'][:10]}, revision {record['versions']['revision']}.", ""),
            *("| phase | seconds |", "|---|---|", *(f"| {name} | {seconds:.1f} |" for name, seconds in record["phases"].items()), ""),
            *("| function, in a second run under cProfile | calls | own seconds | with callees |", "|---|---|---|---|"),
            *(f"| `{one['function']}` | {one['calls']:,} | {one['own']:.2f} | {one['all']:.2f} |" for one in record["functions"]),
            "",
        ]
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.profile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_table_options(parser)
    parser.add_argument("--mechanism", default="aim")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of the mechanism; may be repeated")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--top", type=int, default=30, help="how many functions (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
