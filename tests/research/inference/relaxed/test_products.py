"""Product queries and thresholds: polynomials that are expectations, and marginals as matrix products."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.research.inference.relaxed import onehot
from dpsynth_core.research.inference.relaxed.onehot import OneHot
from dpsynth_core.research.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.domain import Domain
from tests.research.inference.relaxed import references

DOMAIN = Domain.from_json({"a": 3, "b": 2, "c": 4, "d": 2, "e": 3})
SPACE = OneHot(DOMAIN)


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
