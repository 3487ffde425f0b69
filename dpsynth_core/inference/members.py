"""Refinement of the members of finished households towards tables of all kinds: one value at a time, and by exchanging members.

As `refinement` does for rows of one table, it changes single values, and exchanges members of two households, wherever that lowers sum_t
c_t h(table_t - target_t), by the loss defined there. An exchange leaves all tables of members alone unchanged, which no change of a value
does. A value of a member is in tables of members, of households with each member, and of ordered pairs of members of one household, whose
other member may be any of the household's: all are counted at once. Sizes, and the households' own columns, stay as they are.
Post-processing of released values only: it knows rows and targets, never a private table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.refinement import LEAST_GAIN, Places, earlier, linear, one_less, one_more, sloped

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

BLOCK = 2000
"""Households in a block. With fewer the tables are more up to date and the overhead is larger."""
MOST = 200_000
"""Largest number of households in a sweep, which bounds its time; with more, each matters less for a table."""
SHORTLIST, ATTEMPTS = 0.2, 3
"""Share of a block whose moves are considered for one column, and how often the rest is tried again after the best moves are made."""
EXCHANGES, UNHAPPY = 20, 0.3
"""Number of exchanges that each household offers per sweep, and the share of the offers that are tried."""


@dataclass(frozen=True, eq=False)
class Target:
    """The target of one table in refinement.

    Attributes:
        household: Indices of the household's columns.
        member: Indices of a member's columns.
        other: Indices of another member's columns. If empty, the table counts members; otherwise it
            counts ordered pairs of members of one household.
        values: Wanted counts, axes in that order.
        weight: c_t of the table or of each cell, 0 or more.
    """

    household: tuple[int, ...]
    member: tuple[int, ...]
    other: tuple[int, ...]
    values: NDArray[np.float64]
    weight: float | NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Numbers:
    """Targets for how many members of a household share a value of a column; at most one per column.

    Attributes:
        column: Index of a column of members.
        values: Wanted number of households in which 0, 1, 2, ... members have each code, shape
            (codes, cells); the last cell is for that many members or more.
        weight: Weight of each cell.
    """

    column: int
    values: NDArray[np.float64]
    weight: float


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit on the number of members of a household that have certain codes.

    Attributes:
        column: Index of a column of members.
        inside: Whether each code of the column counts, shape (codes,).
        least: Smallest number of members with a counting code, by household.
        most: Largest number of members with a counting code, by household.
    """

    column: int
    inside: NDArray[np.bool_]
    least: Ints
    most: Ints


@dataclass(frozen=True, eq=False)
class _Ways:
    """The cells in which members are counted, for several tables at once.

    Attributes:
        own: Part of the cell's position that the codes of the household and the member determine.
        other: Part that the codes of another member determine; None where single members are
            counted.
        step: Shift of the position per code of the column in question, shape (tables, 1).
    """

    own: Places
    other: Places | None
    step: Ints


@dataclass(frozen=True)
class _Way:
    """The layout of one table in the flat array of all tables.

    Attributes:
        first: Position of its first cell.
        household: Stride of each of the household's columns that the table has.
        member: Stride of each of the member's columns that the table has.
        other: Stride of each of another member's columns that the table has.
    """

    first: int
    household: Mapping[int, int]
    member: Mapping[int, int]
    other: Mapping[int, int]


