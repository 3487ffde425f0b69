"""Refinement of finished rows towards the model's marginals, one value at a time (engine notes, point 9).

Writing a whole number of rows adds sampling error on top of the model's own error. This local search removes most of that error: it changes
single values of rows wherever that lowers sum_r c_r h(M_r(rows) - target_r). h is the workload error against the model (L1; AIM paper,
Definition 2), but a square up to half of 1 + target (Huber's loss, 1964): the model itself is off by more than a few of many people, so
that matching it there to the last row is worth less than coming nearer where few people are. Post-processing of released values only: it
knows rows and targets, never the private table.

A move takes a row out of one cell of every marginal that has the attribute and puts it into another; tables kept up to date give its price.
Rows are processed in blocks. Of the moves that lower the objective, those are made that still lower it after all better moves before them,
so the objective never rises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.inference.contraction import Labels, Table
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals

Cells = NDArray[np.int64]
"""Positions in the flat tables of `_Tables`."""
Prices = NDArray[np.float32]

BLOCK_ROWS, LEAST_ROWS, BLOCKS = 500, 50, 20
"""Largest and smallest number of rows in a block, and the number of blocks in between. With fewer rows the tables are more up to date and
the overhead is larger.
"""
MOST_ROWS = 100_000
"""Rows in one pass, which bounds its time; a longer table has less sampling error from the start."""
MOST_LINES = 150_000_000
"""Lines of prices in all passes, one per row, marginal and attribute in it: the measure of the time."""
SHORTLIST = 0.1
"""Share of a block whose moves are considered for one attribute; the best ones enter the same few cells."""
WILLING = 0.25
"""Share of a block that is tried in other values: the rows that gain most by leaving their own. It is as good as trying all of them, and
pricing values takes most of the time.
"""
LEAST_GAIN = 1e-3


@dataclass(frozen=True)
class Places:
    """Positions that depend linearly on codes: first + steps @ codes.

    Attributes:
        first: Position at code 0, shape (places, 1).
        steps: Shift per code of each attribute, shape (places, attributes), mostly zero.
    """

    first: Cells
    steps: scipy.sparse.csr_array

    def of(self, codes: Cells) -> Cells:
        """Return the positions for `codes`: from shape (attributes, rows) to shape (places, rows)."""
        return self.steps @ codes + self.first


@dataclass(frozen=True)
class _Axis:
    """Every marginal that has one attribute, laid out with that attribute last, as lines of one cell per value.

    Attributes:
        size: Number of values of the attribute.
        weights: c_r, shape (marginals, 1).
        prices: Part of `_Tables.entering` and `leaving` that this layout takes up.
        lines: From codes to the number of the line in each marginal.
        own: From codes to the position of the row's own cell, relative to that part.
        cells: From codes to the cell of each marginal in `surplus`, if the attribute's code were 0.
        stride: Shift of that cell per code of the attribute, shape (marginals, 1).
        copies: From codes to the positions of the cell's prices in all layouts that have the
            marginal.
        sources: The marginal, as a number within this layout, of each such position.
    """

    size: int
    weights: Prices
    prices: slice
    lines: Places
    own: Places
    cells: Places
    stride: Cells
    copies: Places
    sources: NDArray[np.intp]


@dataclass(frozen=True)
class _Tables:
    """The counts of the rows in all marginals, and the prices of changing them.

    Attributes:
        surplus: Rows minus target in every cell of every marginal, flattened.
        slopes: Slope of h in each of these cells (`sloped`).
        closed: Whether the target of each of these cells is zero.
        entering: Change of the objective by one more row in a cell, infinite where the cell is
            closed. Each marginal occurs once per attribute, with that attribute last, so that the
            prices of all its values lie side by side.
        leaving: Change of the objective by one row fewer in a cell, in the same layout.
        axes: The layout for each attribute; None if no marginal has it.
    """

    surplus: Prices
    slopes: Prices
    closed: NDArray[np.bool_]
    entering: Prices
    leaving: Prices
    axes: list[_Axis | None]


def refine(
    codes: NDArray[np.integer],
    targets: Mapping[Labels, Table],
    weights: Mapping[Labels, float],
    sizes: Sequence[int],
    rng: np.random.Generator,
    zeros: Mapping[Labels, NDArray[np.bool_]] | None = None,
    passes: int = 2,
) -> NDArray[np.integer]:
    """Return a copy of rows with single values changed, so that their marginals are closer to the targets.

    The loss never rises; a single marginal may get worse. It is a weighted sum of Huber's losses of (rows minus wanted
    rows) over all cells. A cell whose target is zero in some marginal is never entered. Without rows or targets the copy
    is equal to the rows. A pass looks at 100,000 rows at most (`MOST_ROWS`), chosen at random, and at fewer for many
    marginals (`MOST_LINES`).

    Args:
        codes: The rows, shape (rows, attributes).
        targets: Wanted probabilities by marginal, axes in ascending order of attributes.
        weights: c_r > 0 by marginal.
        sizes: Number of values of each attribute.
        rng: Source of randomness.
        zeros: By marginal, True in further cells that are never entered; None without such cells.
        passes: Sweeps over all rows and attributes; most of the gain comes with the first.
    """
    if not len(codes) or not targets:
        return codes.copy()
    for labels, impossible in (zeros or {}).items():  # a marginal of weight zero has no cost and only forbids cells
        targets = {**targets, labels: np.where(impossible, 0.0, targets.get(labels, 1.0))}
        weights = {labels: 0.0, **weights}
    refined = codes.copy()
    tables = _tables(codes, targets, weights, sizes)
    left = max(BLOCK_ROWS, MOST_LINES // max(1, sum(map(len, targets))))  # rows that there is time for
    for _ in range(passes):
        most = min(len(codes), MOST_ROWS, left)
        left -= most
        blocks = max(math.ceil(most / BLOCK_ROWS), min(BLOCKS, math.ceil(most / LEAST_ROWS)))
        for rows in np.array_split(rng.permutation(len(codes))[:most], blocks) if most else ():
            held = refined[rows].T.astype(np.int64)
            for attribute in rng.permutation(len(sizes)):
                axis = tables.axes[attribute]
                if axis is not None and axis.size > 1:
                    _improve(held, int(attribute), axis, tables)
            refined[rows] = held.T
    return refined


def _tables(codes: NDArray[np.integer], targets: Mapping[Labels, Table], weights: Mapping[Labels, float], sizes: Sequence[int]) -> _Tables:
    surplus, slopes, first = [], [], {}
    position = 0
    for labels, held in _counts(codes, targets, sizes).items():
        expected = len(codes) * targets[labels]
        surplus.append((held - expected).astype(np.float32))
        slopes.append(sloped(expected))
        first[labels] = position
        position += held.size
    entering, leaving = list[NDArray[np.float32]](), list[NDArray[np.float32]]()
    layout: dict[tuple[Labels, int], int] = {}  # (marginal, its last attribute) -> its first price
    position = 0
    holders: list[list[tuple[Labels, Prices, Prices]]] = [[] for _ in sizes]
    for one in zip(targets, surplus, slopes, strict=True):
        for a in one[0]:
            holders[a].append(one)
    for a, members in enumerate(holders):
        for labels, *cells in members:
            last, slope = (np.moveaxis(table, labels.index(a), -1).reshape(-1) for table in cells)
            weight = np.float32(weights[labels])
            closed = np.moveaxis(targets[labels] == 0, labels.index(a), -1).reshape(-1)
            entering.append(np.where(closed, np.float32(np.inf), one_more(last, weight, slope)))
            leaving.append(one_less(last, weight, slope))
            layout[labels, a] = position
            position += last.size
    axes = [_axis(a, [labels for labels, *_ in members], first, layout, weights, sizes) for a, members in enumerate(holders)]
    flat, sloping = (np.concatenate([table.reshape(-1) for table in tables]) for tables in (surplus, slopes))
    closed = np.concatenate([targets[labels].reshape(-1) == 0 for labels in targets])
    return _Tables(flat, sloping, closed, np.concatenate(entering), np.concatenate(leaving), axes)


def _counts(codes: NDArray[np.integer], targets: Mapping[Labels, Table], sizes: Sequence[int]) -> dict[Labels, NDArray[np.int64]]:
    numbered = Domain(tuple(Attribute.coded(str(a), size) for a, size in enumerate(sizes)))
    names = {labels: tuple(map(str, labels)) for labels in targets}
    counts = row_marginals(numbered, codes, list(names.values()))
    return {labels: counts[clique] for labels, clique in names.items()}


def _axis(
    a: int,
    members: Sequence[Labels],
    first: Mapping[Labels, int],
    layout: Mapping[tuple[Labels, int], int],
    weights: Mapping[Labels, float],
    sizes: Sequence[int],
) -> _Axis | None:
    if not members:
        return None
    begin, size = layout[members[0], a], sizes[a]
    others = [{b: s for b, s in _strides(r, a, sizes).items() if b != a} for r in members]
    lines = [
        ((layout[r, a] - begin) // size, {b: s // size for b, s in strides.items()}) for r, strides in zip(members, others, strict=True)
    ]
    strides = [_strides(r, r[-1], sizes) for r in members]
    cells = [(first[r], {b: s for b, s in own.items() if b != a}) for r, own in zip(members, strides, strict=True)]
    copies = [(number, b) for b, number in sorted((b, number) for number, r in enumerate(members) for b in r)]
    return _Axis(
        size,
        np.array([[weights[r]] for r in members], dtype=np.float32),
        slice(begin, layout[members[-1], a] + math.prod(sizes[b] for b in members[-1])),
        linear(lines, len(sizes)),
        linear([(layout[r, a] - begin, _strides(r, a, sizes)) for r in members], len(sizes)),
        linear(cells, len(sizes)),
        np.array([[own[a]] for own in strides], dtype=np.int64),
        linear([(layout[members[number], b], _strides(members[number], b, sizes)) for number, b in copies], len(sizes)),
        np.array([number for number, _ in copies], dtype=np.intp),
    )


def linear(places: Sequence[tuple[int, Mapping[int, int]]], attributes: int) -> Places:
    """Return the function from codes to several indices, each linear in the codes of a row.

    Args:
        places: For each index, its value if all codes are 0, and its stride by attribute; other
            attributes do not change it.
        attributes: Number of attributes.
    """
    rows = [row for row, (_, strides) in enumerate(places) for _ in strides]
    attribute = [a for _, strides in places for a in strides]
    step = [stride for _, strides in places for stride in strides.values()]
    steps = scipy.sparse.csr_array((step, (rows, attribute)), shape=(len(places), attributes), dtype=np.int64)
    return Places(np.array([[first] for first, _ in places], dtype=np.int64), steps)


def _strides(labels: Labels, last: int, sizes: Sequence[int]) -> dict[int, int]:
    """Return the stride of each attribute in a flattened table whose axis `last` is moved behind the others."""
    strides, step = {}, 1
    for attribute in (last, *reversed([b for b in labels if b != last])):
        strides[attribute] = step
        step *= sizes[attribute]
    return strides


def sloped(targets: NDArray[np.float64]) -> Prices:
    """Return the slope parameter of Huber's loss h in each cell, 1 / (1 + target).

    h is quadratic up to a surplus of 1 / (2 * slope), and linear beyond.
    """
    return np.asarray((1 / (1 + targets)).astype(np.float32))


def one_more(surplus: Prices, weight: Prices | np.float32, slope: Prices) -> Prices:
    """Return the change of a cell's loss, weight * h(surplus), when one more row enters the cell.

    Args:
        surplus: Rows minus target in each cell.
        weight: Weight c_r of the marginal.
        slope: Slope parameter of Huber's loss h (`sloped`).
    """
    return weight * np.clip(slope * (2 * surplus + 1), -1, 1)


def one_less(surplus: Prices, weight: Prices | np.float32, slope: Prices) -> Prices:
    """Return the change of a cell's loss, weight * h(surplus), when one row leaves the cell.

    Args:
        surplus: Rows minus target in each cell.
        weight: Weight c_r of the marginal.
        slope: Slope parameter of Huber's loss h (`sloped`).
    """
    return weight * np.clip(slope * (1 - 2 * surplus), -1, 1)


def _improve(held: Cells, attribute: int, axis: _Axis, tables: _Tables) -> None:
    """Change one attribute within a block of rows, in place, where that lowers the objective.

    Args:
        held: Codes of the rows, shape (attributes, rows).
        attribute: The attribute.
        axis: The layout of the marginals with the attribute.
        tables: The present counts and prices, which are updated.
    """
    gained = tables.leaving[axis.prices].take(axis.own.of(held), mode="clip").sum(axis=0)
    willing = np.argpartition(gained, int(WILLING * len(gained)))[: max(1, int(WILLING * len(gained)))]
    gains = _entering(axis.lines.of(held[:, willing]), axis, tables) + gained[willing, None]
    gains[np.arange(len(gains)), held[attribute, willing]] = np.inf
    new, gain = gains.argmin(axis=1), gains.min(axis=1)
    count = max(1, int(SHORTLIST * len(gained)))
    best = np.argpartition(gain, min(count, len(gain) - 1))[:count]
    best = best[np.argsort(gain[best], kind="stable")]
    best = best[gain[best] < -LEAST_GAIN]
    if not len(best):
        return
    shortlist, new = willing[best], new[best]
    old = held[attribute, shortlist]
    left = axis.cells.of(held[:, shortlist]) + axis.stride * old
    entered = left + axis.stride * (new - old)
    # the moves (columns, best first) that pay off even after all the moves before them have been made
    entering = one_more(tables.surplus[entered] + earlier(entered), axis.weights, tables.slopes[entered])
    leaving = one_less(tables.surplus[left] - earlier(left), axis.weights, tables.slopes[left])
    good = (entering + leaving).sum(axis=0) < -LEAST_GAIN
    moved = held[:, shortlist[good]]
    _change(left[:, good], axis.copies.of(moved), -1.0, axis, tables)
    moved[attribute] = new[good]
    _change(entered[:, good], axis.copies.of(moved), 1.0, axis, tables)
    held[:, shortlist[good]] = moved


def _entering(lines: Cells, axis: _Axis, tables: _Tables) -> NDArray[np.float32]:
    """Return the change of the objective when a row enters each value of the attribute, shape (rows, values).

    Args:
        lines: For each marginal and row, the number of the line of prices, shape (marginals, rows).
        axis: The layout of the marginals with the attribute.
        tables: The present counts and prices.
    """
    costs = np.zeros((lines.shape[1], axis.size), dtype=np.float32)
    fetched = np.empty_like(costs)
    by_row = tables.entering[axis.prices].reshape(-1, axis.size)
    for line in lines:
        by_row.take(line, axis=0, out=fetched, mode="clip")
        costs += fetched
    return costs


def earlier(cells: Cells) -> NDArray[np.float32]:
    """Return, for each entry, how many earlier entries along the last axis are equal to it, float32 of the same shape."""
    bits, beyond = cells.shape[-1].bit_length(), cells - cells[..., :1]
    most = max(int(np.abs(beyond).max(initial=0)), cells.shape[-1])
    number = np.int64 if most >> (31 - bits) else np.int32  # small numbers are sorted faster
    positions = np.arange(cells.shape[-1], dtype=number)
    keys = np.sort(beyond.astype(number) << bits | positions)  # numbers are sorted faster than their positions
    ordered, starts = keys >> bits, np.zeros_like(keys)
    np.multiply(ordered[..., 1:] != ordered[..., :-1], positions[1:], out=starts[..., 1:])
    within = number((1 << bits) - 1)
    keys &= within
    keys <<= bits
    keys |= positions - np.maximum.accumulate(starts, axis=-1)
    keys.sort()  # back in the order of the entries, which is faster than putting each in its place
    keys &= within
    return keys.astype(np.float32)


def _change(cells: Cells, copies: Cells, step: float, axis: _Axis, tables: _Tables) -> None:
    """Move rows into or out of cells of the axis' marginals, and update the prices of these cells.

    Args:
        cells: Cells in `surplus`, shape (marginals, rows).
        copies: Positions of these cells' prices in all layouts.
        step: 1.0 for rows that enter, -1.0 for rows that leave.
        axis: The layout whose marginals are changed.
        tables: The present counts and prices.
    """
    np.add.at(tables.surplus, cells.reshape(-1), np.float32(step))
    surplus, slopes = tables.surplus[cells], tables.slopes[cells]
    fresh = one_more(surplus, axis.weights, slopes)
    fresh[tables.closed[cells]] = np.inf
    tables.entering[copies] = fresh[axis.sources]
    tables.leaving[copies] = one_less(surplus, axis.weights, slopes)[axis.sources]
