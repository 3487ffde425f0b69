"""Figures 1 and 2 of Vietri, Tian, Bun, Steinke, Wu 2020 on Adult: the largest error of 64 random marginals against epsilon, and of growing
workloads at epsilon 0.1; delta = 1/N^2, means over runs.

    python -m benchmarks fem --figures 1 --epsilons 0.1 0.25 1 --runs 3
    python -m benchmarks fem --figures 2 --marginals 16 128 455 --programs fem dualquery zero

Beside FEM, sepFEM, DualQuery and DQRS at their defaults: the naive answer 0 to every query; HDMM, which the paper compares with, and
HDMM+PGM; Gaussian noise on every marginal, the same on every cell; ResidualPlanner; and AIM. What a mechanism refuses is recorded as
refused. A point that is in the record is not measured again, so it can be run in slices. It looks at true counts: right for a public table,
and for nothing else.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import pandas as pd

from benchmarks import figures, record
from benchmarks.figures import Program

GROWING = (16, 64, 128, 256, 455)
"""Numbers of marginals of Figure 2; Adult has 455 three-way ones."""
_NOISE, _HDMM = "gaussian-even", "hdmm"
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
    if not program.mechanism:
        error = setting.zero_error() if point.program == "zero" else setting.noise_error(point.epsilon)
        return {"error": round(error, 5), "seconds": 0.0, "cpu_seconds": 0.0}
    if reason := figures.refusal(program.mechanism, setting, point.epsilon, program.settings):
        return {"refused": reason}
    outcome = figures.run(program.mechanism, setting, point.epsilon, program.settings)
    return setting.errors(outcome.finished) | outcome.costs()


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
