"""Predictors: what they say of a record, against a second, slower way of saying it; and that nothing else has a say in it."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.vocabulary import predictors
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.predictors import Additive, Forest, Largest, Predictor, RightCounts, Tree, Within
from dpsynth_core.vocabulary.rows import right_counts
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 3, "b": 4, "y": 3})
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, DOMAIN.sizes(DOMAIN.names), size=(300, 3)).astype(np.int32)
STUMP = Tree(
    output=2,
    column=np.array([1, 0, 0, 0, 0]),
    following=np.array([[1, 1, 2], [3, 4, 3], [2, 2, 2], [3, 3, 3], [4, 4, 4]]),
    values=np.array([0, 0, 7, -5, 9]),
    depth=2,
)
FOREST = Forest(np.array([1, 2, 0]), {"a": np.array([0, 1, 2]), "b": np.array([0, 0, 1, 2])}, [STUMP, STUMP])
ADDED = Additive(np.array([0, 4, -1]), {"a": RNG.integers(-9, 9, (3, 3)), "b": RNG.integers(-9, 9, (4, 3))})
BOTH = [Predictor("y", scores, Largest(np.arange(3))) for scores in (FOREST, ADDED)]


def walked(row: tuple[int, ...]) -> list[int]:
    """The scores of the forest, by going down each tree."""
    scores, groups = [1, 2, 0], (row[0], (0, 0, 1, 2)[row[1]])
    for tree in FOREST.trees:
        node = 0
        while tree.following[node, 0] != node:
            node = int(tree.following[node, groups[tree.column[node]]])
        scores[tree.output] += int(tree.values[node])
    return scores


def test_a_forest_says_what_going_down_its_trees_says() -> None:
    expected = [int(np.argmax(walked(row))) == row[2] for row in CODES.tolist()]
    assert BOTH[0].right({name: CODES[:, i] for i, name in enumerate(DOMAIN.names)}, 300).tolist() == expected
    assert 0 < sum(expected) < 300


def test_additive_scores_are_sums() -> None:
    scores = [ADDED.start + ADDED.tables["a"][a] + ADDED.tables["b"][b] for a, b, _ in CODES.tolist()]
    assert right_counts(DOMAIN, CODES, [BOTH[1]]) == [sum(int(np.argmax(s)) == row[2] for s, row in zip(scores, CODES, strict=True))]


def test_numbers_are_right_within_limits_and_nowhere_without() -> None:
    decision = Within(np.array([0, 5, 1]), np.array([4, 9, 0]))
    codes = np.array([0, 0, 1, 1, 2], dtype=np.int32)
    assert decision.right(np.array([[4], [5], [5], [10], [1]]), codes).tolist() == [True, False, True, False, False]


@pytest.mark.parametrize("cut", [1, 7, 150, 300])
def test_batches_order_and_company_make_no_difference(cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = right_counts(DOMAIN, CODES, BOTH)
    monkeypatch.setattr(predictors, "CHUNK_ROWS", 13)
    one, other = RightCounts(DOMAIN, BOTH), RightCounts(DOMAIN, BOTH)
    for counts, part in ((one, CODES[::-1][:cut]), (other, CODES[::-1][cut:])):
        counts.add({name: part[:, DOMAIN.position(name)] for name in counts.columns}, len(part))
    one.absorb(other.tables)
    assert one.numbers.tolist() == whole.tolist()
    assert sum(right_counts(DOMAIN, CODES[i : i + 1], BOTH) for i in range(300)).tolist() == whole.tolist()  # type: ignore[union-attr]


def test_the_digest_tells_predictors_apart() -> None:
    changed = Additive(ADDED.start, {**ADDED.tables, "b": ADDED.tables["b"] + np.eye(4, 3, dtype=np.int64)})
    others = [Predictor("y", changed, Largest(np.arange(3))), Predictor("y", ADDED, Largest(np.array([0, 2, 1])))]
    assert len({one.sha256 for one in (*BOTH, *others)}) == 4
    assert Predictor("y", ADDED, Largest(np.arange(3))).sha256 == BOTH[1].sha256


def test_what_a_predictor_cannot_be_is_refused() -> None:
    refused(Predictor, "a", ADDED, Largest(np.arange(3)), kind=ValueError, saying="guesses")
    refused(Additive, np.array([2**62]), {}, kind=ValueError, saying="large")
    refused(Additive, np.array([0, 0]), {"a": np.zeros((3, 1), dtype=np.int64)}, kind=ValueError, saying="each code")


@pytest.mark.parametrize("end", [np.iinfo(np.int64).min, np.iinfo(np.int64).max])
def test_the_ends_of_64_bits_are_too_large_for_scores_and_for_limits(end: int) -> None:
    ends, small = np.array([0, end]), np.array([0, 1])
    for least, most in ((ends, small), (small, ends)):
        refused(Within, least, most, kind=ValueError, saying="too large")
    refused(Additive, ends, {}, kind=ValueError, saying="too large")
