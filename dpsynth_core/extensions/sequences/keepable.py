"""Check that a person's rows can keep all rules of a link, and find an example. Knows codes and public rules only.

Rules tie a row to its person, to its number and to the row before it. So the search goes row by row, and keeps all rows that can be
reached. Columns without a rule that ties them to each other, directly or through other columns, are checked apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.layout import BACK, LAST, START, SequenceLink
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.measurement import Clique

MOST_CELLS = 2_000_000
"""Cells of a table of tied columns of a person, a row and the row before, beyond which rules count as keepable."""
_PLACED = frozenset((NUMBER, START, LAST))

Cells = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Tied:
    """Columns that rules tie to each other, with their rules. Codes that no rule tells apart are one code.

    Attributes:
        persons: The columns of the person.
        rows: The columns of a row.
        before: For each column of `rows` that a rule names for the row before, the name there.
        codes: The code of the domain for each code here, by column.
        tables: True in impossible cells, by columns; codes are those here.
    """

    persons: Clique
    rows: Clique
    before: Mapping[str, str]
    codes: Mapping[str, NDArray[np.int64]]
    tables: Mapping[Clique, Cells]

    @property
    def is_large(self) -> bool:
        """True if the table of all columns has more than 2,000,000 cells (`MOST_CELLS`)."""
        return math.prod(len(self.codes[name]) for name in (*self.persons, *self.rows, *self.before.values())) > MOST_CELLS

    def allowed(self, names: Clique, known: Mapping[str, int]) -> Cells:
        """Return whether each cell of these columns breaks no rule, given the codes of the other columns."""
        fine = np.ones([len(self.codes[name]) for name in names], dtype=bool)
        for clique, impossible in self.tables.items():
            open_ = [name for name in clique if name not in known]
            part = impossible[tuple(known.get(name, slice(None)) for name in clique)]
            part = np.transpose(part, sorted(range(len(open_)), key=lambda axis: names.index(open_[axis])))
            fine &= ~part.reshape([len(self.codes[name]) if name in open_ else 1 for name in names])
        return fine

    def steps(self, size: int) -> Iterator[tuple[Cells, Cells]]:
        """Yield, for each row of a person with `size` rows, which persons and rows can be reached, and from which rows before.

        Yields:
            True for reached cells of `persons` and `rows`; and of these and `before`, of which a first row has none.
        """
        names, lags = (*self.persons, *self.rows), tuple(self.before.values())
        reached: Cells = np.empty(0, dtype=bool)
        for place in range(size):
            known = {NUMBER: size, START: min(place, BACK), LAST: int(place == size - 1)}
            if place == 0:
                steps = reached = self.allowed(names, known | {lag: len(self.codes[lag]) - 1 for lag in lags})
            else:
                steps = self.allowed((*names, *lags), known) & self._before(reached)
                reached = np.asarray(steps.any(axis=tuple(range(len(names), steps.ndim))))
            yield reached, steps

    def _before(self, reached: Cells) -> Cells:
        """Return reached cells of persons and rows as cells of persons, rows (of length 1) and rows before."""
        left_out = tuple(len(self.persons) + axis for axis, name in enumerate(self.rows) if name not in self.before)
        kept = np.asarray(reached.any(axis=left_out))
        more = [(0, 0)] * len(self.persons) + [(0, len(self.codes[lag]) - len(self.codes[name])) for name, lag in self.before.items()]
        kept = np.pad(kept, more) if more else kept
        return kept.reshape((*kept.shape[: len(self.persons)], *[1] * len(self.rows), *kept.shape[len(self.persons) :]))

    def example(self, size: int) -> list[dict[str, int]] | None:
        """Return an example of a person with `size` rows: for each row, codes of the domain by column; None without one."""
        steps, found, here = list(self.steps(size)), list[dict[str, int]](), dict[str, int]()
        if not steps[-1][0].any():
            return None
        for reached, from_ in reversed(steps):
            names = (*self.persons, *self.rows)
            cells = np.argwhere(reached[tuple(here.get(name, slice(None)) for name in names)])[0]
            here |= dict(zip((name for name in names if name not in here), map(int, cells), strict=True))
            found.append({name: int(self.codes[name][here[name]]) for name in names})
            cell = tuple(here[name] for name in names)
            back = np.argwhere(from_[cell])[0] if from_.ndim > reached.ndim else []
            here = {name: here[name] for name in self.persons} | dict(zip(self.before, map(int, back), strict=False))
        return found[::-1]


def can_hold(link: SequenceLink, size: int) -> bool:
    """Return whether a person with `size` rows, 1 or more, can keep all rules; True where that is not known (`MOST_CELLS`)."""
    return all(one.is_large or _last(one, size).any() for one in _tied(link))


def example(link: SequenceLink, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return an example of a person who keeps all rules.

    Args:
        link: The link.
        size: The number of rows, 1 or more.

    Returns:
        Codes of the person, shape (columns,), and of the rows, shape (size, columns); None without an example, or if the rules are
        too large (`MOST_CELLS`).
    """
    codes = [dict.fromkeys((*link.households.names, *link.members.names), 0) for _ in range(size)]
    for one in _tied(link):
        rows = None if one.is_large else one.example(size)
        if rows is None:
            return None
        for mine, more in zip(codes, rows, strict=True):
            mine |= more
    persons, members = ([[mine[name] for name in domain.names] for mine in codes] for domain in (link.households, link.members))
    return np.array(persons[0], dtype=np.int64), np.array(members, dtype=np.int64)


