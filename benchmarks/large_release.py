"""What many synthetic rows cost from the command to the bundle, and what it costs to verify that bundle and to make its rows again.

    python -m benchmarks large_release --records 10000000 --rows 10000000 --table csv
    python -m benchmarks large_release --records 2500000 --files 40 --rows 1000000 --table parquet --workers 4

Simulated people in CSV or Parquet files, which all hold the same ones, all pairs of their 12 columns, AIM, certificate included; the
commands are those that a user types, each a process of its own. `verify` and `reproduce` get more memory and time than by default. Where a
Dask cluster on this machine counts, `synthesize` is measured alone: the others see no record.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from benchmarks import record
from benchmarks.many_rows import write_people
from benchmarks.programs import execute, synthesize
from dpsynth_core.sources.demo import demo_domain


def main() -> None:
    among = {"table": ("csv", "parquet")}
    parser = record.parser(__doc__, among, records=10_000_000, files=1, table="csv", rows=10_000_000, epsilon=1.0, workers=0)
    parser.add_argument("--folder", type=Path, help="for the files, which take gigabytes (default: the usual temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        steps = measured(Path(place), options)
    asked = {name: getattr(options, name) for name in ("records", "files", "table", "rows", "epsilon", "workers")}
    kept = {**record.machine(), **asked, "steps": steps}
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
    (place / "domain.json").write_text(json.dumps(demo_domain().to_json()), encoding="utf-8")
    out, limits, program = place / "out", ("--memory", "8192", "--seconds", "7200"), (sys.executable, "-m", "dpsynth_core")
    asked = {"workload": "all-2way", "epsilon": options.epsilon, "rows": options.rows}
    cluster = {"engine": "dask", "workers": options.workers} if options.workers else {}
    commands = {
        "synthesize": synthesize(people, place / "domain.json", out, **asked, **cluster),
        "verify": [*program, "verify", str(out / "release.zip"), *limits],
        "reproduce": [*program, "reproduce", str(out / "release.zip"), "--out", str(place / "again"), *limits],
    }
    costs = {name: asdict(execute(command)) for name, command in commands.items() if not cluster or name == "synthesize"}
    return costs | {"files": {path.name: round(path.stat().st_size / 1e6, 1) for path in sorted(out.iterdir())}}


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
        f"12 columns, all pairs, AIM, epsilon {kept['epsilon']:g}. peak MB: of the largest process.",
        "Where the load is above the number of cores, seconds by the clock mean little.",
        *("", *record.table(("command", "seconds", "processor seconds", "peak MB", "load"), rows)),
        *("", f"Files: {', '.join(f'{name} {size:,.0f} MB' for name, size in files.items())}."),
    ]
