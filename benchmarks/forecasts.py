"""Is the forecast of time and memory right? Tables that its constants may be fitted to, and others that they may not.

    python -m benchmarks forecasts --tables fitted      # twenty-nine tables
    python -m benchmarks forecasts --tables held-out    # fifteen others: what is claimed of the forecast is claimed of these
    python -m benchmarks forecasts --tables wide        # three of 50 columns and more
    python -m benchmarks forecasts --again              # runs nothing: what is recorded, beside the forecast as it is now

Each run is the command line in a process of its own, on an invented table; the forecast is made before it, from the same plan and the
number of people. Compared are processor seconds, which a busy machine changes less than others, and the largest resident set. The tables
that are held out were chosen before the constants were fitted and differ from the others in every respect. They are run once for a version
of the forecast: to fit to them, make them fitted ones and hold out others.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.invented import Invented, sizes, write
from benchmarks.programs import OURS, execute, synthesize, versions
from dpsynth_core.cli.release_commands import parse_workload
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.plan import budgeted, forecast
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, BudgetSpec
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain

DELTA = 1e-9
WITHIN = 2.0
"""The factor that is claimed."""
SMALL, MIXED, LARGE, BINARY, DOZENS = (2, 2, 3, 4), (2, 3, 5, 8, 12, 16), (5, 10, 20, 40, 80), (2,), (10, 20, 30)


@dataclass(frozen=True)
class Case:
    """A table and what is asked of it. choices: of which the columns have their numbers of values. strength: of dependence, as invented."""

    columns: int
    choices: tuple[int, ...]
    rows: int
    workload: str
    epsilon: float
    seed: int
    mechanism: str = "aim"
    strength: float = 0.7

    def table(self, name: str) -> Invented:
        return Invented(name, self.rows, sizes(self.columns, self.choices, seed=self.seed), strength=self.strength, seed=self.seed)


FITTED = (
    Case(5, SMALL, 2_000, "all-2way", 1.0, 97),
    Case(8, LARGE, 50_000, "all-2way", 0.5, 98),
    Case(12, MIXED, 10_000, "all-3way", 1.0, 99),
    Case(15, SMALL, 200_000, "all-3way", 5.0, 100),
    Case(20, MIXED, 50_000, "all-2way", 0.1, 101),
    Case(30, SMALL, 20_000, "all-3way", 1.0, 102),
    Case(40, MIXED, 50_000, "all-2way", 1.0, 103),
    Case(5, LARGE, 100_000, "all-3way", 1.0, 104),
    Case(6, SMALL, 500_000, "all-2way", 10.0, 105),
    Case(9, MIXED, 3_000, "all-3way", 0.2, 106),
    Case(12, LARGE, 30_000, "all-2way", 3.0, 107),
    Case(14, MIXED, 50_000, "all-3way", 1.0, 108),
    Case(18, SMALL, 1_000, "all-2way", 0.1, 109),
    Case(25, MIXED, 100_000, "all-2way", 2.0, 110),
    Case(25, SMALL, 30_000, "target:c003:3", 1.0, 111),
    Case(35, SMALL, 100_000, "all-2way", 3.0, 112),
    Case(10, MIXED, 1_000_000, "all-2way", 1.0, 113),
    Case(45, BINARY, 5_000, "all-2way", 0.5, 114),
    Case(16, MIXED, 400, "all-2way", 0.5, 115),
    Case(20, SMALL, 100_000, "all-2way", 1.0, 116),
    Case(8, LARGE, 50_000, "all-2way", 0.5, 117, "privmrf"),
    Case(20, MIXED, 50_000, "all-2way", 2.0, 118, "privmrf"),
    Case(30, SMALL, 20_000, "all-3way", 1.0, 119, "privmrf"),
    Case(12, MIXED, 10_000, "all-3way", 1.0, 120, "gem"),
    Case(20, MIXED, 50_000, "all-2way", 0.5, 121, "gem"),
    Case(8, LARGE, 30_000, "all-2way", 3.0, 122, "gem"),
    Case(16, MIXED, 150_000, "all-2way", 3.0, 205, strength=0.8),
    Case(25, SMALL, 100_000, "all-2way", 0.3, 212, "privmrf"),
    Case(10, DOZENS, 20_000, "all-2way", 5.0, 203),
)
HELD_OUT = (
    Case(4, LARGE, 300_000, "all-3way", 0.5, 201),
    Case(7, MIXED, 800, "all-2way", 2.0, 202, strength=0.9),
    Case(9, DOZENS, 25_000, "all-2way", 4.0, 217, strength=0.75),
    Case(11, SMALL, 700_000, "all-3way", 1.5, 204, strength=0.5),
    Case(17, MIXED, 120_000, "all-2way", 4.0, 215, strength=0.75),
    Case(22, SMALL, 5_000, "all-3way", 0.4, 206),
    Case(33, MIXED, 3_000, "all-2way", 0.3, 207, strength=0.6),
    Case(42, SMALL, 6_000, "all-2way", 0.15, 208),
    Case(19, MIXED, 80_000, "all-2way", 0.8, 209, "mst"),
    Case(8, SMALL, 12_000, "all-2way", 2.5, 210, "hdmm_pgm"),
    Case(14, MIXED, 30_000, "all-2way", 1.5, 211, "privmrf"),
    Case(24, SMALL, 60_000, "all-2way", 0.4, 216, "privmrf"),
    Case(10, DOZENS, 40_000, "all-2way", 0.7, 213, "gem"),
    Case(15, SMALL, 8_000, "all-3way", 2.0, 214, "gem"),
    Case(26, SMALL, 40_000, "all-3way", 0.7, 218, strength=0.6),
)
WIDE = (
    Case(50, SMALL, 20_000, "all-2way", 1.0, 8),
    Case(70, SMALL, 20_000, "all-2way", 0.3, 7),
    Case(100, SMALL, 10_000, "all-2way", 0.1, 9),
)
TABLES = {"fitted": FITTED, "held-out": HELD_OUT, "wide": WIDE}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, {"tables": TABLES}, tables="held-out")
    parser.add_argument("--again", action="store_true", help="forecast the recorded runs anew, and run nothing")
    parser.add_argument("--numbers", type=int, nargs="+", help="which of them (default: all)")
    options = parser.parse_args(arguments)
    place = options.results / "forecasts"
    if options.again:
        runs = [{**run, **expected_of(TABLES[run["tables"]][run["number"]])} for run in record.earlier(place)]
        record.write(place, runs, [_markdown(runs)])
        return
    for number in options.numbers or range(len(TABLES[options.tables])):
        run = compared(options.tables, number)
        print(_line(run), file=sys.stderr, flush=True)
        runs = record.instead(record.earlier(place), run, "tables", "number")  # read anew: others may measure beside this
        record.write(place, runs, [_markdown(runs)])


def compared(tables: str, number: int) -> dict[str, Any]:
    """What one run was expected to need, and needed."""
    case = TABLES[tables][number]
    invented = case.table(f"{tables}-{number}")
    with tempfile.TemporaryDirectory() as place:
        data, domain_file = write(invented, Path(place))
        asked = {"workload": case.workload, "mechanism": case.mechanism, "epsilon": case.epsilon, "delta": DELTA}
        expected, cost = expected_of(case), execute(synthesize(data, domain_file, Path(place) / "out", **asked))
    made = {"tables": tables, "number": number, **asdict(case), "began": record.now()}
    return {**made, "versions": versions(OURS), **asdict(cost), **expected}


def expected_of(case: Case) -> dict[str, float]:
    """The forecast of a case, by the number of people in its table."""
    table, mechanism = case.table("expected"), registry.get(case.mechanism)
    domain = Domain.from_json(dict(zip(table.names, table.sizes, strict=True)))
    shares = budgeted(mechanism, BudgetSpec.model_validate({"epsilon": case.epsilon, "delta": DELTA, "certificate": DEFAULT_CERTIFICATE}))
    needed = forecast(mechanism, parse_workload(case.workload, domain), Unit(), shares, case.rows)
    return {"expected_seconds": round(needed.seconds, 2), "expected_mb": round(needed.memory_mb)}


_HEAD = ("mechanism", "columns", "rows", "workload", "epsilon", "processor seconds", "expected", "peak MB", "expected")


def factors(run: dict[str, Any]) -> tuple[float, float]:
    """Expected over needed: processor seconds, memory."""
    return run["expected_seconds"] / run["cpu_seconds"], run["expected_mb"] / run["peak_mb"]


def _line(run: dict[str, Any]) -> str:
    time, memory = factors(run)
    what = f"{run['tables']} {run['number']}, {run['mechanism']}, rows {run['rows']:,}"
    needed = f"{run['cpu_seconds']:.1f} processor seconds ({time:.2f} times as many expected), {run['peak_mb']} MB ({memory:.2f} times)"
    return f"{what}: {needed}"


def _markdown(runs: list[dict[str, Any]]) -> str:
    lines = [f"Forecasts beside what runs needed; the claim is a factor of {WITHIN:g} on the tables that are held out.", ""]
    for tables in TABLES:
        mine = sorted((run for run in runs if run["tables"] == tables), key=lambda run: run["number"])
        within = [sum(1 / WITHIN <= factor <= WITHIN for factor in column) for column in zip(*map(factors, mine), strict=True)] or [0, 0]
        lines += [f"**{tables}**: of {len(mine)} runs {within[0]} within the factor in time, {within[1]} in memory.", ""]
        rows = []
        for run in mine:
            about = (run["mechanism"], run["columns"], f"{run['rows']:,}", run["workload"], f"{run['epsilon']:g}")
            rows.append((*about, *(f"{run[name]:.1f}" for name in ("cpu_seconds", "expected_seconds")), run["peak_mb"], run["expected_mb"]))
        lines += [*record.table(_HEAD, rows), ""]
    return "\n".join(lines)
