"""Junction trees: which attributes must be handled together for exact inference over a set of cliques.

Works on attribute indices and bit masks; knows nothing of data, potentials or privacy. A set of attributes is an int whose bit i
stands for attribute i of the domain.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.growth import growth, members, pair_growth, within

ATTRIBUTES_TRIED = 32
"""Largest number of attributes for which a new elimination order is tried for a candidate that does not fit the present one."""
MORE_EDGES = 1.1
"""With more attributes, an order is kept until a graph has this many times as many edges."""


def bits(mask: int) -> Iterator[int]:
    """Yield the indices of the set bits, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(attributes: Iterable[int]) -> int:
    """Return the bit mask of a collection of attribute indices."""
    return reduce(lambda m, a: m | (1 << a), attributes, 0)


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


def counting(sizes: Sequence[int]) -> Callable[[int], int]:
    """`cells_of` that remembers: elimination asks about the same sets for every candidate."""
    return cache(partial(cells_of, sizes=sizes))


def _fill(graph: Sequence[int], a: int) -> int:
    neighbours = graph[a]
    return sum((neighbours & ~graph[b] & ~(1 << b)).bit_count() for b in bits(neighbours))


def eliminate(graph: Sequence[int], count: Callable[[int], int], by_fill: bool = False) -> Elimination:
    """Greedy elimination by the smallest resulting cluster (`counting`), or by the fewest added edges first."""
    graph = list(graph)
    left = set(range(len(graph)))

    def cost(a: int) -> tuple[int, int]:
        cells = count(graph[a] | 1 << a)
        return (_fill(graph, a), cells) if by_fill else (cells, 0)

    costs = {a: cost(a) for a in left}
    waiting = sorted((costs[a], a) for a in left)  # a heap, in which outdated costs stay
    order, clusters = [], []
    while left:
        price, a = heappop(waiting)
        if a not in left or price != costs[a]:
            continue
        neighbours = graph[a]
        order.append(a)
        clusters.append(_take_out(graph, a))
        left.discard(a)
        # Filling edges among the neighbours also changes the fill-in of attributes two steps away.
        touched = reduce(lambda m, b: m | graph[b], bits(neighbours), neighbours) if by_fill else neighbours
        for b in bits(touched):
            if (fresh := cost(b)) != costs[b]:
                costs[b] = fresh
                heappush(waiting, (fresh, b))
    return Elimination(tuple(order), tuple(clusters))


def _take_out(graph: list[int], a: int) -> int:
    """Join the neighbours of an attribute and remove it from the graph; return the cluster of the attribute and its neighbours."""
    neighbours = graph[a]
    for b in bits(neighbours):
        graph[b] = (graph[b] | neighbours) & ~(1 << b) & ~(1 << a)
    return neighbours | 1 << a


def maximal(masks: Iterable[int]) -> list[int]:
    """Drop every mask contained in another one; largest first."""
    kept: list[int] = []
    having = defaultdict[int, list[int]](list, {-1: kept})  # by attribute; the empty mask has none
    for mask in sorted(set(masks), key=lambda m: (-m.bit_count(), m)):
        if not any(mask & other == mask for other in having[next(bits(mask), -1)]):
            kept.append(mask)
            for a in bits(mask):
                having[a].append(mask)
    return kept


def holding(masks: Iterable[int]) -> dict[int, list[int]]:
    """Return, by attribute, the numbers of the masks that have it, ascending."""
    having = dict[int, list[int]]()
    for number, mask in enumerate(masks):
        for a in bits(mask):
            having.setdefault(a, []).append(number)
    return having


@dataclass(frozen=True)
class JunctionTree:
    """A junction tree.

    Attributes:
        nodes: Maximal cliques as masks.
        parent: Index of each node's parent, -1 for the root, node 0; parents come before children.
    """

    nodes: tuple[int, ...]
    parent: tuple[int, ...]
    elimination: Elimination

    def separator(self, node: int) -> int:
        """Attributes shared with the parent; 0 for the root."""
        return self.nodes[node] & self.nodes[self.parent[node]] if self.parent[node] >= 0 else 0

    def cells(self, sizes: Sequence[int]) -> int:
        """Total cells of the maximal cliques; JT-SIZE of the AIM paper (section 4) is this times 8 bytes."""
        return sum(cells_of(node, sizes) for node in self.nodes)


def junction_tree(cliques: Iterable[int], sizes: Sequence[int]) -> JunctionTree:
    """Return a junction tree over all attributes whose nodes contain every clique.

    Two greedy eliminations are tried and the smaller one kept. The tree is a maximum spanning tree by separator size (Prim).
    """
    graph, count = adjacency(cliques, len(sizes)), counting(sizes)
    eliminations = (eliminate(graph, count), eliminate(graph, count, by_fill=True))
    elimination = min(eliminations, key=lambda e: sum(map(count, maximal(e.clusters))))
    every = maximal(elimination.clusters)
    nodes, parent, having = list[int](), list[int](), holding(every)
    widest = dict.fromkeys(every, 0)  # of nodes outside of the tree, their largest separator to it
    waiting: list[tuple[float, int, int]] = [(-math.inf, every[0], -1), *((0, node, 0) for node in sorted(every[1:]))]
    while waiting:
        _, node, place = heappop(waiting)
        if widest.pop(node, None) is None:
            continue
        nodes.append(node)
        parent.append(place)
        for other in (every[number] for a in bits(node) for number in having[a]):
            if (shared := (other & node).bit_count()) > widest.get(other, shared):
                widest[other] = shared
                heappush(waiting, (-shared, other, len(nodes) - 1))
    return JunctionTree(tuple(nodes), tuple(parent), elimination)


