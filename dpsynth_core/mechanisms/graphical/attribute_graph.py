"""PrivMRF's attribute graph: which columns may share a marginal, from released scores and public sizes alone.

An edge joins two columns that depend on each other. The graph is kept triangulated, so that its maximal cliques are the nodes of a
junction tree and every set of columns inside a clique fits a model of that size. From the cliques follow the marginals that are
measured first (a small Bayesian network in each, after PrivBayes) and those that later rounds may ask about.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from dpsynth_core.inference.junction_tree import adjacency, bits, cells_of, junction_tree, mask_of, maximal
from dpsynth_core.inference.model import labels_of
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, subsets

SIZE_PENALTY = 1e-8
"""Cost of a cell of the junction tree, in the unit of scores."""
MOST_CANDIDATES = 50_000
"""Number of candidates beyond which only narrower marginals are considered."""

Scores = Mapping[Clique, float]
"""Dependence of the columns of each pair, from 0 to about 1: half the distance of their shares from independence."""


def cliques_of(domain: Domain, scores: Scores, most_cells: float) -> list[Clique]:
    """Return the maximal cliques of the attribute graph, which have at most `most_cells` cells together.

    The edges of the structural zeros are always in the graph, even if they need more cells. Starting from
    them, the edge that raises (sum of scores - SIZE_PENALTY * cells) most is added, until no edge raises it.
    Only edges that keep the graph triangulated (`_closes`) are tried; every triangulated graph can be reached
    this way. An edge without room is not tried again, because more edges make no junction tree smaller.

    Args:
        domain: The domain.
        scores: Dependence of the columns of each pair.
        most_cells: Largest number of cells of all cliques together.
    """
    sizes = domain.sizes(domain.names)
    nodes = junction_tree([mask_of(labels_of(domain, clique)) for clique in domain.zeros], sizes).nodes
    graph, cells = adjacency(nodes, len(sizes)), sum(cells_of(node, sizes) for node in nodes)
    left = {labels_of(domain, pair): score for pair, score in sorted(scores.items(), key=lambda item: -item[1])}
    while True:
        gain, best, grown = 0.0, None, cells
        for (a, b), score in list(left.items()):
            if score <= gain:
                break
            if graph[a] >> b & 1:
                del left[a, b]
            elif _closes(graph, a, b):
                more = _more_cells(graph, a, b, sizes)
                if cells + more > most_cells:
                    del left[a, b]
                elif score - SIZE_PENALTY * more > gain:
                    gain, best, grown = score - SIZE_PENALTY * more, (a, b), cells + more
        if best is None:
            break
        a, b = best
        graph[a] |= 1 << b
        graph[b] |= 1 << a
        cells = grown
    edges = [1 << a | 1 << b for a, neighbours in enumerate(graph) for b in bits(neighbours) if a < b]
    return [tuple(domain.names[a] for a in bits(node)) for node in junction_tree(edges, sizes).nodes]


def _closes(graph: Sequence[int], a: int, b: int) -> bool:
    """Return whether a triangulated graph stays triangulated with an edge between a and b.

    Their common neighbours must separate them: another path from a to b would become a cycle
    without a chord.

    Args:
        graph: Mask of neighbours of each attribute.
        a: One end of the edge.
        b: The other end.
    """
    common = graph[a] & graph[b]
    reached = frontier = 1 << a
    while frontier:
        around = functools.reduce(lambda mask, c: mask | graph[c], bits(frontier), 0)
        frontier = around & ~reached & ~common
        reached |= frontier
    return not reached >> b & 1


def _more_cells(graph: Sequence[int], a: int, b: int, sizes: Sequence[int]) -> int:
    """Return by how many cells the maximal cliques of a triangulated graph grow with an edge between a and b.

    The edge creates one clique of a, b and their common neighbours, which are complete, and
    replaces a clique without a or without b if it lies in the new one.

    Args:
        graph: Mask of neighbours of each attribute.
        a: One end of the edge.
        b: The other end.
        sizes: Number of values of each attribute.
    """
    common = graph[a] & graph[b]

    def replaced(end: int) -> int:
        """Return the cells of the clique of `end` and the common neighbours; 0 if a larger clique contains it."""
        clique = common | 1 << end
        return 0 if functools.reduce(lambda mask, c: mask & graph[c], bits(clique), -1) else cells_of(clique, sizes)

    return max(0, cells_of(common | 1 << a | 1 << b, sizes) - replaced(a) - replaced(b))


@dataclass(frozen=True)
class Useful:
    """The rule for marginals that are worth measuring: theta-useful ones.

    A marginal is useful if its average count is at least theta times the expected noise of a cell.

    Attributes:
        domain: The domain.
        cells: Largest number of cells of a useful marginal.
        columns: Largest number of its columns.
        pairs: By pair, a number of cells up to which the pair is useful because of its dependence;
            pairs without an entry follow `cells`.
    """

    domain: Domain
    cells: float
    columns: int
    pairs: Mapping[Clique, float] = field(default_factory=dict)

    def allows(self, names: Sequence[str]) -> bool:
        """Return whether a marginal of these columns, in any order, is useful."""
        if len(names) > self.columns:
            return False
        clique = self.domain.clique(names)
        return self.domain.cells(clique) <= max(self.cells, self.pairs.get(clique, 0.0))


def initial_marginals(useful: Useful, cliques: Sequence[Clique], scores: Scores) -> list[Clique]:
    """Return the marginals to measure first, as many as there are columns or fewer.

    A Bayesian network is grown in each clique. The result has, for each column, the best marginal
    in which it is the child, without marginals contained in others; single columns that are in no
    such marginal; then further marginals of the networks, best first, as long as there are fewer
    marginals than columns.

    Args:
        useful: The rule for useful marginals.
        cliques: The maximal cliques of the attribute graph.
        scores: Dependence of the columns of each pair.
    """
    domain = useful.domain
    best: dict[str, tuple[float, Clique]] = {}
    others: dict[Clique, float] = {}
    for clique in cliques:
        for child, marginal, merit in _network(useful, clique, scores):
            others[marginal] = max(merit, others.get(marginal, 0.0))
            best[child] = max(best.get(child, (0.0, marginal)), (merit, marginal), key=lambda known: known[0])
    masks = maximal(mask_of(labels_of(domain, marginal)) for _, marginal in best.values())
    chosen = [tuple(domain.names[a] for a in bits(mask)) for mask in masks]
    chosen += [(name,) for name in domain.names if not any(name in marginal for marginal in chosen)]
    for marginal in sorted(others, key=lambda marginal: -others[marginal]):
        if len(chosen) < len(domain) and not any(set(marginal) <= set(other) for other in chosen):
            chosen.append(marginal)
    return chosen


def _network(useful: Useful, clique: Clique, scores: Scores) -> Iterator[tuple[str, Clique, float]]:
    """Grow a Bayesian network greedily in one clique (as PrivBayes), and yield each child's marginal with its merit.

    It starts at the most dependent column. Each step takes the child and parents of the highest
    merit, until no useful marginal is left.

    Args:
        useful: The rule for useful marginals.
        clique: The clique.
        scores: Dependence of the columns of each pair.

    Yields:
        The child, the marginal of the child and its parents, and its merit (`_parents`).
    """
    together = {name: sum(_score(scores, name, other) for other in clique if other != name) for name in clique}
    inside = [max(clique, key=lambda name: together[name])]
    outside = [name for name in clique if name not in inside]
    while outside:
        offers = [(child, *_parents(useful, child, inside, scores)) for child in outside]
        child, parents, merit = max(offers, key=lambda offer: (bool(offer[1]), offer[2]))
        if not parents:
            break
        yield child, useful.domain.clique((child, *parents)), merit
        inside.append(child)
        outside.remove(child)


def _parents(useful: Useful, child: str, inside: Sequence[str], scores: Scores) -> tuple[list[str], float]:
    """Return parents that depend on the child and little on each other, with their merit.

    They are added one by one while the marginal is useful. The merit is sum R(child, p) / sqrt(k +
    2 sum R(p, q)) over k parents p and pairs of parents (Hall 2000, "Correlation-based Feature
    Selection").

    Args:
        useful: The rule for useful marginals.
        child: The child.
        inside: The columns of the network, from which parents are chosen.
        scores: Dependence R of the columns of each pair.

    Returns:
        The parents, none if no marginal with a parent is useful, and their merit, then 0.
    """
    parents: list[str] = []
    towards, among = 0.0, 0.0
    while True:
        offers = []
        for name in inside:
            if name not in parents and useful.allows((child, name, *parents)):
                shared = among + sum(_score(scores, name, parent) for parent in parents)
                sums = towards + _score(scores, child, name), shared
                offers.append((sums[0] / math.sqrt(len(parents) + 1 + 2 * shared), name, sums))
        if not offers:
            return parents, towards / math.sqrt(len(parents) + 2 * among) if parents else 0.0
        _, name, (towards, among) = max(offers, key=lambda offer: offer[0])
        parents.append(name)


def _score(scores: Scores, one: str, other: str) -> float:
    return scores[one, other] if (one, other) in scores else scores[other, one]


def candidates(useful: Useful, cliques: Sequence[Clique]) -> dict[Clique, float]:
    """Return the candidates of later rounds: single columns, and useful marginals inside a clique of the graph.

    Every clique divides (number of its columns)^2 equally among its candidates, so that small
    cliques count too. If the cliques have more than 50,000 subsets (`MOST_CANDIDATES`), wider marginals
    are left out.

    Args:
        useful: The rule for useful marginals.
        cliques: The maximal cliques of the attribute graph.

    Returns:
        By marginal, its weight in random draws.
    """
    weights: dict[Clique, float] = {}
    widths = accumulate(sum(math.comb(len(clique), k) for clique in cliques) for k in range(1, useful.columns + 1))
    widest = max(1, sum(count <= MOST_CANDIDATES for count in widths))
    for clique in cliques:
        inside = [r for r in subsets(clique, 1, widest) if len(r) == 1 or useful.allows(r)]
        for marginal in inside:
            weights[marginal] = weights.get(marginal, 0.0) + len(clique) ** 2 / len(inside)
    return weights
