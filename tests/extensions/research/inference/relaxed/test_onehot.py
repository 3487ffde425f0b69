"""The one-hot space: its columns, and sparsemax as the projection it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsynth_core.extensions.research.inference.relaxed.onehot import OneHot
from dpsynth_core.vocabulary.domain import Domain
from tests.extensions.research.inference.relaxed.references import simplex_projection

DOMAIN = Domain.from_json({"a": 4, "b": 1, "c": 7})
SPACE = OneHot(DOMAIN)


def test_every_value_has_a_column() -> None:
    assert SPACE.columns == 12
    assert SPACE.blocks(("a", "c")) == [slice(0, 4), slice(5, 12)]


@given(arrays(np.float64, (12, 3), elements=st.floats(-50, 50)))
def test_sparsemax_is_the_projection_to_the_simplex(free: np.ndarray) -> None:
    table = SPACE.sparsemax(free)
    for block in SPACE.blocks(DOMAIN.names):
        for row in range(3):
            assert table[block, row] == pytest.approx(simplex_projection(free[block, row]), abs=1e-6)


def test_sparsemax_keeps_distributions_and_is_sparse() -> None:
    table = SPACE.sparsemax(SPACE.random(500, np.random.default_rng(1)))
    again = SPACE.sparsemax(table)
    assert table.dtype == np.float32
    assert np.allclose(again, table, atol=1e-6)
    assert (table == 0).mean() > 0.2
    for block in SPACE.blocks(DOMAIN.names):
        assert table[block].sum(axis=0) == pytest.approx(np.ones(500), abs=1e-5)


def test_large_parameters_leave_one_value() -> None:
    free = np.zeros((12, 1), dtype=np.float32)
    free[[2, 9]] = 1e6
    assert SPACE.sparsemax(free).nonzero()[0].tolist() == [2, 4, 9]
