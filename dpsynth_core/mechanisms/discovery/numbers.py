"""Bounds and bins of a column of numbers or dates, from noisy counts alone.

A tree of cells, looked at from the root down. The first look is at a public grid that is far wider than any column: 1, 2 and 5 times the
powers of ten, years for dates. Cells with many records are then divided, at round numbers again, for the next look; what lies beyond the
first and the last sign of records is cut off. In the end neighbouring cells are merged until they hold about the same number of records.
So edges are round and rise by construction, whatever the noise. Every function here is post-processing of noisy counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.bins import day_number, day_of

Counts = NDArray[np.float64]
Edges = tuple[float, ...]

SIGN = 5.0
"""Standard deviations of noise beyond which a count is taken for a sign of records: noise alone gives such a sign in one cell of three
million."""
_PARTS = 32
"""A cell is divided into so many at most."""
_POWERS = {"integer": range(16), "numeric": range(-6, 16)}
_YEARS = (1, 1000, 1500, 1600, 1700, 1750, *range(1800, 1900, 10), *range(1900, 2101), 2200, 2500, 9999)


def grid(kind: str) -> Edges:
    """The edges of the first look."""
    if kind == "date":
        return tuple(day_number(date(year, 1, 1)) for year in _YEARS)
    positive = [float(f"{digit}e{power}") for power in _POWERS[kind] for digit in (1, 2, 5)]
    edges = [-edge for edge in reversed(positive)] + [0.0] + positive
    return tuple(int(edge) for edge in edges) if kind == "integer" else tuple(edges)


def cells(name: str, kind: str, edges: Edges) -> Attribute:
    """A column with these cells and one for empty values; numbers beyond the edges count in the first and the last."""
    if kind == "date":
        return Attribute.day(name, day_of(edges[0]), day_of(edges[-1] - 1), edges=edges, missing=True, nearest=True)
    if kind == "integer":
        whole = [int(edge) for edge in edges]
        return Attribute.integer(name, whole[0], whole[-1] - 1, edges=whole, missing=True, nearest=True)
    return Attribute.numeric(name, edges[0], edges[-1], edges=edges, missing=True, nearest=True)


def trimmed(edges: Edges, counts: Counts, sigma: float) -> tuple[Edges, Counts]:
    """Without the cells before the first and after the last sign of records; where there is none, the fullest cell alone."""
    first, last = _onset(counts, sigma), _onset(counts[::-1], sigma)
    if first is None or last is None or first >= len(counts) - last:
        first, last = int(counts.argmax()), len(counts) - 1 - int(counts.argmax())
    end = len(counts) - last
    return edges[first : end + 1], counts[first:end]


def _onset(counts: Counts, sigma: float) -> int | None:
    """Where records begin: a running sum that noise alone hardly explains shows that they did, its lowest point before that shows where."""
    before = np.concatenate([[0.0], np.cumsum(counts)])
    lengths = np.arange(1, len(counts) + 1)
    for end in range(1, len(counts) + 1):
        rises = before[end] - before[:end]
        if (rises > SIGN * sigma * np.sqrt(lengths[:end][::-1])).any():
            return int(np.argmax(rises / np.sqrt(lengths[:end][::-1])))
    return None


def divided(kind: str, edges: Edges, counts: Counts, sigma: float, most: int) -> Edges:
    """The edges of the next look: the outer cells, and those that hold more than an equal share of the records, are divided, into so many
    parts that the sign of the records outlasts the noise of all parts."""
    share = float(np.maximum(counts, 0).sum()) / most
    finer, outer = [edges[0]], (edges[0], edges[-1])
    for (low, high), count in zip(pairwise(edges), counts, strict=True):
        worth = count > share or low in outer or high in outer
        parts = min(_PARTS, int((max(0.0, float(count)) / (SIGN * sigma)) ** 2 / 2)) if worth else 0
        finer += [*_inner(kind, low, high, parts), high]
    return tuple(finer)


def _inner(kind: str, low: float, high: float, parts: int) -> list[float]:
    """Round numbers between two edges, as many as divide the cell into so many parts at most."""
    steps = _date_steps(low, high) if kind == "date" else _number_steps(kind, low, high)
    return next((inner for inner in steps if len(inner) < parts), []) if parts > 1 else []


def _number_steps(kind: str, low: float, high: float) -> Iterator[list[float]]:
    """Multiples of ever larger round steps."""
    first = 0 if kind == "integer" else -12
    for power in range(first, 16):
        for digit in (1, 2, 5):
            step = float(f"{digit}e{power}")
            if (high - low) / step > _PARTS:
                continue
            multiples = range(int(low // step), int(high // step) + 2)
            inner = [float(f"{digit * i}e{power}") for i in multiples]
            yield [int(edge) if kind == "integer" else edge for edge in inner if low < edge < high]


def _date_steps(low: float, high: float) -> Iterator[list[float]]:
    """Days, months, and ever more years."""
    first, last = day_of(low), day_of(high - 1)
    if high - low <= _PARTS:
        yield [low + i for i in range(1, int(high - low))]
    if last.year - first.year < _PARTS:
        months = [date(year, month, 1) for year in range(first.year, last.year + 1) for month in range(1, 13)]
        yield [day for day in map(day_number, months) if low < day < high]
    for years in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        starts = [date(year, 1, 1) for year in range(first.year, last.year + 1) if year % years == 0]
        yield [day for day in map(day_number, starts) if low < day < high]


def merged(edges: Edges, counts: Counts, sigma: float, bins: int) -> Edges:
    """Neighbouring cells put together from below: a bin ends where it holds its equal share of what is left, and a sign of records."""
    left, kept, held, width = float(np.maximum(counts, 0).sum()), [edges[0]], 0.0, 0
    for end, count in zip(edges[1:-1], counts[:-1], strict=True):
        held, width = held + count, width + 1
        free = bins - len(kept) + 1
        if free > 1 and held >= max(left / free, 2 * sigma * math.sqrt(width)):
            left, held, width = left - held, 0.0, 0
            kept.append(end)
    return (*kept, edges[-1])
