"""Figures 1 and 2 of Vietri, Tian, Bun, Steinke, Wu 2020 on Adult: the largest error of 64 random marginals against epsilon, and of growing
workloads at epsilon 0.1; delta = 1/N^2, means over runs.

    python -m benchmarks fem --figures 1 --epsilons 0.1 0.25 1 --runs 3
    python -m benchmarks fem --figures 2 --marginals 16 128 455 --programs fem dualquery zero

Beside FEM, sepFEM, DualQuery and DQRS at their defaults: the naive answer 0 to every query; HDMM, which the paper compares with, with
Gaussian noise and, as the paper ran it, with Laplace noise; HDMM+PGM; Gaussian or Laplace noise on every marginal, the same on every cell;
ResidualPlanner; and AIM. What a mechanism refuses is recorded as refused. A point that is in the record is not measured again, so it can be
run in slices. It looks at true counts: right for a public table, and for nothing else.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import figures, record
from benchmarks.figures import Program
from dpsynth_core.extensions.research.mechanisms.answers import hdmm
from dpsynth_core.mechanisms.answers.residual_planner import ResidualAnswers
from dpsynth_core.mechanisms.strategies import best
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.measurement import Measurement

GROWING = (16, 64, 128, 256, 455)
"""Numbers of marginals of Figure 2; Adult has 455 three-way ones."""
_NOISE, _HDMM = "gaussian-even", "hdmm"
_LAPLACE, _NOISE_LAPLACE = "hdmm-laplace", "laplace-even"
_ACROSS = {1: "epsilon", 2: "marginals"}


PROGRAMS = {
    "zero": Program("naive answer 0"),
    "fem": Program("FEM", "fem"),
    "fem-whole": Program("FEM with its first quarter", "fem", {"skip": 0.0}),
    "sepfem": Program("sepFEM", "sepfem"),
    "sepfem-whole": Program("sepFEM with its first quarter", "sepfem", {"skip": 0.0}),
    "dualquery": Program("DualQuery", "dualquery"),
    "dqrs": Program("DQRS", "dqrs"),
    "dualquery-slow": Program("DualQuery, eta 0.1", "dualquery", {"eta": 0.1}),
    "dqrs-slow": Program("DQRS, eta 0.1", "dqrs", {"eta": 0.1}),
    _HDMM: Program("HDMM (answers)", "hdmm"),
    _LAPLACE: Program("HDMM, Laplace noise (answers)"),
    _NOISE_LAPLACE: Program("Laplace, evenly split (answers)"),
    "hdmm_pgm": Program("HDMM+PGM", "hdmm_pgm"),
    _NOISE: Program("Gaussian, evenly split (answers)"),
    "residual_planner": Program("ResidualPlanner (answers)", "residual_planner"),
    "aim": Program("AIM", "aim"),
}


@dataclass(frozen=True)
class Point:
    """What is measured several times. figure: 1 or 2 of the paper; k: columns of a marginal."""

    figure: int
    k: int
    marginals: int
    epsilon: float
    program: str


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    """Those of both figures that were asked for."""
    for k in options.k:
        if 1 in options.figures:
            for epsilon, name in product(options.epsilons, options.programs):
                yield asdict(Point(1, k, figures.MARGINALS, epsilon, name))
        if 2 in options.figures:
            for count, name in product(options.marginals, options.programs):
                yield asdict(Point(2, k, count, 0.1, name))


def measure(point: Point) -> dict[str, Any]:
    """One run with fresh noise."""
    setting, program = figures.adult(point.k, point.marginals), PROGRAMS[point.program]
    if point.program == _LAPLACE:
        answers = laplace_answers(setting, point.epsilon, np.random.default_rng())
        return {"error": round(setting.model_error(answers, answers.total), 5), "seconds": 0.0, "cpu_seconds": 0.0}
    if not program.mechanism:
        computed = {"zero": lambda _: setting.zero_error(), _NOISE: setting.noise_error, _NOISE_LAPLACE: setting.laplace_error}
        return {"error": round(computed[point.program](point.epsilon), 5), "seconds": 0.0, "cpu_seconds": 0.0}
    if reason := figures.refusal(program.mechanism, setting, point.epsilon, program.settings):
        return {"refused": reason}
    outcome = figures.run(program.mechanism, setting, point.epsilon, program.settings)
    return setting.errors(outcome.finished) | outcome.costs()


def laplace_answers(setting: figures.Setting, epsilon: float, rng: np.random.Generator) -> ResidualAnswers:
    """HDMM's answers under pure epsilon-differential privacy: the same strategy of marginals, with Laplace noise.

    A record is in one cell of each marginal of the strategy, so its L1 norm is the sum of the marginals' weights, and a marginal of weight
    w has noise of scale (that sum) / (epsilon w). Weights are the square roots of the shares of rho that the strategy has with Gaussian
    noise. N is measured with the rest, as records are added or removed.
    """
    shares = best(setting.workload, hdmm.rows_price(Unit())).shares
    weights = {clique: math.sqrt(share) for clique, share in shares.items()}
    norm = math.fsum(weights.values())
    tables = setting.source.counts([clique for clique in shares if clique])
    measured = []
    for clique, weight in weights.items():
        true = tables[clique] if clique else np.array(float(setting.rows))
        scale = norm / (epsilon * weight)
        measured.append(Measurement(clique, true + rng.laplace(0.0, scale, true.shape), math.sqrt(2) * scale))
    return hdmm.least_squares(setting.domain, measured, setting.workload.closure(), None)


def lines(kept: Mapping[str, Any]) -> Iterator[str]:
    """The means as a table."""
    yield (
        f"Adult binned as in the AIM paper, {figures.days(kept)}. Largest error of any cell, as a fraction of the people: mean over runs "
        "(their number)."
    )
    for figure, part in figures.runs(kept).groupby("figure"):
        yield from ("", *_table(int(str(figure)), part))


def _table(figure: int, frame: pd.DataFrame) -> Iterator[str]:
    """A column an epsilon (Figure 1) or a number of marginals (Figure 2)."""
    titles = {name: program.title for name, program in PROGRAMS.items()}
    for k, part in frame.groupby("k"):
        about = f"Figure {figure}, {k}-way marginals, by {_ACROSS[figure]}:"
        yield from figures.table(about, titles, part, _ACROSS[figure], figures.told(3))


_DEFAULTS = {
    **{"figures": [1, 2], "k": [3], "epsilons": list(figures.EPSILONS), "marginals": list(GROWING), "programs": list(PROGRAMS), "runs": 3}
}
_AMONG = {"figures": (1, 2), "k": (2, 3, 4, 5), "programs": PROGRAMS}
PROGRAM = record.Program("fem", __doc__, points, lambda point: measure(Point(**point)), lines, _DEFAULTS, _AMONG)
main = PROGRAM.main
