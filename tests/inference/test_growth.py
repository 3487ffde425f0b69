"""Many candidates together against an elimination that is done again for each."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpsynth_core.inference.growth import growth, members, pair_growth, within
from dpsynth_core.inference.junction_tree import SizeOracle, adjacency, cells_of, counting, eliminate, mask_of
from tests.inference.eliminations import clusters_of_order


@pytest.mark.parametrize("by_fill", [False, True])
@pytest.mark.parametrize("edges", [0, 4, 12, 30])
def test_growth_is_what_another_elimination_in_the_same_order_has_more(edges: int, by_fill: bool) -> None:
    rng = np.random.default_rng(edges)
    for _ in range(10):
        sizes = rng.integers(1, 9, 14).tolist()
        cliques = [mask_of(rng.choice(14, 2 + (i % 5 == 0), replace=False).tolist()) for i in range(edges)]
        graph = adjacency(cliques, 14)
        elimination = eliminate(graph, counting(sizes), by_fill)
        candidates = [mask_of(rng.choice(14, 1 + i % 4, replace=False).tolist()) for i in range(40)]
        candidates += [mask_of(pair) for pair in combinations(range(14), 2)]
        again = [clusters_of_order(adjacency([*cliques, candidate], 14), elimination.order) for candidate in candidates]
        cells = [sum(cells_of(cluster, sizes) for cluster in clusters) for clusters in (*again, elimination.clusters)]
        exact = np.array(cells[:-1]) - cells[-1]
        wanted = members(candidates, 14)
        whole = growth(elimination.order, elimination.clusters, sizes, wanted, np.inf)
        assert whole.tolist() == exact.tolist()
        enough = float(np.median(exact))
        stopped = growth(elimination.order, elimination.clusters, sizes, wanted, enough)
        assert np.where(stopped <= enough, stopped, np.inf).tolist() == np.where(exact <= enough, exact, np.inf).tolist()
        pairs = pair_growth(elimination.order, elimination.clusters, sizes)
        assert [pairs[pair] for pair in combinations(range(14), 2)] == exact[40:].tolist()
        assert np.array_equal(pairs, pairs.T)


def test_which_masks_lie_inside_another() -> None:
    masks, others = [0b001, 0b011, 0b110, 0b111], [0b011, 0b100]
    assert within(members(masks, 3), members(others, 3)).tolist() == [True, True, False, False]
    assert within(members([], 3), members(others, 3)).tolist() == []
    assert within(members(masks, 3), members([], 3)).tolist() == [False] * 4


def test_what_no_number_holds_is_infinite() -> None:
    sizes = [10**9] * 79 + [1]
    elimination = eliminate(adjacency([mask_of(range(40)), mask_of(range(40, 80))], 80), counting(sizes))
    pairs = pair_growth(elimination.order, elimination.clusters, sizes)
    assert pairs[0, 40] == np.inf
    assert not np.isnan(pairs).any()
    assert growth(elimination.order, elimination.clusters, sizes, members([mask_of((0, 40))], 80), np.inf).tolist() == [np.inf]


def test_pairs_fit_together_as_they_do_one_by_one() -> None:
    rng = np.random.default_rng(5)
    sizes = rng.integers(2, 7, 40).tolist()
    cliques = [1 << a for a in range(40)] + [mask_of(rng.choice(40, 2, replace=False).tolist()) for _ in range(45)]
    oracle = SizeOracle(sizes)
    present = oracle.cells(cliques)
    for limit in (0.5 * present, 1.05 * present, 2.0 * present):
        together = oracle.pairs_fitting(cliques, limit)
        pairs = list(combinations(range(40), 2))
        assert [together[a * 40 + b] for a, b in pairs] == oracle.fitting(cliques, [mask_of(pair) for pair in pairs], limit)
