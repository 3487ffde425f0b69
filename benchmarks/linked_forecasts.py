"""What is to be expected of two linked tables? Releases of invented ones of many shapes, and of others that nothing is fitted to.

    python -m benchmarks linked_forecasts --tables fitted                  # forty shapes, of households in hidden classes
    python -m benchmarks linked_forecasts --tables held-out --folder FOLDER  # a survey (`households`) and the app's simulated households
    python -m benchmarks linked_forecasts --again                           # runs nothing: records beside forecasts as they are now

Errors are what `planning.recommendation` expects of other mechanisms: the share of households in a wrong cell, mean over the tables.
`python -m benchmarks recommendation fit` fits them, from the record of this program. Time and memory are those of the command line.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import households, invented, record
from benchmarks.programs import execute
from dpsynth_core.mechanisms.graphical.households import Households, needed
from dpsynth_core.planning import recommendation
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.recommendation import Situation
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, Spec
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.release import synthesis
from dpsynth_core.sources import demo_households
from dpsynth_core.statistics.distances import marginal_errors
from dpsynth_core.vocabulary.link import Link

FITTED, HELD_OUT = "fitted", "held-out"
SHAPES, RECORD = 40, "linked_forecasts"
EPSILONS = (0.3, 1.0, 3.0)
HOUSES, MINE = "households", "persons"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, {"tables": (FITTED, HELD_OUT)}, tables=HELD_OUT, folder=Path(), numbers=[*range(SHAPES)])
    parser.add_argument("--again", action="store_true", help="forecast the recorded runs anew, and run nothing")
    options = parser.parse_args(arguments)
    place = options.results / RECORD
    if not options.again:
        for run in trials(options.tables, options.folder, options.numbers):
            print(run, file=sys.stderr, flush=True)
            record.write(place, record.instead(record.earlier(place), run, "tables", "name", "epsilon"))
    record.write(place, runs := record.earlier(place), _lines(runs))


def trials(tables: str, survey: Path, numbers: Sequence[int]) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        if tables == FITTED:
            for number in numbers:
                yield trial(tables, f"shape {number}", place, invent(place, number), _epsilon(number))
            return
        for table in (HOUSES, MINE):
            for file in survey.glob(f"{table}.*"):
                (place / file.name).write_bytes(file.read_bytes())
        for epsilon in EPSILONS:
            yield trial(tables, "survey", place, households.link(place), epsilon)
        simulated(place)
        for epsilon in EPSILONS:
            yield trial(tables, "simulated", place, households.link(place), epsilon)


def _epsilon(number: int) -> float:
    return float(np.exp(np.random.default_rng([number, 1]).uniform(math.log(0.1), math.log(10))))


def invent(place: Path, number: int) -> Link:
    """Households in hidden classes, which say what their columns, their number of members and each of their members are like."""
    rng = np.random.default_rng(number)
    rows, most = int(np.exp(rng.uniform(math.log(800), math.log(60_000)))), int(rng.integers(2, 7))
    largest = int(rng.choice([4, 8, 16, 32]))
    many, each = (np.exp(rng.uniform(math.log(2), math.log(largest + 1), n)).astype(int) for n in (rng.integers(1, 6), rng.integers(2, 7)))
    classes, evenness = (float(np.exp(rng.uniform(math.log(least), math.log(above)))) for least, above in ((5, 100), (0.2, 2)))
    codes = invented.of_classes([*many, most + 1, *np.tile(each, most)], rows, round(classes), evenness, rng)
    sizes, members = codes[:, len(many)], codes[:, len(many) + 1 :].reshape(rows, most, len(each))
    there = np.arange(most) < sizes[:, None]
    owners = np.nonzero(there)[0]
    _write(place, HOUSES, {f"h{i}": int(size) for i, size in enumerate(many)}, codes[:, : len(many)], np.arange(rows))
    _write(place, MINE, {f"m{i}": int(size) for i, size in enumerate(each)}, members[there], owners)
    return households.link(place, most)


def _write(place: Path, name: str, sizes: dict[str, int], codes: Any, keys: Any) -> None:
    (place / f"{name}.json").write_text(json.dumps(sizes))
    pd.DataFrame(codes, columns=[*sizes]).assign(**{households.KEY: keys}).to_csv(place / f"{name}.csv", index=False)


def simulated(place: Path) -> None:
    """The households that the app offers."""
    for name, table, domain in zip((HOUSES, MINE), demo_households.simulate(), demo_households.domains(), strict=True):
        table.to_csv(place / f"{name}.csv", index=False)
        (place / f"{name}.json").write_text(json.dumps(domain.to_json()))


def trial(tables: str, name: str, place: Path, link: Link, epsilon: float) -> dict[str, Any]:
    """One release by the command line: what was known before it, what it took, and how far off its tables are."""
    spec, out = households.spec(place, link, epsilon, 1, DEFAULT_CERTIFICATE), place / "out"
    rows = sum(1 for _ in (place / f"{HOUSES}.csv").open()) - 1
    stated = spec.model_copy(update={"output": spec.output.model_copy(update={"seed": None, "rows": rows})})
    (place / "spec.json").write_text(stated.model_dump_json())
    plan = Plan.of(spec)
    cost = execute([sys.executable, "-m", "dpsynth_core", "run", str(place / "spec.json"), "--out", str(out)])
    errors = marginal_errors(*(synthesis.open_source(one).counts(list(plan.workload.cliques)) for one in (plan, Plan.of(_made(spec, out)))))
    features = [round(f, 5) for f in Situation.of(plan.asked, plan.shares.mechanism, Unit(), rows).features()]
    about = {"tables": tables, "name": name, "epsilon": round(epsilon, 4), "rows": rows, "features": features, "cells": plan.workload.cells}
    about |= {"most": link.most, "error": float(np.mean([*errors.values()])), "day": record.now()[:10]}
    return about | asdict(cost)


def _made(spec: Spec, out: Path) -> Spec:
    """Of the tables of a release."""
    first = spec.data.model_copy(update={"path": str(out / "synthetic.csv")})
    assert spec.members is not None
    return spec.model_copy(update={"data": first, "members": spec.members.model_copy(update={"path": str(out / "members.csv")})})


def expected(run: dict[str, Any]) -> recommendation.Expected | None:
    noise, _, columns, cells, width = run["features"]
    situation = Situation(math.exp(noise), round(math.exp(columns)), math.exp(cells), width)
    return recommendation.expected(Households.card.name, situation)


def _lines(runs: Sequence[dict[str, Any]]) -> list[str]:
    shown = []
    for run in runs:
        hope = expected(run)
        about = "" if hope is None else f"{hope.error:.3f} ({hope.low:.3f} to {hope.high:.3f})"
        seconds, megabytes = needed(run["rows"], run["most"], round(math.exp(run["features"][2])), run["cells"])
        cost = (f"{run['cpu_seconds']:.0f}", f"{seconds:.0f}", f"{run['peak_mb']:.0f}", f"{megabytes:.0f}")
        shown.append((run["tables"], run["name"], f"{run['rows']:,}", f"{run['epsilon']:.2g}", f"{run['error']:.3f}", about, *cost))
    titles = ("", "", "households", "epsilon", "error", "expected", "processor seconds", "expected", "peak MB", "expected")
    return record.table(titles, shown)
