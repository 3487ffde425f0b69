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
    """Yield the indices of the set bits of a mask, from 0 and ascending: the attributes of a set; nothing for 0."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(attributes: Iterable[int]) -> int:
    """Return the bit mask of a collection of attribute indices: bit i stands for attribute i; 0 for no attributes."""
    return reduce(lambda m, a: m | (1 << a), attributes, 0)


def adjacency(cliques: Iterable[int], size: int) -> list[int]:
    """Return the graph in which every clique is complete, as one mask of neighbours per attribute.

    Args:
        cliques: The cliques as masks.
        size: Number of attributes.
    """
    graph = [0] * size
    for clique in cliques:
        for a in bits(clique):
            graph[a] |= clique & ~(1 << a)
    return graph


@dataclass(frozen=True)
class Elimination:
    """The result of eliminating every attribute of a graph.

    Attributes:
        order: Attributes in the order of their elimination.
        clusters: For each, the mask of the attribute and its neighbours when it was eliminated.
    """

    order: tuple[int, ...]
    clusters: tuple[int, ...]


def cells_of(mask: int, sizes: Sequence[int]) -> int:
    """Return the number of cells of the table over a set of attributes; 1 for the empty set.

    Args:
        mask: The set of attributes.
        sizes: Number of values of each attribute.
    """
    return math.prod(sizes[a] for a in bits(mask))


def counting(sizes: Sequence[int]) -> Callable[[int], int]:
    """Return `cells_of` for these sizes as a cached function of the mask.

    Elimination asks for the same sets for every candidate.
    """
    return cache(partial(cells_of, sizes=sizes))


def _fill(graph: Sequence[int], a: int) -> int:
    neighbours = graph[a]
    return sum((neighbours & ~graph[b] & ~(1 << b)).bit_count() for b in bits(neighbours))


def _is_complete(graph: Sequence[int], cluster: int, attributes: int) -> bool:
    """Return whether a cluster has `attributes` attributes and an edge between any two; every elimination order then costs the same."""
    return cluster.bit_count() == attributes and all(graph[b] | 1 << b == cluster for b in bits(cluster))


def eliminate(graph: Sequence[int], count: Callable[[int], int], by_fill: bool = False) -> Elimination:
    """Eliminate all attributes greedily, each time the one whose cluster has the fewest cells.

    Args:
        graph: Mask of neighbours of each attribute.
        count: Returns the number of cells of a cluster (`counting`).
        by_fill: Whether the fewest added edges come first, and cells only decide ties.
    """
    graph = list(graph)
    left = set(range(len(graph)))

    def cost(a: int) -> tuple[int, int]:
        cells = count(graph[a] | 1 << a)
        return (_fill(graph, a), cells) if by_fill else (cells, 0)

    costs = {a: cost(a) for a in left}
    waiting = sorted((costs[a], a) for a in left)  # a heap, in which outdated costs stay
    order, clusters = list[int](), list[int]()
    while left:
        price, a = heappop(waiting)
        if a not in left or price != costs[a]:
            continue
        neighbours = graph[a]
        if _is_complete(graph, neighbours | 1 << a, len(left)):
            rest = sorted(left)
            return Elimination((*order, *rest), (*clusters, *(mask_of(rest[place:]) for place in range(len(rest)))))
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
    """Eliminate an attribute: connect its neighbours in `graph`, in place, and remove it from their masks.

    Returns:
        The cluster: the mask of the attribute and its neighbours.
    """
    neighbours = graph[a]
    for b in bits(neighbours):
        graph[b] = (graph[b] | neighbours) & ~(1 << b) & ~(1 << a)
    return neighbours | 1 << a


def maximal(masks: Iterable[int]) -> list[int]:
    """Return the distinct masks that are contained in no other one, those with most attributes first.

    Masks with equally many attributes are ascending.
    """
    kept: list[int] = []
    having = defaultdict[int, list[int]](list, {-1: kept})  # by attribute; the empty mask has none
    for mask in sorted(set(masks), key=lambda m: (-m.bit_count(), m)):
        if not any(mask & other == mask for other in having[next(bits(mask), -1)]):
            kept.append(mask)
            for a in bits(mask):
                having[a].append(mask)
    return kept


def holding(masks: Iterable[int]) -> dict[int, list[int]]:
    """Return, for each attribute, the positions in `masks` of the masks that contain it, ascending."""
    having = dict[int, list[int]]()
    for number, mask in enumerate(masks):
        for a in bits(mask):
            having.setdefault(a, []).append(number)
    return having


@dataclass(frozen=True)
class JunctionTree:
    """A junction tree.

    Attributes:
        nodes: Maximal cliques of the triangulated graph as masks.
        parent: Index of each node's parent, -1 for the root, node 0; parents come before children.
        elimination: The elimination that gave the nodes.
    """

    nodes: tuple[int, ...]
    parent: tuple[int, ...]
    elimination: Elimination

    def separator(self, node: int) -> int:
        """Return the mask of the attributes that a node shares with its parent; 0 for the root."""
        return self.nodes[node] & self.nodes[self.parent[node]] if self.parent[node] >= 0 else 0

    def cells(self, sizes: Sequence[int]) -> int:
        """Return the total number of cells of the nodes: JT-SIZE (AIM paper, section 4) in units of 8 bytes.

        Args:
            sizes: Number of values of each attribute.
        """
        return sum(cells_of(node, sizes) for node in self.nodes)


def junction_tree(cliques: Iterable[int], sizes: Sequence[int]) -> JunctionTree:
    """Return a junction tree over all attributes in which every clique lies inside a node.

    Two greedy eliminations, by cells and by added edges, are tried, and the one with fewer cells is
    kept. The tree is a maximum spanning tree by separator size (Prim).

    Args:
        cliques: The cliques as masks.
        sizes: Number of values of each attribute.
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
    """A graph's elimination and what follows from it.

    Attributes:
        elimination: The elimination.
        count: Returns the number of cells of a cluster.
        total: Number of cells of all clusters, of which some may lie inside others.
    """

    elimination: Elimination
    count: Callable[[int], int]

    @cached_property
    def total(self) -> int:
        return sum(map(self.count, self.elimination.clusters))

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The maximal cliques as masks."""
        return tuple(maximal(self.elimination.clusters))

    @cached_property
    def cells(self) -> int:
        """The number of cells of all maximal cliques of the eliminated graph together."""
        return sum(map(self.count, self.nodes))


class SizeOracle:
    """Sizes (JT-SIZE, in cells) of models that have the measured cliques and one candidate more.

    It is made for many candidates and rounds: eliminations are cached by graph.

    Args:
        sizes: Number of values of each attribute.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = tuple(sizes)
        self._count = counting(self._sizes)
        self._by_order: dict[tuple[tuple[int, ...], bool], _Solved] = {}
        self._kept: tuple[int, _Solved] | None = None  # for many attributes, with the number of edges of its graph
        self._again: _Solved | None = None  # in that order, of the latest graph
        self._grown: tuple[_Solved, NDArray[np.float64]] | None = None
        self._latest: tuple[tuple[int, ...], tuple[int, ...]] = ((), (0,) * len(sizes))

    def cells(self, cliques: Iterable[int]) -> int:
        """Return the total number of cells of a junction tree over the cliques, which are masks of attributes.

        With more than `ATTRIBUTES_TRIED` (32) attributes, the elimination order of an earlier call may be used again, so that
        the number is then an upper bound of what a new order gives.
        """
        return self._solve(tuple(adjacency(cliques, len(self._sizes)))).cells

    def fitting(self, cliques: Iterable[int], candidates: Sequence[int], limit: float) -> list[bool]:
        """Return, for each candidate, whether a tree of `cliques` and it is known to have at most `limit` cells.

        The result is True for a candidate inside one of the cliques, even above the limit, because it adds no cells.
        Otherwise the present elimination order is tried first. With at most 32 attributes (`ATTRIBUTES_TRIED`), new orders
        are tried too; with more that would take too long, so that False then means "not in the present order".

        Args:
            cliques: The measured cliques as masks.
            candidates: The candidates as masks.
            limit: Largest number of cells.
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
        """Return whether cliques and each pair of attributes are known to fit into a junction tree.

        Pairs inside one of the cliques are True, even above the limit. For other pairs only the
        present elimination order is used: False does not exclude that another order fits.

        Args:
            cliques: The measured cliques as masks.
            limit: Largest number of cells of the whole tree.

        Returns:
            A flat array; the pair of attributes a and b is at a * attributes + b.
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
        """Return the graph of the cliques as masks of neighbours; the latest is cached, for many candidates."""
        if self._latest[0] != cliques:
            self._latest = cliques, tuple(adjacency(cliques, len(self._sizes)))
        return self._latest[1]

    def _fits(self, graph: tuple[int, ...], limit: float) -> bool:
        """Return whether one of the two greedy eliminations of a graph has at most `limit` cells.

        The elimination by fewest added edges is tried last, because it takes several times as long.
        """
        return any(self._solved(graph, by_fill).cells <= limit for by_fill in (False, True))

    def _solve(self, graph: tuple[int, ...]) -> _Solved:
        """Return the elimination of a graph.

        With more than `ATTRIBUTES_TRIED` attributes, the order of an earlier graph is used again as
        long as the number of edges has grown at most by the factor `MORE_EDGES` since.
        """
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
    """Return a graph with edges added so that the clique, a mask, is complete too."""
    return tuple(n | clique & ~(1 << a) if clique >> a & 1 else n for a, n in enumerate(graph))
