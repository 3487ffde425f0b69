"""Groups of queries with equal scores: every query is in exactly one group, at one place, with the score that it should have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.research.privacy.groups import QueryCounts, ScoreGroups, check_answers, check_numbers
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 3, "b": 2, "c": 4})
SIZE = QueryClass.of(all_kway(DOMAIN, 2)).size
some_rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), max_size=25)
some_answers = st.dictionaries(st.integers(0, SIZE - 1), st.sampled_from([0.0, 1.0, 2.5, -3.25, 1 / 3]))
numbers_left_out = st.sets(st.integers(0, SIZE - 1), max_size=SIZE - 1)


def sparse(given_answers: dict[int, float], elsewhere: float = 0.0) -> SparseAnswers:
    numbers = sorted(given_answers)
    return SparseAnswers(np.array(numbers, dtype=np.int64), np.array([given_answers[n] for n in numbers]), elsewhere)


@pytest.mark.parametrize("threshold", [None, 1])
@given(some_rows, some_answers, st.sampled_from([0.0, 1.5]), numbers_left_out)
def test_groups_hold_every_query_once_with_its_score(
    threshold: int | None, rows: list, given_answers: dict[int, float], elsewhere: float, left_out: set[int]
) -> None:
    queries = QueryClass.of(all_kway(DOMAIN, 2).asking(threshold))
    codes = np.array(rows, dtype=np.int32).reshape(-1, 3)
    counts = queries.counts(row_marginals(DOMAIN, codes, queries.cliques))
    answers = sparse(given_answers, elsewhere)
    tally = QueryCounts.of(queries, row_marginals(DOMAIN, codes, queries.cliques))
    groups = ScoreGroups(tally, answers, np.array(sorted(left_out), dtype=np.int64))
    assert np.array_equal(tally.at(np.arange(SIZE)), counts)
    assert (groups.sizes > 0).all()
    group_sizes = {
        groups.member(group, place): int(score)
        for group, (score, size) in enumerate(zip(groups.scores, groups.sizes, strict=True))
        for place in range(size)
    }
    assert groups.sizes.sum() == len(group_sizes) == SIZE - len(left_out)
    expected = counts * COUNT_STEPS - np.rint(answers.at(np.arange(SIZE)) * COUNT_STEPS).astype(np.int64)
    assert group_sizes == {number: int(expected[number]) for number in range(SIZE) if number not in left_out}


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e13])
def test_answers_that_cannot_be_scored_exactly_are_refused(bad: float) -> None:
    queries = QueryClass.of(all_kway(DOMAIN, 2))
    refused(check_answers, queries, sparse({3: bad}), kind=ValueError, saying="too large")
    refused(check_answers, queries, sparse({}, bad), kind=ValueError, saying="too large")


@pytest.mark.parametrize("bad", [[-1], [SIZE], [[1]]])
def test_numbers_outside_the_class_are_refused(bad: list) -> None:
    refused(check_numbers, QueryClass.of(all_kway(DOMAIN, 2)), np.array(bad), kind=ValueError, saying="not that of a query")
