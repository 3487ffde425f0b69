"""Losses and their hand-written gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.research.inference.relaxed import onehot
from dpsynth_core.extensions.research.inference.relaxed.losses import Loss, MarginalLoss, QueryLoss, Sum
from dpsynth_core.extensions.research.inference.relaxed.onehot import OneHot
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.domain import Domain
from tests.extensions.research.inference.relaxed import references

DOMAIN = Domain.from_json({"a": 3, "b": 2, "c": 4, "d": 2, "e": 3})
SPACE = OneHot(DOMAIN)
ROWS = 4


def table(seed: int) -> np.ndarray:
    return SPACE.sparsemax(SPACE.random(ROWS, np.random.default_rng(seed)).astype(np.float64))


def picked(k: int, queries: int, seed: int) -> np.ndarray:
    """Columns of random queries on k different attributes each, (k, queries)."""
    rng = np.random.default_rng(seed)
    chosen = [np.sort(rng.permutation(len(DOMAIN))[:k]) for _ in range(queries)]
    return np.array([[SPACE.starts[a] + rng.integers(DOMAIN.attributes[a].size) for a in attributes] for attributes in chosen]).T


def check(loss: Loss, place: np.ndarray) -> None:
    _, gradient = loss(place)
    expected = references.finite_differences(lambda moved: loss(moved)[0], place)
    assert gradient == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("k", "threshold"), [(k, t) for k in range(1, 6) for t in range(1, k + 1)])
def test_query_gradients_match_finite_differences(k: int, threshold: int) -> None:
    rng = np.random.default_rng(10 * k + threshold)
    columns = picked(k, 70, k)  # more than one batch
    targets, weights = rng.random((2, 70))
    loss = QueryLoss(columns, targets, threshold, weights)
    place = table(k)
    answers = references.at_least(place[columns], threshold).mean(axis=1)
    assert loss(place)[0] == pytest.approx(weights @ (answers - targets) ** 2, rel=1e-12)
    check(loss, place)


@pytest.mark.parametrize("cliques", [[("a",)], [("a", "c")], [("a", "b", "c"), ("d", "b", "c"), ("a", "c", "e")], [DOMAIN.names]])
def test_marginal_gradients_match_finite_differences(cliques: list[tuple[str, ...]]) -> None:
    rng = np.random.default_rng(5)
    blocks = [SPACE.blocks(clique) for clique in cliques]
    loss = MarginalLoss(blocks, [rng.random(DOMAIN.sizes(clique)) for clique in cliques], weight=3.0)
    check(loss, table(6))


def test_where_anything_goes_nothing_is_lost() -> None:
    targets = np.random.default_rng(3).random((3, 4))
    some = np.where(targets > 0.5, np.nan, targets)
    loss = MarginalLoss([SPACE.blocks(("a", "c"))], [some])
    products = np.einsum("an,cn->ac", *[table(4)[block] for block in SPACE.blocks(("a", "c"))]) / ROWS
    assert loss(table(4))[0] == pytest.approx(np.nansum((products - some) ** 2))
    check(loss, table(4))


def test_both_forms_agree_on_all_cells_of_a_marginal() -> None:
    clique = ("b", "c", "e")
    targets = np.random.default_rng(7).random(DOMAIN.cells(clique))
    starts = [block.start for block in SPACE.blocks(clique)]
    columns = np.array([[s + v for s, v in zip(starts, cell, strict=True)] for cell in np.ndindex(DOMAIN.sizes(clique))]).T
    one, two = QueryLoss(columns, targets, 3, np.ones(len(targets)))(table(8)), MarginalLoss([SPACE.blocks(clique)], [targets])(table(8))
    assert one[0] == pytest.approx(two[0], rel=1e-12)
    assert one[1] == pytest.approx(two[1], rel=1e-9)


def test_losses_add_up() -> None:
    parts: list[Loss] = [QueryLoss(picked(2, 9, 1), np.zeros(9), 2, np.ones(9)), MarginalLoss([SPACE.blocks(("a",))], [np.zeros(3)])]
    value, gradient = Sum(parts)(table(9))
    assert value == pytest.approx(sum(part(table(9))[0] for part in parts))
    assert gradient == pytest.approx(sum(part(table(9))[1] for part in parts))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_single_precision_is_as_good_as_noise_needs(k: int) -> None:
    columns, place = picked(k, 200, 11), SPACE.sparsemax(SPACE.random(1000, np.random.default_rng(12)))
    loss = QueryLoss(columns, np.zeros(200), k, np.ones(200))
    single, double = loss(place), loss(place.astype(np.float64))
    assert single[1].dtype == np.float32
    assert single[0] == pytest.approx(double[0], rel=1e-5)  # a thousand additions in steps of 2^-24 of the sum
    assert single[1] == pytest.approx(double[1], rel=1e-3, abs=1e-5 * np.abs(double[1]).max())


@pytest.mark.parametrize(("k", "threshold"), [(k, t) for k in range(1, 6) for t in range(k + 2)])
def test_thresholds_are_chances_of_independent_events(k: int, threshold: int) -> None:
    factors = np.random.default_rng(k).random((k, 3, 5))
    expected = references.at_least(factors, threshold)
    assert np.broadcast_to(onehot.at_least(list(factors), threshold), (3, 5)) == pytest.approx(expected, abs=1e-12)
    exactly = expected - references.at_least(factors, threshold + 1)
    if threshold <= k:
        assert np.broadcast_to(onehot.exactly(list(factors), threshold), (3, 5)) == pytest.approx(exactly, abs=1e-12)


@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_on_real_records_they_are_the_counting_queries(threshold: int) -> None:
    codes = np.random.default_rng(3).integers(0, DOMAIN.sizes(DOMAIN.names), (40, 5)).astype(np.int32)
    table = np.zeros((SPACE.columns, 40))
    table[codes + SPACE.starts[:-1], np.arange(40)[:, None]] = 1
    queries = QueryClass(DOMAIN, (("a", "c", "e"),), threshold)
    for number in range(queries.size):
        query = queries.query(number)
        factors = [table[SPACE.starts[c] + v][None] for c, v in zip(query.columns, query.values, strict=True)]
        assert (onehot.at_least(factors, threshold)[0] == query.of(codes)).all()


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_a_marginal_is_the_mean_of_outer_products(k: int) -> None:
    table = SPACE.sparsemax(SPACE.random(17, np.random.default_rng(k)).astype(np.float64))
    clique = DOMAIN.names[:k]
    letters = "abcde"[:k]
    blocks = [table[block] for block in SPACE.blocks(clique)]
    expected = np.einsum(",".join(f"{letter}n" for letter in letters) + "->" + letters, *blocks) / 17
    assert onehot.marginal(table, SPACE.blocks(clique)) == pytest.approx(expected.ravel(), abs=1e-12)
