"""Estimates are those that everybody computes, and influence functions are their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from dpsynth_core.extensions.intervals.estimates import prepared
from dpsynth_core.extensions.intervals.formulas import read
from tests.extensions.intervals.releases import DOMAIN, codes
from tests.refusals import refused

ROWS = codes(600)
AGE, SEX, SICK, VISITS = (24.5 + 10 * ROWS[:, 0], ROWS[:, 1] == 1, ROWS[:, 2].astype(float), ROWS[:, 3].astype(float))
SAID = SICK < 2
ANALYSES = (
    "mean(age)",
    "mean(visits | sick == 'yes')",
    "share(sick == 'yes' | age >= 40)",
    "difference(sick == 'yes', sex == 'm')",
    "difference(age, sick == 'yes')",
    "quantile(age, 0.7)",
    "median(visits)",
    "correlation(age, visits)",
    "correlation(age, visits | sex == 'f')",
    "odds_ratio(sick == 'yes', sex == 'm')",
    "visits ~ age + sex + sick",
    "sick == 'yes' ~ age + sex",
    "poisson(visits ~ age + sick)",
    "visits ~ age + age:sex",
)


def values(text: str, rows: Any = ROWS, weights: Any = None) -> Any:
    return prepared(DOMAIN, read(text)).estimate(rows, weights=weights).values


def test_statistics_are_those_of_numpy() -> None:
    assert values("mean(age)")[0] == pytest.approx(AGE.mean())
    assert values("mean(age | sex == m)")[0] == pytest.approx(AGE[SEX].mean())
    assert values("share(sick == yes)")[0] == pytest.approx(SICK[SAID].mean())
    assert values("difference(sick == yes, sex == m)")[0] == pytest.approx(SICK[SAID & SEX].mean() - SICK[SAID & ~SEX].mean())
    assert values("correlation(age, visits)")[0] == pytest.approx(np.corrcoef(AGE, VISITS)[0, 1])
    table = np.array([[((ROWS[:, 2] == i) & (ROWS[:, 1] == j)).sum() for j in (0, 1)] for i in (0, 1)])
    expected = np.log(table[1, 1] * table[0, 0] / table[0, 1] / table[1, 0])
    assert values("odds_ratio(sick == yes, sex == m)")[0] == pytest.approx(expected)


def test_a_quantile_is_that_of_numbers_spread_evenly_in_their_cells() -> None:
    """30 % of a cell of 10 years from 19.5 on, and so on: the quantile of a piecewise linear distribution function."""
    held = np.bincount(ROWS[:, 0], minlength=4).cumsum() / len(ROWS)
    assert values("quantile(age, 0.7)")[0] == pytest.approx(np.interp(0.7, [0, *held], [19.5, 29.5, 39.5, 49.5, 59.5]))


def test_regressions_have_the_coefficients_that_minimise_their_loss() -> None:
    x = np.column_stack([np.ones(SAID.sum()), AGE[SAID], SEX[SAID], SICK[SAID]])
    assert values("visits ~ age + sex + sick") == pytest.approx(np.linalg.lstsq(x, VISITS[SAID], rcond=None)[0])
    z = x[:, :3] / [1, 50, 1]
    losses = {
        "sick == yes ~ age + sex": lambda b: np.logaddexp(0, z @ b).sum() - SICK[SAID] @ (z @ b),
        "poisson(visits ~ age + sex)": lambda b: np.exp(z2 @ b).sum() - VISITS @ (z2 @ b),
    }
    z2 = np.column_stack([np.ones(len(ROWS)), AGE / 50, SEX])
    for text, loss in losses.items():
        best = optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-6}).x / [1, 50, 1]
        assert values(text) == pytest.approx(best, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("text", ANALYSES)
def test_an_influence_function_is_the_derivative_by_a_row_s_weight(text: str) -> None:
    """Against a difference quotient of step 1e-4, whose own error is about its size."""
    influence = prepared(DOMAIN, read(text)).estimate(ROWS, influence=True).influence
    assert influence.mean(axis=1) == pytest.approx(0, abs=1e-6 * np.abs(influence).max())
    for row in (0, 17, int(np.flatnonzero(~SAID)[0])):
        moved = []
        for step in (1e-4, -1e-4):
            weights = np.full(len(ROWS), 1 / len(ROWS))
            weights[row] += step
            moved.append(values(text, weights=weights / weights.sum()))
        slope = (moved[0] - moved[1]) / 2e-4
        assert influence[:, row] == pytest.approx(slope, rel=1e-2, abs=1e-3 * np.abs(influence).max()), row


def test_an_ordinary_variance_is_that_of_samples() -> None:
    """Over 300 tables, the variance of a mean has a standard deviation of sqrt(2 / 299) = 8 %; 4 of these are allowed."""
    rng, asked = np.random.default_rng(2), prepared(DOMAIN, read("difference(visits, sick == yes)"))
    drawn = [asked.estimate(ROWS[rng.integers(0, len(ROWS), len(ROWS))]).values[0] for _ in range(300)]
    assert np.var(drawn) == pytest.approx(asked.estimate(ROWS, influence=True).variances[0], rel=0.33)


def test_rows_that_hold_too_little_are_refused() -> None:
    only_men = ROWS[SEX]
    refused(values, "visits ~ age + sex", only_men, saying="sex: m is the same in all rows")
    refused(values, "mean(age | sex == f)", only_men, saying="no row of the release is in the group")
    refused(values, "correlation(age, visits)", ROWS[ROWS[:, 0] == 1], saying="the same value in all rows")
    refused(values, "odds_ratio(sick == yes, sex == m)", only_men, saying="has no rows")
