"""Exact scores: what the integers mean, and that no size or grid makes them inexact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsynth_core.privacy import scores
from dpsynth_core.privacy.scores import (
    COUNT_STEPS,
    SCORE_LIMIT,
    WEIGHT_STEPS,
    check_answers,
    distances,
    offset_steps,
    weight_steps,
)
from tests.refusals import refused

CELLS = 12


def distance(true: np.ndarray, answer: np.ndarray) -> int:
    (steps,) = distances([true], [answer])
    return steps


counts = arrays(np.int64, CELLS, elements=st.integers(0, 2**34))
small_answers = arrays(np.float64, CELLS, elements=st.floats(-100, 1e9, allow_nan=False))


@given(counts, small_answers)
def test_distance_is_the_l1_distance_of_the_rounded_answer_exactly(true: np.ndarray, answer: np.ndarray) -> None:
    rounded = [Fraction(round(Fraction(float(a)) * COUNT_STEPS), COUNT_STEPS) for a in answer]
    exact = sum((abs(int(c) - a) for c, a in zip(true, rounded, strict=True)), Fraction(0))
    assert Fraction(distance(true, answer), COUNT_STEPS) == exact


@given(counts, small_answers, st.integers(0, CELLS - 1))
def test_one_more_record_moves_the_distance_by_one_at_most(true: np.ndarray, answer: np.ndarray, cell: int) -> None:
    more = true.copy()
    more[cell] += 1
    assert abs(distance(more, answer) - distance(true, answer)) <= COUNT_STEPS


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=20))
def test_weight_steps_keep_proportions_and_lose_nobody(weights: list[float]) -> None:
    steps = weight_steps(weights).tolist()
    assert max(steps) == WEIGHT_STEPS
    assert min(steps) >= 1
    for weight, step in zip(weights, steps, strict=True):
        assert 0 <= step / WEIGHT_STEPS - weight / max(weights) <= 1 / WEIGHT_STEPS + 1e-15  # rounded up to the next step


@given(st.integers(1, WEIGHT_STEPS), st.integers(0, 2**60), st.integers(0, 2**60), st.integers(-(2**60), 2**60))
def test_clamping_never_spreads_scores_apart(weight: int, one: int, other: int, offset: int) -> None:
    both = scores.scores(np.array([weight, weight]), np.array([one, other]), np.array([offset, offset])).tolist()
    assert abs(both[0] - both[1]) <= weight * abs(one - other)
    assert abs(both[0]) <= SCORE_LIMIT < 2**63
    if abs(one - offset) < SCORE_LIMIT // weight:
        assert both[0] == weight * (one - offset)


def test_every_kind_of_float_answer_is_scored_alike() -> None:
    true = np.array([3, 0, 7])
    assert distance(true, np.array([1.5, 0.25, 9.0], dtype=np.float32)) == distance(true, np.array([1.5, 0.25, 9.0]))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e13])
def test_answers_that_cannot_be_scored_exactly_are_refused(bad: float) -> None:
    refused(check_answers, [np.array([1.0, bad])], [(2,)], kind=ValueError, saying="too large")


def test_answers_of_the_wrong_shape_are_refused() -> None:
    refused(check_answers, [np.zeros(2), np.zeros((2, 3))], [(2,), (3, 2)], kind=ValueError, saying="shape")


def test_many_tables_are_scored_like_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "_TOGETHER", 20)
    rng = np.random.default_rng(0)
    shapes = [(2, 3), (7,), (30,), (1,), (4, 4), (1,), (19,)]
    true, answers = [rng.integers(0, 50, s) for s in shapes], [rng.normal(25, 9, s) for s in shapes]
    assert distances(true, answers) == [distance(t, a) for t, a in zip(true, answers, strict=True)]


@pytest.mark.parametrize("place", range(7))
def test_one_bad_answer_among_many_is_refused(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "_TOGETHER", 20)
    answers = [np.ones(9) for _ in range(7)]
    check_answers(answers, [(9,)] * 7)
    answers[place][3] = math.nan
    refused(check_answers, answers, [(9,)] * 7, kind=ValueError, saying="too large")


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_weights_must_be_positive_numbers(bad: float) -> None:
    refused(weight_steps, [1.0, bad], kind=ValueError, saying="positive")


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_offsets_must_be_finite(bad: float) -> None:
    refused(offset_steps, [0.0, bad], kind=ValueError, saying="finite")


@given(st.floats(-1e9, 1e9))
def test_offsets_are_whole_steps_however_large(offset: float) -> None:
    assert offset_steps([offset, 1e300, -1e300]).tolist() == [round(offset * COUNT_STEPS), SCORE_LIMIT // 2, -SCORE_LIMIT // 2]
