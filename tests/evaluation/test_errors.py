"""Errors: the definition by hand, the range, and counting rows against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsynth_core.statistics.distances import largest_error, marginal_errors, scaled, workload_error
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.drawn_marginals import RANDOM, SKEWED, Draw
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway, drawn, hand_picked, target

DOMAIN = Domain.from_json({"a": 3, "b": 2, "c": 4})
ROWS = st.integers(0, 30).flatmap(lambda n: st.tuples(*(arrays(np.int32, n, elements=st.integers(0, s - 1)) for s in (3, 2, 4))))
tables = arrays(np.int64, (3, 2), elements=st.integers(0, 50))


def test_workload_error_is_the_weighted_mean_over_marginals_by_definition() -> None:
    workload = hand_picked(DOMAIN, {("a",): 1.0, ("b",): 3.0})
    true = {("a",): np.array([5, 3, 2]), ("b",): np.array([6, 4])}
    estimate = {("a",): np.array([4.0, 4.0, 2.0]), ("b",): np.array([6.5, 3.5])}
    assert workload_error(workload, true, estimate, 10) == pytest.approx((1 * 2 + 3 * 1) / ((1 + 3) * 10))


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_possible_error_is_two_whatever_the_workload_weighs(seed: int) -> None:
    """Two tables without a value in common are as far apart as tables can be."""
    rng = np.random.default_rng(seed)
    domain = Domain.from_json({f"c{i}": int(rng.integers(2, 5)) for i in range(int(rng.integers(3, 9)))})
    weights = {clique: float(10 ** rng.uniform(-9, 9)) for clique in all_kway(domain, 2).cliques}
    workloads = (
        all_kway(domain, 2),
        target(domain, "c1", 2),
        drawn(domain, Draw(RANDOM, 2, 3, seed)),
        drawn(domain, Draw(SKEWED, 3, 256, seed)),
        hand_picked(domain, weights),
    )
    for workload in workloads:
        true, estimate = (row_marginals(domain, np.full((7, len(domain)), value), workload.cliques) for value in (0, 1))
        assert workload_error(workload, true, estimate, 7) == pytest.approx(2)


def test_a_marginal_drawn_twice_counts_as_two_of_the_draws() -> None:
    workload = drawn(DOMAIN, Draw(SKEWED, 2, 50, seed=3))
    apart = {clique: float(place) for place, clique in enumerate(workload.cliques, start=1)}
    true = {clique: np.zeros(DOMAIN.cells(clique)) for clique in workload.cliques}
    estimate = {clique: np.full(DOMAIN.cells(clique), apart[clique] / DOMAIN.cells(clique)) for clique in workload.cliques}
    each = [apart[clique] for clique, times in workload.weights.items() for _ in range(int(times))]
    assert len(workload.cliques) < len(each) == 50
    assert workload_error(workload, true, estimate, 10) == pytest.approx(np.mean(each) / 10)


@pytest.mark.parametrize("threshold", [None, 1, 2])
@given(ROWS, ROWS)
def test_the_largest_error_is_that_of_the_worst_cell_counted_row_by_row(threshold: int | None, one: tuple, other: tuple) -> None:
    """A query asks how many match a cell in all columns of a marginal, or in so many of them as the threshold says."""
    workload = all_kway(DOMAIN, 2).asking(threshold)
    tables_of = [np.stack(columns, axis=1) for columns in (one, other)]

    def share(codes: np.ndarray, clique: Clique, cell: tuple[int, ...]) -> float:
        agree = (codes[:, [DOMAIN.position(name) for name in clique]] == cell).sum(axis=1)
        return float((agree >= (threshold or len(clique))).mean()) if len(codes) else 0.0

    asked = [(clique, cell) for clique in workload.cliques for cell in np.ndindex(DOMAIN.sizes(clique))]
    worst = max(abs(share(tables_of[0], *query) - share(tables_of[1], *query)) for query in asked)
    marginals = [row_marginals(DOMAIN, codes, workload.cliques) for codes in tables_of]
    assert largest_error(*marginals, threshold) == pytest.approx(worst, abs=1e-12)


def test_workload_error_needs_a_positive_number_of_records() -> None:
    with pytest.raises(ValueError, match="positive"):
        workload_error(hand_picked(DOMAIN, {("b",): 1.0}), {("b",): np.ones(2)}, {("b",): np.ones(2)}, 0)


@given(tables, tables)
def test_marginal_error_is_between_zero_and_two_and_symmetric(one: np.ndarray, other: np.ndarray) -> None:
    forth, back = (marginal_errors({("a", "b"): x}, {("a", "b"): y})[("a", "b")] for x, y in ((one, other), (other, one)))
    assert 0 <= forth <= 2 + 1e-12  # rounding of six fractions
    assert forth == pytest.approx(back, abs=1e-12)


@given(tables, st.floats(0.1, 100))
def test_marginal_error_ignores_the_size_of_the_table(one: np.ndarray, factor: float) -> None:
    assert marginal_errors({("a", "b"): one}, {("a", "b"): one * factor})[("a", "b")] < 1e-12


def test_disjoint_marginals_have_error_two() -> None:
    assert marginal_errors({("b",): np.array([7, 0])}, {("b",): np.array([0, 1])}) == {("b",): 1.0}


def test_scaled_marginals_have_the_asked_total_and_the_same_proportions() -> None:
    assert scaled({("b",): np.array([1, 3])}, 100)[("b",)].tolist() == [25.0, 75.0]
