"""Shares of people in what is said of criteria are from 0 to 100 %, whatever noise measured."""

from __future__ import annotations

import random
import re

import pytest

from dpsynth_core.claims.criteria import deciding as criteria
from dpsynth_core.claims.criteria.conditions import Condition
from dpsynth_core.claims.criteria.criterion import MUST, Criterion, Decided
from dpsynth_core.claims.criteria.models import ModelGain, ModelRight
from dpsynth_core.claims.criteria.ranges import RangesWithin
from dpsynth_core.claims.criteria.statistics import Share
from dpsynth_core.claims.criteria.tables import SubgroupWithin, TablesWithin
from dpsynth_core.statistics.intervals import Interval

SHARES: list[Criterion] = [
    TablesWithin(MUST, "", (), 0.1),
    SubgroupWithin(MUST, "", Condition(), 0.2),
    RangesWithin(MUST, "", "age", 0.02),
    Share(MUST, "", (Condition(),), 0.02),
    ModelRight(MUST, "", "sex", "gradient boosting", None, 0.7),
    ModelGain(MUST, "", "sex", "gradient boosting", None, 0.02),
]


def percents(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([+-]?\d[\d.,]*)%", text)]


@pytest.mark.parametrize("one", SHARES, ids=lambda one: one.kind)
def test_no_share_is_said_that_cannot_be(one: Criterion) -> None:
    rng, least = random.Random(20261123), -100.0 if one.kind == "model-gain" else 0.0
    for _ in range(500):
        error = rng.uniform(-3, 3)
        interval = Interval(error, error - rng.uniform(0, 3), error + rng.uniform(0, 3))
        said = " ".join((criteria.found(Decided(one, interval)), one.uncertainty(rng.uniform(0, 3)), one.rule(rng.uniform(0, 3))))
        assert all(least <= number <= 100 for number in percents(said)), said


def test_a_group_that_is_smaller_than_its_noise_was_not_measured() -> None:
    small = Decided(SHARES[1], Interval(1.959, 0.0, 1.0))
    assert criteria.found(small) == "Too small a group to measure at this budget."
    assert "100.0%" in criteria.found(Decided(SHARES[1], Interval(1.959, 0.4, 1.0)))
