"""What many synthetic rows cost from the command to the bundle, and what it costs to verify that bundle and to make its rows again.

    python -m benchmarks large_release --records 10000000 --rows 10000000 --table csv
    python -m benchmarks large_release --records 2500000 --files 40 --table parquet --columns listed --rows 1000000 --workers 4 \
        --steps synthesize

Simulated people in CSV or Parquet files, which all hold the same ones, all pairs of their 12 columns or of the 8 whose values are listed,
AIM, certificate included; the commands are those that a user types, each a process of its own. `verify` and `reproduce` get more memory and
time than by default. With workers a Dask cluster on this machine counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from benchmarks import record
from benchmarks.counting import watch
from benchmarks.many_rows import write_people
from benchmarks.programs import synthesize
from benchmarks.table import ROOT
from dpsynth_core.sources.demo import demo_domain

STEPS = ("synthesize", "verify", "reproduce")


def main() -> None:
    among = {"table": ("csv", "parquet"), "columns": ("all", "listed"), "steps": STEPS}
    asked = {"records": 10_000_000, "files": 1, "table": "csv", "columns": "all", "rows": 10_000_000, "epsilon": 1.0, "workers": 0}
    parser = record.parser(__doc__, among, **asked, steps=list(STEPS))
    parser.add_argument("--folder", type=Path, help="for the files, which take gigabytes (default: the usual temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        steps = measured(Path(place), options)
    kept = {**record.machine(), **{name: getattr(options, name) for name in asked}, "steps": steps}
    record.write(options.results / f"large_release{'_dask' if options.workers else ''}", kept, _lines(kept))


def measured(place: Path, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Seconds, processor seconds, peak megabytes and the machine's load, by command; megabytes of files, by name."""
    (people := place / "people").mkdir()
    write_people(first := people / "000.parquet", options.records)
    if options.table == "csv":
        with pq.ParquetFile(first) as file, pacsv.CSVWriter(people / "000.csv", file.schema_arrow) as writer:
            for batch in file.iter_batches():
                writer.write_batch(batch)
        first.unlink()
        first = people / "000.csv"
    for number in range(1, options.files):
        shutil.copyfile(first, people / f"{number:03d}{first.suffix}")
    domain = demo_domain().keep([one.name for one in demo_domain() if one.is_listed or options.columns == "all"])
    (place / "domain.json").write_text(json.dumps(domain.to_json()), encoding="utf-8")
    out, limits, program = place / "out", ("--memory", "8192", "--seconds", "7200"), (sys.executable, "-m", "dpsynth_core")
    asked = {"workload": "all-2way", "epsilon": options.epsilon, "rows": options.rows}
    cluster = {"engine": "dask", "workers": options.workers} if options.workers else {}
    commands = {
        "synthesize": synthesize(people, place / "domain.json", out, **asked, **cluster),
        "verify": [*program, "verify", str(out / "release.zip"), *limits],
        "reproduce": [*program, "reproduce", str(out / "release.zip"), "--out", str(place / "again"), *limits],
    }
    costs = {name: _cost(command) for name, command in commands.items() if name in options.steps}
    return costs | {"files": {path.name: round(path.stat().st_size / 1e6, 1) for path in sorted(out.iterdir())}}


def _cost(command: Sequence[str]) -> dict[str, float]:
    """Of a command and all processes that it starts. RuntimeError with its last words where it fails."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said)
        processor, peak = watch(process, every=0.5)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(said.read()[-2000:].decode())
    seconds = time.perf_counter() - start
    return {"seconds": round(seconds, 1), "cpu_seconds": round(processor, 1), "peak_mb": round(peak), "load": os.getloadavg()[1]}


def _lines(kept: dict[str, Any]) -> list[str]:
    files, costs = kept["steps"]["files"], {name: cost for name, cost in kept["steps"].items() if name != "files"}
    rows = [
        (name, f"{cost['seconds']:,.0f}", f"{cost['cpu_seconds']:,.0f}", f"{cost['peak_mb']:,}", f"{cost['load']:.1f}")
        for name, cost in costs.items()
    ]
    records, workers = kept["records"] * kept["files"], kept["workers"]
    counted = f", counted by {workers} processes of a Dask cluster" if workers else ""
    return [
        f"{kept['rows']:,} synthetic rows from {records:,} simulated people in {kept['files']} {kept['table']} file(s){counted},",
        f"{kept['columns']} columns, all pairs, AIM, epsilon {kept['epsilon']:g}.",
        "Of the command and all processes that it starts; their memory together.",
        "Where the load is above the number of cores, seconds by the clock mean little.",
        *("", *record.table(("command", "seconds", "processor seconds", "peak MB", "load"), rows)),
        *("", f"Files: {', '.join(f'{name} {size:,.0f} MB' for name, size in files.items())}."),
    ]
