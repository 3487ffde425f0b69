"""Weighted records: their marginals, and rows that follow them as closely as whole rows can."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.inference.model import WeightedRecords, rounded
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 3, "b": 2, "c": 4})
CODES = np.array([[0, 1, 3], [2, 0, 0], [0, 1, 2], [2, 0, 0]], dtype=np.int32)
RECORDS = WeightedRecords(DOMAIN, CODES, np.array([1.5, 2.0, 0.0, 3.5]))


def test_a_marginal_adds_the_weights_of_the_records_in_each_cell() -> None:
    expected = np.zeros((3, 4))
    expected[0, 3], expected[2, 0] = 1.5, 5.5
    assert np.array_equal(RECORDS.marginal(("a", "c")), expected)
    assert RECORDS.total == RECORDS.marginal(("b",)).sum() == RECORDS.marginal(()) == 7.0


@given(st.lists(st.floats(0, 50), min_size=1, max_size=40).filter(lambda w: sum(w) > 1e-6), st.integers(1, 300), st.integers(0, 99))
def test_every_record_gets_its_share_rounded_down_or_up(weights: list[float], n: int, seed: int) -> None:
    shares = np.array(weights) * (n / sum(weights))
    counts = rounded(shares, n, np.random.default_rng(seed))
    assert counts.sum() == n
    assert (counts >= np.floor(shares - 1e-9)).all()
    assert (counts <= np.ceil(shares + 1e-9)).all()


def test_rounding_is_right_on_average() -> None:
    shares = np.array([0.1, 0.25, 1.3, 0.05, 2.3])
    rng = np.random.default_rng(90)
    mean = np.mean([rounded(shares, 4, rng) for _ in range(20_000)], axis=0)
    # a count is one of two neighbours: standard deviation 1/2 at most, so 5 standard errors are 0.018; exceeded once in 1.7e6
    assert mean == pytest.approx(shares, abs=0.018)


def test_as_many_rows_as_people_come_out_as_the_records_themselves() -> None:
    whole = WeightedRecords(DOMAIN, CODES[:2], np.array([2.0, 3.0]))
    rows = whole.rows(5, {}, np.random.default_rng(91))
    assert rows.dtype == np.int32
    assert sorted(map(tuple, rows)) == [(0, 1, 3)] * 2 + [(2, 0, 0)] * 3
    assert not np.array_equal(whole.rows(500, {}, np.random.default_rng(92))[:200], np.repeat(CODES[:1], 200, axis=0))  # shuffled


def test_rows_are_moved_closer_to_what_the_records_answer() -> None:
    rng = np.random.default_rng(93)
    domain = Domain.from_json({"a": 5, "b": 4, "c": 6, "d": 3})
    records = WeightedRecords(domain, rng.integers(0, [5, 4, 6, 3], (400, 4)).astype(np.int32), rng.gamma(0.5, size=400))
    marginals = all_kway(domain, 2).weights

    def error(rows: np.ndarray) -> float:
        counted = row_marginals(domain, rows, list(marginals))
        return sum(float(np.abs(counted[r] / 300 - records.marginal(r) / records.total).sum()) for r in marginals)

    assert error(records.rows(300, marginals, rng)) < 0.8 * error(records.rows(300, {}, rng))  # about half, for any seed


@pytest.mark.parametrize(
    ("codes", "weights"),
    [
        (CODES, np.ones(3)),
        (CODES, np.zeros(4)),
        (CODES, np.array([1.0, 1.0, 1.0, -1.0])),
        (CODES, np.array([1.0, 1.0, 1.0, np.nan])),
        (CODES + 1, np.ones(4)),
        (CODES - 1, np.ones(4)),
        (CODES[:, :2], np.ones(4)),
        (CODES[:0], np.ones(0)),
    ],
)
def test_records_that_are_none_are_refused(codes: np.ndarray, weights: np.ndarray) -> None:
    refused(WeightedRecords, DOMAIN, codes, weights, kind=ValueError, saying=r"each|attribute")
