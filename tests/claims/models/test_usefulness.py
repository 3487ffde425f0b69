"""How often models are right: the interval is the one that its definition says, covers as stated, and says of each count what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.claims.models.measuring import Trained, share, state
from dpsynth_core.claims.models.stated import Share
from dpsynth_core.claims.models.targets import Target
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.attribute import Attribute

EXACT = Total(1000.0, 0.0)


def test_with_a_public_number_of_people_the_interval_is_the_normal_one() -> None:
    told = share(600.0, 20.0, EXACT)
    reach = 1.959964 * math.sqrt(400 + 1 / 12) / 1000
    assert told == Share(0.6, pytest.approx(0.6 - reach, abs=1e-8), pytest.approx(0.6 + reach, abs=1e-8))


@pytest.mark.parametrize(
    ("count", "sigma", "total"), [(600.0, 20.0, Total(1000, 30)), (15.0, 9.0, Total(60, 11)), (950.0, 40.0, Total(1000, 80))]
)
def test_the_interval_holds_every_share_that_the_counts_do_not_contradict(count: float, sigma: float, total: Total) -> None:
    """By trying all of them."""
    tried = np.linspace(0, 1, 100_001)
    near = np.abs(count - tried * total.value) <= 1.959964 * np.sqrt(sigma**2 + 1 / 12 + tried**2 * total.sigma**2)
    told = share(count, sigma, total)
    assert (told.low95, told.high95) == pytest.approx((tried[near].min(), tried[near].max()), abs=2e-5)


def test_a_number_of_people_that_is_all_noise_says_nothing() -> None:
    told = share(5.0, 3.0, Total(10.0, 40.0))
    assert (told.low95, told.high95) == (0.0, 1.0)


def test_a_model_is_better_where_the_difference_of_the_counts_is_more_than_noise() -> None:
    """Both counts have noise, and their intervals may overlap all the same. One that is no better is called so in 5 % of 4,000 draws, which
    are seeded; 0.0175 is five standard deviations."""
    trained = [Trained(Target(Attribute.coded("a", 2), None), {"one": "0", "two": "1"}, "x")]
    sigma = 20.0
    near, far = state(trained, np.array([640.0, 650.0, 600.0]), sigma, EXACT)
    assert (near.better, far.better) == (False, True)  # 1.41 and 1.77 deviations of the difference
    assert far.low95 < far.majority_high95
    noise = np.random.default_rng(4).normal(0, sigma, (4_000, 3))
    called = [state(trained, 600 + one, sigma, EXACT)[0].better for one in noise]
    assert np.mean(called) == pytest.approx(0.05, abs=0.0175)


@pytest.mark.parametrize("count", [-50.0, 2000.0])
def test_shares_stay_shares(count: float) -> None:
    told = share(count, 10.0, EXACT)
    assert 0 <= told.low95 <= told.value <= told.high95 <= 1


@pytest.mark.parametrize(
    ("right", "people", "sigma", "doubt"), [(70, 100, 6.0, 0.0), (700, 1000, 25.0, 30.0), (99, 100, 4.0, 8.0), (3, 60, 5.0, 12.0)]
)
def test_95_of_100_intervals_hold_the_truth(right: int, people: int, sigma: float, doubt: float) -> None:
    """Seeded: 4,000 intervals, whose coverage then has a standard deviation of 0.35 %. The noise is that of the kernel. Where the interval
    is cut at 0 or 1 it can only hold the truth more often."""
    noise, draws = SeededNoise(7), 4000
    counts = noise.gaussian(np.full(draws, right), sigma)
    totals = noise.gaussian(np.full(draws, people), doubt) if doubt else np.full(draws, people)
    told = [
        share(float(count), sigma, Total(max(1.0, float(total)), math.hypot(doubt, math.sqrt(1 / 12)) if doubt else 0.0))
        for count, total in zip(counts, totals, strict=True)
    ]
    covered = np.mean([one.low95 <= right / people <= one.high95 for one in told])
    assert 0.94 <= covered <= (0.96 if 5 * sigma < min(right, people - right) else 1.0)


def test_each_count_is_said_of_its_own_model() -> None:
    sex, age = Target(Attribute.categorical("sex", ["f", "m"]), None), Target(Attribute.integer("age", 0, 99), 5.0)
    trained = [Trained(sex, {"one": "a", "two": "b"}, "f"), Trained(age, {"three": "c", "four": "d"}, "44")]
    told = state(trained, np.array([900.0, 600, 500, 300, 200, 250]), 10.0, EXACT)
    assert [(one.column, one.model, one.model_sha256, one.accuracy, one.majority_guess, one.majority, one.better) for one in told] == [
        ("sex", "one", "a", 0.9, "f", 0.5, True),
        ("sex", "two", "b", 0.6, "f", 0.5, True),
        ("age", "three", "c", 0.3, "44", 0.25, True),
        ("age", "four", "d", 0.2, "44", 0.25, False),
    ]
