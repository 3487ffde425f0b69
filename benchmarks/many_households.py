"""What a release of many households and their members costs: the tables of FOLDER (`households`), so many times over under new keys.

    python -m benchmarks many_households FOLDER --times 36
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from benchmarks import record
from benchmarks.households import KEY, MOST
from benchmarks.programs import execute


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, times=36, epsilon=1.0)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        number = repeat(options.folder, Path(place), options.times)
        cost = execute([sys.executable, "-m", "dpsynth_core", "synthesize", *command(options.folder, Path(place), options.epsilon)])
    row = (f"{number:,}", f"{cost.seconds:,.0f}", f"{cost.cpu_seconds:,.0f}", f"{cost.peak_mb:,.0f}")
    lines = record.table(("households", "seconds", "processor seconds", "peak MB"), [row])
    record.write(options.results / f"many_households_{number}", record.machine() | asdict(cost) | {"households": number}, lines)


def repeat(folder: Path, place: Path, times: int) -> int:
    """Write both tables so many times over; how many households that is."""
    for name in ("households", "persons"):
        table = pd.read_csv(folder / f"{name}.csv")
        beyond = int(pd.read_csv(folder / "households.csv")[KEY].max()) + 1
        copies = pd.concat([table.assign(**{KEY: table[KEY] + beyond * copy}) for copy in range(times)])
        copies.to_csv(place / f"{name}.csv", index=False)
    return times * len(pd.read_csv(folder / "households.csv"))


def command(folder: Path, place: Path, epsilon: float) -> list[str]:
    tables = [str(place / "households.csv"), "--domain", str(folder / "households.json"), "--members", str(place / "persons.csv")]
    linked = ["--members-domain", str(folder / "persons.json"), "--key", KEY, "--max-members", str(MOST)]
    return [*tables, *linked, "--epsilon", f"{epsilon:g}", "--delta", "1e-9", "--out", str(place / "out")]
