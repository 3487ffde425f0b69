"""Which answers are called closely known, and that the intervals of those hold as often as all do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsynth_core.evaluation.questions.answer import Stated, answer
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.evaluation.questions.light import CLOSELY, ROUGHLY, UNKNOWN, light
from dpsynth_core.evaluation.questions.question import Question
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Measurement

AGE = Attribute.integer("age", 0, 99, bins=100, other=False, missing=False)
DOMAIN = Domain((AGE, Attribute.categorical("sex", ["f", "m"])))
KNOWN = Known(DOMAIN, None, (), Total(1000.0, 0.0), {})


@pytest.mark.parametrize(
    ("question", "stated", "word"),
    [
        (Question("count"), Stated(200.0, 181.0, 219.0), CLOSELY),
        (Question("count"), Stated(200.0, 179.0, 221.0), ROUGHLY),
        (Question("count"), Stated(2.0, 0.0, 21.0), ROUGHLY),
        (Question("count"), Stated(500.0, 0.0, 1000.0), UNKNOWN),
        (Question("count"), Stated(200.0, None, None), UNKNOWN),
        (Question("count"), Stated(200.0, 181.0, 219.0, disagree=True), UNKNOWN),
        (Question("share", cells={"sex": (0,)}), Stated(0.30, 0.271, 0.329), CLOSELY),
        (Question("share", cells={"sex": (0,)}), Stated(0.70, 0.671, 0.729), CLOSELY),  # as closely as those without it
        (Question("share", cells={"sex": (0,)}), Stated(0.95, 0.92, 0.98), ROUGHLY),
        (Question("share", cells={"sex": (0,)}), Stated(0.30, 0.0, 1.0), UNKNOWN),
        (Question("mean", column="age"), Stated(40.0, 37.0, 43.0), CLOSELY),
        (Question("mean", {"age": tuple(range(30, 50))}, column="age"), Stated(40.0, 37.0, 43.0), ROUGHLY),
        (Question("median", column="age"), Stated(40.0, 40.0, 40.0), CLOSELY),
        (Question("median", column="age"), Stated(40.0, 40.0, 41.0), ROUGHLY),
        (Question("difference", {"sex": (0,)}, versus={"sex": (1,)}, column="age"), Stated(3.0, 2.8, 3.2), CLOSELY),
        (Question("difference", {"sex": (0,)}, versus={"sex": (1,)}, column="age"), Stated(0.0, -0.2, 0.2), ROUGHLY),
    ],
)
def test_an_answer_is_known_closely_within_a_tenth_of_the_way_to_what_says_nothing(question: Question, stated: Stated, word: str) -> None:
    assert light(KNOWN, question, stated) == word


def test_a_mean_of_wide_cells_is_not_known_closely_however_small_the_noise() -> None:
    wide = Known(Domain((Attribute.integer("age", 0, 99, bins=4, other=False, missing=False),)), None, (), Total(1000.0, 0.0), {})
    assert light(wide, Question("mean", column="age"), Stated(40.0, 39.9, 40.1)) == ROUGHLY


def test_the_intervals_of_answers_that_are_chosen_for_being_known_closely_hold_as_often() -> None:
    """Groups of every size around the one from which on an answer is close, so that luck decides about many.

    95 % are promised of each interval; of those that are chosen at least 93.5 %: the deviation of the count is 0.3 points.
    """
    seed, size, sigma = 20261125, 100, 10.0
    rng = np.random.default_rng(seed)
    held = chosen = 0
    for _ in range(100):
        true = np.exp(rng.uniform(np.log(20.0), np.log(1000.0), size))
        noisy = Measurement(("age",), true + rng.normal(0.0, sigma, size), sigma)
        known = replace(KNOWN, measurements=(noisy,), total=None, _estimates={})
        for code in range(size):
            question = Question("count", {"age": (code,)})
            stated = answer(known, question).stated
            assert stated.low is not None
            assert stated.high is not None
            if light(known, question, stated) == CLOSELY:
                chosen += 1
                held += stated.low <= true[code] <= stated.high
    assert chosen > 3000
    assert held / chosen >= 0.935, f"{held} of {chosen}, seed {seed}"
