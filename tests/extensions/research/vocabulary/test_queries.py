"""Counting queries: every way to answer them agrees with looking at the rows one by one."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest

from dpsynth_core.extensions.research.vocabulary.queries import Incidence, QueryClass, SparseAnswers, merged
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import at_least
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway, hand_picked, target
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 3, "b": 2, "c": 4, "d": 2})
THRESHOLDS = pytest.mark.parametrize("threshold", [None, 1, 2, 3])


def classes(threshold: int | None) -> QueryClass:
    return QueryClass.of(all_kway(DOMAIN, 3).asking(threshold))


def rows(count: int, domain: Domain = DOMAIN, seed: int = 70) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, domain.sizes(domain.names), (count, len(domain))).astype(np.int32)


def one_by_one(queries: QueryClass, codes: np.ndarray) -> np.ndarray:
    return np.array([queries.query(number).of(codes).sum() for number in range(queries.size)])


@THRESHOLDS
def test_counts_from_marginals_are_the_counts_of_the_rows(threshold: int | None) -> None:
    queries, codes = classes(threshold), rows(40)
    counts = queries.counts(row_marginals(DOMAIN, codes, queries.cliques))
    assert counts.dtype == np.int64
    assert np.array_equal(counts, one_by_one(queries, codes))


@THRESHOLDS
@pytest.mark.parametrize("count", [0, 1, 7, 500])
def test_hits_are_the_queries_that_a_row_satisfies(threshold: int | None, count: int) -> None:
    queries, codes = classes(threshold), rows(count)
    numbers, times = queries.hits(codes)
    expected = one_by_one(queries, codes)
    assert np.array_equal(numbers, np.flatnonzero(expected))
    assert np.array_equal(times, expected[numbers])


def test_a_query_means_what_it_says() -> None:
    query = QueryClass(DOMAIN, (("a", "c", "d"),), 2).query(2 * 8 + 3 * 2 + 1)
    assert (query.clique, query.values, query.threshold) == (("a", "c", "d"), (2, 3, 1), 2)
    codes = np.array([[2, 0, 3, 0], [2, 1, 0, 0], [0, 1, 3, 1], [2, 0, 3, 1]], dtype=np.int32)
    assert query.of(codes).tolist() == [True, False, True, True]


def test_numbers_run_through_the_marginals_in_order_and_their_cells_in_c_order() -> None:
    queries = QueryClass.of(hand_picked(DOMAIN, {("c", "a"): 1.0, ("b",): 2.0}))
    assert queries.size == 12 + 2
    assert (queries.block(("a", "c")), queries.block(("b",))) == (slice(0, 12), slice(12, 14))
    listed = [queries.query(number).values for number in range(queries.size)]
    assert listed == [*product(range(3), range(4)), (0,), (1,)]
    with pytest.raises(IndexError):
        queries.query(14)
    with pytest.raises(IndexError):
        queries.query(-1)


def test_thresholds_of_one_marginal_count_each_record_as_often_as_patterns_match_it() -> None:
    marginal = np.zeros((3, 4, 2), dtype=np.int64)
    marginal[1, 2, 0] = 1
    assert at_least(marginal, 1).sum() == 3 * 4 * 2 - 2 * 3 * 1  # all but the patterns that differ everywhere
    assert at_least(marginal, 2).sum() == 1 + (3 - 1) + (4 - 1) + (2 - 1)
    assert np.array_equal(at_least(marginal, 3), marginal)


def test_thresholds_of_fractions_are_fractions_of_thresholds() -> None:
    marginal = np.random.default_rng(71).integers(0, 50, (3, 4, 2))
    assert at_least(marginal / 100, 2) == pytest.approx(at_least(marginal, 2) / 100)


@pytest.mark.parametrize("threshold", [0, 4])
def test_a_threshold_beyond_the_columns_is_refused(threshold: int) -> None:
    refused(QueryClass, DOMAIN, (("a", "b", "c"),), threshold, kind=ValueError, saying="threshold")


@pytest.mark.parametrize("cliques", [(), (("b", "a"),), ((),)])
def test_marginals_that_are_not_canonical_are_refused(cliques: tuple) -> None:
    refused(QueryClass, DOMAIN, cliques, kind=ValueError, saying="marginals")


# Sparse answers


def dense(answers: SparseAnswers, size: int) -> np.ndarray:
    return answers.at(np.arange(size))


def test_sparse_answers_of_rows_are_their_weighted_counts() -> None:
    queries, codes = classes(None), rows(9)
    assert np.array_equal(dense(SparseAnswers.of_rows(queries, codes, 2.5), queries.size), one_by_one(queries, codes) * 2.5)


def test_sparse_answers_add_and_scale_like_dense_ones() -> None:
    one = SparseAnswers(np.array([1, 4, 5]), np.array([1.0, 2.0, 3.0]), 0.5)
    two = SparseAnswers(np.array([0, 4]), np.array([7.0, 1.0]))
    assert np.array_equal(dense(one.plus(two), 8), dense(one, 8) + dense(two, 8))
    assert np.array_equal(dense(one.scaled(-2.0), 8), dense(one, 8) * -2)
    assert np.array_equal(dense(SparseAnswers.all_of(np.arange(8.0)), 8), np.arange(8.0))
    assert np.array_equal(dense(SparseAnswers(np.zeros(0, dtype=np.int64), np.zeros(0), 3.0), 2), [3.0, 3.0])


def test_merged_lists_hold_every_number_once_in_order() -> None:
    assert merged(np.array([1, 4, 6]), np.array([0, 4, 9])).tolist() == [0, 1, 4, 6, 9]
    assert merged(np.zeros(0, dtype=np.int64), np.array([3, 5])).tolist() == [3, 5]
    assert merged(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("numbers", [[2, 1], [1, 1], [-1, 3], [1, 2, 3]])
def test_sparse_answers_need_ascending_numbers_and_a_value_for_each(numbers: list[int]) -> None:
    refused(SparseAnswers, np.array(numbers), np.zeros(2), kind=ValueError, saying=r"number")


# Size


def test_a_million_queries_are_compared_with_a_hundred_rows_in_milliseconds() -> None:
    domain = Domain.from_json({f"x{i}": 13 + i % 3 for i in range(15)})
    queries = QueryClass.of(all_kway(domain, 3))
    assert queries.size > 1_000_000
    codes = rows(100, domain)
    queries.hits(codes)  # numbering is set up once
    started = time.process_time()
    numbers, times = queries.hits(codes)
    assert time.process_time() - started < 0.2  # 6 ms measured on a quiet machine
    assert times.sum() == 100 * len(queries.cliques)
    assert len(numbers) > 40_000


@pytest.mark.parametrize("workload", [target(DOMAIN, "c", 2), all_kway(DOMAIN, 2)], ids=["target", "all"])
def test_a_workload_s_class_has_a_query_for_each_of_its_cells(workload) -> None:
    assert QueryClass.of(workload).size == workload.cells


SOME_COLUMNS = Domain.from_json({"a": 3, "b": 2, "c": 4, "d": 2})


@pytest.mark.parametrize("threshold", [None, 1, 2, 3])
def test_both_sums_agree_with_asking_every_row(threshold: int | None) -> None:
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, size, 9) for size in SOME_COLUMNS.sizes(SOME_COLUMNS.names)]).astype(np.int32)
    queries = QueryClass(SOME_COLUMNS, all_kway(SOME_COLUMNS, 3).cliques, threshold)
    incidence = Incidence(queries, codes)
    asked = np.array([queries.query(int(number)).of(codes) for number in incidence.numbers], dtype=float)
    weights, values = rng.random(len(codes)), rng.normal(size=len(incidence.numbers))
    np.testing.assert_allclose(incidence.answers(weights), asked @ weights, atol=1e-12)
    np.testing.assert_allclose(incidence.satisfied(values), values @ asked, atol=1e-12)
    rest = np.setdiff1d(np.arange(queries.size), incidence.numbers)
    assert not any(queries.query(int(number)).of(codes).any() for number in rest)
