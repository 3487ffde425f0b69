"""Results of several sets are combined by Rubin's rule, with noise alone for the table itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t as student

from dpsynth_core.extensions.intervals.pooling import pool
from tests.refusals import refused


def test_the_rule_on_numbers_worked_out_by_hand() -> None:
    """B = 0.04, W = 0.04, T = 0.04 + 4/3 * 0.04 = 0.0933, degrees 2 (1 + 0.04 / 0.0533)^2 = 2 * 1.75^2 = 6.125."""
    found = pool([1.0, 1.2, 0.8], [0.03, 0.04, 0.05])
    assert found.value[0] == pytest.approx(1.0)
    assert found.variance[0] == pytest.approx(0.04 + 4 / 3 * 0.04)
    assert found.degrees[0] == pytest.approx(6.125)
    assert found.high[0] - 1.0 == pytest.approx(student.ppf(0.975, 6.125) * math.sqrt(0.28 / 3))
    assert found.noise[0] == pytest.approx(math.sqrt(4 / 3 * 0.04))


def test_of_the_table_the_noise_alone_counts_with_one_degree_less_than_sets() -> None:
    found = pool([1.0, 1.2, 0.8], [0.04, 0.04, 0.04], of="table")
    assert found.variance[0] == pytest.approx(4 / 3 * 0.04)
    assert found.degrees[0] == pytest.approx(2)


def test_intervals_lie_around_the_released_result_where_it_is_given() -> None:
    found = pool([[1.0, 5.0], [1.2, 5.5]], [[0.1, 0.2], [0.1, 0.2]], released=[2.0, 6.0])
    assert (found.low + found.high) / 2 == pytest.approx([2.0, 6.0])


def test_intervals_of_estimates_hold_as_often_as_they_say() -> None:
    """2,000 draws of a normal estimate and of 12 sets around it, with a fixed seed.

    With the factor (1 + 1/m) at m = 12, 95 to 96.1 % are expected; 3 binomial deviations of 95 % are 1.5 points."""
    rng = np.random.default_rng(4)
    sampling, noise = 0.7, 0.4
    held = {"population": 0, "table": 0}
    for _ in range(2000):
        table = rng.normal(0, sampling)
        released = table + rng.normal(0, noise)
        sets = released + rng.normal(0, noise, 12)
        for of, true in (("population", 0.0), ("table", table)):
            found = pool(sets, np.full(12, sampling**2), of, released=released)
            held[of] += bool(found.low[0] <= true <= found.high[0])
    assert all(0.935 < one / 2000 < 0.976 for one in held.values()), held


@pytest.mark.parametrize(
    ("values", "variances", "more", "saying"),
    [
        ([1.0], [1.0], {}, "fewer than two sets"),
        ([1.0, 2.0], [1.0, 1.0, 1.0], {}, "their shape"),
        ([1.0, math.nan], [1.0, 1.0], {}, "not a finite number"),
        ([1.0, 2.0], [1.0, -1.0], {}, "negative"),
        ([1.0, 2.0], [1.0, 1.0], {"released": [1.0, 2.0]}, "its shape"),
        ([1.0, 2.0], [1.0, 1.0], {"of": "sample"}, "has no intervals"),
    ],
)
def test_what_cannot_be_combined_is_refused(values: list[float], variances: list[float], more: dict[str, object], saying: str) -> None:
    refused(pool, values, variances, saying=saying, **more)
