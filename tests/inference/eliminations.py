"""Eliminations in a given order, as the definition has them."""

from __future__ import annotations

from collections.abc import Sequence

from dpsynth_core.inference.junction_tree import bits


def clusters_of_order(graph: Sequence[int], order: Sequence[int]) -> list[int]:
    """Each attribute with its neighbours when it is eliminated."""
    graph, clusters = list(graph), []
    for a in order:
        clusters.append(graph[a] | 1 << a)
        for b in bits(graph[a]):
            graph[b] = (graph[b] | graph[a]) & ~(1 << a) & ~(1 << b)
    return clusters
