"""Draws the figures of docs/explanation/papers.md from benchmarks/results: `python -m docs.figures`. A test compares what is there with
what this makes. A dot is a run, a line goes through means; both axes are logarithmic, as in the papers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
COMMAND = "python -m docs.figures"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's, which people with any colour vision tell apart; each line also has its name at its end."""
LEFT, TOP, WIDTH, HEIGHT, RIGHT = 70, 50, 430, 270, 150
LINE = 15


Points = dict[str, dict[float, list[float]]]


@dataclass(frozen=True)
class Figure:
    """record: of benchmarks/results. by: the field of a run that names its line. lines: of the figure, with their titles. where: other
    fields of its runs. across, up: the fields on the axes."""

    record: str
    title: str
    error: str
    by: str
    lines: Mapping[Any, str]
    where: Mapping[str, Any]
    across: str = "epsilon"
    up: str = "error"
    about: str = "by epsilon; lower is better"

    def points(self) -> Points:
        """What is on the upright axis of all runs, by title of the line and what is on the other."""
        found: Points = {title: {} for title in self.lines.values()}
        for run in self.runs():
            if run[self.by] in self.lines and self.up in run:
                found[self.lines[run[self.by]]].setdefault(run[self.across], []).append(run[self.up])
        return {title: dict(sorted(errors.items())) for title, errors in found.items() if errors}

    def runs(self) -> list[dict[str, Any]]:
        runs = json.loads((ROOT / "benchmarks" / "results" / f"{self.record}.json").read_text(encoding="utf-8"))["runs"]
        runs = [run | {"line": f"{run.get('program')} {run.get('table')}"} for run in runs]
        return [run for run in runs if all(run.get(key) == value for key, value in self.where.items())]


FIGURES = {
    "aim": Figure(
        "aim_figures",
        "Titanic, all tables of three columns",
        "workload error",
        "mechanism",
        {
            "aim": "AIM",
            "aim@paper": "AIM as published",
            "mst": "MST",
            "mwem_pgm": "MWEM+PGM",
            "privbayes": "PrivBayes+PGM",
            "gem": "GEM",
            "independent": "Independent",
        },
        {"table": "titanic", "workload": "all-3way", "max_size_mb": 0.0},
    ),
    "aim-samples": Figure(
        "aim_figures",
        "Titanic, AIM with our defaults",
        "share of the people of whom a sample errs as much",
        "workload",
        {"all-3way": "all triples", "target": "with the target", "skewed": "skewed"},
        {"table": "titanic", "mechanism": "aim", "max_size_mb": 0.0},
        up="sample",
        about="by epsilon; higher is better",
    ),
    "rap": Figure(
        "rap",
        "Adult, 64 random tables of three columns",
        "largest error of a cell",
        "program",
        {"aim": "AIM", "rap": "RAP", "rp": "all measured at once", "fem": "FEM", "zero": "answering 0"},
        {"figure": "2", "k": 3},
    ),
    "fem": Figure(
        "fem",
        "Adult, 64 random tables of three columns",
        "largest error of a cell",
        "program",
        {"aim": "AIM", "fem": "FEM", "dualquery": "DualQuery", "hdmm": "HDMM", "gaussian-even": "noise on each table"},
        {"figure": 1, "k": 3, "marginals": 64},
    ),
    "rap-rows": Figure(
        "rap",
        "Adult, 64 random tables, epsilon 1, RAP",
        "largest error of a cell",
        "k",
        {3: "three columns"},
        {"figure": "6"},
        across="relaxed_rows",
        about="by the number of relaxed rows; lower is better",
    ),
    "pmwpub": Figure(
        "pmwpub",
        "Adult, 256 random tables of three columns",
        "largest error of a cell",
        "line",
        {
            "pmwpub 0": "no bias",
            "pmwpub 0.45": "bias 0.45",
            "pmwpub 0.65": "bias 0.65",
            "pmwpub men": "men only",
            "dualquery ": "DualQuery",
            "aim ": "AIM",
        },
        {},
    ),
}


def drawn(figure: Figure) -> str:
    points = figure.points()
    epsilons = sorted({epsilon for errors in points.values() for epsilon in errors})  # or what else is across
    errors = list(chain.from_iterable(chain.from_iterable(one.values() for one in points.values())))
    low, high = min(errors), max(errors)

    def x(epsilon: float) -> float:
        return LEFT + WIDTH * math.log(epsilon / epsilons[0]) / math.log(epsilons[-1] / epsilons[0])

    def y(error: float) -> float:
        return TOP + HEIGHT * math.log(high / error) / math.log(high / low)

    parts = [_text(LEFT, 24, figure.title, size=15), _text(LEFT, 42, f"{figure.error}, {figure.about}")]
    for epsilon in _round_numbers(epsilons[0], epsilons[-1], (1,)):
        parts += [_rule(x(epsilon), TOP, x(epsilon), TOP + HEIGHT), _text(x(epsilon), TOP + HEIGHT + 20, f"{epsilon:g}", "middle")]
    for error in _round_numbers(low, high):
        parts += [_rule(LEFT, y(error), LEFT + WIDTH, y(error)), _text(LEFT - 8, y(error) + 4, f"{error:g}", "end")]
    heights = _apart({title: y(fmean(errors[max(errors)])) for title, errors in points.items() if errors})
    for (title, errors_at), colour in zip(points.items(), COLOURS, strict=False):
        means = " ".join(f"{x(epsilon):.1f},{y(fmean(of)):.1f}" for epsilon, of in errors_at.items())
        parts.append(f'<polyline points="{means}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for epsilon, of in errors_at.items():
            parts += [f'<circle cx="{x(epsilon):.1f}" cy="{y(error):.1f}" r="3" fill="{colour}"/>' for error in of]
        parts.append(_text(x(max(errors_at)) + 10, heights[title] + 4, title, colour=colour))
    width, height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + 34
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *parts, "</svg>", ""])


def _round_numbers(low: float, high: float, times_ten: Sequence[int] = (1, 2, 5)) -> Iterator[float]:
    """These times powers of ten."""
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        yield from (number for times in times_ten if low <= (number := float(f"{times}e{power}")) <= high)


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """The same from top to bottom, each at least a line below the one before."""
    placed: dict[str, float] = {}
    for title, height in sorted(heights.items(), key=lambda one: one[1]):
        placed[title] = max([height, *(before + LINE for before in placed.values())])
    return placed


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", *, size: int = 12, colour: str = "#333333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'


def main() -> None:
    for name, figure in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(drawn(figure), encoding="utf-8")


if __name__ == "__main__":
    main()
