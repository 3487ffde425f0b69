"""What do other programs err on Adult at epsilon 1, and what do they need and promise?

    python -m benchmarks peers --peers aim smartnoise-mst dpsynth-mst dpsynth-swift --runs 3

Each other program runs in an environment of its own in a folder (--place) that this command neither makes nor changes; the record says
how each was made. A peer whose environment is not there is left out and named. Each run is a process with fresh noise that ends after so
many processor seconds (--longest), which is recorded too. Rows are compared as `compare` does it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks import record
from benchmarks.programs import DPMM_PYTHON, OURS, Cost, Program, execute, programs, versions
from benchmarks.table import ROOT, Table, add_table_options, load_table
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.statistics.distances import workload_error

_ACCOUNTING = "dp_accounting from the sources of google/differential-privacy"


@dataclass(frozen=True)
class Peer:
    """Another program. environment: the folder of its environment, "" for ours and dpmm's. made: how that was made. promise: what its rows
    keep, in words."""

    title: str
    environment: str
    made: str
    promise: str


_SMARTNOISE = "`pip install torch==2.13.0 smartnoise-synth==1.0.8`, Python 3.11"
_SMARTNOISE_PROMISE = (
    "epsilon and delta for one row, number of rows known; the values of each column are read from the table without a charge; "
    "choices by floating point numbers"
)
_DPSYNTH = (
    "Python 3.12, the sources of google/dpsynth (20 August 2026) and of ryan112358/mbi (22 July 2026), "
    f"{_ACCOUNTING}, jax 0.11.0, and what these import"
)
_DPSYNTH_PROMISE = "epsilon and delta for one row, number of rows measured; domain stated; noise by floating point numbers"

PEERS: Mapping[str, Peer] = {
    "aim": Peer(
        f"AIM ({OURS})",
        "",
        "this checkout",
        "epsilon and delta for one row, number of rows measured; domain stated; exact noise; errors are measured for 5 % of the budget",
    ),
    "mst": Peer(f"MST ({OURS})", "", "this checkout", "the same"),
    "smartnoise-mst": Peer("MST (SmartNoise)", "smartnoise", _SMARTNOISE, _SMARTNOISE_PROMISE),
    "smartnoise-aim": Peer("AIM, degree 3 (SmartNoise)", "smartnoise", _SMARTNOISE, _SMARTNOISE_PROMISE),
    "dpsynth-mst": Peer("MST (Google dpsynth)", "dpsynth", _DPSYNTH, _DPSYNTH_PROMISE),
    "dpsynth-swift": Peer("SWIFT (Google dpsynth)", "dpsynth", _DPSYNTH, _DPSYNTH_PROMISE),
    "dpsynth-aim-gdp": Peer("AIM-GDP, triples (Google dpsynth)", "dpsynth", _DPSYNTH, _DPSYNTH_PROMISE),
    "dpsynth-aim": Peer("AIM, triples (Google dpsynth)", "dpsynth", _DPSYNTH, _DPSYNTH_PROMISE),
    "dpmm-mst": Peer(
        "MST (dpmm)", "", "`make bench`, Python 3.11", "epsilon and delta for one row, number of rows known; domain stated; noise by OpenDP"
    ),
    "mostlyai": Peer(
        "TabularARGN (MOSTLY AI)",
        "mostlyai",
        "`pip install torch==2.13.0 'mostlyai[local]'==6.2.0` without torchvision, Python 3.11",
        "epsilon and delta for one row: half of epsilon learns the values of columns, half trains",
    ),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is asked for, and write peers.json and peers.md."""
    parser = record.parser(
        __doc__,
        {"peers": PEERS},
        peers=[name for name in PEERS if name != "dpsynth-aim"],
        runs=3,
        epsilon=1.0,
        delta=1e-9,
        place=Path("/tmp/peers"),
        longest=900,
    )
    add_table_options(parser)
    options = parser.parse_args(arguments)
    table = load_table(parser, options)
    kept = record.opened(options.results / "peers")
    about = {"table": table.data.name, "rows": table.rows, "workload": table.workload_name}
    if kept["runs"] and {name: kept.get(name) for name in about} != about:
        raise InputError("--results", "peers.json there is about another table or workload", "choose another folder")
    kept |= about
    there = [name for name in options.peers if _python(name, options.place) is not None]
    for name in sorted(set(options.peers) - set(there)):
        print(f"{name} is left out: no environment in {options.place / PEERS[name].environment}", file=sys.stderr)
    points = [{"peer": name, "epsilon": options.epsilon, "delta": options.delta} for name in there]
    record.fill(kept, points, options.runs, lambda point: _measure(point, table, options), _lines, options.results / "peers")


