"""Selections by groups are the exponential mechanism over queries: their distribution, and the exact probabilities behind the proof."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.research.privacy.exponential import SLACK, Draws, scale, signed, worst
from dpsynth_core.extensions.research.privacy.groups import QueryCounts, ScoreGroups
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.view import Noise
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway
from tests.privacy.tables import FALSE_ALARM, frequency_p_value
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 3, "b": 2})
QUERIES = QueryClass.of(all_kway(DOMAIN, 1))
ANSWERS = SparseAnswers(np.array([0, 3]), np.array([4.5, 1.0]))
NONE = np.zeros(0, dtype=np.int64)


def tally(rows: int = 9) -> QueryCounts:
    codes = np.random.default_rng(72).integers(0, [2, 2], (rows, 2)).astype(np.int32)  # a = 2 never occurs
    return QueryCounts.of(QUERIES, row_marginals(DOMAIN, codes, QUERIES.cliques))


def differences() -> np.ndarray:
    numbers = np.arange(QUERIES.size)
    return tally().at(numbers) - ANSWERS.at(numbers)


def softmax(scores: np.ndarray, b: float) -> np.ndarray:
    weights = np.exp((scores - scores.max()) / b)
    return weights / weights.sum()


def test_signed_draws_have_the_probabilities_of_the_exponential_mechanism() -> None:
    numbers, signs = signed(ScoreGroups(tally(), ANSWERS), 4_000, 3 * COUNT_STEPS, SeededNoise(71))
    drawn = numbers * 2 + (signs < 0)
    probabilities = softmax(np.stack([differences(), -differences()], axis=1).ravel(), 3)
    assert frequency_p_value(drawn.tolist(), probabilities) > FALSE_ALARM


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(71)], ids=["opendp", "seeded"])
def test_draws_without_replacement_have_the_probabilities_of_peeling(noise: Noise) -> None:
    scores = np.abs(differences())
    left = [number for number in range(QUERIES.size) if number != 1]
    pairs = list(permutations(left, 2))

    def chance(first: int, second: int) -> float:
        rest = [number for number in left if number != first]
        return softmax(scores[left], 3)[left.index(first)] * softmax(scores[rest], 3)[rest.index(second)]

    groups = ScoreGroups(tally(), ANSWERS, np.array([1]))
    drawn = [pairs.index(tuple(worst(groups, 2, 3 * COUNT_STEPS, noise).tolist())) for _ in range(1_500)]
    assert frequency_p_value(drawn, np.array([chance(*pair) for pair in pairs])) > FALSE_ALARM


def test_everything_is_drawn_when_everything_is_asked_for() -> None:
    groups = ScoreGroups(tally(), ANSWERS, np.array([4]))
    assert sorted(worst(groups, QUERIES.size - 1, 100.0 * COUNT_STEPS, SeededNoise(73)).tolist()) == [0, 1, 2, 3]


class Probabilities:
    """Stands in for a noisy max: remembers the values and follows a script, so that a draw's exact probability can be computed."""

    private = False

    def __init__(self) -> None:
        self.seen: list[np.ndarray] = []
        self.script: list[int] = []

    def noisy_max(self, scores: np.ndarray, b: float) -> int:  # noqa: ARG002
        self.seen.append(scores.copy())
        return self.script[len(self.seen) - 1]

    def uniform(self, size: int) -> int:  # noqa: ARG002
        return 0


@given(
    st.lists(st.tuples(st.integers(-(2**38), 2**38), st.integers(1, 2**34)), min_size=1, max_size=60),
    st.floats(1e4, 2.0**40),
)
def test_rounding_moves_no_score_by_more_than_two_steps(groups: list[tuple[int, int]], b: float) -> None:
    scores, sizes = (np.array(column, dtype=np.int64) for column in zip(*groups, strict=True))
    width = math.isqrt(len(groups) - 1) + 1
    for group in range(len(groups)):
        noise = Probabilities()
        noise.script = [group // width, group % width]
        assert Draws(scores, sizes, b, noise).draw()[0] == group
        buckets, inside = (values.astype(np.longdouble) for values in noise.seen)
        # ln of the query's unnormalised probability, in steps, without what all queries share
        top = inside.max()
        value = buckets[group // width] + inside[group % width] - top - b * np.log(np.exp((inside - top) / b).sum())
        moved = value - b * np.log(np.longdouble(sizes[group])) - scores[group]
        assert abs(moved) <= SLACK / 2


@given(st.lists(st.integers(-(2**30), 2**30), min_size=1, max_size=30), st.data())
def test_after_a_removal_all_is_as_if_the_removed_had_never_been_there(scores: list[int], data: st.DataObject) -> None:
    sizes = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(scores), max_size=len(scores))), dtype=np.int64)
    b, values = 2.0**28, np.array(scores, dtype=np.int64)
    draws = Draws(values, sizes, b, SeededNoise(74))
    gone = [draws.draw_and_remove() for _ in range(data.draw(st.integers(0, int(sizes.sum()) - 1)))]
    assert len(set(gone)) == len(gone)
    left = sizes - np.bincount([group for group, _ in gone], minlength=len(sizes)).astype(np.int64)
    assert (left >= 0).all()
    alive = left > 0
    assert np.array_equal(draws._values[alive], values[alive] + np.rint(b * np.log(left[alive])).astype(np.int64))


def test_the_scale_has_room_for_rounding_and_is_never_below_what_is_charged() -> None:
    assert scale(0.5, 1) > 2 * (COUNT_STEPS + SLACK) / 0.5
    assert scale(0.5, 3) == pytest.approx(2 * 3 * COUNT_STEPS / 0.5, rel=1e-3)


@pytest.mark.parametrize("eps", [0.0, -1.0, math.nan, math.inf, 1e-9])
def test_an_eps_that_cannot_be_kept_exactly_is_refused(eps: float) -> None:
    refused(scale, eps, 1, kind=ValueError, saying="eps")
