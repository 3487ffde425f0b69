"""What many synthetic rows cost from the command to the bundle, and what it costs to verify that bundle and to make its rows again.

    python -m benchmarks large_release --records 10000000 --rows 10000000 --table csv

Simulated people in a CSV or Parquet file, all pairs of their 12 columns, AIM, certificate included; the commands are those that a user
types, each a process of its own. `verify` and `reproduce` get more memory and time than by default.
"""

from __future__ import annotations

import json
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
    parser = record.parser(__doc__, records=10_000_000, rows=10_000_000, epsilon=1.0)
    parser.add_argument("--table", choices=("csv", "parquet"), default="csv")
    parser.add_argument("--folder", type=Path, help="for the files, which take gigabytes (default: the usual temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        steps = measured(Path(place), options.table, options.records, options.rows, options.epsilon)
    asked = {name: getattr(options, name) for name in ("table", "records", "rows", "epsilon")}
    kept = {**record.machine(), **asked, "steps": steps}
    record.write(options.results / "large_release", kept, _lines(kept))


def measured(place: Path, table: str, records: int, rows: int, epsilon: float) -> dict[str, dict[str, Any]]:
    """Seconds, processor seconds, peak megabytes and the machine's load, by command; megabytes of files, by name."""
    people = place / "people.parquet"
    write_people(people, records)
    if table == "csv":
        with pq.ParquetFile(people) as file, pacsv.CSVWriter(people := people.with_suffix(".csv"), file.schema_arrow) as writer:
            for batch in file.iter_batches():
                writer.write_batch(batch)
    (place / "domain.json").write_text(json.dumps(demo_domain().to_json()), encoding="utf-8")
    out, limits, program = place / "out", ("--memory", "8192", "--seconds", "7200"), (sys.executable, "-m", "dpsynth_core")
    asked = {"workload": "all-2way", "epsilon": epsilon, "rows": rows}
    commands = {
        "synthesize": synthesize(people, place / "domain.json", out, **asked),
        "verify": [*program, "verify", str(out / "release.zip"), *limits],
        "reproduce": [*program, "reproduce", str(out / "release.zip"), "--out", str(place / "again"), *limits],
    }
    costs = {name: asdict(execute(command)) for name, command in commands.items()}
    return costs | {"files": {path.name: round(path.stat().st_size / 1e6, 1) for path in sorted(out.iterdir())}}


def _lines(kept: dict[str, Any]) -> list[str]:
    files, costs = kept["steps"]["files"], {name: cost for name, cost in kept["steps"].items() if name != "files"}
    rows = [
        (name, f"{cost['seconds']:,.0f}", f"{cost['cpu_seconds']:,.0f}", f"{cost['peak_mb']:,}", f"{cost['load']:.1f}")
        for name, cost in costs.items()
    ]
    return [
        f"{kept['rows']:,} synthetic rows from {kept['records']:,} simulated people in a {kept['table']} file, 12 columns, all pairs, AIM,",
        f"epsilon {kept['epsilon']:g}.",
        "Where the load is above the number of cores, seconds by the clock mean little.",
        *("", *record.table(("command", "seconds", "processor seconds", "peak MB", "load"), rows)),
        *("", f"Files: {', '.join(f'{name} {size:,.0f} MB' for name, size in files.items())}."),
    ]
