"""Junction trees: coverage, running intersection, and sizes that bound a candidate before it is measured."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.inference import junction_tree as module
from dpsynth_core.inference.junction_tree import (
    SizeOracle,
    adjacency,
    bits,
    counting,
    eliminate,
    junction_tree,
    mask_of,
    maximal,
)
from tests.inference.eliminations import clusters_of_order
from tests.tiers import examples

sizes_and_cliques = st.integers(2, 8).flatmap(
    lambda d: st.tuples(
        st.lists(st.integers(1, 5), min_size=d, max_size=d),
        st.lists(st.sets(st.integers(0, d - 1), min_size=1, max_size=3).map(mask_of), min_size=1, max_size=10),
    )
)


@examples(200)
@given(sizes_and_cliques)
def test_every_clique_lies_in_a_node_and_attributes_are_connected(case) -> None:
    sizes, cliques = case
    tree = junction_tree(cliques, sizes)
    assert all(any(c & n == c for n in tree.nodes) for c in cliques)
    assert all(parent < node for node, parent in enumerate(tree.parent))
    for a in range(len(sizes)):
        holders = [i for i, n in enumerate(tree.nodes) if n >> a & 1]
        # Running intersection: of the nodes that hold an attribute, exactly one (the topmost) has a parent without it.
        tops = [i for i in holders if tree.parent[i] < 0 or not tree.nodes[tree.parent[i]] >> a & 1]
        assert len(tops) == 1


@examples(100)
@given(sizes_and_cliques)
def test_elimination_never_beats_the_best_order(case) -> None:
    sizes, cliques = case
    if len(sizes) > 5:
        return
    graph = adjacency(cliques, len(sizes))
    best = min(_cells_of_order(graph, order, sizes) for order in itertools.permutations(range(len(sizes))))
    assert junction_tree(cliques, sizes).cells(sizes) >= best
    assert sorted(eliminate(graph, counting(sizes)).order) == list(range(len(sizes)))


def _cells_of_order(graph, order, sizes) -> int:
    return sum(math.prod(sizes[a] for a in bits(c)) for c in maximal(clusters_of_order(graph, order)))


@examples(100)
@given(sizes_and_cliques, st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=3), min_size=2, max_size=6), st.integers(1, 2000))
def test_an_oracle_that_was_asked_before_answers_like_a_new_one(case, candidates: list[set[int]], limit: int) -> None:
    sizes, cliques = case
    oracle, present = SizeOracle(sizes), list(cliques)
    for candidate in candidates:
        wanted = mask_of(a for a in candidate if a < len(sizes))
        assert oracle.fitting(present, [wanted], limit) == SizeOracle(sizes).fitting(present, [wanted], limit)
        assert oracle.cells(present) == SizeOracle(sizes).cells(present)
        present.append(wanted)


@examples(200)
@given(sizes_and_cliques, st.integers(1, 2000))
def test_a_candidate_that_fits_has_a_tree_within_the_limit(case, limit: int) -> None:
    sizes, cliques = case
    oracle = SizeOracle(sizes)
    candidate = mask_of(range(min(3, len(sizes))))
    exact = junction_tree([*cliques, candidate], sizes).cells(sizes)
    (fits,) = oracle.fitting(cliques, [candidate], limit)
    measured = any(candidate & clique == candidate for clique in cliques)
    if measured or exact <= limit:
        assert fits
    if fits and not measured and len(sizes) <= 6:
        assert any(_within(cliques, candidate, order, sizes, limit) for order in itertools.permutations(range(len(sizes))))


def _within(cliques, candidate, order, sizes, limit) -> bool:
    return _cells_of_order(adjacency([*cliques, candidate], len(sizes)), order, sizes) <= limit


def test_a_chain_costs_its_pairs() -> None:
    assert SizeOracle([2, 3, 4]).cells([0b011, 0b110]) == 2 * 3 + 3 * 4


@examples(200)
@given(sizes_and_cliques, st.booleans())
def test_a_complete_rest_is_eliminated_in_the_order_that_costs_give(case, by_fill: bool) -> None:
    sizes, cliques = case
    graph, count = adjacency(cliques, len(sizes)), counting(sizes)
    ours = eliminate(graph, count, by_fill)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_is_complete", lambda *_: False)
        assert ours == eliminate(graph, count, by_fill)


def test_a_graph_of_all_pairs_of_many_attributes_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    fill = module._fill
    monkeypatch.setattr(module, "_fill", lambda graph, a: asked.append(a) or fill(graph, a))
    number = 40
    found = eliminate(adjacency([(1 << number) - 1], number), counting([2] * number), by_fill=True)
    assert found.order == tuple(range(number))
    assert len(asked) == number, "each attribute's cost once, and none again"
