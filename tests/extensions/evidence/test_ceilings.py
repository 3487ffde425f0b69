"""Limits of attacks are those of the trade-off curve, at every base rate and for means over people."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from dpsynth_core.extensions.evidence.ceilings import BASE_RATES, ceilings
from dpsynth_core.extensions.evidence.sections import ceiling_lines
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy import attacker
from dpsynth_core.privacy.accountant import GDP, ZCDP, Accountant

DELTA = 1e-6


@pytest.mark.parametrize(
    ("epsilon", "percent"),
    [
        (0.5, (0.15, 1.4, 12.4, 54.9)),
        (1, (0.22, 1.8, 14.8, 59.4)),
        (2, (0.41, 3.0, 20.2, 67.3)),
        (5, (1.9, 9.6, 39.7, 84.6)),
        (10, (10.7, 31.6, 71.5, 96.8)),
    ],
)
def test_the_limits_of_four_budgets_are_the_known_ones(epsilon: float, percent: tuple[float, ...]) -> None:
    """Worked out beforehand by another program, of one Gaussian at delta 1e-6; printed to so many digits."""
    found = ceilings(GDP, GDP.rho_from(epsilon, DELTA))
    assert tuple(one.without for one in found) == BASE_RATES
    assert [100 * one.most for one in found] == pytest.approx(percent, abs=0.05, rel=0.025)


def test_a_test_of_one_gaussian_reaches_the_limit_and_none_exceeds_it() -> None:
    """A number with noise of sigma 1 that a person moves by mu: the threshold that 10 % of others exceed is the attack."""
    mu = 0.7
    (limit,) = ceilings(GDP, mu**2 / 2, rates=(0.1,))
    assert limit.most == pytest.approx(norm.sf(norm.isf(0.1) - mu), rel=1e-9)
    draws = np.random.default_rng(1).normal(size=200_000)
    for threshold in norm.isf([0.1, 0.1]), np.array([-1.0, 1.0]):
        without, present = ((draws + shift > threshold[0]).mean() for shift in (0.0, mu))
        (bound,) = ceilings(GDP, mu**2 / 2, rates=(float(without),))
        assert present <= bound.most + 4 * 0.5 / np.sqrt(len(draws))  # four standard errors of a share


@pytest.mark.parametrize("accountant", [GDP, ZCDP])
def test_limits_rise_with_base_rate_and_budget_and_hold_for_means_over_people(accountant: Accountant) -> None:
    rates = np.linspace(0.001, 0.999, 60)
    for epsilon in (0.1, 1.0, 8.0):
        rho = accountant.rho_from(epsilon, DELTA)
        most = np.array([one.most for one in ceilings(accountant, rho, rates=rates.tolist())])
        assert (np.diff(most) >= 0).all()
        assert (most >= rates).all()
        pairs = (most[:-2] + most[2:]) / 2  # people with two base rates: their mean is within the limit of the mean
        assert (pairs <= most[1:-1] + 1e-9).all()
        more = np.array([one.most for one in ceilings(accountant, 1.1 * rho, rates=rates.tolist())])
        assert (more >= most).all()


def test_no_limit_is_above_that_of_epsilon_and_delta_by_more_than_the_conversion() -> None:
    """Under GDP the curve of the run is below that of (epsilon, delta), which follows from it; corners are rounded."""
    rho = GDP.rho_from(1.0, DELTA)
    fpr, tpr = attacker.tradeoff(1.0, DELTA)
    for one in ceilings(GDP, rho, rates=(0.001, 0.01, 0.1, 0.3, 0.5)):
        assert one.most <= np.interp(one.without, fpr, tpr) + 1e-6


def test_a_step_with_a_delta_of_its_own_raises_every_limit() -> None:
    for plain, with_delta in zip(ceilings(ZCDP, 0.1), ceilings(ZCDP, 0.1, slack=0.001), strict=True):
        assert plain.most < with_delta.most <= plain.most + 0.003


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_a_base_rate_is_a_probability(rate: float) -> None:
    with pytest.raises(ValueError, match="base rate"):
        ceilings(GDP, 0.1, rates=(rate,))


def test_sentences_round_limits_up_and_name_the_neighbouring_relation() -> None:
    limits = ceilings(GDP, GDP.rho_from(1.0, DELTA))
    lines = ceiling_lines(limits, UnitSpec(), "people")
    assert lines[2] == "What works on 10 in 100 people if they do not take part works on at most 14.9 in 100 if they do."
    assert lines[0] == "What works on 1 in 1,000 people if they do not take part works on at most 2.2 in 1,000 if they do."
    for line, one in zip(lines, limits, strict=True):
        stated, scale = line.split(" at most ")[1].split(" in ")[0], 1000 if one.without < 0.01 else 100
        assert one.most <= float(stated) / scale + 1e-9
        assert float(stated) / scale - one.most <= 0.1 / scale + 1e-9
    replaced = ceiling_lines(limits, UnitSpec(relation="replace"), "people")
    assert "take part" not in "".join(replaced)
    assert "households" in ceiling_lines(limits, UnitSpec(), "households")[0]
