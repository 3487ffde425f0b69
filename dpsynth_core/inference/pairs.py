"""All two-way marginals of a calibrated model at once.

One sweep towards the root of the junction tree. With each subtree travels a table Q[(a, i), s] = p(a = i | S = s): every value i of every
attribute a below, given the separator S to the rest. Where two subtrees meet in a node, all pairs across them are products of two such
tables with the node's own distribution of both separators, because the attributes below one are independent of those below the other given
the node. So hundreds of pairs are one matrix product, where `marginal_queries` would answer each by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.contraction import Labels, Table
from dpsynth_core.inference.junction_tree import bits, mask_of
from dpsynth_core.inference.marginal_queries import Queries
from dpsynth_core.inference.structure import Structure
from dpsynth_core.vocabulary.marginals import expand, project

TABLE_CELLS = 80_000_000
"""Largest number of cells of a travelling table (640 MB). Larger ones are left to `marginal_queries`, pair by pair."""
NODE_CELLS = 200_000
"""Largest number of cells of a node's distribution that is built whole, once."""


@dataclass(frozen=True)
class _Below:
    """The table that travels towards the root with a subtree: p(a = i | separator).

    Attributes:
        attributes: The attributes of the subtree outside the separator.
        separator: The attributes shared with the rest of the tree.
        given: Probabilities, shape (values of all `attributes`, *values of each separator
            attribute).
    """

    attributes: Labels
    separator: Labels
    given: Table


