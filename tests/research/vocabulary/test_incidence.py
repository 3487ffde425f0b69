"""Sums over rows and over queries agree with asking every query of every row, for cells and for thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.research.vocabulary.queries import Incidence, QueryClass
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway

DOMAIN = Domain.from_json({"a": 3, "b": 2, "c": 4, "d": 2})


@pytest.mark.parametrize("threshold", [None, 1, 2, 3])
def test_both_sums_agree_with_asking_every_row(threshold: int | None) -> None:
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, size, 9) for size in DOMAIN.sizes(DOMAIN.names)]).astype(np.int32)
    queries = QueryClass(DOMAIN, all_kway(DOMAIN, 3).cliques, threshold)
    incidence = Incidence(queries, codes)
    asked = np.array([queries.query(int(number)).of(codes) for number in incidence.numbers], dtype=float)
    weights, values = rng.random(len(codes)), rng.normal(size=len(incidence.numbers))
    np.testing.assert_allclose(incidence.answers(weights), asked @ weights, atol=1e-12)
    np.testing.assert_allclose(incidence.satisfied(values), values @ asked, atol=1e-12)
    rest = np.setdiff1d(np.arange(queries.size), incidence.numbers)
    assert not any(queries.query(int(number)).of(codes).any() for number in rest)