def _last(one: _Tied, size: int) -> Cells:
    """Return which persons and last rows can be reached."""
    *_, (reached, _) = one.steps(size)
    return reached


def _tied(link: SequenceLink) -> Iterator[_Tied]:
    """Yield the groups of columns that rules tie to each other, and one without columns."""
    two = {lag for lag, (_, back) in link.lags.items() if back > 1}
    tables = {clique: cells for clique, cells in link.domain.zeros.items() if not two & set(clique)}
    groups = [frozenset[str]()]
    for clique in tables:
        columns = frozenset(link.again.get(name, name) for name in clique) - _PLACED
        touched = [group for group in groups if group & columns]
        groups = [*(group for group in groups if group not in touched), *([columns.union(*touched)] if columns else [])]
    for group in groups:
        mine = {clique: cells for clique, cells in tables.items() if {link.again.get(name, name) for name in clique} - _PLACED <= group}
        mine = {clique: cells for clique, cells in mine.items() if bool(set(clique) - _PLACED) == bool(group)}
        yield _merged(link, group, mine)


def _merged(link: SequenceLink, group: frozenset[str], tables: dict[Clique, Cells]) -> _Tied:
    """Return a group of columns with its rules, codes that no rule tells apart as one."""
    persons, rows = (tuple(name for name in domain.names if name in group) for domain in (link.households, link.members))
    used = {name for clique in tables for name in clique}
    before = {name: link.other(name) for name in rows if link.other(name) in used}
    codes = dict[str, NDArray[np.int64]]()
    for name in (*persons, *rows):
        many, both = (link.households if name in persons else link.members)[name].size, (name, before.get(name))
        axes = [np.moveaxis(cells, clique.index(one), 0)[:many] for clique, cells in tables.items() for one in both if one in clique]
        differ = np.hstack([axis.reshape(many, -1) for axis in axes]) if axes else np.zeros((many, 1), dtype=bool)
        chosen = np.sort(np.unique(differ, axis=0, return_index=True)[1])
        for one in (one for one in both if one is not None):
            codes[one] = np.array([*chosen, *range(many, link.domain[one].size)])  # and the cell for no row
    kept = {
        clique: cells[
            np.ix_(*(codes[name] if name in codes else np.arange(length) for name, length in zip(clique, cells.shape, strict=True)))
        ]
        for clique, cells in tables.items()
    }
    return _Tied(persons, rows, before, codes, kept)
