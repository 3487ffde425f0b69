"""The figures of Aydore et al. 2021 on Adult: RAP's largest error beside other mechanisms against epsilon, of 64 random marginals (2), of
15 (5a) and of 64 whose queries ask for one of three columns at least (10); against the number of marginals at epsilon 0.1 (3) and 0.05 (4);
what rounding its relaxed table to rows costs (5b), and error, steps and time against the number of relaxed rows (6, 8); delta = 1/N^2.

    python -m benchmarks rap --figures 2 10 --epsilons 0.1 0.5 1 --programs zero rap fem aim --runs 3
    python -m benchmarks rap --figures 3 4 --marginals 16 455 --programs zero rap fem aim --runs 3
    python -m benchmarks rap --figures 5a --epsilons 0.1 1 --programs rap hdmm hdmm_pgm aim --runs 3
    python -m benchmarks rap --figures 5b 6 --runs 2

What a mechanism refuses is recorded as refused; what is in the record is not measured again, so it can be run in slices. It looks at true
counts: right for a public table, and for nothing else.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import fem, figures, record
from benchmarks.figures import Program
from dpsynth_core.extensions.research.inference.relaxed.relaxed_table import RelaxedTable, rounded

OVERSAMPLING = (1, 2, 5, 10, 20, 50)
FEW = 15
"""Marginals of Figure 5 (a). The paper's are those that HDMM's authors chose; ours are drawn."""
RELAXED_ROWS = (50, 100, 300, 1000, 3000)

PROGRAMS = {
    "zero": Program("naive answer 0"),
    "rap": Program("RAP", "rap"),
    "rp": Program("RP: all measured at once", "rap", {"rounds": 1}),
    **{name: fem.PROGRAMS[name] for name in ("fem", "hdmm", "hdmm_pgm", "residual_planner", "aim")},
}


@dataclass(frozen=True)
class Point:
    """What is measured several times. figure: of the paper.  k: columns of a marginal.  relaxed_rows: n', 0 where it is the default."""

    figure: str
    k: int
    marginals: int
    epsilon: float
    program: str
    relaxed_rows: int = 0


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    yield from (asdict(point) for k in options.k for figure in options.figures for point in _points(figure, k, options))


def _points(figure: str, k: int, options: argparse.Namespace) -> Iterator[Point]:
    if figure in _BY_EPSILON:
        for epsilon, name in product(options.epsilons, options.programs):
            yield Point(figure, k, _BY_EPSILON[figure], epsilon, name)
    elif figure in _BY_MARGINALS:
        for count, name in product(options.marginals, options.programs):
            yield Point(figure, k, count, _BY_MARGINALS[figure], name)
    else:
        yield from (Point(figure, k, figures.MARGINALS, 1.0, "rap", rows) for rows in (RELAXED_ROWS if figure == "6" else (0,)))


def measure(point: Point) -> dict[str, Any]:
    """One run with fresh noise. error: of the model's answers; rows_error: of as many rows as Adult has, if it makes rows; rounded: of
    rounded rows without refinement, by oversampling; steps: of all projections of a relaxed table."""
    setting = figures.adult(point.k, point.marginals)
    if point.figure == "10":
        setting = setting.asking(1)
    program = PROGRAMS[point.program]
    if not program.mechanism:
        return {"error": round(setting.zero_error(), 5), "seconds": 0.0, "cpu_seconds": 0.0}
    given = {**program.settings, **({"relaxed_rows": point.relaxed_rows} if point.relaxed_rows else {})}
    if reason := figures.refusal(program.mechanism, setting, point.epsilon, given):
        return {"refused": reason}
    outcome = figures.run(program.mechanism, setting, point.epsilon, given)
    model, rng = outcome.finished.model, np.random.default_rng()
    found: dict[str, Any] = setting.errors(outcome.finished) | outcome.costs()
    if hasattr(model, "rows"):
        found["rows_error"] = round(setting.rows_error(model.rows(setting.rows, setting.workload.weights, rng)), 5)
    if steps := outcome.finished.details.get("steps"):
        found |= {"steps": steps, "step_seconds": round(outcome.cpu_seconds / steps, 6)}
    if point.figure == "5b" and isinstance(model, RelaxedTable):
        copies = {times: rounded(setting.domain, model.columns, times * model.columns.shape[1], rng) for times in OVERSAMPLING}
        found["rounded"] = {str(times): round(setting.rows_error(codes), 5) for times, codes in copies.items()}
    return found


