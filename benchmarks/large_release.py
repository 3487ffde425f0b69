"""What many synthetic rows cost from the command to the bundle, and what it costs to verify that bundle and to make its rows again.

    python -m benchmarks.large_release --rows 10000000

Simulated people, all pairs of their 12 columns, AIM, certificate included; the commands are those that a user types, each a process of
its own. `verify` and `reproduce` get more memory and time than by default.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.programs import execute
from dpsynth_core.sources.demo import demo_domain, simulate

PROGRAM = (sys.executable, "-m", "dpsynth_core")


def main() -> int:
    parser = record.parser(__doc__, records=1_000_000, rows=10_000_000, epsilon=1.0)
    parser.add_argument("--folder", type=Path, help="for the files, which take gigabytes (default: the usual temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        steps = measured(Path(place), options.records, options.rows, options.epsilon)
    kept = {**record.machine(), "records": options.records, "rows": options.rows, "epsilon": options.epsilon, "steps": steps}
    record.write(options.results / "large_release", kept, [_markdown(kept)])
    return 0


def measured(place: Path, records: int, rows: int, epsilon: float) -> dict[str, dict[str, Any]]:
    """Seconds, processor seconds, peak megabytes and the machine's load, by command; megabytes of files, by name."""
    simulate(records).to_parquet(place / "people.parquet")
    (place / "domain.json").write_text(json.dumps(demo_domain().to_json()), encoding="utf-8")
    out, limits = place / "out", ("--memory", "8192", "--seconds", "7200")
    table = (str(place / "people.parquet"), "--domain", str(place / "domain.json"), "--workload", "all-2way")
    made = ("--epsilon", str(epsilon), "--rows", str(rows), "--out", str(out))
    commands = {
        "synthesize": ("synthesize", *table, *made),
        "verify": ("verify", str(out / "release.zip"), *limits),
        "reproduce": ("reproduce", str(out / "release.zip"), "--out", str(place / "again"), *limits),
    }
    costs = {name: asdict(execute([*PROGRAM, *command])) for name, command in commands.items()}
    return costs | {"files": {path.name: round(path.stat().st_size / 1e6, 1) for path in sorted(out.iterdir())}}


def _markdown(record: dict[str, Any]) -> str:
    lines = [
        f"{record['rows']:,} synthetic rows from {record['records']:,} simulated people, 12 columns, all pairs, AIM,",
        f"epsilon {record['epsilon']:g}.",
        "Where the load is above the number of cores, seconds by the clock mean little.",
        "",
        "| command | seconds | processor seconds | peak MB | load |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, cost in record["steps"].items():
        if name != "files":
            lines.append(f"| {name} | {cost['seconds']:,.0f} | {cost['cpu_seconds']:,.0f} | {cost['peak_mb']:,} | {cost['load']:.1f} |")
    sizes = ", ".join(f"{name} {size:,.0f} MB" for name, size in record["steps"]["files"].items())
    return "\n".join([*lines, "", f"Files: {sizes}.", ""])


if __name__ == "__main__":
    sys.exit(main())
