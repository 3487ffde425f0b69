"""How often do the intervals of means hold, and what do noisy tables add to them?

Invents people with skewed numbers and makes many releases of them, each with noise of its own seed. The true mean is that of the people's
values, cut to the bounds of their column. An interval of 95 % is expected to miss in 5 % of the releases at most: half of it on each side
where every cell has one value, less where cells have several, since nothing is assumed of how values lie in them.

    python -m benchmarks means
    python -m benchmarks means --mechanisms aim --runs 100 --people 2000
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import record
from benchmarks.table import released, spec
from dpsynth_core.claims.means import MEANS, MeanMeasured
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.domain import Domain

_NEVER = {"missing": False, "other": False}
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "visits": {"kind": "integer", "lower": 0, "upper": 12, "width": 1, "missing": False, "other": "nearest"},
    "children": {"kind": "integer", "lower": 0, "upper": 9, "width": 1, "missing": True, "other": True},
    "income": {"kind": "numeric", "lower": 0, "upper": 200_000, "bins": 20, "missing": True, "other": "nearest"},
    "gain": {"kind": "integer", "lower": 0, "upper": 9999, "width": 1000, "missing": False, "other": "nearest"},
    "sex": {"kind": "categorical", "categories": ["f", "m"], **_NEVER},
}
NUMBERS = tuple(name for name in COLUMNS if name != "sex")


@dataclass(frozen=True)
class Trial:
    """A stated mean and the true one."""

    stated: MeanMeasured
    true: float

    @property
    def above(self) -> bool:
        """The whole interval is above the true mean."""
        return self.stated.low95 > self.true

    @property
    def below(self) -> bool:
        """The whole interval is below the true mean."""
        return self.stated.high95 < self.true


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, mechanisms=["independent", "mst", "aim"], epsilon=1.0, people=2000, runs=300)
    options = parser.parse_args(arguments)
    lines = []
    for mechanism in options.mechanisms:
        print(mechanism, file=sys.stderr)
        lines += list(_lines(mechanism, trials(mechanism, options.epsilon, options.people, options.runs)))
    print(f"Epsilon {options.epsilon:g}, delta 1e-9, {options.people:,} people, {options.runs} releases.\n")
    names = ("mechanism", "column", "held, %", "too high, %", "too low, %", "half width", "deviation", "weight of tables")
    print("\n".join(["| " + " | ".join(names) + " |", "|---" * len(names) + "|", *lines]))


def people(number: int) -> pd.DataFrame:
    """Invent people: few have most of what there is, some have no number, some are beyond the bounds."""
    rng = np.random.default_rng(20261129)
    income = np.where(rng.random(number) < 0.1, np.nan, rng.lognormal(10.0, 1.0, number).round())
    children = rng.geometric(0.45, number).astype(float) - 1
    children[rng.random(number) < 0.2] = np.nan
    gain = np.where(rng.random(number) < 0.9, 0, rng.pareto(1.2, number) * 900).astype(int)
    visits = rng.geometric(0.25, number) - 1
    return pd.DataFrame({"visits": visits, "children": children, "income": income, "gain": gain, "sex": rng.choice(["f", "m"], number)})


def true_mean(frame: pd.DataFrame, column: str) -> float:
    """The mean of a column's values among those who have one: cut to the bounds, or without those beyond them."""
    said, values = COLUMNS[column], frame[column].dropna()
    if said["other"] == "nearest":
        return float(values.clip(said["lower"], said["upper"]).mean())
    return float(values[values.between(said["lower"], said["upper"])].mean())


def trials(mechanism: str, epsilon: float, number: int, runs: int, first: int = 0) -> dict[str, list[Trial]]:
    """Make releases with the seeds from `first` on, and return by column what they state."""
    frame, found = people(number), dict[str, list[Trial]]()
    true = {name: true_mean(frame, name) for name in NUMBERS}
    domain = Domain.from_json({"version": 1, "attributes": [{"name": name, **said} for name, said in COLUMNS.items()]})
    budget = {"epsilon": epsilon, "certificate": 0.05, "inside": 0.1, "means": 0.03}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        frame.astype({"children": "Int64", "income": "Int64"}).to_csv(path, index=False)
        for seed in range(first, first + runs):
            plan = synthesis.plan(spec({"kind": "csv", "path": str(path)}, domain, mechanism, budget, output={"seed": seed}))
            for one in released(plan).claims[MEANS.name]:
                found.setdefault(one.column, []).append(Trial(one, true[one.column]))
    return found


def _lines(mechanism: str, found: Mapping[str, Sequence[Trial]]) -> Iterator[str]:
    """Each column as a line of a table in Markdown."""
    for column, each in found.items():
        high, low = (100 * sum(getattr(one, name) for one in each) / len(each) for name in ("above", "below"))
        width = statistics.fmean((one.stated.high95 - one.stated.low95) / 2 for one in each)
        off = statistics.fmean((one.stated.value - one.true) ** 2 for one in each) ** 0.5
        weight = statistics.fmean(one.stated.tables or 0.0 for one in each)
        told = f"{100 - high - low:.1f} | {high:.1f} | {low:.1f} | {width:,.4g} | {off:,.4g} | {weight:.2f}"
        yield f"| {mechanism} | {column} | {told} |"
