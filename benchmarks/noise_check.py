"""Does the released bit find noise of the wrong size, and does it pass noise of the right size?

Releases: makes releases of invented and public people with the check, each with noise of its own seed at a multiple of the size that was
charged, and counts how many say that the noise is wrong. 0 is no noise. The mechanism's choices have their own noise, which stays.

Draws: compares noise of so many cells that nothing adapts to, many times, which shows rarer false alarms than releases can.

    python -m benchmarks noise_check --worlds skewed titanic --mechanisms aim --scales 1 --runs 200
    python -m benchmarks noise_check --worlds skewed titanic --mechanisms aim --scales 0 0.5 0.9 --runs 20 --draws 10000
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.table import spec
from benchmarks.yardsticks import WORLDS
from dpsynth_core.extensions.noise_check import DELTA
from dpsynth_core.extensions.noise_check.asking import compared
from dpsynth_core.extensions.noise_check.operations import SCALES, limit, log_ratios
from dpsynth_core.extensions.noise_check.statement import as_charged
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.view import Integers
from dpsynth_core.release import synthesis
from dpsynth_core.sources.codes import CodesSource

NAME = "noise_check"
CELLS, SIGMA, RHO = (30, 228, 4_000), 30.0, 0.0244
"""Numbers of cells of draws, their standard deviation in people, and the rho of a run of epsilon 1 and delta 1e-6."""


class Scaled(SeededNoise):
    """Normal noise of a multiple of the size that was asked for."""

    def __init__(self, seed: int, scale: float) -> None:
        super().__init__(seed)
        self._scale = scale

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        return super().gaussian(values, self._scale * sigma) if self._scale else values


def main(arguments: Sequence[str] | None = None) -> None:
    fixed: dict[str, Any] = {"worlds": ["skewed"], "mechanisms": ["aim"], "epsilon": 1.0, "scales": [1.0], "runs": 20, "draws": 0}
    options = record.parser(__doc__, {"worlds": WORLDS}, **fixed).parse_args(arguments)
    place = options.results / NAME
    runs = record.earlier(place)
    for world in options.worlds:
        source = WORLDS[world]()
        for mechanism in options.mechanisms:
            for scale in options.scales:
                point = {"world": world, "mechanism": mechanism, "epsilon": options.epsilon, "scale": scale}
                for seed in range(sum(point.items() <= one.items() for one in runs), options.runs):
                    runs.append({**point, "seed": seed, **released(source, mechanism, options.epsilon, scale, seed)})
                    print(runs[-1], file=sys.stderr, flush=True)
                record.keep(place, runs, [])
    if options.draws:
        runs = [one for one in runs if one["world"] != "draws"]
        runs += [drawn(cells, scale, options.draws) for cells in CELLS for scale in (1.0, *options.scales)]
    record.write(
        place, runs, record.table(("people", "mechanism", "epsilon", "noise", "runs", "counts compared", "said to be wrong"), _rows(runs))
    )


def released(source: CodesSource, mechanism: str, epsilon: float, scale: float, seed: int) -> dict[str, Any]:
    """Make a release of all single columns and pairs with such noise; return what it says, and of how many counts."""
    names = source.domain.names
    tables = [[name] for name in names] + [[a, b] for place, a in enumerate(names) for b in names[place + 1 :]]
    asked: dict[str, Any] = {"workload": {"kind": "marginals", "marginals": [{"attributes": one} for one in tables]}}
    budget = {"epsilon": epsilon, "delta": 1e-6}
    plan = Plan.of(spec({"kind": "demo"}, source.domain, mechanism, budget, extensions={"noise": 1}, output={"seed": seed}, **asked))
    made = synthesis.synthesize(plan, source, Scaled(seed, scale), lambda _: None)
    return {"wrong": as_charged(made) is False, "cells": sum(one.values.size for one in compared(made.transcript))}


def drawn(cells: int, scale: float, draws: int) -> dict[str, Any]:
    """Compare such noise of so many cells; return how many of the draws are said to be wrong."""
    rng, most, wrong = np.random.default_rng((cells, 55)), limit(RHO, DELTA), 0
    for _ in range(draws):
        logs = log_ratios(np.rint(rng.normal(0, scale * SIGMA, cells)), SIGMA)
        wrong += bool(np.logaddexp.reduce(logs) - math.log(len(SCALES)) >= most)
    return {"world": "draws", "mechanism": "", "epsilon": 1.0, "scale": scale, "cells": cells, "wrong": wrong, "draws": draws}


def _rows(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Each point as a line, with the least and the largest number of counts."""
    points = defaultdict[tuple[str, str, float, float, int], list[Mapping[str, Any]]](list)
    for run in runs:
        points[run["world"], run["mechanism"], run["epsilon"], run["scale"], run["cells"] if "draws" in run else 0].append(run)
    for (world, mechanism, epsilon, scale, _), every in points.items():
        cells, number = [run["cells"] for run in every], sum(run.get("draws", 1) for run in every)
        span = f"{min(cells):,}" if min(cells) == max(cells) else f"{min(cells):,} to {max(cells):,}"
        yield (world, mechanism, f"{epsilon:g}", f"{scale:g}", f"{number:,}", span, f"{sum(run['wrong'] for run in every):,}")
