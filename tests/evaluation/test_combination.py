"""Least squares one marginal at a time, against least squares over the whole domain written out as matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.evaluation.combination import Evidence
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.released import combined

DOMAIN = Domain.from_json({"a": 3, "b": 2, "c": 4, "d": 2})
MEASURED: list[tuple[Clique, float]] = [
    (("a", "b", "c"), 3.0),
    (("a", "b", "c"), 5.0),
    (("a", "b"), 2.0),
    (("a",), 1.5),
    (("b", "d"), 1.0),
    (("c", "d"), 0.7),
    (("a", "b", "d"), 2.0),
]


def measurements(noise: float = 1.0) -> list[Measurement]:
    rng = np.random.default_rng(1)
    return [Measurement(c, 9.0 + noise * sigma * rng.standard_normal(DOMAIN.sizes(c)), sigma) for c, sigma in MEASURED]


def matrix(clique: Clique) -> NDArray[np.float64]:
    """The linear map from the whole table, flattened, to a marginal."""
    sizes = DOMAIN.sizes(DOMAIN.names)
    index = np.indices(sizes).reshape(len(sizes), -1)
    cell = np.ravel_multi_index([index[DOMAIN.names.index(name)] for name in clique], DOMAIN.sizes(clique))
    answer = np.zeros((DOMAIN.cells(clique), math.prod(sizes)))
    answer[cell, np.arange(math.prod(sizes))] = 1
    return answer


@pytest.mark.parametrize("clique", [("a", "b", "c"), ("a", "b"), ("b",), ("b", "d"), ("c", "d"), ("a", "c")], ids="".join)
def test_it_is_the_least_squares_estimate_over_the_whole_domain(clique: Clique) -> None:
    taken = measurements()
    design = np.vstack([matrix(m.clique) / m.sigma for m in taken])
    inverse = np.linalg.pinv(design.T @ design)
    whole = inverse @ design.T @ np.concatenate([m.values.ravel() / m.sigma for m in taken])
    covariance = matrix(clique) @ inverse @ matrix(clique).T
    answer = Evidence(taken).least_squares(clique)
    assert answer is not None
    assert answer.values.ravel() == pytest.approx(matrix(clique) @ whole)
    assert covariance.diagonal() == pytest.approx(np.full(DOMAIN.cells(clique), answer.deviation**2))
    assert np.linalg.eigvalsh(covariance).max() == pytest.approx(answer.spread**2)


def test_it_is_at_least_as_precise_as_the_average_of_what_contains_the_marginal() -> None:
    for clique in (("a", "b", "c"), ("a", "b"), ("b",), ("a", "c")):
        average, best = combined(measurements(), clique), Evidence(measurements()).least_squares(clique)
        assert average is not None
        assert best is not None
        assert best.deviation <= average.deviation * (1 + 1e-12)
    assert best.deviation < 0.95 * average.deviation


def test_a_marginal_that_no_measurement_contains_has_no_estimate() -> None:
    assert Evidence(measurements()).least_squares(("a", "c", "d")) is None
    assert Evidence([]).least_squares(("a",)) is None
