"""All pairs together against one candidate at a time."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpsynth_core.inference.growth import pair_growth
from dpsynth_core.inference.junction_tree import SizeOracle, adjacency, cells_with, eliminate, mask_of


@pytest.mark.parametrize("by_fill", [False, True])
@pytest.mark.parametrize("edges", [0, 4, 12, 30])
def test_the_growth_for_every_pair_is_what_one_candidate_adds(edges: int, by_fill: bool) -> None:
    rng = np.random.default_rng(edges)
    for _ in range(10):
        sizes = rng.integers(1, 9, 14).tolist()
        cliques = [mask_of(rng.choice(14, 2 + (i % 5 == 0), replace=False).tolist()) for i in range(edges)]
        elimination = eliminate(adjacency(cliques, 14), sizes, by_fill)
        growth = pair_growth(elimination.order, elimination.clusters, sizes)
        for a, b in combinations(range(14), 2):
            added = cells_with(elimination, mask_of((a, b)), sizes) - elimination.cells(sizes)
            assert growth[a, b] == growth[b, a] == added


def test_what_no_number_holds_is_infinite() -> None:
    sizes = [10**9] * 79 + [1]
    elimination = eliminate(adjacency([mask_of(range(40)), mask_of(range(40, 80))], 80), sizes)
    growth = pair_growth(elimination.order, elimination.clusters, sizes)
    assert growth[0, 40] == np.inf
    assert not np.isnan(growth).any()


def test_pairs_fit_together_as_they_do_one_by_one() -> None:
    rng = np.random.default_rng(5)
    sizes = rng.integers(2, 7, 40).tolist()
    cliques = [1 << a for a in range(40)] + [mask_of(rng.choice(40, 2, replace=False).tolist()) for _ in range(45)]
    oracle = SizeOracle(sizes)
    present = oracle.cells(cliques)
    for limit in (0.5 * present, 1.05 * present, 2.0 * present):
        together = oracle.pairs_fitting(cliques, limit)
        for a, b in combinations(range(40), 2):
            pair = mask_of((a, b))
            alone = next(oracle.fitting(cliques, [pair], limit)) or any(pair & clique == pair for clique in cliques)
            assert together[a * 40 + b] == alone
