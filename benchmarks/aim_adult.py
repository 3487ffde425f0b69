"""How good, how fast and how large AIM is on a table whose answers are known.

Runs the command line as a user would, each run in a process of its own with fresh noise, and compares the rows it writes with
the table they stand for. It looks at true counts without noise, so it belongs to benchmarks on public tables and to nothing else.

    python -m benchmarks.aim_adult --data ../shared/data/adult-binned.csv --domain ../shared/data/adult-binned-domain.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.cli import parse_workload
from dpsynth_core.domain import Domain, load_domain
from dpsynth_core.evaluation.errors import workload_error
from dpsynth_core.measurement import Clique
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.files import sniff

ROOT = Path(__file__).resolve().parent.parent
ADULT = ROOT.parent / "shared" / "data"
PACKAGES = ("numpy", "scipy", "opendp", "pyarrow")


@dataclass(frozen=True)
class Run:
    """One run of the command line. error: AIM Definition 2, rows against table. phases: the release's own timings in seconds."""

    seconds: float
    peak_mb: float
    error: float
    phases: Mapping[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    for path in (options.data, options.domain):
        if not path.exists():
            print(f"{path} does not exist; name the table and its domain with --data and --domain", file=sys.stderr)
            return 2
    domain = load_domain(options.domain)
    workload = parse_workload(options.workload, domain)
    true = _counts(domain, options.data, workload.cliques)
    runs = []
    for number in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            seconds, peak_mb = _measure(_command(options, Path(folder)), number)
            estimate = _counts(domain, Path(folder) / "synthetic.csv", workload.cliques)
            phases = json.loads((Path(folder) / "release.json").read_text(encoding="utf-8"))["timings"]
        error = workload_error(workload, true, estimate, int(true[workload.cliques[0]].sum()))
        runs.append(Run(round(seconds, 1), round(peak_mb), round(error, 4), phases))
    print(_table(runs))
    _write(options, runs)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure AIM: wall time, peak memory and workload error of the synthetic rows.")
    parser.add_argument("--data", type=Path, default=ADULT / "adult-binned.csv")
    parser.add_argument("--domain", type=Path, default=ADULT / "adult-binned-domain.json")
    parser.add_argument("--workload", default="all-3way")
    parser.add_argument("--mechanism", default="aim")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    return parser


def _command(options: argparse.Namespace, folder: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "dpsynth_core", "synthesize", str(options.data.resolve()), "--domain", str(options.domain.resolve())),
        *("--workload", options.workload, "--mechanism", options.mechanism),
        *("--epsilon", str(options.epsilon), "--delta", str(options.delta), "--out", str(folder)),
    ]


def _measure(command: Sequence[str], number: int) -> tuple[float, float]:
    """Wall seconds and peak resident megabytes of one process, with every process it waited for."""
    print(f"run {number + 1}: {' '.join(command[1:])}", file=sys.stderr)
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        raise SystemExit(f"run {number + 1} ended with exit code {process.returncode}; repeat its command to see why")
    kilobytes = usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss
    return seconds, kilobytes / 1024


def _counts(domain: Domain, path: Path, cliques: Sequence[Clique]) -> dict[Clique, NDArray[np.int64]]:
    return ArrowSource(domain, path, sniff(path)).counts(cliques)


def _table(runs: Sequence[Run]) -> str:
    lines = ["| run | workload error | seconds | peak memory (MB) |", "|---|---|---|---|"]
    lines += [f"| {i + 1} | {run.error:.4f} | {run.seconds:.1f} | {run.peak_mb:.0f} |" for i, run in enumerate(runs)]
    error, seconds, peak = (statistics.median(getattr(run, name) for run in runs) for name in ("error", "seconds", "peak_mb"))
    return "\n".join([*lines, f"| median | {error:.4f} | {seconds:.1f} | {peak:.0f} |"])


def _write(options: argparse.Namespace, runs: Sequence[Run]) -> None:
    what: dict[str, Any] = {name: getattr(options, name) for name in ("workload", "mechanism", "epsilon", "delta")}
    record = {
        "table": options.data.name,
        **what,
        "cores": os.cpu_count(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "runs": [asdict(run) for run in runs],
    }
    options.results.mkdir(parents=True, exist_ok=True)
    workload = options.workload.replace(":", "-").replace("/", "-")
    path = options.results / f"{options.data.stem}_{workload}_{options.mechanism}_eps{options.epsilon:g}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"\nwritten to {path}")


if __name__ == "__main__":
    sys.exit(main())
