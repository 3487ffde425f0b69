"""Exact draws of some columns from a graphical model given others: variable elimination for many lines at once, one line a record.

The unknown columns are summed out one after the other, which leaves for each a table over the later ones; then they are drawn in the
opposite order, each given those before it. Numbers that underflow are replaced by logarithms, line by line (`inference.arithmetic`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.arithmetic import LEAST, LOGARITHMS, NUMBERS, Arithmetic
from dpsynth_core.inference.contraction import Labels, Table
from dpsynth_core.inference.model import GraphicalModel, labels_of

Codes = NDArray[np.integer]

CELLS = 2_000_000
"""Largest number of cells of a table over unknown columns, for all lines that are drawn at a time together (16 MB)."""

_Factor = tuple[Labels, Table]
"""Labels of unknown columns in order, and their table with a first axis for the lines, of length 1 if all lines have the same."""


class Conditional:
    """The distribution of some columns of a model given others.

    Args:
        model: The model.
        known: The columns that are given.
        asked: The columns that are drawn. Columns of the model that are neither are summed out.
    """

    def __init__(self, model: GraphicalModel, known: Sequence[str], asked: Sequence[str]) -> None:
        self._sizes, self._folding = model.structure.sizes, model.folding
        self._known, self._asked, self._names = labels_of(model.domain, tuple(known)), labels_of(model.domain, tuple(asked)), tuple(asked)
        self._given, given = tuple(known), set(self._known)
        self._arithmetic = model.calibration.arithmetic
        self._used = [number for number, labels in enumerate(model.structure.cliques) if not set(labels) <= given]
        self._factors = [(model.structure.cliques[number], model.calibration.potentials[number]) for number in self._used]
        self._model = model
        self._order, self._scopes = list[int](), list[Labels]()
        scopes = [set(labels) - given for labels, _ in self._factors]
        left = set[int]().union(*scopes)
        while left:
            joined = {a: set[int]().union(*(scope for scope in scopes if a in scope)) for a in left}
            first = min(left, key=lambda a: (math.prod(self._sizes[b] for b in joined[a]), a))
            scopes = [scope for scope in scopes if first not in scope] + [joined[first] - {first}]
            left.remove(first)
            self._order.append(first)
            self._scopes.append(tuple(sorted(joined[first])))
        self._lines = max(1, CELLS // max([1, *(math.prod(self._sizes[a] for a in scope) for scope in self._scopes)]))

    def draw(self, known: Codes, rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the asked columns of each line, and whether the model holds the line possible.

        Args:
            known: Codes of the known columns, shape (lines, columns).
            rng: Source of randomness; the same state gives the same codes.

        Returns:
            Codes of the domain, shape (lines, asked columns), and a mask, shape (lines,); codes of a line that the
            model holds impossible mean nothing.
        """
        places = np.column_stack([self._folded(name, known[:, i]) for i, name in enumerate(self._given)])
        codes, possible = np.zeros((len(known), len(self._sizes)), dtype=np.int64), np.ones(len(known), dtype=bool)
        codes[:, self._known] = places
        uniform = rng.random((len(self._order), len(known)))
        for start in range(0, len(known), self._lines):
            some = slice(start, start + self._lines)
            good = self._draw(codes[some], uniform[:, some], self._arithmetic)
            if self._arithmetic is NUMBERS and not good.all():
                again, bad = np.flatnonzero(~good) + start, codes[some][~good]
                good[~good] = self._draw(bad, uniform[:, again], LOGARITHMS)
                codes[again] = bad
            possible[some] = good
        return self._unfolded(codes[:, self._asked], rng), possible

    def _folded(self, name: str, codes: Codes) -> Codes:
        folding = self._folding.columns.get(name)
        return codes if folding is None else np.maximum(folding.place[codes], 0)

    def _unfolded(self, codes: Codes, rng: np.random.Generator) -> NDArray[np.int32]:
        columns = [self._folding.columns.get(name) for name in self._names]
        drawn = [codes[:, i] if one is None else one.codes(codes[:, i], rng) for i, one in enumerate(columns)]
        return np.column_stack(drawn).astype(np.int32)

    def _draw(self, codes: Codes, uniform: NDArray[np.float64], arithmetic: Arithmetic) -> NDArray[np.bool_]:
        """Draw the unknown columns of some lines, in place, and return whether each was possible and did not underflow.

        Args:
            codes: The model's codes of all columns, shape (lines, columns).
            uniform: Uniform numbers, one for each unknown column and line.
            arithmetic: What tables hold.
        """
        pool, joints = self._looked_up(codes, arithmetic), list[Table]()
        good, lines = np.ones(len(codes), dtype=bool), np.arange(len(codes))
        for first, scope in zip(self._order, self._scopes, strict=True):
            joint: Table = np.full((1, *(1 for _ in scope)), arithmetic.one)
            for labels, table in (factor for factor in pool if first in factor[0]):
                joint = arithmetic.times(joint, table.reshape(len(table), *(self._sizes[b] if b in labels else 1 for b in scope)))
            pool = [factor for factor in pool if first not in factor[0]]
            joints.append(joint)
            rest = tuple(b for b in scope if b != first)
            if rest:
                message, possible = _levelled(arithmetic.sum(joint, (1 + scope.index(first),)), arithmetic)
                pool.append((rest, message))
                good &= possible
        for number, (first, scope, joint) in reversed(list(enumerate(zip(self._order, self._scopes, joints, strict=True)))):
            held = np.moveaxis(joint, 1 + scope.index(first), -1)
            index = (lines if len(joint) > 1 else np.zeros_like(lines), *(codes[:, b] for b in scope if b != first))
            shares, possible = _shares(held[index], arithmetic)
            good &= possible
            edges = np.cumsum(shares, axis=1)
            codes[:, first] = (uniform[number][:, None] * edges[:, -1:] >= edges).sum(axis=1) * possible
        return good

    def _looked_up(self, codes: Codes, arithmetic: Arithmetic) -> list[_Factor]:
        """Return the potentials at the known codes of each line."""
        pool, given = list[_Factor](), set(self._known)
        for labels, table in self._logarithms if arithmetic is LOGARITHMS else self._factors:
            known, unknown = [a for a in labels if a in given], tuple(a for a in labels if a not in given)
            moved = np.moveaxis(table, [labels.index(a) for a in (*known, *unknown)], range(table.ndim))
            pool.append((unknown, moved[tuple(codes[:, a] for a in known)] if known else moved[None]))
        return pool

    @cached_property
    def _logarithms(self) -> list[_Factor]:
        """The potentials as logarithms, with the digits that numbers would lose."""
        structure, tables = self._model.structure, self._model.log_potentials
        shut = [np.broadcast_to(True, ()) if some is None else some for some in structure.possible]
        return [(structure.cliques[number], np.where(shut[number], tables[number], -np.inf)) for number in self._used]


def _levelled(table: Table, arithmetic: Arithmetic) -> tuple[Table, NDArray[np.bool_]]:
    """Return each line of a table, numbers with a largest one of 1, and whether the line is possible and, in numbers, did not underflow.

    Args:
        table: The table, whose first axis is for the lines.
        arithmetic: What it holds, and the result too.
    """
    top = table.max(axis=tuple(range(1, table.ndim)), keepdims=True)
    if arithmetic is LOGARITHMS:
        return table, top.ravel() > -np.inf
    return np.asarray(table / np.where(top > 0, top, 1.0)), top.ravel() > LEAST


def _shares(table: Table, arithmetic: Arithmetic) -> tuple[Table, NDArray[np.bool_]]:
    """Return numbers proportional to the values of each line, and whether the line is possible and, in numbers, did not underflow."""
    numbers, possible = _levelled(table, arithmetic)
    if arithmetic is NUMBERS:
        return numbers, possible
    top = table.max(axis=1, keepdims=True)
    return np.exp(table - np.where(possible[:, None], top, 0.0)), possible
