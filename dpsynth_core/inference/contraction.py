"""Sums of products of small tables, and their derivatives, without ever building the full table.

A table is a NumPy array with one *label* (attribute index) per axis. `Program` multiplies many tables and sums labels out, pair by pair,
in an order found by opt_einsum; run backwards it gives the derivative with respect to every input at about twice the forward cost, which is
how one sweep yields the marginals of all measured cliques at once (reverse-mode differentiation of the partition function;
Darwiche 2003, "A differential approach to inference in Bayesian networks"). Knows nothing of data or privacy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import opt_einsum

from dpsynth_core.inference.arithmetic import LEAST, NUMBERS, Arithmetic, Table
from dpsynth_core.vocabulary.marginals import expand, summed_axes

Labels = tuple[int, ...]

SEARCHED_INPUTS = 10
KEPT_ORDERS = 4096


@dataclass(frozen=True)
class Search:
    """The effort for finding a good contraction order.

    Attributes:
        worth: Multiplications of one contraction from which an exhaustive search pays off.
        outer: Whether tables without a common label may be multiplied first, which takes much longer to search, and saves passes over the
            largest tables.
    """

    worth: float
    outer: bool


OFTEN, ONCE = Search(2e6, outer=True), Search(2e7, outer=False)
"""Efforts for a program that runs a hundred times, and for one that runs a few times."""


@dataclass(frozen=True)
class SumOut:
    """The step out = source summed over all labels outside `labels`.

    Attributes:
        source: Slot of the table that is summed.
        out: Slot of the result.
        axes: Axes of the source that are summed.
        labels: Labels of the result.
        back: Index that gives the result the source's number of axes, with length one where it was
            summed.
    """

    source: int
    out: int
    axes: tuple[int, ...]
    labels: Labels
    back: tuple[slice | None, ...]


@dataclass(frozen=True)
class Factor:
    """A table in a product, reshaped into a stack of matrices.

    Attributes:
        slot: Slot of the table.
        axes: Permutation of the table's axes: first the stack's index, then rows, then columns.
        shape: Shape of the stack: (matrices, rows, columns).
        cells: Shape of the permuted table, from which the stack was reshaped.
        back: Permutation of axes from the permuted table to the table.
    """

    slot: int
    axes: tuple[int, ...]
    shape: tuple[int, int, int]
    cells: tuple[int, ...]
    back: tuple[int, ...]

    @staticmethod
    def of(slot: int, labels: Labels, stacked: tuple[Labels, Labels, Labels], sizes: Sequence[int]) -> Factor:
        """Return the factor for a table.

        Args:
            slot: Slot of the table.
            labels: Labels of the table's axes.
            stacked: These labels divided into those that index the matrices, their rows and their
                columns.
            sizes: Number of values of each label.
        """
        order = [x for part in stacked for x in part]
        stack, rows, columns = (math.prod(sizes[x] for x in part) for part in stacked)
        axes, back = tuple(map(labels.index, order)), tuple(map(order.index, labels))
        return Factor(slot, axes, (stack, rows, columns), tuple(sizes[x] for x in order), back)

    def stacked(self, table: Table) -> Table:
        """Return the table as a stack of matrices, of the shape `shape`."""
        return table.transpose(self.axes).reshape(self.shape)

    def table(self, stacked: Table) -> Table:
        """Return the table that a stack of matrices came from, with its axes in their original order."""
        return stacked.reshape(self.cells).transpose(self.back)


@dataclass(frozen=True)
class Product:
    """The step out[batch, left, right] = sum over inner of left[batch, left, inner] * right[batch, inner, right].

    Attributes:
        left: The left factor.
        right: The right factor.
        out: Slot of the result.
        labels: Labels of the result.
        shape: Shape of the result, one axis per label.
    """

    left: Factor
    right: Factor
    out: int
    labels: Labels
    shape: tuple[int, ...]

    def operands(self, values: Sequence[Table]) -> tuple[Table, Table]:
        """Return the left and the right table as stacks of matrices; values[slot] is the table in a slot."""
        return self.left.stacked(values[self.left.slot]), self.right.stacked(values[self.right.slot])

    def multiply(self, left: Table, right: Table, arithmetic: Arithmetic) -> Table:
        """Return the product of stacks left (b, l, k) and right (b, k, r), in the shape of the result."""
        return arithmetic.product(left, right).reshape(self.shape)


@dataclass(frozen=True)
class Scaled:
    """The step out = a large table times a small one over some of its labels, in the large table's axis order.

    Attributes:
        large: Slot of the large table.
        small: Slot of the small table.
        out: Slot of the result.
        labels: Labels of the large table and of the result.
        over: Labels of the small table.
        own: Whether the large table is an intermediate array, which may be overwritten.
    """

    large: int
    small: int
    out: int
    labels: Labels
    over: Labels
    own: bool

    def multiply(self, large: Table, small: Table, arithmetic: Arithmetic) -> Table:
        """Return large * small in the large table's order of axes, overwriting the large table if it is `own`.

        Args:
            large: The large table.
            small: The small table.
            arithmetic: What the tables hold.
        """
        return arithmetic.times(large, expand(small, self.over, self.labels), large if self.own else None)


@dataclass(frozen=True)
class Forward:
    """The values of a forward run, which the backward run uses.

    Attributes:
        values: Table in each slot.
        operands: By slot of a product, its two factors as stacks, kept because bringing a table
            into that order costs as much as the product.
    """

    values: list[Table]
    operands: dict[int, tuple[Table, Table]]


class Program:
    """A straight-line program of sums and products of tables.

    Inputs are slots 0..n-1, every step fills one more slot, and each slot is used at most once.
    `flops` counts the multiplications of one forward run.

    Args:
        inputs: Labels of each input table.
        sizes: Number of values of each label.
        search: Effort for finding good orders of contraction.
    """

    def __init__(self, inputs: Sequence[Labels], sizes: Sequence[int], search: Search = OFTEN) -> None:
        self.sizes = tuple(sizes)
        self._inputs, self._search = len(inputs), search
        self.labels: list[Labels] = list(inputs)
        self.steps: list[SumOut | Product | Scaled] = []
        self.flops = 0.0

    def cells(self, labels: Labels) -> int:
        """Return the number of cells of a table over these labels."""
        return math.prod(self.sizes[label] for label in labels)

    def contract(self, slots: Sequence[int], keep: frozenset[int]) -> int:
        """Append steps that multiply the tables in `slots` and sum out every label that is not in `keep`.

        Nothing is computed yet. Each of the slots must not be used by another step.

        Args:
            slots: Slots of the tables, at least one.
            keep: Labels that are not summed out.

        Returns:
            The slot of the result; `self.labels[slot]` are the labels of its axes, in an order that is found.
        """
        pending = list(slots)
        for chosen in _path(tuple(self.labels[s] for s in pending), keep, self.sizes, self._search):
            picked = [pending[i] for i in chosen]
            pending = [s for i, s in enumerate(pending) if i not in chosen]
            needed = keep.union(*(self.labels[s] for s in pending)) if pending else keep
            if len(picked) == 1:
                pending.append(self._sum_out(picked[0], needed))
                continue
            left, right = picked
            both = needed.union(set(self.labels[left]) & set(self.labels[right]))
            pending.append(self._product(self._sum_out(left, both), self._sum_out(right, both), needed))
        return pending[0]

    def _sum_out(self, slot: int, needed: frozenset[int] | set[int]) -> int:
        labels = self.labels[slot]
        axes = summed_axes(labels, needed)
        if not axes:
            return slot
        kept = tuple(label for label in labels if label in needed)
        back = tuple(None if axis in axes else slice(None) for axis in range(len(labels)))
        self._add(SumOut(slot, len(self.labels), axes, kept, back), self.cells(labels))
        return len(self.labels) - 1

    def _product(self, left: int, right: int, needed: frozenset[int]) -> int:
        a, b = self.labels[left], self.labels[right]
        if self._search is ONCE and needed.issuperset((*a, *b)) and (set(a) <= {*b} or {*b} <= set(a)):
            (large, labels), (small, over) = sorted([(left, a), (right, b)], key=lambda table: -len(table[1]))
            self._add(Scaled(large, small, len(self.labels), labels, over, large >= self._inputs and bool(labels)), self.cells(labels))
            return len(self.labels) - 1
        batch = tuple(x for x in a if x in b and x in needed)
        inner = tuple(x for x in a if x in b and x not in needed)
        left_only = tuple(x for x in a if x not in b)
        right_only = tuple(x for x in b if x not in a)
        labels = batch + left_only + right_only
        factors = Factor.of(left, a, (batch, left_only, inner), self.sizes), Factor.of(right, b, (batch, inner, right_only), self.sizes)
        self._add(Product(*factors, len(self.labels), labels, tuple(self.sizes[x] for x in labels)), self.cells(labels) * self.cells(inner))
        return len(self.labels) - 1

    def _add(self, step: SumOut | Product | Scaled, work: float) -> None:
        self.steps.append(step)
        self.labels.append(step.labels)
        self.flops += work

    def forward(
        self, inputs: Sequence[Table], normalise: frozenset[int] = frozenset(), arithmetic: Arithmetic = NUMBERS
    ) -> Forward:
        """Run the program and return the values of all slots.

        The program must not have been made with the effort `ONCE`.

        Args:
            inputs: The input tables.
            normalise: Slots whose tables are divided by their maximum, so that long chains neither
                overflow nor vanish; later slots are scaled accordingly.
            arithmetic: What the tables hold.

        Raises:
            FloatingPointError: The maximum of a slot in `normalise` is zero or not finite or, in
                numbers, below 1e-100 (`LEAST`).
        """
        values: list[Table] = list(inputs)
        operands: dict[int, tuple[Table, Table]] = {}
        for step in self.steps:
            assert not isinstance(step, Scaled), "a program of `ONCE` is not run backwards"
            if isinstance(step, Product):
                operands[step.out] = step.operands(values)
                values.append(step.multiply(*operands[step.out], arithmetic))
            else:
                values.append(arithmetic.sum(values[step.source], step.axes))
            if step.out in normalise:
                values[step.out] = arithmetic.levelled(values[step.out], LEAST)
        return Forward(values, operands)

    def result(self, inputs: Sequence[Table], slot: int, arithmetic: Arithmetic = NUMBERS) -> Table:
        """Run the program and return the table in one slot; intermediate tables are freed once used.

        Args:
            inputs: The input tables, which are not changed.
            slot: The slot, which no other step may use.
            arithmetic: What the tables hold.
        """
        values: list[Table] = list(inputs)
        used = np.empty(0)
        for step in self.steps:
            if isinstance(step, Product):
                values.append(step.multiply(*step.operands(values), arithmetic))
                values[step.left.slot] = values[step.right.slot] = used
            elif isinstance(step, Scaled):
                values.append(step.multiply(values[step.large], values[step.small], arithmetic))
                values[step.large] = values[step.small] = used
            else:
                values.append(arithmetic.sum(values[step.source], step.axes))
                values[step.source] = used
        return values[slot]

    def backward(
        self, forward: Forward, root: int, normalise: frozenset[int] = frozenset(), arithmetic: Arithmetic = NUMBERS
    ) -> dict[int, Table]:
        """Return the derivatives of the scalar in slot `root` with respect to each slot that it depends on.

        With slots in `normalise`, each derivative is only known up to a positive factor of its own.

        Args:
            forward: The values of a forward run with the same `normalise` and `arithmetic`.
            root: Slot of a table without axes.
            normalise: Slots whose derivatives are divided by their maximum.
            arithmetic: What the tables hold.

        Returns:
            Derivatives by slot, axes as the slot's `labels`; an axis along which a derivative is
            constant may have length one.

        Raises:
            FloatingPointError: The maximum of a derivative in `normalise` is zero or not finite or,
                in numbers, below `LEAST`.
        """
        adjoint: dict[int, Table] = {root: np.full((), arithmetic.one)}
        for step in reversed(self.steps):
            if step.out not in adjoint:
                continue
            outer = adjoint[step.out]
            if step.out in normalise:
                adjoint[step.out] = outer = arithmetic.levelled(outer, LEAST)
            if isinstance(step, SumOut):
                adjoint[step.source] = outer[step.back]
                continue
            assert isinstance(step, Product)
            left, right = forward.operands[step.out]
            outer = broadcast(outer, step.shape).reshape(step.left.shape[0], step.left.shape[1], step.right.shape[2])
            adjoint[step.left.slot] = step.left.table(arithmetic.product(outer, right.swapaxes(1, 2)))
            adjoint[step.right.slot] = step.right.table(arithmetic.product(left.swapaxes(1, 2), outer))
        return adjoint


def broadcast(table: Table, shape: tuple[int, ...]) -> Table:
    """Return the table with axes of length one expanded to `shape`; itself, much faster, if it has the shape."""
    return table if table.shape == shape else np.broadcast_to(table, shape)


@functools.lru_cache(KEPT_ORDERS)
def _path(inputs: tuple[Labels, ...], keep: frozenset[int], sizes: tuple[int, ...], search: Search) -> Sequence[tuple[int, ...]]:
    """Return an order of pairwise contractions, as opt_einsum reports it.

    Exhaustive search for up to four tables, greedy beyond; dynamic programming for up to
    `SEARCHED_INPUTS` tables where the greedy order takes `search.worth` multiplications or more.
    Cached: a model that grows by one clique keeps most of its nodes.

    Args:
        inputs: Labels of each table.
        keep: Labels of the result.
        sizes: Number of values of each label.
        search: Effort for the search.

    Returns:
        For each step, positions of the tables to multiply in the list of tables that are left;
        these leave the list and their product is appended.
    """
    if len(inputs) <= 2:
        return [tuple(range(len(inputs)))]
    sets = [frozenset(labels) for labels in inputs]
    every_label = frozenset().union(*sets)
    size_of = {label: sizes[label] for label in every_label}
    if len(inputs) <= 4:
        return _pairs(opt_einsum.paths.optimal(sets, keep & every_label, size_of), len(inputs))
    greedy = _pairs(opt_einsum.paths.greedy(sets, keep & every_label, size_of), len(inputs))
    if len(inputs) > SEARCHED_INPUTS or _work(sets, keep, size_of, greedy) < search.worth:
        return greedy
    searched = opt_einsum.paths.DynamicProgramming(minimize="flops", search_outer=search.outer)
    return _pairs(searched(sets, keep & every_label, size_of), len(inputs))


def _pairs(path: Sequence[Sequence[int]], count: int) -> list[tuple[int, ...]]:
    """Return a path whose steps all have two tables, from one whose steps may have one or several.

    Optimisers return several at once where pairing gains nothing.

    Args:
        path: Positions of the tables of each step in the shrinking list, as in `_path`.
        count: Number of tables.
    """
    steps: list[tuple[int, ...]] = []
    for step in path:
        chosen = sorted(step)
        if len(chosen) == 1:
            continue
        steps.append(tuple(chosen[-2:]))
        count -= 1
        for extra in reversed(chosen[:-2]):
            steps.append((extra, count - 1))
            count -= 1
    return steps


def _work(sets: Sequence[frozenset[int]], keep: frozenset[int], size_of: Mapping[int, int], path: Sequence[tuple[int, ...]]) -> float:
    """Return the number of multiplications along a path of pairwise contractions.

    Args:
        sets: Labels of each table.
        keep: Labels of the result.
        size_of: Number of values of each label.
        path: Positions of the two tables of each step in the shrinking list, as in `_path`.
    """
    pending, work = list(sets), 0.0
    for i, j in path:
        both = pending[i] | pending[j]
        pending = [s for k, s in enumerate(pending) if k not in (i, j)]
        work += math.prod(size_of[x] for x in both)
        pending.append(both & keep.union(*pending))
    return work


class Contractor:
    """One-off contractions over attributes of fixed sizes, with plans cached by the labels involved.

    A call contractor(tables, inputs, out) returns the product of the tables over `inputs` labels,
    summed to the labels `out`.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self._plans: dict[tuple[tuple[Labels, ...], frozenset[int]], tuple[Program, int]] = {}

    def plan(self, inputs: Sequence[Labels], keep: frozenset[int]) -> tuple[Program, int]:
        """Return the program that multiplies tables and sums them down to `keep`, and the slot of its result.

        The program is made once for the same arguments.

        Args:
            inputs: Labels of each table.
            keep: Labels that are not summed out.
        """
        key = (tuple(inputs), keep)
        planned = self._plans.get(key)
        if planned is None:
            program = Program(inputs, self.sizes, ONCE)
            planned = self._plans[key] = (program, program.contract(range(len(inputs)), keep))
        return planned

    def __call__(self, tables: Sequence[Table], inputs: Sequence[Labels], out: Labels, arithmetic: Arithmetic = NUMBERS) -> Table:
        """Return the product of the tables summed to `out`, axes in that order.

        Labels of `out` that no table has are broadcast, so that the result may be a read-only view.
        """
        result, labels = self.summed(tables, inputs, frozenset(out), arithmetic)
        return np.broadcast_to(expand(result, labels, out), [self.sizes[x] for x in out])

    def summed(
        self, tables: Sequence[Table], inputs: Sequence[Labels], keep: frozenset[int], arithmetic: Arithmetic = NUMBERS
    ) -> tuple[Table, Labels]:
        """Return the product of tables summed down to `keep`, and the labels of its axes in order.

        Args:
            tables: The tables.
            inputs: Labels of each table's axes.
            keep: Labels that are not summed out; a label that no table has is ignored.
            arithmetic: What the tables hold.
        """
        program, slot = self.plan(inputs, keep)
        return program.result(tables, slot, arithmetic), program.labels[slot]
