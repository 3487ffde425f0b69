"""RAP's defaults: a search on the demo's simulated people, never on what is measured later.

    python -m benchmarks.rap_defaults --epsilons 0.1 1 10 --runs 2 --knobs queries measure_share

64 random three-way marginals, delta = 1/N^2. One knob at a time is turned, the others stay at their defaults: the parameters of the
mechanism and the constants of its fit (`rate`, `reach`) and of its choices (`REACH`). `every query` is the number of queries T * K, with
K = 2.5 T. Written are the largest error of any cell and the mean L1 error of a marginal. What is in the record is not measured again.
Where the class is small beside the people, the default is one round for all of it (`rap.SMALL`), and knobs of the selection turn nothing.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import fem_defaults, figures, slices
from benchmarks.table import RESULTS
from dpsynth_core.mechanisms.steps import Model
from dpsynth_core.research.inference.relaxed.projection import Descent
from dpsynth_core.research.mechanisms.projection import rap
from dpsynth_core.statistics.distances import workload_error

NAME = "rap_defaults"
EVERY_QUERY = "every query"
KNOBS: Mapping[str, Sequence[float]] = {
    EVERY_QUERY: (20, 40, 80, 160, 320, 640),
    "measure_share": (0.15, 0.3, 0.5),
    "start_share": (0.05, 0.1, 0.3),
    "relaxed_rows": (300, 1000, 3000),
    "REACH": (0.0, 5.0, 10.0),
    "rate": (0.03, 0.1, 0.3),
    "reach": (0.0, 0.2, 1.0, 1000.0),
}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    place = options.results / NAME
    ((_, setting),) = fem_defaults.tables(["demo"])
    turned = product(options.epsilons, candidates(options.knobs))
    points = [{"epsilon": epsilon, "knob": knob, "value": value} for epsilon, (knob, value) in turned]
    slices.fill(slices.opened(place), points, options.runs, lambda point: measure(setting, **point), write, place)
    return 0


def candidates(knobs: Sequence[str]) -> Iterator[tuple[str, float]]:
    yield "defaults", 0.0
    yield from ((knob, value) for knob in knobs for value in KNOBS[knob])


def measure(setting: figures.Setting, epsilon: float, knob: str, value: float) -> dict[str, Any]:
    with _turned(knob, value) as given:
        outcome = figures.run("rap", setting, epsilon, given)
    model, total = outcome.finished.model, outcome.finished.total
    details = {name: outcome.finished.details[name] for name in ("rounds", "queries", "steps")}
    errors = {"error": round(setting.model_error(model, total), 5), "mean_error": round(_mean_error(setting, model, total), 5)}
    return {**errors, **details, "cpu_seconds": round(outcome.cpu_seconds, 1)}


def _mean_error(setting: figures.Setting, model: Model, total: float) -> float:
    """||true - answer||_1 as fractions, mean over the marginals."""
    estimate = {clique: model.marginal(clique) / total for clique in setting.workload.cliques}
    true = {clique: counts / setting.rows for clique, counts in setting.source.counts(setting.workload.cliques).items()}
    return workload_error(setting.workload, true, estimate, 1.0)


@contextmanager
def _turned(knob: str, value: float) -> Iterator[dict[str, float]]:
    """Settings with the knob turned; constants of the module are put back at the end."""
    before = {"DESCENT": rap.DESCENT, "REACH": rap.REACH}
    try:
        if knob in asdict(Descent()):
            rap.DESCENT = Descent(**{knob: value})  # type: ignore[arg-type]
        elif knob == "REACH":
            rap.REACH = value
        rounds = max(2, round(math.sqrt(value / 2.5)))
        parameters = {field.name for field in fields(rap.Rap)}
        yield {"rounds": rounds, "queries": round(value / rounds)} if knob == EVERY_QUERY else {knob: value} if knob in parameters else {}
    finally:
        for name, constant in before.items():
            setattr(rap, name, constant)


def write(record: Mapping[str, Any], place: Path) -> None:
    """The means of all runs as a table."""
    lines = ["| epsilon | knob | value | runs | largest error | mean error | T | T K | steps | processor seconds |", "|---" * 10 + "|"]
    for (epsilon, knob, value), part in pd.DataFrame(record["runs"]).groupby(["epsilon", "knob", "value"], sort=False):
        numbers = part.mean(numeric_only=True)
        errors = f"{len(part)} | {numbers['error']:.4f} | {numbers['mean_error']:.3f}"
        rest = " | ".join(f"{numbers[name]:.0f}" for name in ("rounds", "queries", "steps", "cpu_seconds"))
        lines.append(f"| {epsilon:g} | {knob} | {'' if knob == 'defaults' else format(value, 'g')} | {errors} | {rest} |")
    place.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"benchmarks.{NAME}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.1, 1.0, 10.0])
    parser.add_argument("--knobs", nargs="+", choices=list(KNOBS), default=list(KNOBS), metavar="NAME")
    parser.add_argument("--runs", type=int, default=2, help="of each point, those in the record included")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
