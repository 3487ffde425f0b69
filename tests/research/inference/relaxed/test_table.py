"""The relaxed table as a model."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpsynth_core.research.inference.relaxed.onehot import OneHot
from dpsynth_core.research.inference.relaxed.relaxed_table import RelaxedTable
from dpsynth_core.research.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals

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