def _measure(point: Mapping[str, Any], table: Table, options: Namespace) -> dict[str, Any]:
    """Return error (AIM Definition 2, shares) and costs of one run; without an error, why there is none."""
    name = point["peer"]
    python = _python(name, options.place)
    assert python is not None
    known = programs().get(name)
    program = known or Program(PEERS[name].title, name, lambda *asked: _command(name, python, *asked), codes=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = _versions(name, python)
        try:
            cost = execute(
                [
                    "prlimit",
                    f"--cpu={options.longest}:{options.longest + 10}",
                    *program.command(table, point["epsilon"], point["delta"], folder),
                ]
            )
        except RuntimeError as error:
            late = str(error).startswith(f"exit code {256 - signal.SIGXCPU}")
            return {
                "failed": f"stopped after {options.longest:,} processor seconds" if late else str(error).splitlines()[-1][:200],
                "versions": made,
            }
        rows = table.counts(program.rows_file(folder), codes=program.codes)
        apart = workload_error(table.workload, table.true, rows, table.rows)
    return {"error": round(apart, 5), **_written(cost), "versions": made}


def _written(cost: Cost) -> dict[str, float]:
    return {"seconds": cost.seconds, "cpu_seconds": cost.cpu_seconds, "peak_mb": cost.peak_mb}


def _python(name: str, place: Path) -> Path | None:
    """Return the interpreter of a peer's environment, or None if it is not there."""
    peer = PEERS[name]
    if name.startswith("dpmm"):
        python = DPMM_PYTHON
    elif not peer.environment:
        return Path(sys.executable)
    else:
        python = place / peer.environment / "bin" / "python"
    return python if python.exists() else None


def _command(name: str, python: Path, table: Table, epsilon: float, delta: float, folder: Path) -> list[str]:
    codes, sizes = folder / "codes.csv", folder / "domain.json"
    table.codes().to_csv(codes, index=False)
    sizes.write_text(json.dumps(table.sizes), encoding="utf-8")
    return [
        *(str(python), str(ROOT / "benchmarks" / "peer_run.py"), name, str(codes), str(sizes)),
        *("--epsilon", str(epsilon), "--delta", str(delta), "--out", str(folder / "rows.csv")),
    ]


def _versions(name: str, python: Path) -> dict[str, str]:
    if not PEERS[name].environment and not name.startswith("dpmm"):
        return versions(OURS)
    asked = [str(python), str(ROOT / "benchmarks" / "peer_run.py"), "any", "--versions"]
    found: dict[str, str] = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    return found


def _lines(kept: Mapping[str, Any]) -> list[str]:
    """Return the table, one line for each peer, and below it how each was installed."""
    groups = {name: [run for run in kept["runs"] if run["peer"] == name] for name in PEERS}
    groups = {name: runs for name, runs in groups.items() if runs}
    days = sorted({run["began"][:10] for runs in groups.values() for run in runs})
    head = f"{kept['table']}: {kept['rows']:,} rows, {kept['workload']}. {kept['cores']} cores. Measured on {' and '.join(days)}."
    titles = ("program", "epsilon", "runs", "workload error", "processor seconds", "peak MB", "what it promises")
    rows = [_cells(name, runs) for name, runs in groups.items()]
    used: dict[tuple[str, str], list[str]] = {}
    for name, runs in groups.items():
        used.setdefault((PEERS[name].made, _listed(runs[-1]["versions"])), []).append(PEERS[name].title)
    made = [f"- {', '.join(titles)}: {how} ({which})." for (how, which), titles in used.items()]
    return [head, "", *record.table(titles, rows), "", *made]


def _listed(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _cells(name: str, runs: Sequence[Mapping[str, Any]]) -> tuple[object, ...]:
    done = [run for run in runs if "error" in run]
    about = (PEERS[name].title, f"{runs[0]['epsilon']:g}", len(runs))
    if not done:
        return (*about, f"none: {runs[-1]['failed']}", "", "", PEERS[name].promise)
    costs = (_over(done, "cpu_seconds", "{:,.0f}"), _over(done, "peak_mb", "{:,.0f}"))
    return (*about, _over(done, "error", "{:.4f}"), *costs, PEERS[name].promise)


def _over(runs: Sequence[Mapping[str, Any]], name: str, form: str) -> str:
    values = [run[name] for run in runs]
    alone = form.format(mean(values))
    return alone if len(values) == 1 else f"{alone} ({form.format(min(values))} to {form.format(max(values))})"


if __name__ == "__main__":
    main()
