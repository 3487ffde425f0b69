"""Do answers about ranges that cut groups hold, over every kind of column?

Invents people with columns of every kind, makes releases of them, and asks of each thousands of ranges whose ends lie anywhere: inside
groups, at their edges, at the bounds and beyond, open, strict, single values, several at once. The true answer is that of the people's own
values. An answer holds where its interval contains it; a guess has none; a range without an order is refused. Also counted is how often a
range was narrowed: it cuts groups of people, and the answer does not say so; and how many rows drawn from a range are outside of it.

    python -m benchmarks ranges_asked
    python -m benchmarks ranges_asked --mechanisms gaussian --ranges 1000
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import dpsynth_core as dps
from benchmarks import record
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.report.asking import Answer, parts
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

Numbers = NDArray[np.float64]
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "whole": {"kind": "integer", "lower": 0, "upper": 99, "width": 10},
    "single": {"kind": "integer", "lower": 0, "upper": 30, "width": 1},
    "uneven": {"kind": "integer", "lower": 0, "upper": 50_000, "edges": [1000, 5000, 20_000], "own_cells": [0, 50_000]},
    "gaps": {"kind": "integer", "lower": 0, "upper": 20, "width": 6, "missing": True, "other": True},
    "decimal": {"kind": "numeric", "lower": 0, "upper": 100, "width": 12.5, "decimals": 2},
    "heaped": {"kind": "numeric", "lower": 0, "upper": 1, "bins": 6, "own_cells": [0]},
    "month": {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "width": "month"},
    "week": {"kind": "date", "lower": "2024-01-03", "upper": "2024-03-20", "width": 7},
    "moment": {"kind": "timestamp", "lower": "2024-01-01 00:00", "upper": "2024-01-07 23:59", "precision": "minute", "width": "12 hours"},
    "clock": {"kind": "time", "lower": "00:00", "upper": "23:59", "precision": "minute", "width": "3 hours"},
    "stay": {"kind": "duration", "lower": "00:00:00", "upper": "72:00:00", "precision": "minute", "width": "6 hours"},
    "grade": {"kind": "ordinal", "categories": ["poor", "fair", "good", "very good", "best"]},
    "sex": {"kind": "categorical", "categories": ["f", "m"]},
}
RANGED = tuple(name for name in COLUMNS if name != "sex")
SINGLE = ("count", "count by sex", "count of two", "share", "share in a range", "mean", "median", "difference", "list")
BROKEN_DOWN = ("lines of another column", "lines of its own cells", "shares in lines", "means in lines", "table")
STATISTICS = (*SINGLE, *BROKEN_DOWN)
_COUNTED = ("asked", "cut", "refused", "guesses", "hold", "cut ones hold", "narrowed")
_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class People:
    """Invented people.

    Attributes:
        domain: Their columns.
        numbers: By column, the number of each person's value; NaN where it is missing or beyond the bounds.
        frame: Their table.
    """

    domain: Domain
    numbers: Mapping[str, Numbers]
    frame: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Ranged:
    """A range as it is asked for, and the people in it."""

    column: str
    said: Any
    inside: NDArray[np.bool_]


@dataclass(frozen=True)
class Outcome:
    """What became of one question: `column` and `statistic` name it; held is None for guesses and refusals."""

    column: str
    statistic: str
    held: bool | None
    refused: bool = False
    narrowed: bool = False
    cut: bool = False


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, mechanisms=["gaussian", "independent", "mst"], epsilon=4.0, people=4000, ranges=10_000, samples=40)
    options = parser.parse_args(arguments)
    outcomes, outside = list[Outcome](), 0
    for number, mechanism in enumerate(options.mechanisms):
        print(f"release by {mechanism}", file=sys.stderr)
        known = people(options.people, number)
        release = released(known, mechanism, options.epsilon)
        outcomes += asked(known, release, -(-options.ranges // len(options.mechanisms)), number)
        if mechanism != "gaussian":
            outside += sum(drawn_outside(known, release, options.samples, number))
    print(written(options, outcomes, outside))


def people(count: int, seed: int) -> People:
    """Invent people whose columns depend on one hidden number, and are heaped, skewed or even."""
    rng = np.random.default_rng(seed)
    listed = [{"name": name, "missing": False, "other": False, **said} for name, said in COLUMNS.items()]
    domain = Domain.from_json({"version": 1, "attributes": listed})
    hidden = rng.normal(size=count)
    numbers, frame = dict[str, Numbers](), dict[str, Any]()
    for attribute in domain:
        if not attribute.is_number:
            place = np.clip(attribute.values / 2 + hidden + rng.normal(size=count), 0, attribute.values - 1).astype(int)
            numbers[attribute.name], frame[attribute.name] = place.astype(float), np.array(attribute.categories)[place]
            continue
        low, high = attribute.edges[0], attribute.edges[-1]
        spread = 1 / (1 + np.exp(-hidden - rng.normal(size=count) * rng.uniform(0.5, 3)))
        value = low + (high - low) * spread ** rng.uniform(0.5, 3)
        value = np.where(rng.random(count) < 0.2, low + (high - low) * np.round(4 * spread) / 4, value)
        if attribute.scale.whole:
            value = np.clip(np.floor(value), low, high - 1)
        else:
            value = np.clip(np.round(value, attribute.decimals or 3), low, attribute.upper)
        values = [attribute.scale.value(one) for one in value.tolist()]
        if attribute.scale.whole and attribute.kind == "integer":
            values = list(map(int, values))
        if attribute.missing:
            gone, beyond = rng.random(count) < 0.1, rng.random(count) < 0.1
            values = [None if no else int(high) + 5 if far else one for one, no, far in zip(values, gone, beyond, strict=True)]
            value = np.where(gone | beyond, np.nan, value)
        numbers[attribute.name], frame[attribute.name] = value, pd.Series(values, dtype="Int64" if attribute.missing else None)
    return People(domain, numbers, pd.DataFrame(frame))


def released(known: People, mechanism: str, epsilon: float) -> dps.Release:
    """Make a release whose tables are all pairs of columns."""
    count = len(known.frame)
    plan = dps.plan(known.frame, known.domain, epsilon=epsilon, tables=2, people=count, mechanism=mechanism)
    return plan.run(progress=False)


def ranges(known: People, column: str, rng: np.random.Generator) -> Ranged:
    """Draw a range of a column, written in one of the ways that there are."""
    attribute, numbers = known.domain[column], known.numbers[column]
    if not attribute.is_number:
        first, last = sorted(rng.integers(attribute.values, size=2).tolist())
        labels = attribute.cell_labels()
        said: Any = f"{labels[first]}..{labels[last]}" if rng.random() < 0.5 else (labels[first], labels[last])
        return Ranged(column, said, (numbers >= first) & (numbers <= last))
    low, high = (_end(attribute, rng) for _ in range(2))
    low, high = min(low, high), max(low, high)
    if not attribute.scale.whole and low == high:
        high += 0.01
    way = rng.integers(7)
    value: Callable[[float], Any] = partial(_value, attribute)
    text = (lambda number: f"{number:g}") if attribute.kind in ("integer", "numeric") else lambda number: str(attribute.scale.text(number))
    above, below = numbers >= low, numbers <= high
    if not attribute.scale.whole and high in attribute.edges[:-1] and high not in (0.0,):
        below = numbers < high  # cells are half-open, and an end at an edge is that edge
    if way == 0:
        return Ranged(column, (value(low), None), above)
    if way == 1:
        return Ranged(column, f"..{text(high)}", below)
    if way == 2 and attribute.scale.whole and low < attribute.edges[-1] - 1:
        return Ranged(column, f"> {text(low)}", numbers > low)
    if way == 3 and attribute.scale.whole and high > attribute.edges[0]:
        return Ranged(column, f"<{text(high)}", numbers < high)
    if way == 4:
        return Ranged(column, f"{text(low)}..{text(high)}", above & below)
    return Ranged(column, (value(low), value(high)), above & below)


def _end(attribute: Attribute, rng: np.random.Generator) -> float:
    low, high = attribute.edges[0], attribute.edges[-1]
    if rng.random() < 0.15:
        edge = float(rng.choice(attribute.edges[:-1]))
        return edge - (attribute.scale.whole and rng.random() < 0.5 and edge > low)
    if attribute.scale.whole:
        return float(rng.integers(int(low), int(high)))
    return float(np.round(rng.uniform(low, attribute.upper), attribute.decimals or 3))


def _value(attribute: Attribute, number: float) -> Any:
    value = attribute.scale.value(number)
    if attribute.kind == "integer":
        return np.int64(value) if int(number) % 2 else int(value)
    if attribute.kind == "month" or attribute.kind == "timestamp":
        return pd.Timestamp(value) if int(number) % 2 else np.datetime64(value)
    return value


def asked(known: People, release: dps.Release, number: int, seed: int) -> Iterator[Outcome]:
    """Ask questions about ranges of all columns in turn."""
    rng = np.random.default_rng(1000 + seed)
    for place in range(number):
        column, statistic = RANGED[place % len(RANGED)], STATISTICS[place // len(RANGED) % len(STATISTICS)]
        one = ranges(known, column, rng)
        other = ranges(known, str(rng.choice([name for name in RANGED if name != column])), rng)
        if statistic in BROKEN_DOWN:
            yield from _lines(known, release, statistic, one)
        else:
            yield _outcome(known, release, statistic, one, other, rng)


def _outcome(known: People, release: dps.Release, statistic: str, one: Ranged, other: Ranged, rng: np.random.Generator) -> Outcome:
    sex = known.numbers["sex"] == 0
    single = known.numbers["single"]
    of = {one.column: one.said}
    both = {**of, other.column: other.said}
    inside, two = one.inside, one.inside & other.inside
    true: float | None
    match statistic:
        case "count":
            ask, true = partial(release.ask, "count", of), float(inside.sum())
        case "count by sex":
            ask, true = partial(release.ask, "count", {**of, "sex": "f"}), float((inside & sex).sum())
        case "count of two":
            ask, true = partial(release.ask, "count", both), float(two.sum())
        case "share":
            ask, true = partial(release.ask, "share", {"sex": "f"}, among=of), _share(inside & sex, inside)
        case "share in a range":
            ask, true = partial(release.ask, "share", {other.column: other.said}, among=of), _share(two, inside)
        case "mean":
            ask, true = partial(release.ask, "mean", "single", among=of), float(single[inside].mean()) if inside.any() else None
        case "median":
            ask = partial(release.ask, "median", "single", among=of)
            true = float(np.sort(single[inside])[-(-int(inside.sum()) // 2) - 1]) if inside.any() else None
        case "difference":
            versus = ranges(known, one.column, rng)
            ask = partial(release.ask, "difference", {"sex": "f"}, among=of, versus={one.column: versus.said})
            shares = _share(inside & sex, inside), _share(versus.inside & sex, versus.inside)
            true = None if None in shares else float(shares[0] or 0) - float(shares[1] or 0)
        case _:
            attribute, numbers = known.domain[one.column], known.numbers[one.column]
            picked = rng.choice(numbers[np.isfinite(numbers)], 2)
            values = [attribute.categories[int(n)] if not attribute.is_number else _value(attribute, float(n)) for n in picked]
            inside = np.isin(numbers, picked)
            ask, true = partial(release.ask, "count", {one.column: values}), float(inside.sum())
    try:
        answer = ask()
    except InputError:
        return Outcome(one.column, statistic, None, refused=True)
    assert isinstance(answer, Answer), "these questions have no breakdown"
    cut = "cuts the group" in str(answer)
    return _judged(known, one.column, statistic, answer, true, inside, cut)


def _lines(known: People, release: dps.Release, statistic: str, one: Ranged) -> Iterator[Outcome]:
    """Ask a question about a range whose answer has a line for each cell of a column; yield the outcome of each line."""
    sex, single, inside, of = known.numbers["sex"] == 0, known.numbers["single"], one.inside, {one.column: one.said}
    by = "sex" if statistic in ("lines of another column", "table") else one.column
    ask: Mapping[str, Callable[[], Any]] = {
        "shares in lines": partial(release.ask, "share", {"sex": "f"}, among=of, by=by),
        "means in lines": partial(release.ask, "mean", "single", among=of, by=by),
        "table": partial(release.ask, "table", ["sex"], among=of),
    }
    try:
        answers = ask.get(statistic, partial(release.ask, "count", among=of, by=by))()
    except InputError:
        yield Outcome(one.column, statistic, None, refused=True)
        return
    codes = parts(known.domain, of, "among")[by].cells if by in of else range(known.domain[by].size)
    cut, cells = "cuts the group" in str(answers), _cells(known, by)
    for code, answer in zip(codes, answers, strict=True):
        line = inside & (cells == code)
        true = {
            "shares in lines": _share(line & sex, line),
            "means in lines": float(single[line].mean()) if line.any() else None,
            "table": _share(line, inside),
        }.get(statistic, float(line.sum()))
        yield _judged(known, one.column, statistic, answer, true, inside, cut)


def _judged(
    known: People, column: str, statistic: str, answer: Answer, true: float | None, inside: NDArray[np.bool_], cut: bool
) -> Outcome:
    if answer.low is None or answer.high is None or true is None:
        return Outcome(column, statistic, None, cut=cut)
    held = float(answer.low) - _SLACK <= true <= float(answer.high) + _SLACK
    return Outcome(column, statistic, held, cut=cut, narrowed=_cuts(known, column, inside) and not cut)


def _cuts(known: People, column: str, inside: NDArray[np.bool_]) -> bool:
    """Whether some people of a cell are in a range and others are not."""
    places, there = _cells(known, column), np.isfinite(known.numbers[column])
    return bool(set(places[there & inside].tolist()) & set(places[there & ~inside].tolist()))


def _cells(known: People, column: str) -> NDArray[np.integer]:
    """Return the cell of each person's value; -1 where the value is missing or beyond the bounds."""
    attribute, numbers = known.domain[column], known.numbers[column]
    there = np.isfinite(numbers)
    places = np.where(there, numbers, -1).astype(int)
    if attribute.is_number:  # the last cell has its upper end
        places = np.minimum(np.searchsorted(attribute.edges, numbers, side="right"), attribute.values) - 1
    return np.where(there, places, -1)


