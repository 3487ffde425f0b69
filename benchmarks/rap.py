"""Figures 2, 5 and 6 of Aydore et al. 2021 on Adult: RAP's largest error against epsilon beside other mechanisms, of 64 random marginals
and (5a) of 15, what rounding its relaxed table to rows costs (5b), and error and time against the number of relaxed rows; delta = 1/N^2.

    python -m benchmarks.rap --figures 2 --epsilons 0.1 0.5 1 --programs zero rap fem aim --runs 3
    python -m benchmarks.rap --figures 5a --epsilons 0.1 1 --programs rap hdmm hdmm_pgm aim --runs 3
    python -m benchmarks.rap --figures 5b 6 --runs 2

What a mechanism refuses is recorded as refused; what is in the record is not measured again, so it can be run in slices. It looks at true
counts: right for a public table, and for nothing else.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import fem, figures, record
from benchmarks.figures import DECIDED, Program, by_epsilon
from dpsynth_core.research.inference.relaxed.relaxed_table import RelaxedTable, rounded

NAME = "rap"
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
    epsilon: float
    program: str
    relaxed_rows: int = 0


def main(arguments: Sequence[str] | None = None) -> int:
    options = record.parser(
        __doc__,
        {"figures": _TABLES, "k": (2, 3, 4, 5), "programs": PROGRAMS},
        figures=list(_TABLES),
        k=[3],
        epsilons=list(figures.EPSILONS),
        programs=list(PROGRAMS),
        runs=3,
    ).parse_args(arguments)
    place = options.results / NAME
    asked = (asdict(point) for point in points(options))
    record.fill(record.opened(place), asked, options.runs, lambda point: measure(Point(**point)), write, place)
    return 0


def points(options: argparse.Namespace) -> Iterator[Point]:
    for k in options.k:
        for figure in (name for name in _BY_EPSILON if name in options.figures):
            yield from (Point(figure, k, epsilon, name) for epsilon in options.epsilons for name in options.programs)
        if "5b" in options.figures:
            yield Point("5b", k, 1.0, "rap")
        if "6" in options.figures:
            yield from (Point("6", k, 1.0, "rap", rows) for rows in RELAXED_ROWS)


def measure(point: Point) -> dict[str, Any]:
    """One run with fresh noise. error: of the model's answers; rows_error: of as many rows as Adult has, if it makes rows; rounded: of
    rounded rows without refinement, by oversampling."""
    setting = figures.adult(point.k, FEW if point.figure == "5a" else figures.MARGINALS)
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
    if point.figure == "5b" and isinstance(model, RelaxedTable):
        copies = {times: rounded(setting.domain, model.columns, times * model.columns.shape[1], rng) for times in OVERSAMPLING}
        found["rounded"] = {str(times): round(setting.rows_error(codes), 5) for times, codes in copies.items()}
    return found


def write(kept: Mapping[str, Any], place: Path) -> None:
    """Means as tables, with what they say about the paper's claims."""
    frame = pd.DataFrame(kept["runs"])
    if frame.empty:
        return
    frame["refused"] = frame.get("refused", np.nan)
    measured = frame.dropna(subset=["error"])
    tables = [("", *_TABLES[str(figure)](str(figure), k, part)) for (figure, k), part in frame.groupby(["figure", "k"])]
    text = [
        f"Adult binned as in the AIM paper, delta = 1/N^2, {figures.days(kept)}. "
        "Largest error of any cell, as a fraction of the people: mean over runs (their number).",
        *(line for table in tables for line in table),
        *("", claims(measured)),
    ]
    place.with_suffix(".md").write_text("\n".join(text) + "\n", encoding="utf-8")


def _table_of_errors(figure: str, k: object, frame: pd.DataFrame) -> Iterator[str]:
    about = f"Figure {figure}, {_BY_EPSILON[figure]} {k}-way marginals, by epsilon:"
    return figures.table(about, {name: program.title for name, program in PROGRAMS.items()}, frame, "epsilon", figures.told(4))


def _table_of_rounding(_figure: str, k: object, frame: pd.DataFrame) -> Iterator[str]:
    yield f"Figure 5 (b), {k}-way marginals, epsilon 1: rows rounded from the relaxed table, by rows per relaxed row (runs: {len(frame)}):"
    means = [float(np.mean([each[str(times)] for each in frame["rounded"]])) for times in OVERSAMPLING]
    cells = (f"{mean:.4f}" for mean in (frame["error"].mean(), *means, frame["rows_error"].mean()))
    yield from ("", *record.table(("relaxed table", *map(str, OVERSAMPLING), "as many rows as Adult, refined"), [cells]))


def _table_of_sizes(_figure: str, k: object, frame: pd.DataFrame) -> Iterator[str]:
    yield f"Figure 6, {k}-way marginals, epsilon 1, by relaxed rows n':"
    cells = [
        (rows, figures.told(4)(part), *(f"{part[name].mean():.0f}" for name in ("seconds", "cpu_seconds")))
        for rows, part in frame.groupby("relaxed_rows")
    ]
    yield from ("", *record.table(("n'", "error", "seconds", "processor seconds"), cells))


_BY_EPSILON = {"2": f"{figures.MARGINALS} random", "5a": f"{FEW} random"}
"""Figures of errors against epsilon, and their marginals."""
_TABLES = {**dict.fromkeys(_BY_EPSILON, _table_of_errors), "5b": _table_of_rounding, "6": _table_of_sizes}


def claims(frame: pd.DataFrame) -> str:
    """What the paper claims and what was measured here, as one paragraph; a claim that nothing was measured for is left out."""
    sentences = [f"**The paper's claims** ({DECIDED})."]
    for figure, marginals in _BY_EPSILON.items():
        for k, part in frame[frame["figure"] == figure].groupby("k"):
            for other in [name for name in PROGRAMS if name != "rap"]:
                if comparison := by_epsilon(part[part["program"] == "rap"], part[part["program"] == other]):
                    sentences.append(f"RAP's error against that of {PROGRAMS[other].title} ({marginals} {k}-way): {comparison}.")
    for k, part in frame[frame["figure"] == "5b"].groupby("k"):
        five = float(np.mean([each["5"] for each in part["rounded"]])) / part["error"].mean() - 1
        close = "close, as claimed" if five < 0.1 else "not close"
        sentences.append(f"Rounded five times, rows err {five:+.0%} against the relaxed table ({k}-way): {close}.")
    for k, part in frame[frame["figure"] == "6"].groupby("k"):
        by_size = part.groupby("relaxed_rows")["error"].mean().to_dict()
        if 1000 in by_size:
            near = "holds" if by_size[1000] < 1.25 * min(by_size.values()) else "does not hold"
            least = f"{by_size[1000]:.4f} against {min(by_size.values()):.4f}"
            sentences.append(f"With n' = 1000 the error is near its least ({k}-way): {near} ({least}).")
    return "\n- ".join(sentences)


if __name__ == "__main__":
    sys.exit(main())
