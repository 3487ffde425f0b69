"""How far those whom a coin leaves are from everybody: compared with all coins of few people, and with simulated coins of many."""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpsynth_core.evaluation.bounds import bounds, of_everybody
from dpsynth_core.statistics.coins import Coins
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Measurement

Counts = NDArray[np.int64]


def distances(owned: Counts, left: NDArray[np.bool_]) -> tuple[NDArray[np.float64], Counts]:
    """For each outcome of the coins, the total variation distance of those who are left from everybody, and how many records they have."""
    theirs = left.astype(np.int64) @ owned
    number = theirs.sum(axis=1)
    everybody = owned.sum(axis=0) / owned.sum()
    return np.abs(theirs / np.maximum(number, 1)[:, None] - everybody).sum(axis=1) / 2, number


TABLES = {
    "one cell": np.ones((11, 1), dtype=np.int64),
    "all apart": np.eye(11, dtype=np.int64),
    "halves": np.array([[1, 0]] * 6 + [[0, 1]] * 5),
    "one rare": np.array([[1, 0]] * 10 + [[0, 1]]),
    "three each in one cell": np.array([[3, 0]] * 5 + [[0, 3]] * 6),
    "up to three": np.array([[3, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [0, 3, 0], [0, 0, 2], [2, 1, 0], [1, 0, 0], [0, 1, 2], [0, 0, 3]]),
}


@pytest.mark.parametrize("left_out", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("name", TABLES)
def test_it_holds_over_all_coins_of_a_few_people(name: str, left_out: float) -> None:
    """The probability of all outcomes in which the bound fails is summed up, exactly."""
    owned = TABLES[name]
    left = np.array(list(product([False, True], repeat=len(owned))))
    chances = np.prod(np.where(left, 1 - left_out, left_out), axis=1)
    found, number = distances(owned, left)
    coins = Coins(left_out, int(owned.sum(axis=1).max()))
    for failure in (0.01, 0.1, 0.4):
        most = {n: coins.off(owned.shape[1], Total(float(n), 0.0), failure) for n in np.unique(number).tolist()}
        fails = found > np.array([most[n] for n in number.tolist()]) + 1e-12
        assert chances[fails].sum() <= failure


@pytest.mark.parametrize(("people", "cells", "each"), [(2_000, 2, 1), (2_000, 60, 1), (500, 400, 3), (20_000, 12, 2)])
def test_it_holds_for_many_people_and_is_not_many_times_too_wide(people: int, cells: int, each: int) -> None:
    """With 20 % of failure allowed, 400 coins would fail in more than 131 with a probability of 1e-9 at most."""
    rng = np.random.default_rng((people, cells, each))
    owned = np.zeros((people, cells), dtype=np.int64)
    weights = 1 / np.arange(1, cells + 1)
    for _ in range(each):
        np.add.at(owned, (np.arange(people), rng.choice(cells, people, p=weights / weights.sum())), 1)
    coins = Coins(0.1, each)
    found, number = distances(owned, rng.random((400, people)) >= 0.1)
    most = np.array([coins.off(cells, Total(float(n), 0.0), 0.2) for n in number.tolist()])
    assert binom.sf(131, 400, 0.2) < 1e-9
    assert (found > most).sum() <= 131
    assert most.mean() < 8 * np.quantile(found, 0.8)


def test_it_says_nothing_of_nobody_and_shrinks_with_people_and_with_the_share_left_out() -> None:
    assert Coins(0.05, 1).off(10, Total(3.0, 5.0), 0.05) == 1.0
    few, many = (Coins(0.05, 1).off(10, Total(number, 10.0), 0.05) for number in (1_000.0, 100_000.0))
    assert 0 < 5 * many < few < 1
    assert Coins(0.01, 1).off(10, Total(1_000.0, 10.0), 0.05) < few < Coins(0.05, 3).off(10, Total(1_000.0, 10.0), 0.05)


DOMAIN = Domain((Attribute.categorical("a", ["0", "1", "2", "3"]), Attribute.categorical("b", ["0", "1", "2"])))


def test_bounds_with_coins_hold_for_everybody() -> None:
    """300 runs of coins and noise. With 95 % a run fails in more than 42 of 300 with a probability of 1e-9 at most."""
    rng, runs = np.random.default_rng(4), 300
    records = rng.choice(12, 3_000, p=np.arange(1, 13) / 78)
    truth = np.bincount(records, minlength=12).reshape(4, 3)
    failed, coins = 0, Coins(0.3, 1)
    for _ in range(runs):
        left = np.bincount(records[rng.random(3_000) >= 0.3], minlength=12).reshape(4, 3)
        noisy = Measurement(("a", "b"), left + np.rint(rng.normal(0, 4, left.shape)), 4.0)
        answer = np.maximum(noisy.values, 0) / np.maximum(noisy.values, 0).sum()
        total = Total(float(noisy.values.sum()), 4 * math.sqrt(12))
        tables = {("a", "b"): answer}
        (stated,) = of_everybody(partial(bounds, DOMAIN, tables, total, [noisy]), tables, total, coins).values()
        (alone,) = of_everybody(partial(bounds, DOMAIN, tables, total, [noisy]), tables, total, None).values()
        error = float(np.abs(answer - truth / truth.sum()).sum()) / 2
        assert alone.tight < stated.tight <= stated.paper <= 1
        failed += error > stated.tight
    assert binom.sf(42, runs, 0.05) < 1e-9
    assert failed <= 42
