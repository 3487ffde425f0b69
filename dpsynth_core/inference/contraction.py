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
from numpy.typing import NDArray

from dpsynth_core.vocabulary.marginals import expand, summed_axes

Labels = tuple[int, ...]
Table = NDArray[np.float64]

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
    """The step out = source summed over all labels outside `labels`. `back` is the index that restores summed axes with length one."""

    source: int
    out: int
    axes: tuple[int, ...]
    labels: Labels
    back: tuple[slice | None, ...]


@dataclass(frozen=True)
class Factor:
    """A table in a product, as a stack of matrices.

    Attributes:
        slot: Its slot.
        axes: Order of its axes that makes it a stack.
        shape: Shape of the stack.
        cells: Shape that leads from the stack to the table.
        back: Order of axes that leads from there to the table.
    """

    slot: int
    axes: tuple[int, ...]
    shape: tuple[int, int, int]
    cells: tuple[int, ...]
    back: tuple[int, ...]

    @staticmethod
    def of(slot: int, labels: Labels, stacked: tuple[Labels, Labels, Labels], sizes: Sequence[int]) -> Factor:
        """Return a factor. `stacked` holds the labels of the matrices' index, rows and columns, together the `labels` of the table."""
        order = [x for part in stacked for x in part]
        stack, rows, columns = (math.prod(sizes[x] for x in part) for part in stacked)
        axes, back = tuple(map(labels.index, order)), tuple(map(order.index, labels))
        return Factor(slot, axes, (stack, rows, columns), tuple(sizes[x] for x in order), back)

    def stacked(self, table: Table) -> Table:
        """Return the table as a stack of matrices, in `shape`."""
        return table.transpose(self.axes).reshape(self.shape)

    def table(self, stacked: Table) -> Table:
        """Return the table from its stack, with its axes in their own order."""
        return stacked.reshape(self.cells).transpose(self.back)


@dataclass(frozen=True)
class Product:
    """The step out[batch, left, right] = sum over inner of left[batch, left, inner] * right[batch, inner, right].

    `shape` is the shape of the result.
    """

    left: Factor
    right: Factor
    out: int
    labels: Labels
    shape: tuple[int, ...]

    def operands(self, values: Sequence[Table]) -> tuple[Table, Table]:
        """Return the left and the right table as stacks. `values` holds the table in each slot."""
        return self.left.stacked(values[self.left.slot]), self.right.stacked(values[self.right.slot])

    def multiply(self, left: Table, right: Table) -> Table:
        """Multiply left (b, l, k) and right (b, k, r)."""
        (_, n_left, n_inner), n_right = self.left.shape, self.right.shape[2]
        if n_inner == 1:
            return (left * right).reshape(self.shape)
        if n_left == 1 and n_right == 1:
            return np.einsum("bij,bji->b", left, right).reshape(self.shape)
        return np.matmul(left, right).reshape(self.shape)


@dataclass(frozen=True)
class Scaled:
    """The step out = a table times another one over some of its labels, without changing its order of axes.

    Attributes:
        large: Slot of the table.
        small: Slot of the other one.
        out: Slot of the result.
        labels: Labels of the result.
        over: Labels of the small table.
        own: Whether the large table is an intermediate array, which may be overwritten.
    """

    large: int
    small: int
    out: int
    labels: Labels
    over: Labels
    own: bool

    def multiply(self, large: Table, small: Table) -> Table:
        """Return the product in the large table's order of axes; the large table is overwritten if it is `own`."""
        return np.multiply(large, expand(small, self.over, self.labels), out=large if self.own else None)


@dataclass(frozen=True)
class Forward:
    """The values that a forward run keeps.

    Attributes:
        values: Value of each slot.
        operands: Factors of each product as stacks, by slot. Running backwards uses them again, because bringing a table into that order
            costs as much as the product.
    """

    values: list[Table]
    operands: dict[int, tuple[Table, Table]]