def lines(kept: Mapping[str, Any]) -> Iterator[str]:
    """Means as tables."""
    yield (
        f"Adult binned as in the AIM paper, delta = 1/N^2, {figures.days(kept)}. "
        "Largest error of any cell, as a fraction of the people: mean over runs (their number)."
    )
    for (figure, k), part in figures.runs(kept).groupby(["figure", "k"]):
        yield from ("", *_TABLES[str(figure)](str(figure), k, part))


def _table_of_errors(figure: str, k: object, frame: pd.DataFrame) -> Iterator[str]:
    asked = " of which one column at least" if figure == "10" else ""
    about = f"Figure {figure}, {_BY_EPSILON[figure]} random {k}-way marginals{asked}, by epsilon:"
    return figures.table(about, _TITLES, frame, "epsilon", figures.told(4))


def _table_by_marginals(figure: str, k: object, frame: pd.DataFrame) -> Iterator[str]:
    about = f"Figure {figure}, random {k}-way marginals at epsilon {_BY_MARGINALS[figure]:g}, by their number:"
    return figures.table(about, _TITLES, frame, "marginals", figures.told(4))


def _table_of_rounding(_figure: str, k: object, frame: pd.DataFrame) -> Iterator[str]:
    yield f"Figure 5 (b), {k}-way marginals, epsilon 1: rows rounded from the relaxed table, by rows per relaxed row (runs: {len(frame)}):"
    means = [float(np.mean([each[str(times)] for each in frame["rounded"]])) for times in OVERSAMPLING]
    cells = (f"{mean:.4f}" for mean in (frame["error"].mean(), *means, frame["rows_error"].mean()))
    yield from ("", *record.table(("relaxed table", *map(str, OVERSAMPLING), "as many rows as Adult, refined"), [cells]))


def _table_of_sizes(_figure: str, k: object, frame: pd.DataFrame) -> Iterator[str]:
    yield f"Figure 6, {k}-way marginals, epsilon 1, by relaxed rows n':"
    cells = [
        (rows, figures.told(4)(part), *(f"{part[name].mean():.0f}" for name in ("seconds", "cpu_seconds", "steps")))
        for rows, part in frame.groupby("relaxed_rows")
    ]
    yield from ("", *record.table(("n'", "error", "seconds", "processor seconds", "steps"), cells))


_TITLES = {name: program.title for name, program in PROGRAMS.items()}
_BY_EPSILON = {"2": figures.MARGINALS, "5a": FEW, "10": figures.MARGINALS}
"""Figures of errors against epsilon, and how many marginals they have."""
_BY_MARGINALS = {"3": 0.1, "4": 0.05}
"""Figures of errors against the number of marginals, and their epsilon."""
_TABLES = {
    **dict.fromkeys(_BY_EPSILON, _table_of_errors),
    **dict.fromkeys(_BY_MARGINALS, _table_by_marginals),
    **{"5b": _table_of_rounding, "6": _table_of_sizes},
}


_DEFAULTS = {**fem.PROGRAM.defaults, "figures": list(_TABLES), "programs": list(PROGRAMS)}
_AMONG = {**fem.PROGRAM.among, "figures": _TABLES, "programs": PROGRAMS}
PROGRAM = record.Program("rap", __doc__, points, lambda point: measure(Point(**point)), lines, _DEFAULTS, _AMONG)
main = PROGRAM.main
