"""MST: a third of the budget each for columns, choice and pairs; the pairs are a spanning tree, the maximal one where noise is small."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.mechanisms.steps import Measured
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import DOMAIN, Run, run

PAIRS = all_kway(DOMAIN, 2)


def tree(done: Run) -> list[tuple[str, ...]]:
    return [e.measurement.clique for e in done.events if isinstance(e, Measured) and e.round == 1]


def joins_everything(edges: list[tuple[str, ...]], names: tuple[str, ...]) -> bool:
    reached = {names[0]}
    for _ in names:
        reached |= {name for edge in edges if reached & set(edge) for name in edge}
    return reached == set(names)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("rho", [1e-8, 0.05, 10.0])
def test_a_third_each_for_columns_choice_and_pairs(relation: str, rho: float) -> None:
    events = run("mst", PAIRS, rho, relation).kernel.events
    d = len(DOMAIN)
    assert [type(e) for e in events] == [Gaussian, *[Selection] * (d - 1), Gaussian]
    for part in (events[:1], events[1:-1], events[-1:]):
        assert sum(e.rho for e in part) == pytest.approx(rho / 3, rel=1e-6)
        assert len({e.rho for e in part}) == 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rho", [1e-8, 0.05, 10.0])
def test_the_pairs_are_a_spanning_tree(rho: float, seed: int) -> None:
    edges = tree(run("mst", PAIRS, rho, seed=seed))
    assert len(set(edges)) == len(DOMAIN) - 1
    assert joins_everything(edges, DOMAIN.names)


def test_with_a_large_budget_it_is_the_maximum_spanning_tree() -> None:
    done = run("mst", PAIRS, 1e4)
    counts = done.source.counts([(name,) for name in DOMAIN.names] + list(PAIRS.cliques))
    gap = {p: np.abs(counts[p] - np.multiply.outer(counts[p[:1]], counts[p[1:]]) / 4000).sum() for p in PAIRS.cliques}
    spanning = [c for c in combinations(PAIRS.cliques, len(DOMAIN) - 1) if joins_everything(list(c), DOMAIN.names)]
    assert sum(gap[p] for p in tree(done)) == pytest.approx(max(sum(gap[p] for p in c) for c in spanning))


def test_edges_that_do_not_fit_are_not_offered_and_the_rest_gets_the_whole_third() -> None:
    done = run("mst", PAIRS, 0.5, max_size_mb=20 * 8 / 1e6)  # a tree needs 26: d with each of the others
    edges = tree(done)
    assert 1 <= len(edges) < len(DOMAIN) - 1
    assert done.kernel.rho_spent == pytest.approx(0.5, rel=1e-8)


@pytest.mark.parametrize(
    ("sizes", "megabytes", "words"),
    [
        ({"a": 5000, "b": 5000}, 1.0, "no pair of columns fits the model's capacity; raise max_size_mb to 200 or merge values"),
        ({"a": 20_000, "b": 20_000}, 80.0, "no pair of columns fits the model's capacity; merge values, or use Independent"),
        ({"a": 5}, 80.0, "it needs two columns; use Independent"),
        ({"a": 20_000}, 80.0, "it needs two columns; use Independent"),
        ({f"c{i}": 500 for i in range(40)}, 80.0, "195,000,000 cells"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(sizes: dict[str, int], megabytes: float, words: str) -> None:
    domain = Domain.from_json(sizes)
    forecast = configured(get("mst"), {"max_size_mb": megabytes}).forecast(all_kway(domain, 1), 0.01)
    assert not forecast.fits
    assert words in forecast.reason
