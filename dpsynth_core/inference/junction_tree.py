"""Junction trees: which attributes must be handled together so that a set of cliques can be reasoned about exactly.

Works on attribute indices and bit masks only; knows nothing of data, potentials or privacy. A set of attributes is an int whose bit i
stands for attribute i of the domain.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


def bits(mask: int) -> Iterator[int]:
    """Indices of the set bits, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(attributes: Iterable[int]) -> int:
    """The bit mask of a collection of attribute indices."""
    return functools.reduce(lambda m, a: m | (1 << a), attributes, 0)


def adjacency(cliques: Iterable[int], size: int) -> list[int]:
    """Neighbour masks (without the attribute itself) of the graph in which every clique is complete."""
    graph = [0] * size
    for clique in cliques:
        for a in bits(clique):
            graph[a] |= clique & ~(1 << a)
    return graph


@dataclass(frozen=True)
class Elimination:
    """Result of eliminating every attribute. order[i] was eliminated i-th together with clusters[i] = itself and its neighbours then."""

    order: tuple[int, ...]
    clusters: tuple[int, ...]


def cells_of(mask: int, sizes: Sequence[int]) -> int:
    """Cells of the table over a set of attributes."""
    return math.prod(sizes[a] for a in bits(mask))


def _fill(graph: Sequence[int], a: int) -> int:
    neighbours = graph[a]
    return sum((neighbours & ~graph[b] & ~(1 << b)).bit_count() for b in bits(neighbours))


def eliminate(graph: Sequence[int], sizes: Sequence[int], by_fill: bool = False) -> Elimination:
    """Greedy elimination by the smallest resulting cluster (cells), or by the fewest added edges first."""
    graph = list(graph)
    left = set(range(len(graph)))

    def cost(a: int) -> tuple[int, int]:
        cells = cells_of(graph[a] | 1 << a, sizes)
        return (_fill(graph, a), cells) if by_fill else (cells, 0)

    costs = {a: cost(a) for a in left}
    order, clusters = [], []
    while left:
        a = min(left, key=lambda v: (costs[v], v))
        neighbours = graph[a]
        order.append(a)
        clusters.append(neighbours | 1 << a)
        left.discard(a)
        del costs[a]
        for b in bits(neighbours):
            graph[b] = (graph[b] | neighbours) & ~(1 << b) & ~(1 << a)
        # Filling edges among the neighbours also changes the fill-in of attributes two steps away.
        touched = functools.reduce(lambda m, b: m | graph[b], bits(neighbours), neighbours) if by_fill else neighbours
        for b in bits(touched):
            costs[b] = cost(b)
    return Elimination(tuple(order), tuple(clusters))


def maximal(masks: Iterable[int]) -> list[int]:
    """Drop every mask contained in another one; largest first."""
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (-m.bit_count(), m)):
        if not any(mask & other == mask for other in kept):
            kept.append(mask)
    return kept


@dataclass(frozen=True)
class JunctionTree:
    """nodes: maximal cliques as masks. parent[i]: index of the parent node (-1 for the root, node 0); parents come before children."""

    nodes: tuple[int, ...]
    parent: tuple[int, ...]
    elimination: Elimination

    def separator(self, node: int) -> int:
        """Attributes shared with the parent; 0 for the root."""
        return self.nodes[node] & self.nodes[self.parent[node]] if self.parent[node] >= 0 else 0

    def cells(self, sizes: Sequence[int]) -> int:
        """Total cells of the maximal cliques; JT-SIZE of the AIM paper (section 4) is this times 8 bytes."""
        return sum(cells_of(node, sizes) for node in self.nodes)


def _best_elimination(graph: Sequence[int], sizes: Sequence[int]) -> Elimination:
    candidates = (eliminate(graph, sizes), eliminate(graph, sizes, by_fill=True))
    return min(candidates, key=lambda e: sum(cells_of(c, sizes) for c in maximal(e.clusters)))


def junction_tree(cliques: Iterable[int], sizes: Sequence[int]) -> JunctionTree:
    """A junction tree over all attributes whose nodes contain every clique.

    Two greedy eliminations are tried and the smaller one kept. The tree is a maximum spanning tree by separator size (Prim).
    """
    elimination = _best_elimination(adjacency(cliques, len(sizes)), sizes)
    left = maximal(elimination.clusters)
    nodes, parent = [left.pop(0)], [-1]
    best = dict.fromkeys(left, (0, 0))  # node -> (separator size, index of the tree node it hangs on)
    for node in left:
        best[node] = ((node & nodes[0]).bit_count(), 0)
    while best:
        node = max(best, key=lambda n: (best[n][0], -n))
        parent.append(best.pop(node)[1])
        nodes.append(node)
        for other, (weight, _) in best.items():
            if (other & node).bit_count() > weight:
                best[other] = ((other & node).bit_count(), len(nodes) - 1)
    return JunctionTree(tuple(nodes), tuple(parent), elimination)


def cells_in_order(graph: Sequence[int], order: Sequence[int], sizes: Sequence[int]) -> int:
    """Cells of all clusters that eliminating in the given order produces: an upper bound on the junction tree's cells."""
    graph = list(graph)
    total = 0
    for a in order:
        neighbours = graph[a]
        total += cells_of(neighbours | 1 << a, sizes)
        for b in bits(neighbours):
            graph[b] = (graph[b] | neighbours) & ~(1 << b) & ~(1 << a)
    return total


class SizeOracle:
    """JT-SIZE of hypothetical models: measured cliques plus one candidate, for many candidates and rounds, memoised by graph."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = tuple(sizes)
        self._by_graph: dict[tuple[int, ...], tuple[int, tuple[int, ...], tuple[int, ...]]] = {}

    def cells(self, cliques: Iterable[int]) -> int:
        """Cells of the junction tree's maximal cliques."""
        return self._solve(tuple(adjacency(cliques, len(self._sizes))))[0]

    def fits(self, cliques: Sequence[int], candidate: int, limit: float) -> bool:
        """Whether the tree of `cliques` and `candidate` has at most `limit` cells.

        Cheapest proof first: the candidate lies inside a maximal clique; the present elimination order already stays within the limit.
        """
        graph = adjacency(cliques, len(self._sizes))
        cells, nodes, order = self._solve(tuple(graph))
        if any(candidate & node == candidate for node in nodes):
            return cells <= limit
        for a in bits(candidate):
            graph[a] |= candidate & ~(1 << a)
        return cells_in_order(graph, order, self._sizes) <= limit or self._solve(tuple(graph))[0] <= limit

    def _solve(self, graph: tuple[int, ...]) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        """(cells, maximal cliques, elimination order) of a graph."""
        found = self._by_graph.get(graph)
        if found is None:
            elimination = _best_elimination(graph, self._sizes)
            nodes = tuple(maximal(elimination.clusters))
            found = self._by_graph[graph] = (sum(cells_of(n, self._sizes) for n in nodes), nodes, elimination.order)
        return found
