"""Move finished rows closer to the model's marginals, one value at a time (engine notes, point 9).

Writing a whole number of rows adds sampling error on top of the model's own error. This local search takes most of it away: it changes
single values of rows wherever that lowers  sum_r c_r ||M_r(rows) - target_r||_1, the workload error against the model (AIM paper,
Definition 2). Post-processing of released values only: it knows rows and targets, never the private table.

A move takes a row out of one cell of every marginal that has the attribute and puts it into another; what that costs is read from tables
kept up to date. Rows are processed in blocks; of the moves that lower the objective, those are made that still lower it after all better
moves before them, so the objective never rises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dpsynth_core.inference.contraction import Labels, Table
from dpsynth_core.vocabulary.marginals import counted

Cells = NDArray[np.int64]
"""Positions in the flat tables of `_Tables`."""

BLOCK_ROWS = 1000
"""Rows in a block. With fewer rows the tables are more up to date and the overhead is larger."""
MOST_ROWS = 100_000
"""Rows in one pass, which bounds its time; a longer table has less sampling error from the start."""
SHORTLIST = 0.2
"""Share of a block whose moves are considered for one attribute; the best ones enter the same few cells."""
ATTEMPTS = 3
"""How often the rest of a shortlist is tried again after its best moves are made."""
LEAST_GAIN = 1e-3


@dataclass(frozen=True)
class _Places:
    """Positions that depend linearly on codes. first: (places, 1).  steps: (places, attributes), of which few matter to each place."""

    first: Cells
    steps: csr_array

    def of(self, codes: Cells) -> Cells:
        """Shape (places, rows). codes: (attributes, rows)."""
        return self.steps @ codes + self.first


@dataclass(frozen=True)
class _Axis:
    """Every marginal that has one attribute, laid out with that attribute last: lines of cells, one cell for each of its `size` values.

    block: where they lie in the flat tables.  weights: c_r.  lines: from codes to the line of each marginal, counted within the block.
    copies: from codes to the cell of each copy of each marginal, in this attribute's layout and in those of the marginal's others.
    """

    size: int
    block: slice
    weights: NDArray[np.float32]
    lines: _Places
    copies: _Places


@dataclass(frozen=True)
class _Tables:
    """surplus: rows minus target of every cell, each marginal once per attribute.  weight: c_r of the cell.
    price: weight * (|x + 1| - |x|) of the surplus x, infinite where the target is zero."""

    surplus: NDArray[np.float32]
    weight: NDArray[np.float32]
    price: NDArray[np.float32]
    axes: list[_Axis | None]


def refine(
    codes: NDArray[np.int32],
    targets: Mapping[Labels, Table],
    weights: Mapping[Labels, float],
    sizes: Sequence[int],
    rng: np.random.Generator,
    zeros: Mapping[Labels, NDArray[np.bool_]] | None = None,
    passes: int = 2,
) -> NDArray[np.int32]:
    """A copy of `codes` (rows, attributes) whose marginals are at least as close to rows * targets[r] in weighted L1.

    targets: probabilities per marginal, axes in ascending attribute order.  weights: c_r > 0.  A cell whose target is zero in some
    marginal is never entered.  zeros: cells of further marginals that are never entered (True).
    passes: sweeps over all rows and attributes; most of the gain comes with the first.
    """
    if not len(codes) or not targets:
        return codes.copy()
    for labels, impossible in (zeros or {}).items():  # a marginal of weight zero has no cost and only forbids cells
        targets = {**targets, labels: np.where(impossible, 0.0, targets.get(labels, 1.0))}
        weights = {labels: 0.0, **weights}
    columns = codes.astype(np.int64).T.copy()
    tables = _tables(columns, targets, weights, sizes)
    blocks = math.ceil(min(len(codes), MOST_ROWS) / BLOCK_ROWS)
    for _ in range(passes):
        for rows in np.array_split(rng.permutation(len(codes))[:MOST_ROWS], blocks):
            held = columns[:, rows]
            for attribute in rng.permutation(len(sizes)):
                axis = tables.axes[attribute]
                if axis is not None and axis.size > 1:
                    _improve(held, int(attribute), axis, tables)
            columns[:, rows] = held
    return columns.T.astype(np.int32)


def _tables(codes: Cells, targets: Mapping[Labels, Table], weights: Mapping[Labels, float], sizes: Sequence[int]) -> _Tables:
    layout: dict[tuple[Labels, int], int] = {}  # (marginal, its last attribute) -> first cell
    surplus, weight, price = [], [], []
    position = 0
    by_attribute: list[list[Labels]] = [[r for r in targets if a in r] for a in range(len(sizes))]
    for a, members in enumerate(by_attribute):
        for labels in members:
            layout[labels, a] = position
            target = np.moveaxis(targets[labels], labels.index(a), -1)
            order = (*(b for b in labels if b != a), a)
            excess = counted([codes[b] for b in order], target.shape).reshape(-1) - codes.shape[1] * target.reshape(-1)
            surplus.append(excess.astype(np.float32))
            weight.append(np.full(target.size, weights[labels], dtype=np.float32))
            price.append(np.where(target.reshape(-1) == 0, np.inf, _price(surplus[-1], weight[-1])).astype(np.float32))
            position += target.size
    axes = [_axis(a, members, layout, weights, sizes) for a, members in enumerate(by_attribute)]
    return _Tables(np.concatenate(surplus), np.concatenate(weight), np.concatenate(price), axes)


def _axis(
    a: int, members: Sequence[Labels], layout: Mapping[tuple[Labels, int], int], weights: Mapping[Labels, float], sizes: Sequence[int]
) -> _Axis | None:
    if not members:
        return None
    first, size = layout[members[0], a], sizes[a]
    block = slice(first, layout[members[-1], a] + math.prod(sizes[b] for b in members[-1]))
    lines = _places(
        [((layout[r, a] - first) // size, {b: s // size for b, s in _strides(r, a, sizes).items() if b != a}) for r in members], len(sizes)
    )
    copies = _places([(layout[r, b], _strides(r, b, sizes)) for b in range(len(sizes)) for r in members if b in r], len(sizes))
    return _Axis(size, block, np.array([weights[r] for r in members], dtype=np.float32), lines, copies)


def _places(places: Sequence[tuple[int, Mapping[int, int]]], attributes: int) -> _Places:
    """places: the first position, and the stride of each attribute that matters."""
    rows = [row for row, (_, strides) in enumerate(places) for _ in strides]
    attribute = [a for _, strides in places for a in strides]
    step = [stride for _, strides in places for stride in strides.values()]
    steps = csr_array((step, (rows, attribute)), shape=(len(places), attributes), dtype=np.int64)
    return _Places(np.array([[first] for first, _ in places], dtype=np.int64), steps)


def _strides(labels: Labels, last: int, sizes: Sequence[int]) -> dict[int, int]:
    """Stride of every attribute when `last` is moved behind the others."""
    strides, step = {}, 1
    for attribute in (last, *reversed([b for b in labels if b != last])):
        strides[attribute] = step
        step *= sizes[attribute]
    return strides


def _price(surplus: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """Change of weight * |x| when x grows by one."""
    return weight * np.clip(2 * surplus + 1, -1, 1)


def _relief(surplus: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """Change of weight * |x| when x falls by one."""
    return weight * np.clip(1 - 2 * surplus, -1, 1)


def _improve(held: Cells, attribute: int, axis: _Axis, tables: _Tables) -> None:
    """Make the good moves of one attribute within a block of rows: `held`, shape (attributes, rows)."""
    lines = axis.lines.of(held)
    base = lines * axis.size + axis.block.start
    old = held[attribute].copy()
    gains = _gains(lines, base, old, axis, tables)
    new = gains.argmin(axis=1)
    gain = gains[np.arange(len(old)), new]
    count = max(1, int(SHORTLIST * len(old)))
    shortlist = np.argpartition(gain, min(count, len(old) - 1))[:count]
    shortlist = shortlist[np.argsort(gain[shortlist], kind="stable")]
    shortlist = shortlist[gain[shortlist] < -LEAST_GAIN]
    for _ in range(ATTEMPTS):
        if not len(shortlist):
            break
        good = _good_together(base[:, shortlist] + old[shortlist], base[:, shortlist] + new[shortlist], axis.weights[:, None], tables)
        chosen, shortlist = shortlist[good], shortlist[~good]
        moved = held[:, chosen]
        _change(axis.copies.of(moved).reshape(-1), -1.0, tables)
        moved[attribute] = new[chosen]
        _change(axis.copies.of(moved).reshape(-1), 1.0, tables)
        held[:, chosen] = moved


def _gains(lines: Cells, base: Cells, old: Cells, axis: _Axis, tables: _Tables) -> NDArray[np.float32]:
    """Change of the objective when a row takes another value, shape (rows, values); infinite for the value it has.

    lines: of each marginal and row, within the axis' block.  base: first cell of that line.
    """
    gains = np.zeros((lines.shape[1], axis.size), dtype=np.float32)
    fetched = np.empty_like(gains)
    by_row = tables.price[axis.block].reshape(-1, axis.size)
    for line in lines:
        np.take(by_row, line, axis=0, out=fetched, mode="clip")
        gains += fetched
    gains += _relief(tables.surplus[base + old], axis.weights[:, None]).sum(axis=0)[:, None]
    gains[np.arange(len(gains)), old] = np.inf
    return gains


def _good_together(out_of: Cells, into: Cells, weights: NDArray[np.float32], tables: _Tables) -> NDArray[np.bool_]:
    """Which moves (columns, best first) pay off even after all the moves before them have been made."""
    entering = _price(tables.surplus[into] + _earlier(into), weights)
    leaving = _relief(tables.surplus[out_of] - _earlier(out_of), weights)
    return (entering + leaving).sum(axis=0) < -LEAST_GAIN


def _earlier(cells: Cells) -> NDArray[np.float32]:
    """For each entry, how many entries before it (row by row) are the same cell."""
    flat = cells.reshape(-1)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    positions = np.arange(len(flat))
    starts = np.maximum.accumulate(np.where(np.r_[True, ordered[1:] != ordered[:-1]], positions, 0))
    count = np.empty(len(flat), dtype=np.float32)
    count[order] = positions - starts
    return count.reshape(cells.shape)


def _change(cells: Cells, step: float, tables: _Tables) -> None:
    np.add.at(tables.surplus, cells, np.float32(step))
    fresh = _price(tables.surplus[cells], tables.weight[cells])
    tables.price[cells] = np.where(np.isinf(tables.price[cells]), np.inf, fresh)
