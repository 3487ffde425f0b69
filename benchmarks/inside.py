"""How near rows come to the numbers inside their groups: means, medians and zeros of Adult's raw table, described by hand.

    python -m benchmarks inside [--runs 6] [--shares 0 0.1] [--data ../shared/data/adult.csv]

AIM at epsilon 1, all pairs, numbers in plain groups as a person would type them: capital-gain from 0 to 99,999 in steps of 5,000.

For each share of the budget that measures how numbers lie in their groups: the error of the tables in these groups, and in 32 bins of the
AIM paper, which are other cells; and of each column of numbers the mean, the median and the share of zeros, beside the truth. The noise
has a seed, the number of the run. Looks at true counts: the table is public.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import record
from benchmarks.discovery import adult, error
from benchmarks.table import ADULT_FOLDER, released, spec
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, DEFAULT_INSIDE
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

GROUPS = {
    "age": (17, 90, 10),
    "fnlwgt": (0, 1_500_000, 100_000),
    "education-num": (1, 16, 1),
    "capital-gain": (0, 99_999, 5000),
    "capital-loss": (0, 5000, 500),
    "hours-per-week": (1, 99, 10),
}
"""Lower and upper bound, and the width of the groups."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, shares=[0.0, DEFAULT_INSIDE], epsilon=1.0, runs=6)
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER / "adult.csv", help="UCI Adult with a header (default: %(default)s)")
    options = parser.parse_args(arguments)
    table = pd.read_csv(options.data, na_values=["?"])
    kept: dict[str, Any] = {"epsilon": options.epsilon, **record.machine(), "true": {name: _numbers(table[name]) for name in GROUPS}}
    kept["runs"] = [run(options.data, options.epsilon, share, seed) for seed in range(options.runs) for share in options.shares]
    record.write(options.results / "inside", kept, _lines(kept))


def by_hand() -> Domain:
    """Adult's columns in the groups above; all others, and cells for values outside and missing, as in its codebook."""
    numbers = {name: Attribute.integer(name, low, high, width=width) for name, (low, high, width) in GROUPS.items()}
    return Domain(tuple(numbers.get(one.name, one).unfolded() for one in adult()))


def run(data: Path, epsilon: float, share: float, seed: int) -> dict[str, Any]:
    """One release and how far off it is."""
    budget = {"epsilon": epsilon, "certificate": DEFAULT_CERTIFICATE, "inside": share}
    section = {"kind": "csv", "path": str(data), "missing_markers": ["?"]}
    made = released(synthesis.plan(spec(section, by_hand(), "aim", budget, name="inside", output={"seed": seed})))
    assert made.table is not None
    rows = made.table.to_pandas()
    print(f"seed {seed}, share {share:g}", file=sys.stderr)
    tables = {"error": error(data, made, made.domain), "error_in_bins": error(data, made, adult())}
    return {"share": share, "seed": seed, **tables, "columns": {name: _numbers(rows[name]) for name in GROUPS}}


def _numbers(column: pd.Series[Any]) -> dict[str, float]:
    return {"mean": float(column.mean()), "median": float(column.median()), "zeros": float((column == 0).mean())}


def _lines(kept: Mapping[str, Any]) -> Iterator[str]:
    """The record as tables in Markdown."""
    yield f"Epsilon {kept['epsilon']:g}, delta 1e-9, AIM, all pairs, {kept['day']}."
    by_share: dict[float, list[Mapping[str, Any]]] = {}
    for one in kept["runs"]:
        by_share.setdefault(one["share"], []).append(one)
    errors = [
        (f"{share:g}", len(runs), *(f"{statistics.fmean(one[name] for one in runs):.4f}" for name in ("error", "error_in_bins")))
        for share, runs in by_share.items()
    ]
    yield from ("", *record.table(("share", "runs", "error in the groups", "error in 32 bins"), errors))
    for share, runs in by_share.items():
        rows = [_compared(name, [one["columns"][name] for one in runs], true) for name, true in kept["true"].items()]
        yield from ("", *record.table((f"share {share:g}", "mean, least to largest", "true", "median", "true", "zeros", "true"), rows))


def _compared(name: str, runs: Sequence[Mapping[str, float]], true: Mapping[str, float]) -> tuple[str, ...]:
    def span(of: str, form: str) -> str:
        return f"{min(one[of] for one in runs):{form}} to {max(one[of] for one in runs):{form}}"

    return (
        name, span("mean", ",.1f"), f"{true['mean']:,.1f}", span("median", ",.0f"), f"{true['median']:,.0f}", span("zeros", ".2%"),
        f"{true['zeros']:.2%}",
    )  # fmt: skip