class Program:
    """A straight-line program: inputs are slots 0..n-1, every step fills one more slot, and each slot is used at most once.

    `flops` counts the multiplications of one forward run.
    """

    def __init__(self, inputs: Sequence[Labels], sizes: Sequence[int], search: Search = OFTEN) -> None:
        self.sizes = tuple(sizes)
        self._inputs, self._search = len(inputs), search
        self.labels: list[Labels] = list(inputs)
        self.steps: list[SumOut | Product | Scaled] = []
        self.flops = 0.0

    def cells(self, labels: Labels) -> int:
        """Return the number of cells of a table over the labels."""
        return math.prod(self.sizes[label] for label in labels)

    def contract(self, slots: Sequence[int], keep: frozenset[int]) -> int:
        """Append steps that multiply `slots` and sum out every label not in `keep`. Returns the slot of the result."""
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

    def forward(self, inputs: Sequence[Table], normalise: frozenset[int] = frozenset()) -> Forward:
        """Compute the values of all slots.

        Slots in `normalise` are divided by their maximum, so that long chains neither overflow nor vanish.

        Raises:
            FloatingPointError: A normalised slot is zero or not finite everywhere.
        """
        values: list[Table] = list(inputs)
        operands: dict[int, tuple[Table, Table]] = {}
        for step in self.steps:
            assert not isinstance(step, Scaled), "a program of `ONCE` is not run backwards"
            if isinstance(step, Product):
                operands[step.out] = step.operands(values)
                values.append(step.multiply(*operands[step.out]))
            else:
                values.append(values[step.source].sum(axis=step.axes))
            if step.out in normalise:
                values[step.out] /= _top(values[step.out])
        return Forward(values, operands)

    def result(self, inputs: Sequence[Table], slot: int) -> Table:
        """Compute the value of one slot. Intermediate tables are freed as soon as they are used."""
        values: list[Table] = list(inputs)
        used = np.empty(0)
        for step in self.steps:
            if isinstance(step, Product):
                values.append(step.multiply(*step.operands(values)))
                values[step.left.slot] = values[step.right.slot] = used
            elif isinstance(step, Scaled):
                values.append(step.multiply(values[step.large], values[step.small]))
                values[step.large] = values[step.small] = used
            else:
                values.append(values[step.source].sum(axis=step.axes))
                values[step.source] = used
        return values[slot]

    def backward(self, forward: Forward, root: int, normalise: frozenset[int] = frozenset()) -> dict[int, Table]:
        """Compute derivatives of the scalar slot `root` with respect to every slot it depends on, each up to its own positive factor.

        Axes follow `labels` of the slot; an axis along which the derivative is constant may have length one.
        """
        adjoint: dict[int, Table] = {root: np.ones(())}
        for step in reversed(self.steps):
            if step.out not in adjoint:
                continue
            outer = adjoint[step.out]
            if step.out in normalise:
                adjoint[step.out] = outer = outer / _top(outer)
            if isinstance(step, SumOut):
                adjoint[step.source] = outer[step.back]
                continue
            assert isinstance(step, Product)
            left, right = forward.operands[step.out]
            outer = broadcast(outer, step.shape).reshape(step.left.shape[0], step.left.shape[1], step.right.shape[2])
            adjoint[step.left.slot] = step.left.table(_times_transposed(outer, right))
            adjoint[step.right.slot] = step.right.table(_transposed_times(left, outer))
        return adjoint


def broadcast(table: Table, shape: tuple[int, ...]) -> Table:
    """Return the table with axes of length one expanded to the shape; the same table, which is much faster, if it has the shape."""
    return table if table.shape == shape else np.broadcast_to(table, shape)


def _top(message: Table) -> float:
    top = float(message.max())
    if not 0.0 < top < math.inf:
        raise FloatingPointError("potentials are too extreme: a message vanished or overflowed")
    return top


def _times_transposed(outer: Table, right: Table) -> Table:
    """Outer (b, l, r), right (b, k, r as r-last after swap) -> (b, l, k)."""
    if outer.shape[2] == 1:
        return outer * right.swapaxes(1, 2)
    if outer.shape[1] == 1 and right.shape[1] == 1:
        return np.einsum("bij,bkj->b", outer, right)[:, None, None]
    return np.matmul(outer, right.swapaxes(1, 2))


def _transposed_times(left: Table, outer: Table) -> Table:
    """Left (b, l, k), outer (b, l, r) -> (b, k, r)."""
    if left.shape[1] == 1:
        return left.swapaxes(1, 2) * outer
    if left.shape[2] == 1 and outer.shape[2] == 1:
        return np.einsum("bij,bik->b", left, outer)[:, None, None]
    return np.matmul(left.swapaxes(1, 2), outer)


@functools.lru_cache(KEPT_ORDERS)
def _path(inputs: tuple[Labels, ...], keep: frozenset[int], sizes: tuple[int, ...], search: Search) -> Sequence[tuple[int, ...]]:
    """Pairwise contraction order as positions in the shrinking list, the way opt_einsum reports it.

    Exhaustive for up to four tables; greedy beyond, and dynamic programming where the greedy order would be expensive. Cached: a model that
    grows by one clique keeps most of its nodes.
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
    """Return the path with every step a pair: optimisers may return more than two at once when nothing is gained by pairing."""
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
    """Multiplications along a path."""
    pending, work = list(sets), 0.0
    for i, j in path:
        both = pending[i] | pending[j]
        pending = [s for k, s in enumerate(pending) if k not in (i, j)]
        work += math.prod(size_of[x] for x in both)
        pending.append(both & keep.union(*pending))
    return work


class Contractor:
    """One-off contractions over a fixed set of attribute sizes, with plans cached by the labels involved."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self._plans: dict[tuple[tuple[Labels, ...], frozenset[int]], tuple[Program, int]] = {}

    def plan(self, inputs: Sequence[Labels], keep: frozenset[int]) -> tuple[Program, int]:
        """Return the program that sums the product to `keep`, and the slot of its result; planned once per arguments."""
        key = (tuple(inputs), keep)
        planned = self._plans.get(key)
        if planned is None:
            program = Program(inputs, self.sizes, ONCE)
            planned = self._plans[key] = (program, program.contract(range(len(inputs)), keep))
        return planned

    def __call__(self, tables: Sequence[Table], inputs: Sequence[Labels], out: Labels) -> Table:
        """Product of the tables summed to `out`, axes in that order. Labels of `out` that no table has are broadcast."""
        result, labels = self.summed(tables, inputs, frozenset(out))
        return np.broadcast_to(expand(result, labels, out), [self.sizes[x] for x in out])

    def summed(self, tables: Sequence[Table], inputs: Sequence[Labels], keep: frozenset[int]) -> tuple[Table, Labels]:
        """Return the product of the tables, summed to their labels in `keep`, with the order in which its axes come."""
        program, slot = self.plan(inputs, keep)
        return program.result(tables, slot), program.labels[slot]
