"""Figures 1 and 2 of Vietri, Tian, Bun, Steinke, Wu 2020 on Adult: the largest error of 64 random marginals against epsilon, and of growing
workloads at epsilon 0.1; delta = 1/N^2, means over runs.

    python -m benchmarks.fem --figures 1 --epsilons 0.1 0.25 1 --runs 3
    python -m benchmarks.fem --figures 2 --marginals 16 128 455 --programs fem dualquery zero

Beside FEM, sepFEM, DualQuery and DQRS at their defaults: the naive answer 0 to every query; HDMM, which the paper compares with, and
HDMM+PGM; Gaussian noise on every marginal, the same on every cell; ResidualPlanner; and AIM. What a mechanism refuses is recorded as
refused. A point that is in the record is not measured again, so it can be run in slices. It looks at true counts: right for a public table,
and for nothing else.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import figures, record
from benchmarks.figures import Program

NAME = "fem"
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


def main(arguments: Sequence[str] | None = None) -> None:
    options = record.parser(
        __doc__,
        {"figures": (1, 2), "k": (2, 3, 4, 5), "programs": PROGRAMS},
        figures=[1, 2],
        k=[3],
        epsilons=list(figures.EPSILONS),
        marginals=list(GROWING),
        programs=list(PROGRAMS),
        runs=3,
    ).parse_args(arguments)
    place = options.results / NAME
    asked = (asdict(point) for point in points(options))
    record.fill(record.opened(place), asked, options.runs, lambda point: measure(Point(**point)), write, place)


def points(options: argparse.Namespace) -> Iterator[Point]:
    """Those of both figures that were asked for."""
    for k in options.k:
        if 1 in options.figures:
            yield from (Point(1, k, figures.MARGINALS, epsilon, name) for epsilon in options.epsilons for name in options.programs)
        if 2 in options.figures:
            yield from (Point(2, k, count, 0.1, name) for count in options.marginals for name in options.programs)


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


def write(kept: Mapping[str, Any], place: Path) -> None:
    """The means as a table, with what they say about the paper's claims."""
    frame = pd.DataFrame(kept["runs"])
    frame["refused"] = frame.get("refused", np.nan)
    measured = frame.dropna(subset=["error"])
    text = [
        f"Adult binned as in the AIM paper, {figures.days(kept)}. Largest error of any cell, as a fraction of the people: mean over runs "
        "(their number).",
        *(line for figure, part in frame.groupby("figure") for line in ("", *_table(int(str(figure)), part))),
        *("", claims(measured)),
    ]
    place.with_suffix(".md").write_text("\n".join(text) + "\n", encoding="utf-8")


def _table(figure: int, frame: pd.DataFrame) -> Iterator[str]:
    """A column an epsilon (Figure 1) or a number of marginals (Figure 2)."""
    titles = {name: program.title for name, program in PROGRAMS.items()}
    for k, part in frame.groupby("k"):
        about = f"Figure {figure}, {k}-way marginals, by {_ACROSS[figure]}:"
        yield from figures.table(about, titles, part, _ACROSS[figure], figures.told(3))


def claims(frame: pd.DataFrame) -> str:
    """What the paper claims and what was measured here, as one paragraph; a claim that nothing was measured for is left out."""
    sentences = ["**The paper's claims.**"]
    for k, part in frame[frame["figure"] == 1].groupby("k"):
        means = part.pivot_table(index="epsilon", columns="program", values="error", aggfunc="mean")
        for claim, one, other in (
            ("FEM is better than the naive answer 0", "fem", "zero"),
            ("FEM is better than DualQuery", "fem", "dualquery"),
            ("FEM is better than HDMM", "fem", _HDMM),
            ("FEM is better than Gaussian noise on every marginal", "fem", _NOISE),
            ("DQRS is at least as good as DualQuery", "dqrs", "dualquery"),
            ("DQRS is at least as good as DualQuery where both have eta 0.1", "dqrs-slow", "dualquery-slow"),
            ("sepFEM is better than FEM", "sepfem", "fem"),
        ):
            if {one, other} <= set(means.columns):
                sentences.append(_verdict(f"{claim} ({k}-way)", part[part["program"] == one], part[part["program"] == other]))
        sentences += _slopes(means, f"as epsilon falls ({k}-way)", falling=True)
    for k, part in frame[frame["figure"] == 2].groupby("k"):
        means = part.pivot_table(index="marginals", columns="program", values="error", aggfunc="mean")
        sentences += _slopes(means, f"as the workload grows ({k}-way)", falling=False)
    return " ".join(sentences)


def _verdict(claim: str, one: pd.DataFrame, other: pd.DataFrame) -> str:
    """Means of the runs of two programs compared at every epsilon of which both have two; a difference within two standard errors is
    none."""
    errors: dict[str, list[str]] = {"holds": [], "holds up to noise": [], "does not hold": []}
    for epsilon in sorted(set(one["epsilon"]) & set(other["epsilon"])):
        mine, theirs = (part.loc[part["epsilon"] == epsilon, "error"] for part in (one, other))
        if min(len(mine), len(theirs)) < 2:
            continue
        doubt = 2 * math.hypot(float(mine.sem()), float(theirs.sem()))
        gap = float(mine.mean() - theirs.mean())
        errors["holds" if gap < -doubt else "holds up to noise" if gap <= doubt else "does not hold"].append(f"{epsilon:g}")
    lines = [f"{verdict} at epsilon {', '.join(at)}" for verdict, at in errors.items() if at]
    return f"{claim}: {'; '.join(lines) or 'not enough runs'}."


def _slopes(means: pd.DataFrame, when: str, *, falling: bool) -> list[str]:
    """How much FEM's error grows from one end to the other, beside that of each rival."""
    sentences = []
    for rival, title in ((_HDMM, "HDMM"), (_NOISE, "Gaussian answers")):
        if not {"fem", rival} <= set(means.columns):
            continue
        both = means[["fem", rival]].dropna().sort_index(ascending=not falling)
        if len(both) >= 2:
            fem, other = (float(both[name].iloc[-1] / both[name].iloc[0]) for name in ("fem", rival))
            found = f"{'holds' if fem < other else 'does not hold'}, {fem:.1f}-fold against {other:.1f}-fold."
            sentences.append(f"FEM's error grows more slowly than that of {title} {when}: {found}")
    return sentences


if __name__ == "__main__":
    main()
