"""Is the forecast of time and memory right? Tables that its constants may be fitted to, and others that they may not.

    python -m benchmarks.forecasts --tables fitted      # eight tables
    python -m benchmarks.forecasts --tables held-out    # ten others: what is claimed of the forecast is claimed of these

Each run is the command line in a process of its own, on an invented table; the forecast is made before it, from the same plan. Compared
are processor seconds, which a busy machine changes little, and the largest resident set.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.invented import Invented, sizes, write
from benchmarks.programs import OURS, execute, versions
from benchmarks.table import RESULTS
from dpsynth_core.cli.release_commands import parse_workload
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.plan import budgeted, forecast
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, BudgetSpec
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain

DELTA = 1e-9
WITHIN = 2.0
"""The factor that is claimed."""
SMALL, MIXED, LARGE = (2, 2, 3, 4), (2, 3, 5, 8, 12, 16), (5, 10, 20, 40, 80)
FITTED = (  # columns, sizes, rows, workload, epsilon
    (5, SMALL, 2_000, "all-2way", 1.0),
    (8, LARGE, 50_000, "all-2way", 0.5),
    (12, MIXED, 10_000, "all-3way", 1.0),
    (15, SMALL, 200_000, "all-3way", 5.0),
    (20, MIXED, 50_000, "all-2way", 0.1),
    (30, SMALL, 20_000, "all-3way", 1.0),
    (40, MIXED, 50_000, "all-2way", 1.0),
    (70, SMALL, 20_000, "all-2way", 0.3),
)
HELD_OUT = (
    (5, LARGE, 100_000, "all-3way", 1.0),
    (6, SMALL, 500_000, "all-2way", 10.0),
    (9, MIXED, 3_000, "all-3way", 0.2),
    (12, LARGE, 30_000, "all-2way", 3.0),
    (14, MIXED, 50_000, "all-3way", 1.0),
    (18, SMALL, 1_000, "all-2way", 0.1),
    (25, MIXED, 100_000, "all-2way", 2.0),
    (25, SMALL, 30_000, "target:c003:3", 1.0),
    (50, SMALL, 20_000, "all-2way", 1.0),
    (100, SMALL, 10_000, "all-2way", 0.1),
)
TABLES = {"fitted": FITTED, "held-out": HELD_OUT}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    target = options.results / "forecasts.json"
    runs = json.loads(target.read_text(encoding="utf-8")) if target.exists() else []
    options.results.mkdir(parents=True, exist_ok=True)
    for number in options.numbers or range(len(TABLES[options.tables])):
        for mechanism in options.mechanisms:
            run = compared(options.tables, number, mechanism)
            same = (options.tables, number, mechanism)
            runs = [*(one for one in runs if (one["tables"], one["number"], one["mechanism"]) != same), run]
            target.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
            target.with_suffix(".md").write_text(_markdown(runs), encoding="utf-8")
            print(_line(run), flush=True)
    return 0


def compared(tables: str, number: int, mechanism: str) -> dict[str, Any]:
    """What one run was expected to need, and needed."""
    columns, choices, rows, asked, epsilon = TABLES[tables][number]
    table = Invented(f"{tables}-{number}", rows, sizes(columns, choices, seed=number), seed=number)
    chosen = registry.get(mechanism)
    domain = Domain.from_json(dict(zip(table.names, table.sizes, strict=True)))
    shares = budgeted(chosen, BudgetSpec(epsilon=epsilon, delta=DELTA, certificate=DEFAULT_CERTIFICATE))
    expected = forecast(chosen, parse_workload(asked, domain), Unit(), shares)
    with tempfile.TemporaryDirectory() as place:
        data, domain_file = write(table, Path(place))
        command = [
            *(sys.executable, "-m", "dpsynth_core", "synthesize", str(data), "--domain", str(domain_file), "--workload", asked),
            *("--mechanism", mechanism, "--epsilon", str(epsilon), "--delta", str(DELTA), "--out", str(Path(place) / "out")),
        ]
        cost = execute(command)
    facts = {"tables": tables, "number": number, "mechanism": mechanism, "columns": columns, "rows": rows, "workload": asked}
    made = {"epsilon": epsilon, "began": datetime.now(UTC).isoformat(timespec="seconds"), "versions": versions(OURS)}
    return {**facts, **made, **asdict(cost), "expected_seconds": round(expected.seconds, 2), "expected_mb": round(expected.memory_mb)}


def factors(run: dict[str, Any]) -> tuple[float, float]:
    """Expected over needed: processor seconds, memory."""
    return run["expected_seconds"] / run["cpu_seconds"], run["expected_mb"] / run["peak_mb"]


def _line(run: dict[str, Any]) -> str:
    time, memory = factors(run)
    what = f"{run['tables']} {run['number']}, {run['mechanism']}"
    needed = f"{run['cpu_seconds']:.1f} processor seconds ({time:.2f} times as many expected), {run['peak_mb']} MB ({memory:.2f} times)"
    return f"{what}: {needed}"


def _markdown(runs: list[dict[str, Any]]) -> str:
    lines = [f"Forecasts beside what runs needed; the claim is a factor of {WITHIN:g} on the tables that are held out.", ""]
    for tables in TABLES:
        mine = sorted((run for run in runs if run["tables"] == tables), key=lambda run: (run["mechanism"], run["number"]))
        within = sum(all(1 / WITHIN <= factor <= WITHIN for factor in factors(run)) for run in mine)
        lines += [f"**{tables}**: {within} of {len(mine)} runs within the factor, in time and memory.", ""]
        lines += ["| mechanism | columns | rows | workload | epsilon | processor seconds | expected | peak MB | expected |"]
        lines += ["|---|---|---|---|---|---|---|---|---|"]
        lines += [
            f"| {run['mechanism']} | {run['columns']} | {run['rows']:,} | {run['workload']} | {run['epsilon']:g} "
            f"| {run['cpu_seconds']:.1f} | {run['expected_seconds']:.1f} | {run['peak_mb']} | {run['expected_mb']} |"
            for run in mine
        ]
        lines.append("")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.forecasts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", choices=tuple(TABLES), default="held-out")
    parser.add_argument("--numbers", type=int, nargs="+", help="which of them (default: all)")
    parser.add_argument("--mechanisms", nargs="+", default=["aim"])
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
