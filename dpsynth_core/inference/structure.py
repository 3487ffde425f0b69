"""The compiled shape of a graphical model: cliques, junction tree, and one program that yields all clique marginals.

Only one potential per measured clique (maximal ones only) is stored; a maximal clique of the junction tree is never built as a table.
Messages towards the root are slots of the program; messages away from it are their derivatives.

Structural zeros belong to the shape: their cliques are cliques of the model, and in their cells a potential is minus infinity, and the
table of log-potentials is not read there (AIM paper, appendix D).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.arithmetic import LEAST, LOGARITHMS, NUMBERS, Arithmetic
from dpsynth_core.inference.contraction import Labels, Program, Table, broadcast
from dpsynth_core.inference.junction_tree import bits, counting, holding, junction_tree, mask_of, maximal
from dpsynth_core.vocabulary.marginals import expand

LOG_WORK = 2e6
"""Largest number of multiplications of a sweep in logarithms, which take about a tenth of a second."""


@dataclass(frozen=True)
class Calibration:
    """The result of one sweep over the junction tree.

    Attributes:
        potentials: Exponentials of the log-potentials, each scaled to a largest entry of 1.
        marginals: Marginal of each clique, as probabilities.
        inward: Message from each node to its parent, each up to a positive factor.
        outward: Message to each node from its parent, each up to a positive factor.
        arithmetic: What potentials and messages hold: numbers, or their logarithms where numbers
            would underflow. Marginals always hold numbers.
    """

    potentials: tuple[Table, ...]
    marginals: tuple[Table, ...]
    inward: tuple[Table, ...]
    outward: tuple[Table, ...]
    arithmetic: Arithmetic = NUMBERS


Impossible = NDArray[np.bool_]
"""True in the cells of a clique where no record can be."""


@dataclass(frozen=True, eq=False)
class Tie:
    """An attribute whose value is a function of another attribute's value.

    Attributes:
        tied: Index of the attribute that follows.
        by: Index of the attribute that determines it.
        places: Value of `tied` for each value of `by`.
    """

    tied: int
    by: int
    places: NDArray[np.intp]


class Structure:
    """The compiled shape of a model. Arguments are trusted.

    Args:
        cliques: Labels (sorted attribute indices) of the potentials.
        sizes: Sizes of the attributes.
        zeros: Impossible cells, by labels.
    """

    def __init__(self, cliques: Iterable[Labels], sizes: Sequence[int], zeros: Mapping[Labels, Impossible] | None = None) -> None:
        self.sizes = tuple(sizes)
        self.program_cells = counting(self.sizes)
        """Cells of the table over a set of attributes."""
        self.zeros = zeros or {}
        masks = [mask_of(c) for c in (*cliques, *self.zeros)] + [1 << a for a in range(len(sizes))]
        self.cliques: tuple[Labels, ...] = tuple(tuple(bits(m)) for m in maximal(masks))
        shapes = [[sizes[a] for a in clique] for clique in self.cliques]
        self._cells_of = [math.prod(shape) for shape in shapes]
        self._starts = [0, *itertools.accumulate(self._cells_of)][:-1]
        self._parts = [(slice(start, start + n), shape) for start, n, shape in zip(self._starts, self._cells_of, shapes, strict=True)]
        self.possible = tuple(self.possible_in(c) for c in self.cliques)
        self.tree = junction_tree((mask_of(c) for c in self.cliques), sizes)
        self._masks = [mask_of(clique) for clique in self.cliques]
        self._having = holding(self._masks)
        nodes, having = self.tree.nodes, holding(self.tree.nodes)
        holders = ([node for node in having[c[0]] if mask & nodes[node] == mask] for c, mask in zip(self.cliques, self._masks, strict=True))
        self.node_of = tuple(min(some, key=lambda node: (self.program_cells(nodes[node]), node)) for some in holders)
        below: list[list[int]] = [[] for _ in nodes]
        for node, parent in enumerate(self.tree.parent[1:], 1):
            below[parent].append(node)
        self.children: tuple[tuple[int, ...], ...] = tuple(map(tuple, below))
        self.program = Program(self.cliques, sizes)
        self.message_slot = [-1] * len(self.tree.nodes)
        for node in reversed(range(len(self.tree.nodes))):
            inputs = [i for i, h in enumerate(self.node_of) if h == node] + [self.message_slot[c] for c in self.children[node]]
            separator = frozenset(bits(self.tree.separator(node)))
            self.message_slot[node] = self.program.contract(inputs, separator)
        self._normalise = frozenset(s for s in self.message_slot if s >= len(self.cliques))
        self._without_clique = sorted(set(range(1, len(self.tree.nodes))) - {*self.node_of})

    def containing(self, labels: Labels) -> int:
        """Return the index, from 0, of the clique with the fewest cells among those that contain all labels.

        Args:
            labels: Indices of attributes, at least one; some clique must contain them all.
        """
        wanted = mask_of(labels)
        holders = (i for i in self._having[labels[0]] if wanted & self._masks[i] == wanted)
        return min(holders, key=self._cells_of.__getitem__)

    def possible_in(self, labels: Labels) -> NDArray[np.bool_] | None:
        """Return a mask of the possible cells of a table over `labels`: False where a structural zero forbids a cell.

        Only structural zeros whose attributes are all in `labels` count.

        Returns:
            An array of a broadcastable shape; None if all cells are possible.
        """
        inside = [~expand(table, clique, labels) for clique, table in self.zeros.items() if set(clique) <= set(labels)]
        return functools.reduce(np.logical_and, inside) if inside else None

    @functools.cached_property
    def ties(self) -> tuple[Tie, ...]:
        """One tie for each attribute whose value follows from another attribute's value by a structural zero; () without any.

        If two attributes determine a third, only the first counts: leaving the third out for both
        would lose the fact that the two must agree.
        """
        ties: dict[int, Tie] = {}
        for labels, impossible in self.zeros.items():
            for axis in range(2) if len(labels) == 2 else ():
                if ((~impossible).sum(axis) == 1).all():
                    ties.setdefault(labels[axis], Tie(labels[axis], labels[1 - axis], impossible.argmin(axis)))
        return tuple(ties.values())

    def message_labels(self, node: int) -> Labels:
        """Return the attributes of the message from a node of the tree to its parent."""
        return self.program.labels[self.message_slot[node]]

    def calibrate(self, log_potentials: Sequence[Table]) -> Calibration:
        """Return all clique marginals and messages of the model with these log-potentials, one per clique.

        Numbers that would underflow are replaced by their logarithms, if that takes no more than
        2 million multiplications (`LOG_WORK`).

        Raises:
            FloatingPointError: The potentials leave no cell possible, or are not finite, or are so
                extreme that numbers underflow in a model which is too large for logarithms.
        """
        levels = self._levelled(log_potentials)
        try:
            return self._sweep(self.tables(np.exp(levels, out=levels)), NUMBERS)
        except FloatingPointError:
            if self.program.flops > LOG_WORK:
                raise
        return self._sweep(self.tables(self._levelled(log_potentials)), LOGARITHMS)

    def _sweep(self, potentials: tuple[Table, ...], arithmetic: Arithmetic) -> Calibration:
        forward = self.program.forward(potentials, self._normalise, arithmetic)
        adjoint = self.program.backward(forward, self.message_slot[0], self._normalise, arithmetic)
        marginals = tuple(arithmetic.shares(arithmetic.times(one, adjoint[i]), LEAST) for i, one in enumerate(potentials))
        inward = tuple(forward.values[s] for s in self.message_slot)
        outward = tuple(broadcast(adjoint[s], tuple(self.sizes[x] for x in self.program.labels[s])) for s in self.message_slot)
        for node in self._without_clique:
            arithmetic.shares(arithmetic.times(inward[node], outward[node]), LEAST)
        return Calibration(potentials, marginals, inward, outward, arithmetic)

    def tables(self, cells: NDArray[np.float64]) -> tuple[Table, ...]:
        """Return views of a flat array of the cells of all cliques as one table per clique."""
        return tuple(cells[part].reshape(shape) for part, shape in self._parts)

    def _levelled(self, log_potentials: Sequence[Table]) -> NDArray[np.float64]:
        """Return the cells of all log-potentials, each table with a maximum of 0, and minus infinity where impossible.

        All are computed at once, because most tables are small.

        Raises:
            FloatingPointError: A table is not finite, or forbids every cell.
        """
        limited = [t if some is None else np.where(some, t, -np.inf) for t, some in zip(log_potentials, self.possible, strict=True)]
        cells = np.concatenate([t.reshape(-1) for t in limited])
        top = np.maximum.reduceat(cells, self._starts)
        if not np.isfinite(top).all():
            raise FloatingPointError("potentials are too extreme: one forbids every cell or is not finite")
        cells -= np.repeat(top, self._cells_of)
        return cells