class _Tables:
    """The present tables of some households.

    `surplus` holds counts minus targets of all cells, one after the other, and a last cell that belongs to no table. `members` is changed
    in place.
    """

    def __init__(
        self, households: Ints, sizes: Ints, members: Ints, targets: Sequence[Target | Numbers], limits: Sequence[Limit]
    ) -> None:
        self.households, self.sizes, self.members, self.limits = households, sizes, members, limits
        firsts = np.cumsum([0, *(target.values.size for target in targets)]).tolist()
        every = list(zip(firsts, targets, strict=False))
        ways = [_way(first, target) for first, target in every if isinstance(target, Target)]
        self.numbers = {target.column: (first, target.values.shape) for first, target in every if isinstance(target, Numbers)}
        self.nowhere = firsts[-1]
        self.weight = np.concatenate([*(np.broadcast_to(t.weight, t.values.shape).ravel() for t in targets), [0.0]]).astype(np.float32)
        self.slope = sloped(np.concatenate([*(target.values.ravel() for target in targets), [0.0]]))
        surplus = np.concatenate([*(-t.values.ravel() for t in targets), [0.0]])
        present = np.arange(members.shape[1]) < sizes[:, None]
        for column, (first, (codes, cells)) in self.numbers.items():
            for code in range(codes):
                held = ((members[:, :, column] == code) & present).sum(axis=1)
                surplus[first + code * cells :][:cells] += np.bincount(np.minimum(held, cells - 1), minlength=cells)
        for place in range(members.shape[1]):
            here = np.flatnonzero(sizes > place)
            for some in np.array_split(here, 1 + len(here) // MOST):
                for cells in self._cells(self._together(ways), some, members[some, place], np.array(place)):
                    surplus += np.bincount(cells.reshape(-1), minlength=len(surplus))
        surplus[-1] = 0.0
        self.surplus = surplus.astype(np.float32)
        both = [*ways, *(replace(way, member=way.other, other=way.member) for way in ways if way.other)]
        self._with_others = self._together([way for way in both if way.household or way.other])
        self._of_column = [self._together([way for way in both if column in way.member], column) for column in range(members.shape[2])]

    def _together(self, ways: Sequence[_Way], column: int = -1) -> list[_Ways]:
        """Return the layouts of tables of single members, then of tables of pairs, each as at most one `_Ways`.

        Args:
            ways: The layouts of the tables.
            column: A column of the member that is left out of the positions; its stride becomes
                `step`.
        """
        columns, own = self.households.shape[1], self.members.shape[2]
        parts = list[_Ways]()
        for paired in (False, True):
            some = [way for way in ways if bool(way.other) == paired]
            strides = [{**way.household, **{columns + c: step for c, step in way.member.items() if c != column}} for way in some]
            mine = linear(list(zip((way.first for way in some), strides, strict=True)), columns + own)
            theirs = linear([(0, way.other) for way in some], own) if paired else None
            if some:
                parts.append(_Ways(mine, theirs, np.array([[way.member.get(column, 0)] for way in some])))
        return parts

    def _cells(self, parts: Sequence[_Ways], rows: Ints, members: Ints, place: Ints) -> Iterator[Ints]:
        """Yield the positions of the cells that given members occupy, shape (tables, rows) each.

        Tables of single members come first; tables of pairs follow, once for each other place in
        the household.

        Args:
            parts: Layouts from `_together`.
            rows: Indices of the households.
            members: Codes of a member for each of these households, shape (rows, columns).
            place: Place of the member in the household; the members at other places are the present
                ones.
        """
        codes = np.concatenate([self.households[rows], members], axis=1).T
        for part in parts:
            own = part.own.of(codes)
            if part.other is None:
                yield own
                continue
            for another in range(self.members.shape[1]):
                there = (self.sizes[rows] > another) & (place != another)
                yield np.where(there, own + part.other.of(self.members[rows, another].T), self.nowhere)

    def touched(self, rows: Ints, place: int, column: int) -> tuple[Ints, Ints]:
        """Return where the cells are whose counts depend on one column of the members at one place.

        Args:
            rows: Indices of the households.
            place: Place of the members.
            column: Column of members.

        Returns:
            The position of the cell if the column had code 0, and the shift per code, both of shape
            (cells, rows).
        """
        parts = self._of_column[column]
        first = self._joined(self._cells(parts, rows, self.members[rows, place], np.array(place)), rows)
        step = [part.step for part in parts for _ in range(1 if part.other is None else self.members.shape[1])]
        return first, np.where(first == self.nowhere, 0, np.concatenate([np.zeros((0, 1), dtype=np.int64), *step]))

    def cells_with_others(self, rows: Ints, members: Ints, place: Ints) -> Ints:
        """Return the positions of cells that depend on a member's household or its other members, (cells, rows).

        Cells of tables about the member alone are left out, because an exchange of members cannot
        change them.

        Args:
            rows: Indices of the households.
            members: Codes of a member for each of these households, possibly a member of another
                household.
            place: Place that the member takes; the members at other places stay.
        """
        return self._joined(self._cells(self._with_others, rows, members, place), rows)

    def numbered(self, rows: Ints, place: Ints, column: int, codes: Ints) -> Ints:
        """Return the positions of the cells that count households by how many members have a code.

        Args:
            rows: Indices of the households.
            place: Place of a member of each household.
            column: Column of members with a target of this kind.
            codes: Codes of the column, shape (rows, codes) or (codes,).

        Returns:
            Shape (2, rows, codes): the household's cell if the member at `place` lacks the code,
            and if it has it.
        """
        first, (_, cells) = self.numbers[column]
        places = np.arange(self.members.shape[1])
        others = (places < self.sizes[rows, None]) & (places != place.reshape(-1, 1))
        held = ((self.members[rows, :, column][:, :, None] == codes.reshape(-1, 1, codes.shape[-1])) & others[:, :, None]).sum(axis=1)
        without = first + codes * cells + held
        return np.where(held < cells - 1, (without, without + 1), self.nowhere)

    @staticmethod
    def _joined(cells: Iterable[Ints], rows: Ints) -> Ints:
        return np.concatenate([np.zeros((0, len(rows)), dtype=np.int64), *cells])

    def forbidden(self, rows: Ints, place: int, column: int) -> Iterator[NDArray[np.bool_]]:
        """Yield, for each limit on the column, which codes the members at one place may not get, (rows, codes).

        Args:
            rows: Indices of the households.
            place: Place of the members.
            column: Column of members.
        """
        for limit in (limit for limit in self.limits if limit.column == column):
            there = np.arange(self.members.shape[1]) < self.sizes[rows, None]
            there[:, place] = False
            held = (limit.inside[self.members[rows, :, column]] & there).sum(axis=1)[:, None] + limit.inside
            yield (held < limit.least[rows, None]) | (held > limit.most[rows, None])

    def entering(self, cells: Ints | slice, before: Floats | int = 0) -> Floats:
        """Return the change of the objective when one more member enters each of these cells.

        Args:
            cells: Positions of cells.
            before: Number of members that have entered each cell meanwhile and are not yet in
                `surplus`.
        """
        return one_more(self.surplus[cells] + before, self.weight[cells], self.slope[cells])

    def leaving(self, cells: Ints, before: Floats | int = 0) -> Floats:
        return one_less(self.surplus[cells] - before, self.weight[cells], self.slope[cells])

    def moved(self, left: Ints, entered: Ints) -> None:
        np.add.at(self.surplus, left.reshape(-1), np.float32(-1))
        np.add.at(self.surplus, entered.reshape(-1), np.float32(1))
        self.surplus[self.nowhere] = 0


def refine_members(
    households: Ints,
    sizes: Ints,
    members: Ints,
    values: Sequence[int],
    targets: Sequence[Target | Numbers],
    rng: np.random.Generator,
    passes: int = 3,
    limits: Sequence[Limit] = (),
) -> Ints:
    """Return a copy of `members` that is changed so that its tables come closer to the targets.

    Single values are changed, and members of two households exchanged, wherever that lowers the loss, which adds up the
    tables by their weights; a single table may get worse. A sweep looks at 200,000 households at most (`MOST`), chosen
    at random. Without targets nothing is changed.

    Args:
        households: Codes of the households, shape (n, columns); they stay.
        sizes: Number of members of each household, shape (n,); they stay.
        members: Codes of the members, shape (n, most, columns); codes beyond a household's size
            stay.
        values: Number of codes of each column of members.
        targets: The wanted counts of tables.
        rng: Source of randomness.
        passes: Sweeps over all members; most of the gain comes with the first.
        limits: Limits that `members` satisfies, and the result too.
    """
    tables = _Tables(households, sizes, members.copy(), targets, limits)
    for _ in range(passes if targets else 0):
        for block in _blocks(np.arange(len(sizes)), rng):
            for place in rng.permutation(members.shape[1]):
                rows = block[sizes[block] > place]
                for column in rng.permutation(len(values)) if len(rows) else ():
                    _improve(tables, rows, int(place), int(column), values[column])
        inhabited = np.flatnonzero(sizes > 0)
        for _ in range(EXCHANGES):
            for block in _blocks(inhabited, rng):
                _exchange(tables, block, rng)
    return tables.members


def _blocks(rows: Ints, rng: np.random.Generator) -> list[Ints]:
    some = rng.permutation(rows)[:MOST]
    return np.array_split(some, max(1, len(some) // BLOCK))


def _way(first: int, target: Target) -> _Way:
    shape = target.values.shape
    strides = iter([int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))])
    return _Way(first, *({column: next(strides) for column in columns} for columns in (target.household, target.member, target.other)))


def _improve(tables: _Tables, rows: Ints, place: int, column: int, values: int) -> None:
    """Change one column of the members at one place of some households, in place, where that lowers the loss.

    Args:
        tables: The present tables and members.
        rows: Indices of the households.
        place: Place of the members.
        column: Column of members.
        values: Number of codes of the column.
    """
    first, step = tables.touched(rows, place, column)
    counted = column in tables.numbers
    if not len(first) and not counted:
        return
    old = tables.members[rows, place, column].copy()
    price, gains = tables.entering(slice(None)), np.zeros((len(rows), values), dtype=np.float32)
    for start, stride in zip(first, step, strict=True):
        gains += price[start[:, None] + stride[:, None] * np.arange(values)]
    held = first + step * old
    gains += tables.leaving(held).sum(axis=0)[:, None]
    every = np.arange(len(rows))
    if counted:
        without, having = tables.numbered(rows, np.array(place), column, np.arange(values))
        gains += price[having] + tables.leaving(without)
        gains += (price[without] + tables.leaving(having))[every, old][:, None]
    gains[every, old] = np.inf
    for wrong in tables.forbidden(rows, place, column):
        gains[wrong] = np.inf
    new, gain = gains.argmin(axis=1), gains.min(axis=1)
    number = max(1, int(SHORTLIST * len(rows)))
    best = np.argpartition(gain, min(number, len(rows) - 1))[:number]
    best = best[np.argsort(gain[best], kind="stable")]
    best = best[gain[best] < -LEAST_GAIN]
    for _ in range(ATTEMPTS):
        if not len(best):
            return
        left, entered = ((first[:, best] + step[:, best] * codes[best]).T for codes in (old, new))  # a move a row, the best first
        if counted:
            left = np.column_stack([left, having[best, old[best]], without[best, new[best]]])
            entered = np.column_stack([entered, without[best, old[best]], having[best, new[best]]])
        # those that pay off even after all before them have been made
        good = _change(tables, left, entered, _before(left), _before(entered)) < -LEAST_GAIN
        tables.moved(left[good], entered[good])
        tables.members[rows[best[good]], place, column] = new[best[good]]
        best = best[~good]


def _exchange(tables: _Tables, rows: Ints, rng: np.random.Generator) -> None:
    """Exchange members between pairs of households, in place, where that lowers the objective.

    Each household offers one random member; those whose leaving costs least are paired at random.

    Args:
        tables: The present tables and members.
        rows: Indices of the households.
        rng: Source of randomness.
    """
    place = (rng.random(len(rows)) * tables.sizes[rows]).astype(np.int64)
    held = tables.cells_with_others(rows, tables.members[rows, place], place)
    missed = tables.leaving(held).sum(axis=0)
    half = int(UNHAPPY * len(rows)) // 2
    some = rng.permutation(np.argsort(missed, kind="stable")[: 2 * half]).reshape(2, half)
    pair, place = rows[some], place[some]
    members = tables.members[pair, place]
    leaving = [*held[:, some].transpose(1, 0, 2)]
    entering = [tables.cells_with_others(*one) for one in zip(pair[::-1], members, place[::-1], strict=True)]
    for column in tables.numbers:
        for home in (0, 1):
            codes = members[[home, 1 - home], :, column].T  # of the one that goes, and of the one that comes
            without, having = tables.numbered(pair[home], place[home], column, codes).transpose(0, 2, 1)
            leaving.append(np.stack([having[0], without[1]]))
            entering.append(np.stack([having[1], without[0]]))
    left, entered = np.concatenate(leaving), np.concatenate(entering)
    stays = left == entered
    left, entered = np.where(stays, tables.nowhere, left).T, np.where(stays, tables.nowhere, entered).T
    gain = _change(tables, left, entered)
    for limit in tables.limits:  # numbers stay as they are
        gain[np.not_equal(*limit.inside[members[:, :, limit.column]])] = np.inf
    best = np.argsort(gain, kind="stable")
    best = best[gain[best] < -LEAST_GAIN]
    before = _before(left[best]), _before(entered[best])
    good = best[_change(tables, left[best], entered[best], *before) < -LEAST_GAIN]
    tables.moved(left[good], entered[good])
    tables.members[pair[:, good], place[:, good]] = members[::-1][:, good]


def _before(cells: Ints) -> Floats:
    """Return, for each entry of `cells`, how often the same cell occurs before it, in C order."""
    return earlier(cells.reshape(-1)).reshape(cells.shape)


def _change(tables: _Tables, left: Ints, entered: Ints, left_before: Floats | int = 0, entered_before: Floats | int = 0) -> Floats:
    """Return the change of the objective by each of several moves, all earlier moves taken into account.

    Args:
        tables: The present tables.
        left: Cells that each move leaves, shape (moves, cells).
        entered: Cells that each move enters, shape (moves, cells).
        left_before: How often an earlier move has left the same cell.
        entered_before: How often an earlier move has entered the same cell.
    """
    return np.asarray((tables.entering(entered, entered_before) + tables.leaving(left, left_before)).sum(axis=1))