@dataclass(frozen=True)
class _Solved:
    """A graph's elimination.

    Attributes:
        elimination: The elimination.
        count: Returns the cells of a cluster.
        total: Cells of all clusters together.
    """

    elimination: Elimination
    count: Callable[[int], int]

    @cached_property
    def total(self) -> int:
        return sum(map(self.count, self.elimination.clusters))

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The maximal cliques."""
        return tuple(maximal(self.elimination.clusters))

    @cached_property
    def cells(self) -> int:
        """The cells of the maximal cliques together."""
        return sum(map(self.count, self.nodes))


class SizeOracle:
    """JT-SIZE of hypothetical models: measured cliques plus one candidate, for many candidates and rounds, memoised by graph."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = tuple(sizes)
        self._count = counting(self._sizes)
        self._by_order: dict[tuple[tuple[int, ...], bool], _Solved] = {}
        self._kept: tuple[int, _Solved] | None = None  # for many attributes, with the number of edges of its graph
        self._again: _Solved | None = None  # in that order, of the latest graph
        self._grown: tuple[_Solved, NDArray[np.float64]] | None = None
        self._latest: tuple[tuple[int, ...], tuple[int, ...]] = ((), (0,) * len(sizes))

    def cells(self, cliques: Iterable[int]) -> int:
        """Return the cells of the junction tree over the cliques. A clique is a bit mask of attributes."""
        return self._solve(tuple(adjacency(cliques, len(self._sizes)))).cells

    def fitting(self, cliques: Iterable[int], candidates: Sequence[int], limit: float) -> list[bool]:
        """Return for each candidate whether the tree of `cliques` and the candidate has at most `limit` cells.

        The result is True for a candidate inside a clique.

        The cheapest proof comes first: the candidate lies inside a maximal clique; the present elimination order stays within the limit.
        With more than `ATTRIBUTES_TRIED` attributes other proofs are not tried, because a new order for every candidate would take longer
        than the rest.
        """
        measured = tuple(cliques)
        graph = self._graph(measured)
        present, wanted = self._solve(graph), members(candidates, len(graph))
        kept = within(wanted, members(measured, len(graph)))
        inside = within(wanted, members(present.nodes, len(graph)))
        grown = growth(present.elimination.order, present.elimination.clusters, self._sizes, wanted, limit - present.total)
        fits = kept | np.where(inside, present.cells <= limit, present.total + grown <= limit)
        if len(graph) <= ATTRIBUTES_TRIED:
            for i in np.flatnonzero(~fits & ~inside).tolist():
                fits[i] = self._fits(_joined(graph, candidates[i]), limit)
        answers: list[bool] = fits.tolist()
        return answers

    def pairs_fitting(self, cliques: Iterable[int], limit: float) -> NDArray[np.bool_]:
        """Return `fitting` of all pairs of attributes, the pair of a and b at a * attributes + b, where no new order is tried.

        Pairs inside one of the cliques are also True.
        """
        graph = self._graph(tuple(cliques))
        present = self._solve(graph)
        if self._grown is None or self._grown[0] is not present:
            self._grown = present, pair_growth(present.elimination.order, present.elimination.clusters, self._sizes)
        grown = self._grown[1]
        fits = members(graph, len(graph)) | (present.total + grown <= limit)
        if present.total > limit >= present.cells:
            fits |= grown == 0  # both are in one cluster
        return np.asarray(fits.ravel())

    def _graph(self, cliques: tuple[int, ...]) -> tuple[int, ...]:
        """Return the graph of these cliques, kept from the last call: many candidates are tried with the same cliques."""
        if self._latest[0] != cliques:
            self._latest = cliques, tuple(adjacency(cliques, len(self._sizes)))
        return self._latest[1]

    def _fits(self, graph: tuple[int, ...], limit: float) -> bool:
        """Return whether one of the two eliminations stays within the limit. The one by fewest added edges takes several times as long."""
        return any(self._solved(graph, by_fill).cells <= limit for by_fill in (False, True))

    def _solve(self, graph: tuple[int, ...]) -> _Solved:
        """Return the graph's elimination; with many attributes, in the order of an earlier graph with about as many edges."""
        edges = sum(map(int.bit_count, graph))
        if len(graph) > ATTRIBUTES_TRIED and self._kept is not None and self._kept[0] <= edges <= MORE_EDGES * self._kept[0]:
            left, order = list(graph), self._kept[1].elimination.order
            elimination = Elimination(order, tuple(_take_out(left, a) for a in order))
            if self._again is None or self._again.elimination != elimination:  # an edge inside a cluster changes none
                self._again = _Solved(elimination, self._count)
            return self._again
        self._kept = edges, self._solved_anew(graph)
        return self._kept[1]

    def _solved_anew(self, graph: tuple[int, ...]) -> _Solved:
        return min((self._solved(graph, by_fill) for by_fill in (False, True)), key=lambda solved: solved.cells)

    def _solved(self, graph: tuple[int, ...], by_fill: bool) -> _Solved:
        solved = self._by_order.get((graph, by_fill))
        if solved is None:
            solved = self._by_order[graph, by_fill] = _Solved(eliminate(graph, self._count, by_fill), self._count)
        return solved


def _joined(graph: Sequence[int], clique: int) -> tuple[int, ...]:
    """Return the graph in which the clique is complete as well."""
    return tuple(n | clique & ~(1 << a) if clique >> a & 1 else n for a, n in enumerate(graph))
