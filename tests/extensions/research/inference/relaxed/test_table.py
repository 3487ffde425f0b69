"""The relaxed table as a model."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpsynth_core.extensions.research.inference.relaxed.onehot import OneHot
from dpsynth_core.extensions.research.inference.relaxed.relaxed_table import RelaxedTable, rounded
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.model import labels_of
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.tiers import examples

DOMAIN = Domain.from_json({"a": 4, "b": 3, "c": 5})
SPACE = OneHot(DOMAIN)


def model(rows: int = 40, total: float = 1234.5) -> RelaxedTable:
    return RelaxedTable(DOMAIN, SPACE.sparsemax(SPACE.random(rows, np.random.default_rng(0))), total)


def test_its_marginals_agree_with_each_other() -> None:
    whole = model().marginal(DOMAIN.names)
    assert whole.sum() == pytest.approx(1234.5, rel=1e-5)
    for clique in [c for k in (1, 2) for c in combinations(DOMAIN.names, k)]:
        others = tuple(i for i, name in enumerate(DOMAIN.names) if name not in clique)
        assert model().marginal(clique) == pytest.approx(whole.sum(axis=others), rel=1e-4)


@pytest.mark.parametrize("threshold", [None, 1, 2])
def test_its_answers_are_those_of_its_marginals_in_whole_counts(threshold: int | None) -> None:
    queries = QueryClass(DOMAIN, (("a", "b"), ("a", "b", "c"), ("b", "c")), threshold)
    expected = queries.counts({clique: model().marginal(clique) for clique in queries.cliques})
    answers = model().answers(queries)
    assert (answers.values == np.rint(answers.values)).all()
    assert np.abs(answers.at(np.arange(queries.size)) - expected).max() <= 0.51
    assert answers.elsewhere == 0.0
    assert (answers.values != 0).all()


def test_rows_come_closer_to_its_answers_than_chance_would_have_them() -> None:
    wanted = dict.fromkeys([c for k in (1, 2) for c in combinations(DOMAIN.names, k)], 1.0)
    codes = model().rows(2000, wanted, np.random.default_rng(1))
    drawn = np.random.default_rng(2).choice(60, 2000, p=(p := model().marginal(DOMAIN.names).ravel()) / p.sum())
    chance = np.stack(np.unravel_index(drawn, (4, 3, 5)), axis=1).astype(np.int32)

    def distance(rows: np.ndarray) -> float:
        counted = row_marginals(DOMAIN, rows, list(wanted))
        return sum(float(np.abs(counted[r] / 2000 - model().marginal(r) / 1234.5).sum()) for r in wanted)

    assert distance(codes) < 0.2 * distance(chance)


def test_queries_keep_their_expectation() -> None:
    table = SPACE.sparsemax(SPACE.random(3, np.random.default_rng(0)))
    expected = np.einsum("an,bn,cn->abc", *[table[block] for block in SPACE.blocks(DOMAIN.names)]) / 3
    drawn = np.zeros(expected.shape)
    rng = np.random.default_rng(1)
    for _ in range(4000):
        np.add.at(drawn, tuple(rounded(DOMAIN, table, 6, rng).T), 1)
    # every cell is a mean of 24,000 draws: six standard errors of independent ones, for 60 cells a false alarm of 1e-7
    assert (np.abs(drawn / 24_000 - expected) <= 6 * np.sqrt(expected / 24_000) + 1e-9).all()


@pytest.mark.parametrize("n", [0, 1, 7, 60, 61, 500])
def test_any_number_of_rows_in_even_shares(n: int) -> None:
    table = SPACE.sparsemax(SPACE.random(20, np.random.default_rng(2)))
    codes = rounded(DOMAIN, table, n, np.random.default_rng(3))
    assert codes.shape == (n, 3)
    assert codes.dtype == np.int32
    assert all((codes[:, i] >= 0).all() and (codes[:, i] < size).all() for i, size in enumerate(DOMAIN.sizes(DOMAIN.names)))


def test_a_relaxed_row_gives_each_value_its_share() -> None:
    table = SPACE.sparsemax(SPACE.random(1, np.random.default_rng(4)))
    codes = rounded(DOMAIN, table, 50, np.random.default_rng(5))
    for i in range(3):
        share = np.bincount(codes[:, i], minlength=DOMAIN.attributes[i].size)
        assert (np.abs(share - 50 * table[SPACE.block(i), 0]) < 1 + 1e-4).all()


@st.composite
def limited(draw: st.DrawFn) -> Domain:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.2, 0.5, 0.8]))
    rules: list[StructuralZeros] = []
    for clique in draw(st.lists(st.sampled_from([("a", "b"), ("b", "c"), ("a", "c"), ("a", "b", "c")]), min_size=1, unique=True)):
        cells = np.argwhere(rng.random(DOMAIN.sizes(clique)) < share)
        rules += [StructuralZeros(clique, tuple(tuple((int(v),) for v in cell) for cell in cells))] if len(cells) else []
    try:
        return Domain(DOMAIN.attributes, tuple(rules))
    except InputError:  # nothing is possible
        assume(False)
        raise


@examples(60)
@given(limited(), st.integers(0, 2**32 - 1), st.booleans())
def test_no_row_is_impossible(domain: Domain, seed: int, certain: bool) -> None:
    rng = np.random.default_rng(seed)
    free = SPACE.random(30, rng)
    table = SPACE.sparsemax(free * 1e6 if certain else free)  # certain: each relaxed row is one record, possible or not
    codes = rounded(domain, table, 100, rng)
    assert len(codes) == 100
    assert all(not zero[tuple(codes[:, a] for a in labels_of(domain, clique))].any() for clique, zero in domain.zeros.items())


def test_what_is_possible_keeps_its_proportions() -> None:
    domain = Domain(DOMAIN.attributes, (StructuralZeros(("a", "b"), (((0,), (0,)),)),))
    table = np.zeros((SPACE.columns, 1), dtype=np.float32)
    table[SPACE.block(0), 0] = [0.5, 0.5, 0, 0]
    table[SPACE.block(1), 0] = [0.5, 0.5, 0]
    table[SPACE.block(2), 0] = 0.2
    codes = rounded(domain, table, 30_000, np.random.default_rng(6))
    share = np.bincount(codes[:, 0] * 3 + codes[:, 1], minlength=12) / 30_000
    assert share[0] == 0
    # 7,500 rows were drawn again, each from three cells alike: first 1/4, then a third of another quarter; five standard errors
    assert share[[1, 3, 4]] == pytest.approx(np.full(3, 1 / 3), abs=5 * np.sqrt(2 / 9 / 30_000))
