"""Bounds and bins of a column of numbers or dates, from noisy counts alone.

A tree of cells, looked at from the root down. The first look is at a public grid that is far wider than any column: 1, 2 and 5 times the
powers of ten, years for dates. Cells with many records are then divided, at round numbers again, for the next look; what lies beyond the
first and the last sign of records is cut off. In the end neighbouring cells are merged until they hold about the same number of records,
and bins that are uneven inside are cut where fewer are made than may be.
So edges are round and rise by construction, with any noise. Every function here is post-processing of noisy counts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.kinds.kind import MOST_PARTS, Scale
from dpsynth_core.vocabulary.measurement import ROUNDING, MarginalCounts

Counts = NDArray[np.float64]
Edges = tuple[float, ...]

SIGN = 5.0
"""Standard deviations of noise beyond which a count is taken for a sign of records: noise alone gives such a sign in one cell of three
million."""

UNEVEN = 3.0
"""Standard deviations of noise beyond which a bin is taken for uneven. A cut too many costs little: bins are only cut while there are too
few."""


def grid(column: Attribute) -> Edges:
    """Return the edges of the cells of the first look at a column, a very wide range of round numbers.

    They depend on the column's scale alone, not on the table.
    """
    return tuple(column.scale.first_look())


def cells(column: Attribute, edges: Edges) -> Attribute:
    """Return the column with cells between these edges, and a cell for missing values.

    Numbers beyond the edges count in the first and the last cell.

    Args:
        column: The column.
        edges: Edges of the cells, ascending, on the column's scale; a cell includes its lower edge.
    """
    scale = column.scale
    lower, upper = scale.value(edges[0]), scale.value(edges[-1] - scale.whole)
    return Attribute.binned(column.name, column.kind, lower, upper, edges=edges, precision=column.precision, missing=True, nearest=True)


def found(column: Attribute, bins: Edges) -> Attribute:
    """Return the column with the learnt bins.

    Numbers beyond them count in a cell of their own if the column was declared so, else in the first
    and the last bin.
    """
    made = cells(column, bins)
    return replace(made, nearest=False, other=True) if column.other else made


def trimmed(edges: Edges, counts: Counts, sigma: float) -> tuple[Edges, Counts]:
    """Return edges and counts without the cells before the first and after the last sign of records.

    A sign is a sum of neighbouring cells that is more than 5 deviations (`SIGN`) of its noise. Without any
    sign, only the cell with the largest count is kept.

    Args:
        edges: Edges of the cells.
        counts: Noisy counts of the cells, in records, one fewer than edges.
        sigma: Standard deviation of their noise, in records.
    """
    first, last = _onset(counts, sigma), _onset(counts[::-1], sigma)
    if first is None or last is None or first >= len(counts) - last:
        first, last = int(counts.argmax()), len(counts) - 1 - int(counts.argmax())
    end = len(counts) - last
    return edges[first : end + 1], counts[first:end]


def _onset(counts: Counts, sigma: float) -> int | None:
    """Return the index of the cell in which records begin; None without a sign of records.

    A running sum that noise hardly explains shows that they began; its lowest point before shows
    where.
    """
    before = np.concatenate([[0.0], np.cumsum(counts)])
    lengths = np.arange(1, len(counts) + 1)
    for end in range(1, len(counts) + 1):
        rises = before[end] - before[:end]
        if (rises > SIGN * sigma * np.sqrt(lengths[:end][::-1])).any():
            return int(np.argmax(rises / np.sqrt(lengths[:end][::-1])))
    return None


def divided(scale: Scale, edges: Edges, counts: Counts, sigma: float, most: int) -> Edges:
    """Return the edges of the next look: cells with many records are divided at round numbers.

    The outer cells, and cells with more than an equal share of the records, are divided into as
    many parts as leave a sign of records above the noise of all parts (5 deviations, `SIGN`). Other cells
    stay as they are.

    Args:
        scale: The scale of the column, which knows round numbers.
        edges: Edges of the cells.
        counts: Noisy counts of the cells, in records.
        sigma: Standard deviation of their noise, in records.
        most: Largest number of cells of the column; an equal share is the sum of the counts over
            this.
    """
    share = float(np.maximum(counts, 0).sum()) / most
    finer, outer = [edges[0]], (edges[0], edges[-1])
    for (low, high), count in zip(pairwise(edges), counts, strict=True):
        worth = count > share or low in outer or high in outer
        parts = min(MOST_PARTS, int((max(0.0, float(count)) / (SIGN * sigma)) ** 2 / 2)) if worth else 0
        cuts = (inner for inner in scale.round_cuts(low, high) if len(inner) < parts)  # round numbers, as many as fit
        finer += [*(next(cuts, []) if parts > 1 else []), high]
    return tuple(finer)


def merged(edges: Edges, counts: Counts, sigma: float, bins: int) -> Edges:
    """Return the edges of at most `bins` bins, by merging neighbouring cells from below to about equal counts.

    A bin ends where it holds its equal share of the records left, and a sign of records: at least twice its
    noise. A cell that holds this much by itself, a frequent value, begins a bin: the cells before it become
    a bin if they are a sign of records themselves, or else part of the bin before, if that holds fewer
    records than the cell.

    Args:
        edges: Edges of the cells.
        counts: Noisy counts of the cells, in records.
        sigma: Standard deviation of their noise, in records.
        bins: Largest number of bins.
    """
    left, kept, held, width, last = float(np.maximum(counts, 0).sum()), [edges[0]], 0.0, 0, math.inf
    for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
        free = bins - len(kept) + 1
        if width and free > 1 and count >= max(left / free, 2 * sigma):
            sign = free > 2 and held >= 2 * sigma * math.sqrt(width)
            if sign or last < count:
                kept = [*kept, low] if sign else [*kept[:-1], low]
                left, last, held, width = left - held, held if sign else last + held, 0.0, 0
        held, width, free = held + count, width + 1, bins - len(kept) + 1
        if high < edges[-1] and free > 1 and held >= max(left / free, 2 * sigma * math.sqrt(width)):
            left, last, held, width = left - held, held, 0.0, 0
            kept.append(high)
    return (*kept, edges[-1])


def refined(bins: Edges, edges: Edges, counts: Counts, sigma: float, most: int) -> Edges:
    """Return the edges of the bins after cutting uneven ones, up to `most` bins.

    Each cut moves the most records relative to an even spread over its bin, among the cuts that
    noise hardly explains (more than 3 deviations, `UNEVEN`). Without such a cut the bins stay as they are.
    Rows are drawn evenly from a bin, so this removes the error of a wide bin.

    Args:
        bins: Edges of the bins, a subset of `edges`.
        edges: Edges of the cells.
        counts: Noisy counts of the cells, in records.
        sigma: Standard deviation of their noise, in records.
        most: Largest number of bins.
    """
    at, below, finer = np.asarray(edges, dtype=np.float64), np.concatenate([[0.0], np.cumsum(counts)]), list(bins)
    candidates = [_best_cut(at, below, sigma, low, high) for low, high in pairwise(bins)]
    while len(finer) <= most and max(moved := [records for records, _ in candidates]):
        i = int(np.argmax(moved))
        finer.insert(i + 1, edges[candidates[i][1]])
        candidates[i : i + 1] = [_best_cut(at, below, sigma, low, high) for low, high in pairwise(finer[i : i + 3])]
    return tuple(finer)


def _best_cut(at: Counts, below: Counts, sigma: float, low: float, high: float) -> tuple[float, int]:
    """Find the edge at which a bin's records depart most from an even spread.

    Args:
        at: The position of each edge.
        below: The noisy number of records before each edge.
        sigma: Standard deviation of the noise of one cell's count.
        low: The lower edge of the bin.
        high: The upper edge of the bin.

    Returns:
        The number of records below the cut beyond, or short of, an even spread, and the index of
        the cut in `at`. If noise explains every cut, the number is 0 and the index means nothing.
    """
    first, last = np.searchsorted(at, [low, high])
    cuts = np.arange(first + 1, last)
    part, all_cells = (at[cuts] - at[first]) / (at[last] - at[first]), last - first
    moved = np.abs(below[cuts] - below[first] - part * (below[last] - below[first]))
    noise = sigma * np.sqrt((cuts - first) * (1 - part) ** 2 + (last - cuts) * part**2)
    moved = np.where(moved > UNEVEN * noise, moved, 0.0)
    return (float(moved.max()), int(cuts[moved.argmax()])) if all_cells > 1 else (0.0, 0)


def counts(column: Attribute, bins: Edges, edges: Edges, noisy: Counts, sigma: float) -> MarginalCounts:
    """Return the noisy counts of a learnt column's cells, summed from finer cells, with variances, in records.

    The counts are in this order: the bins, a cell for numbers beyond them if the column has one, missing
    values. The finer cells count numbers beyond their edges in the nearest cell, as bins do. If the column
    has a separate cell for such numbers, its count is stated as 0, and the variances of this cell and of
    the first and the last bin are infinite.

    Args:
        column: The column as declared.
        bins: Edges of the bins.
        edges: Edges of the finer cells.
        noisy: Noisy counts of the finer cells, missing values last.
        sigma: Standard deviation of the noise of a finer cell, in records.
    """
    values = len(bins) - 1
    places = np.append(np.clip(np.searchsorted(bins, edges[:-1], side="right") - 1, 0, values - 1), values)
    sums, parts = (np.asarray(np.bincount(places, weights), dtype=np.float64) for weights in (noisy, None))
    variances = parts * float(sigma**2 + ROUNDING)
    if column.other:
        sums, variances = np.insert(sums, values, 0.0), np.insert(variances, values, np.inf)
        variances[[0, values - 1]] = np.inf
    return MarginalCounts((column.name,), sums, variances)
