"""Marginals of a calibrated model for any set of attributes, inside one node of the tree or across many.

Attributes outside the node where a query is answered travel there as extra axes of the messages on the way (engine notes: path messages);
such extended messages are shared by all queries on the same calibration.
"""

from __future__ import annotations

import functools

import numpy as np

from dpsynth_core.inference.contraction import Contractor, Labels, Table
from dpsynth_core.inference.junction_tree import bits, mask_of
from dpsynth_core.inference.structure import Calibration, Structure

MEMO_CELLS = 1_000_000
"""Extended messages up to this many cells are kept for other queries; larger ones are rebuilt, so memory stays bounded."""


class Queries:
    """Answers for one calibration. All results are probabilities (they sum to one)."""

    def __init__(self, structure: Structure, calibration: Calibration, contractor: Contractor) -> None:
        self._structure = structure
        self._calibration = calibration
        self._contract = contractor
        self._factors: list[list[int]] = [[] for _ in structure.tree.nodes]
        for i, node in enumerate(structure.home):
            self._factors[node].append(i)
        self._neighbours = [
            [*structure.children[u], *([structure.tree.parent[u]] if structure.tree.parent[u] >= 0 else [])]
            for u in range(len(structure.tree.nodes))
        ]
        self._messages: dict[tuple[int, int, int], tuple[Table, Labels]] = {}
        self._masks = [mask_of(c) for c in structure.cliques]

    def marginal(self, labels: Labels) -> Table:
        """Probabilities of the attributes `labels` (ascending), one axis each."""
        wanted = mask_of(labels)
        for i, mask in enumerate(self._masks):
            if wanted & mask == wanted:
                clique = self._structure.cliques[i]
                return self._calibration.marginals[i].sum(axis=tuple(k for k, a in enumerate(clique) if a not in labels))
        node = min(range(len(self._neighbours)), key=lambda v: self._cost(v, wanted))
        table = self._gather(node, None, wanted, labels)
        return table / table.sum()

    @functools.cache  # noqa: B019 - lives as long as the calibration
    def _behind(self, source: int, target: int) -> int:
        """Attributes on the source's side of the edge, without those shared with the target."""
        mask = self._structure.tree.nodes[source]
        for other in self._neighbours[source]:
            if other != target:
                mask |= self._behind(other, source)
        return mask & ~self._structure.tree.nodes[target]

    def _cost(self, node: int, wanted: int) -> float:
        """Cells of the extended messages needed to answer at `node`, and of the answer's own contraction."""
        total = float(self._structure.program_cells(self._structure.tree.nodes[node]))
        stack = [(other, node) for other in self._neighbours[node]]
        while stack:
            source, target = stack.pop()
            extra = wanted & self._behind(source, target)
            if extra:
                both = self._structure.tree.nodes[source] & self._structure.tree.nodes[target]
                known = (source, target, extra) in self._messages
                total += 0.0 if known else float(self._structure.program_cells(self._structure.tree.nodes[source] | both | extra))
                if not known:
                    stack += [(other, source) for other in self._neighbours[source] if other != target]
        return total

    def _gather(self, node: int, towards: int | None, wanted: int, out: Labels) -> Table:
        """Contract the node's potentials and the messages into it (except from `towards`) down to the axes `out`."""
        tables = [self._calibration.potentials[i] for i in self._factors[node]]
        labels = [self._structure.cliques[i] for i in self._factors[node]]
        for other in self._neighbours[node]:
            if other != towards:
                table, axes = self._message(other, node, wanted & self._behind(other, node))
                tables.append(table)
                labels.append(axes)
        return self._contract(tables, labels, out)

    def _message(self, source: int, target: int, extra: int) -> tuple[Table, Labels]:
        """The message along an edge, with the attributes `extra` from behind it kept as axes."""
        if not extra:
            node = source if self._structure.tree.parent[source] == target else target
            side = self._calibration.inward if node == source else self._calibration.outward
            return side[node], self._structure.message_labels(node)
        key = (source, target, extra)
        found = self._messages.get(key)
        if found is None:
            separator = self._structure.tree.nodes[source] & self._structure.tree.nodes[target]
            out = tuple(bits(separator | extra))
            table = np.ascontiguousarray(self._gather(source, target, extra, out))
            found = (table / table.max(), out)
            if table.size <= MEMO_CELLS:
                self._messages[key] = found
        return found
