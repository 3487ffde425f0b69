"""The programs that are compared, each as the command that makes one table of synthetic rows in a process of its own."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.table import ROOT, Table
from dpsynth_core.mechanisms.registry import MECHANISMS

DPMM_PYTHON = ROOT / ".venv-dpmm" / "bin" / "python"
OURS = "DPSynth Studio"
DPMM = "dpmm"
_LIBRARIES = ("numpy", "scipy", "opendp", "opt_einsum", "pyarrow")


@dataclass(frozen=True)
class Program:
    """command: puts what the process needs into a folder and gives its arguments; the process writes its rows there. codes: the rows
    are the codes of `Table.codes`, and so is the table that the process is given."""

    title: str
    maker: str
    command: Callable[[Table, float, float, Path], list[str]]
    codes: bool = False

    def rows_file(self, folder: Path) -> Path:
        return folder / ("rows.csv" if self.codes else "synthetic.csv")


@dataclass(frozen=True)
class Cost:
    """Wall and processor seconds of a process; peak_mb: its largest resident set, or that of a process it waited for; load: the
    machine's load average over a minute, before it began or at its end, whichever is larger."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    load: float


def programs() -> dict[str, Program]:
    """By the name that an option gives: every mechanism of ours that makes rows, as a user gets it; variants of AIM; dpmm's."""
    with_rows = [mechanism for mechanism in MECHANISMS.values() if mechanism.card.makes_rows]
    plain = {mechanism.card.name: Program(f"{mechanism.card.title} ({OURS})", OURS, ours(mechanism.card.name)) for mechanism in with_rows}
    variants = {
        "aim-uncertified": Program(f"AIM without certificate ({OURS})", OURS, ours("aim", "--certificate", "0")),
        "aim-1280": Program(f"AIM, MAX-SIZE 1,280 MB ({OURS})", OURS, ours("aim", "--set", "max_size_mb=1280")),
    }
    theirs = {
        "dpmm-aim": Program("AIM, degree 3 (dpmm)", DPMM, _dpmm("aim"), codes=True),
        "dpmm-mst": Program("MST (dpmm)", DPMM, _dpmm("mst"), codes=True),
    }
    return {**plain, **variants, **theirs}


def execute(command: Sequence[str]) -> Cost:
    """Run one process to its end. Raises RuntimeError with its last words if it fails."""
    launch = [sys.executable, "-S", str(ROOT / "benchmarks" / "launch.py")]
    done = subprocess.run([*launch, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode} from {' '.join(command)}\n{done.stderr[-2000:]}")
    return Cost(**json.loads(done.stdout))


def versions(maker: str) -> dict[str, str]:
    """Of a program and the libraries that its speed depends on."""
    if maker == OURS:
        described = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False)
        revision = described.stdout.strip() or "not under version control"
        return {"revision": revision, "python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}
    ask = (
        "import json, platform; from importlib.metadata import version;"
        "print(json.dumps({'python': platform.python_version(), **{n: version(n) for n in ('dpmm', 'numpy', 'scipy', 'opendp')}}))"
    )
    answer = subprocess.run([str(DPMM_PYTHON), "-c", ask], capture_output=True, text=True, check=True)
    installed: Mapping[str, str] = json.loads(answer.stdout)
    return dict(installed)


def ours(mechanism: str, *more: str) -> Callable[[Table, float, float, Path], list[str]]:
    """The command line, as a user would type it; more: further options of it."""
    return lambda table, epsilon, delta, folder: [
        *synthesize(table.data, table.domain_file, folder, workload=table.workload_name, mechanism=mechanism, epsilon=epsilon, delta=delta),
        *(*more, "--epsilon-reason", "A benchmark on a public table."),
    ]


def synthesize(data: Path, domain: Path, out: Path, **options: object) -> list[str]:
    """One command of our command line; options: by their names."""
    stated = (text for name, value in options.items() for text in (f"--{name}", str(value)))
    return [sys.executable, "-m", "dpsynth_core", "synthesize", str(data), "--domain", str(domain), "--out", str(out), *stated]


def _dpmm(mechanism: str) -> Callable[[Table, float, float, Path], list[str]]:
    def command(table: Table, epsilon: float, delta: float, folder: Path) -> list[str]:
        codes, sizes = folder / "codes.csv", folder / "domain.json"
        table.codes().to_csv(codes, index=False)
        sizes.write_text(json.dumps(table.sizes), encoding="utf-8")
        return [
            *(str(DPMM_PYTHON), str(ROOT / "benchmarks" / "dpmm_run.py"), mechanism, str(codes), str(sizes)),
            *("--epsilon", str(epsilon), "--delta", str(delta), "--out", str(folder / "rows.csv")),
        ]

    return command