def _share(part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> float | None:
    return float(part.sum() / whole.sum()) if whole.any() else None


def drawn_outside(known: People, release: dps.Release, number: int, seed: int) -> Iterator[int]:
    """How many rows that are drawn from a range lie outside of it, range by range."""
    rng = np.random.default_rng(2000 + seed)
    for place in range(number):
        one = ranges(known, RANGED[place % len(RANGED)], rng)
        try:
            rows = dps.sample(release, 50, {one.column: one.said}).rows
        except InputError:
            continue
        values = sorted(set(known.frame[one.column][one.inside].dropna()))
        drawn = rows[one.column]
        if not known.domain[one.column].is_number:
            yield int((~drawn.isin(values)).sum())
            continue
        yield _outside(known.domain[one.column], one, drawn)


def _outside(attribute: Attribute, one: Ranged, drawn: pd.Series) -> int:
    """How many values are not in a range that is written as two ends; ends of other forms are tried by the tests."""
    if not isinstance(one.said, tuple) or None in one.said:
        return 0
    low, high = (attribute.scale.number(attribute.scale.typed("", _plain(end))) for end in one.said)
    numbers = np.array([attribute.scale.number(attribute.scale.typed("", _plain(value))) for value in drawn])
    return int(((numbers < low) | (numbers > high)).sum())


def _plain(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return pd.Timestamp(value).to_pydatetime()
    return value.item() if isinstance(value, np.generic) else value


def summary(outcomes: Sequence[Outcome], by: str) -> dict[str, dict[str, Any]]:
    """By kind of column or statistic: questions, how many cut groups, were refused or are guesses, and the share of intervals that hold."""
    groups: Mapping[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        groups[getattr(one, by)].append(one)
    return {name: _counted(group) for name, group in groups.items()} | {"all": _counted(outcomes)}


def _counted(group: Sequence[Outcome]) -> dict[str, Any]:
    known = [one.held for one in group if one.held is not None]
    cut = [one.held for one in group if one.held is not None and one.cut]
    return {
        "asked": len(group),
        "cut": sum(one.cut for one in group),
        "refused": sum(one.refused for one in group),
        "guesses": sum(one.held is None and not one.refused for one in group),
        "hold": sum(known) / len(known) if known else None,
        "cut ones hold": sum(cut) / len(cut) if cut else None,
        "narrowed": sum(one.narrowed for one in group),
    }


def written(options: argparse.Namespace, outcomes: Sequence[Outcome], outside: int) -> str:
    """Keep the record; returns it as tables."""
    kept: dict[str, Any] = {name: getattr(options, name) for name in ("mechanisms", "epsilon", "people", "ranges", "samples")}
    kept |= {by: summary(outcomes, by) for by in ("column", "statistic")} | {"rows outside": outside, **record.machine()}
    lines = list[str]()
    for by in ("column", "statistic"):
        rows = [(name, *(_text(one[key]) for key in _COUNTED)) for name, one in kept[by].items()]
        lines += [*record.table((by, *_COUNTED), rows), ""]
    return record.keep(options.results / "ranges_asked", kept, [*lines, f"Rows drawn outside of their range: {outside:,}."])


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:.1%}" if isinstance(number, float) else f"{number:,}"