class Pairs:
    """Probabilities of all pairs of values of a calibrated model.

    together[x, y] is the probability of value x together with value y, where values are numbered
    through all attributes in order (`starts` has the first of each attribute). known[a, b] is True
    for the pairs of attributes where it is filled in; tables that would be too large
    (`TABLE_CELLS`) are left out.

    Args:
        structure: The structure of the model.
        queries: Marginals of the calibrated model.
    """

    def __init__(self, structure: Structure, queries: Queries) -> None:
        self._structure, self._queries = structure, queries
        self.starts = np.concatenate([[0], np.cumsum(structure.sizes)])
        cells = int(self.starts[-1])
        self.together: NDArray[np.float64] = np.zeros((cells, cells))
        self.known: NDArray[np.bool_] = np.zeros((len(structure.sizes),) * 2, dtype=bool)
        self._whole: dict[int, Table] = {}
        travelling: dict[int, _Below] = {}
        for node in reversed(range(len(structure.tree.nodes))):
            arriving = [travelling.pop(child) for child in structure.children[node] if child in travelling]
            by_separator: dict[Labels, list[_Below]] = {}
            for part in arriving:
                by_separator.setdefault(part.separator, []).append(part)
            below = self._met(node, [self._joined(node, alike) for alike in by_separator.values()])
            if below is not None:
                travelling[node] = below
            self._whole.pop(node, None)

    def _met(self, node: int, groups: list[_Below]) -> _Below | None:
        """Fill in all pairs of attributes that meet in a node of the tree, from its subtrees and its own.

        Args:
            node: The node.
            groups: The tables of the node's subtrees, one for each distinct separator.

        Returns:
            The table that travels on to the parent, or None at the root or where it would be too
            large.
        """
        tree, sizes = self._structure.tree, self._structure.sizes
        separator = tuple(bits(tree.separator(node)))
        own = tuple(bits(tree.nodes[node] & ~tree.separator(node)))
        parts = [*groups, *(_Below((a,), (a,), np.eye(sizes[a])) for a in own)]
        for number, part in enumerate(parts):
            for other in parts[number + 1 :]:
                self._fill(part.attributes, other.attributes, self._across(node, part, other))
        if tree.parent[node] < 0:
            return None
        rows = sum(sizes[a] for part in parts for a in part.attributes)
        if rows * self._structure.program_cells(mask_of(separator)) > TABLE_CELLS:
            return None
        given = np.concatenate([self._given(node, part, separator) for part in parts])
        return _Below(tuple(a for part in parts for a in part.attributes), separator, given)

    def _joined(self, node: int, alike: list[_Below]) -> _Below:
        """Return the tables of subtrees with the same separator as one, and fill in the pairs between subtrees.

        Pairs inside one subtree stay as they were, because those are not independent given the
        separator.
        """
        if len(alike) == 1:
            return alike[0]
        joined = _Below(tuple(a for part in alike for a in part.attributes), alike[0].separator, np.concatenate([p.given for p in alike]))
        inside = [np.ix_(places, places) for places in (self._places(part.attributes) for part in alike)]
        kept = [self.together[block] for block in inside]  # pairs within one of them, which are dependent
        known = [self.known[np.ix_(part.attributes, part.attributes)] for part in alike]
        self._fill(joined.attributes, joined.attributes, self._across(node, joined, joined))
        for part, block, table, was_known in zip(alike, inside, kept, known, strict=True):
            self.together[block] = table
            self.known[np.ix_(part.attributes, part.attributes)] = was_known
        return joined

    def _across(self, node: int, one: _Below, other: _Below) -> Table:
        """Return p(x, y) for all values x of one subtree's attributes and y of another's, shape (values, values)."""
        weighted = self._carried(node, one, other.separator)
        if other.separator == other.attributes:
            return weighted.reshape(len(one.given), -1)
        return weighted.reshape(len(one.given), -1) @ other.given.reshape(len(other.given), -1).T

    def _given(self, node: int, part: _Below, separator: Labels) -> Table:
        """Return p(x | separator) for all values x of a part, shape (values, *values of the separator).

        Args:
            node: The node of the tree in which the part arrives.
            part: The part.
            separator: The attributes that the node shares with its parent.
        """
        if not separator:
            return self._carried(node, part, ())
        joint, alone = self._carried(node, part, separator), self._joint(node, separator)
        return np.divide(joint, alone, out=np.zeros_like(joint), where=alone > 0)

    def _carried(self, node: int, part: _Below, onto: Labels) -> Table:
        """Return p(x, onto) for all values x of a part, shape (values, *values of `onto`).

        It is the part's table times the node's distribution of the part's separator and `onto`,
        summed over the attributes that `onto` lacks.

        Args:
            node: The node of the tree in which the part arrives.
            part: The part.
            onto: Attributes of the node.
        """
        sizes = self._structure.sizes
        shared = tuple(a for a in part.separator if a in onto)
        inner = tuple(a for a in part.separator if a not in onto)
        fresh = tuple(a for a in onto if a not in shared)
        count, cells = len(part.given), {a: sizes[a] for a in (*part.separator, *onto)}
        b, k, r = (int(np.prod([cells[a] for a in labels], dtype=np.int64)) for labels in (shared, inner, fresh))
        order = [0, *(1 + part.separator.index(a) for a in (*shared, *inner))]
        left = part.given.transpose(order).reshape(count, b, k).transpose(1, 0, 2)
        joint = self._joint(node, tuple(sorted({*part.separator, *onto})))
        right = expand(joint, tuple(sorted({*part.separator, *onto})), (*shared, *inner, *fresh)).reshape(b, k, r)
        product = np.matmul(left, right).transpose(1, 0, 2).reshape(count, *(cells[a] for a in (*shared, *fresh)))
        return product.transpose([0, *(1 + (*shared, *fresh).index(a) for a in onto)])

    def _joint(self, node: int, labels: Labels) -> Table:
        """Return the probabilities over some of a node's attributes, `labels`, in ascending order."""
        if self._structure.program_cells(self._structure.tree.nodes[node]) > NODE_CELLS:
            return self._queries.inside(node, labels)
        every = tuple(bits(self._structure.tree.nodes[node]))
        if node not in self._whole:
            self._whole[node] = self._queries.inside(node, every)
        return project(self._whole[node], every, labels)

    def _fill(self, one: Labels, other: Labels, table: Table) -> None:
        down, across = self._places(one), self._places(other)
        self.together[np.ix_(down, across)] = table
        self.together[np.ix_(across, down)] = table.T
        self.known[np.ix_(one, other)] = True
        self.known[np.ix_(other, one)] = True

    def _places(self, attributes: Labels) -> NDArray[np.intp]:
        return np.concatenate([np.arange(self.starts[a], self.starts[a + 1]) for a in attributes])
