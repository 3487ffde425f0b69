"""How programs read their options, keep what they measured, and go on where they were interrupted.

A record is NAME.json in the folder of results, its table NAME.md beside it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.programs import OURS, versions
from benchmarks.table import RESULTS

Point = Mapping[str, Any]

_HELP = {
    "runs": "of each point, those in the record included where there are any (default: %(default)s)",
    "times": "so many tries, fewer where --seconds are over before (default: %(default)s)",
    "seconds": "by the clock; 0: until all is tried (default: %(default)s)",
    "k": "columns of a marginal (default: %(default)s)",
    "workload": "as on the command line (default: %(default)s)",
}


def parser(about: str | None, among: Mapping[str, Iterable[Any]] = MappingProxyType({}), **defaults: Any) -> argparse.ArgumentParser:
    """Options of a program that keeps a record: `options`, and the folder of results."""
    return options(about, among, **defaults, results=RESULTS)


def options(about: str | None, among: Mapping[str, Iterable[Any]] = MappingProxyType({}), **defaults: Any) -> argparse.ArgumentParser:
    """Options by their defaults, of which each says what it reads: a list takes one value or more. about: the program's docstring.
    among: the values that options may have."""
    made = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        several = isinstance(default, list | tuple)
        kind, about_it = type(default[0] if several else default), _HELP.get(name, "(default: %(default)s)")
        choices = list(among[name]) if name in among else None
        made.add_argument(
            f"--{name}",
            type=Path if issubclass(kind, Path) else kind,
            nargs="*" if several else None,
            default=default,
            choices=choices,
            metavar="NAME" if choices and len(choices) > 9 else None,
            help=about_it,
        )
    return made


def numbers(times: int, seconds: float = 0) -> Iterator[int]:
    """Of tries, from 0: so many, or until so many seconds are over. 0 seconds: no end of time."""
    until = time.monotonic() + (seconds or math.inf)
    return itertools.takewhile(lambda _: time.monotonic() < until, range(times))


def now() -> str:
    """The time as records have it: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def machine() -> dict[str, Any]:
    """Day, cores and versions of what was measured here."""
    return {"day": f"{datetime.now(UTC):%Y-%m-%d}", "cores": os.cpu_count(), "versions": versions(OURS)}


def earlier(place: Path) -> Any:
    """The record of before; an empty list where there is none."""
    file = place.with_suffix(".json")
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def instead(runs: Iterable[dict[str, Any]], run: dict[str, Any], *question: str) -> list[dict[str, Any]]:
    """The runs with this one in place of those of the same question. question: keys of a run."""
    return [*(one for one in runs if any(one[key] != run[key] for key in question)), run]


_LARGE = 1_000_000


def write(place: Path, record: Any, lines: Iterable[str] = ()) -> None:
    """Keep the record, and the lines of its table, which are printed too."""
    if text := keep(place, record, lines):
        print(text)


def keep(place: Path, record: Any, lines: Iterable[str]) -> str:
    """The same without printing; the text of the table. A record of more than a megabyte has no line breaks."""
    place.parent.mkdir(parents=True, exist_ok=True)
    kept = json.dumps(record, indent=1)
    kept = kept if len(kept) <= _LARGE else json.dumps(record, separators=(",", ":"))
    place.with_suffix(".json").write_text(kept + "\n", encoding="utf-8")
    if text := "\n".join(lines):
        place.with_suffix(".md").write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return text


def table(titles: Sequence[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """Lines of a table in Markdown."""
    return [row(titles), "|" + "---|" * len(titles), *map(row, rows)]


def row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def opened(place: Path) -> dict[str, Any]:
    """The record of points, with its "runs", as of this machine; an empty one where there is none."""
    return (earlier(place) or {"runs": []}) | {"cores": os.cpu_count(), "versions": versions(OURS)}


@dataclass(frozen=True)
class Program:
    """A program that measures points. about: its docstring. defaults, among: of its options. points: those that options ask for. measure:
    one run. lines: the tables of a record. prepare: what else the record of these points holds."""

    name: str
    about: str | None
    points: Callable[[argparse.Namespace], Iterable[Point]]
    measure: Callable[[Point], Point]
    lines: Callable[[Mapping[str, Any]], Iterable[str]]
    defaults: Mapping[str, Any]
    among: Mapping[str, Iterable[Any]]
    prepare: Callable[[dict[str, Any], Sequence[Point]], None] = lambda _kept, _points: None

    def main(self, arguments: Sequence[str] | None = None) -> None:
        options = self._parser().parse_args(arguments)
        self.fill(list(self.points(options)), options.runs, options.results)

    def asked(self, arguments: Sequence[str]) -> list[Point]:
        return list(self.points(self._parser().parse_args(arguments)))

    def fill(self, points: Sequence[Point], times: int, results: Path = RESULTS) -> None:
        """As `fill`, in the program's record."""
        kept = opened(results / self.name)
        self.prepare(kept, points)
        fill(kept, points, times, self.measure, self.lines, results / self.name)

    def _parser(self) -> argparse.ArgumentParser:
        return parser(self.about, self.among, **self.defaults)


def fill(
    record: Mapping[str, Any],
    points: Iterable[Point],
    times: int,
    measure: Callable[[Point], Point],
    lines: Callable[[Mapping[str, Any]], Iterable[str]],
    place: Path,
) -> None:
    """Measure every point until the record has it so many times, all of them once before any twice. After each run and at the end the
    record is kept and its table written."""
    wanted, runs = list(points), record["runs"]
    for number in range(times):
        for point in wanted:
            if times_measured(runs, point) <= number:
                began = {"began": now(), "load": round(os.getloadavg()[0], 1)}
                runs.append({**point, **began, **measure(point)})
                print(runs[-1], file=sys.stderr, flush=True)
                keep(place, record, lines(record))
    write(place, record, lines(record))


def times_measured(runs: Iterable[Point], point: Point) -> int:
    return sum(point.items() <= run.items() for run in runs)
