"""Refinement of finished rows of persons towards tables of rows beside the rows before them: one value of one row at a time.

A value of a row is in the records of that row and of the next ones, whose row before it is: all tables of all these records are counted at
once. A value is changed wherever that lowers sum_t c_t h(table_t - target_t), by the loss of `inference.refinement`. Numbers of rows and
the persons' own columns stay as they are. No row is moved into a cell that a rule forbids, or whose target is 0. Post-processing of
released values only: it knows rows and targets, never a private table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.layout import SequenceLink
from dpsynth_core.inference.refinement import LEAST_GAIN, Places, earlier, linear, one_less, one_more, sloped
from dpsynth_core.vocabulary.link import places
from dpsynth_core.vocabulary.measurement import Clique

Ints = NDArray[np.int64]
Codes = NDArray[np.integer]
Floats = NDArray[np.float32]

MOST = 1_000_000
"""Largest number of rows in a pass, which bounds its time. More than for one table, because rows that were drawn one after the other
differ from the model's tables by more than chance: with 200,000 rows a pass, a million persons had transitions 0.048 off, with these 0.030.
"""
MOST_LINES = 500_000_000
"""Lines of prices in all passes, one per row, table and column in it: the measure of the time."""
BLOCK, LEAST_BLOCK, BLOCKS = 1500, 50, 20
"""Largest and smallest number of rows in a block, and the number of blocks in between. With fewer rows the tables are more up to date and
the overhead is larger."""
SHORTLIST = 0.25
"""Share of a block whose moves are considered for one column: the best ones enter the same few cells."""


@dataclass(frozen=True, eq=False)
class _Column:
    """The cells whose counts depend on a column of a row.

    Attributes:
        number: Number of the column in a record.
        lags: For each record with the value, how many rows later it is; its column with the value; the cells, as if that column had
            code 0; and the shift of each cell per code, shape (tables, 1).
    """

    number: int
    lags: Sequence[tuple[int, int, Places, Ints]]


class _Tables:
    """The counts of some records in tables, minus the wanted ones, and the prices of changing them.

    The last cell belongs to no table. A rule is a table of weight 0 whose impossible cells are closed.
    """

    def __init__(self, link: SequenceLink, records: Codes, wanted: Mapping[Clique, NDArray[np.float64]], weights: Mapping[Clique, float]):
        self.nowhere, firsts = 0, dict[tuple[Clique, bool], int]()
        values, weight, closed = list[NDArray[np.float64]](), list[Floats](), list[NDArray[np.bool_]]()
        rules = {clique: table for clique, table in link.domain.zeros.items() if set(clique) & link.member_names}
        tables = [(clique, table, weights[clique], table == 0, False) for clique, table in wanted.items()]
        tables += [(clique, np.zeros(table.shape), 0.0, table, True) for clique, table in rules.items()]
        for clique, table, heavy, shut, rule in tables:
            firsts[clique, rule] = self.nowhere
            self.nowhere += table.size
            values.append(table.ravel())
            weight.append(np.full(table.size, heavy, dtype=np.float32))
            closed.append(shut.ravel())
        target = np.concatenate([*values, [0.0]])
        self.weight, self.closed = np.concatenate([*weight, np.zeros(1, np.float32)]), np.concatenate([*closed, [False]])
        self.slope, surplus = sloped(target), -target
        position, domain = link.domain.position, link.domain
        ways = {(clique, rule): (first, _strides(clique, domain.sizes(clique))) for (clique, rule), first in firsts.items()}
        for (clique, _), (first, strides) in ways.items():
            cells = first + sum(records[:, position(name)].astype(np.int64) * step for name, step in strides.items())
            surplus[first : first + domain.cells(clique)] += np.bincount(cells - first, minlength=domain.cells(clique))
        self.surplus = surplus.astype(np.float32)
        self.entering = one_more(self.surplus, self.weight, self.slope)
        self.entering[self.closed] = np.inf
        self.leaving = one_less(self.surplus, self.weight, self.slope)
        self.columns = list[_Column]()
        for name in link.members.names:
            lags = list[tuple[int, int, Places, Ints]]()
            for column, back in ((name, 0), *((lag, back) for lag, (own, back) in link.lags.items() if own == name)):
                some = [way for (clique, _), way in ways.items() if column in clique]
                if some:
                    others = [(first, {position(n): step for n, step in strides.items() if n != column}) for first, strides in some]
                    steps = np.array([[strides[column]] for _, strides in some], dtype=np.int64)
                    lags.append((back, position(column), linear(others, len(domain)), steps))
            self.columns.append(_Column(position(name), lags))

    def changed(self, left: Ints, entered: Ints) -> None:
        """Move records out of cells and into others, and bring the prices of these cells up to date."""
        np.add.at(self.surplus, left, np.float32(-1))
        np.add.at(self.surplus, entered, np.float32(1))
        self.surplus[self.nowhere] = 0
        cells = np.concatenate([left, entered])
        surplus, weight, slope = self.surplus[cells], self.weight[cells], self.slope[cells]
        self.entering[cells] = np.where(self.closed[cells], np.float32(np.inf), one_more(surplus, weight, slope))
        self.leaving[cells] = one_less(surplus, weight, slope)

    @property
    def loss(self) -> float:
        """The present loss: the sum of c_t h(surplus) over all cells, h quadratic up to 1 / (2 slope), and linear beyond."""
        size, slope = np.abs(self.surplus.astype(np.float64)), self.slope.astype(np.float64)
        return float((self.weight * np.where(2 * slope * size <= 1, slope * size**2, size - 0.25 / slope)).sum())


def refine(
    link: SequenceLink,
    records: Codes,
    sizes: Ints,
    wanted: Mapping[Clique, NDArray[np.float64]],
    weights: Mapping[Clique, float],
    rng: np.random.Generator,
    passes: int = 2,
) -> Codes:
    """Return a copy of records with single values of rows changed, so that their tables are closer to the wanted ones.

    The loss never rises; a single table may get worse. A pass looks at a million rows at most (`MOST`), chosen at random.

    Args:
        link: The link, whose rules the records keep, before and after.
        records: One record for each row, person by person and in order, as codes of `link.domain`.
        sizes: Number of rows of each person, shape (persons,).
        wanted: Wanted number of records in each cell, by table; axes in the order of the domain.
        weights: c_t > 0 by table.
        rng: Source of randomness.
        passes: Sweeps over all rows and columns; most of the gain comes with the first.
    """
    records = records.copy()
    if not len(records) or not wanted:
        return records
    tables = _Tables(link, records, wanted, weights)
    person, after = np.repeat(np.arange(len(sizes)), sizes), np.repeat(sizes, sizes) - 1 - places(sizes)
    lines = sum(len(steps) for column in tables.columns for *_, steps in column.lags)
    left = max(BLOCK, MOST_LINES // max(1, lines))
    for _ in range(passes):
        most = min(len(records), MOST, left)
        left -= most
        blocks = max(math.ceil(most / BLOCK), min(BLOCKS, math.ceil(most / LEAST_BLOCK)))
        for rows in np.array_split(rng.permutation(len(records))[:most], blocks) if most else ():
            for column in rng.permutation(len(tables.columns)):
                _improve(tables, tables.columns[column], records, person, after, rows, link.members[link.members.names[column]].size)
    return records


def _improve(tables: _Tables, column: _Column, records: Codes, person: Ints, after: Ints, rows: Ints, values: int) -> None:
    """Change one column of some rows, in place, where that lowers the loss.

    Args:
        tables: The present tables, which are updated.
        column: The column.
        records: All records.
        person: Number of the person of each record.
        after: How many rows the person has after each record.
        rows: Numbers of the records in this block.
        values: Number of codes that a row can have in the column.
    """
    if values < 2 or not column.lags:
        return
    first, step = _touched(tables, column, records, after, rows)
    old, gains = records[rows, column.number].astype(np.int64), np.zeros((values, len(rows)), dtype=np.float32)
    codes = np.arange(values)[:, None]
    for cells, shift in zip(first, step, strict=True):
        gains += tables.entering[cells + shift * codes]
    gains += tables.leaving[first + step * old].sum(axis=0)
    gains[old, np.arange(len(rows))] = np.inf
    new, gain = gains.argmin(axis=0), gains.min(axis=0)
    best = np.argsort(gain, kind="stable")[: max(1, int(SHORTLIST * len(rows)))]
    best = best[gain[best] < -LEAST_GAIN]
    chosen = best[np.sort(np.unique(person[rows[best]], return_index=True)[1])]  # of one person one row at a time, best first
    if not len(chosen):
        return
    new = new[chosen]
    left = (first[:, chosen] + step[:, chosen] * old[chosen]).T
    entered = (first[:, chosen] + step[:, chosen] * new).T
    good = _change(tables, left, entered) < -LEAST_GAIN
    tables.changed(left[good].ravel(), entered[good].ravel())
    moved, new = rows[chosen[good]], new[good]
    for back, number, _, _ in column.lags:
        there = after[moved] >= back
        records[moved[there] + back, number] = new[there]


def _touched(tables: _Tables, column: _Column, records: Codes, after: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the cells that have a column of some rows, as if its code were 0, and the shift per code, both (tables, rows)."""
    first, step = list[Ints](), list[Ints]()
    for back, _, cells, steps in column.lags:
        there = after[rows] >= back
        codes = records[np.where(there, rows + back, rows)].T.astype(np.int64)
        first.append(np.where(there, cells.of(codes), tables.nowhere))
        step.append(np.where(there, steps, 0))
    return np.concatenate(first), np.concatenate(step)


def _change(tables: _Tables, left: Ints, entered: Ints) -> Floats:
    """Return the change of the loss by each move, as if all moves before it were made; it is never less than the true change.

    Args:
        tables: The present tables.
        left: The cells that each move leaves, shape (moves, cells).
        entered: The cells that each move enters, in the same shape.
    """
    out, into = (earlier(cells.ravel()).reshape(cells.shape) for cells in (left, entered))
    lost = one_less(tables.surplus[left] - out, tables.weight[left], tables.slope[left])
    won = one_more(tables.surplus[entered] + into, tables.weight[entered], tables.slope[entered])
    won[tables.closed[entered] & (left != entered)] = np.inf
    return np.asarray((lost + won).sum(axis=1))


def _strides(clique: Clique, sizes: Sequence[int]) -> dict[str, int]:
    return {name: math.prod(sizes[place + 1 :]) for place, name in enumerate(clique)}
