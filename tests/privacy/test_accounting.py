"""Privacy arithmetic against published values, against OpenDP and dp_accounting, and against its own guarantees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting import ZCDpEvent
from dp_accounting.gaussian_mechanism import get_epsilon_gaussian
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.privacy.budget import check_budget, check_delta
from dpsynth_core.privacy.conversions import delta_from, epsilon_from, gdp_delta, gdp_epsilon_from, gdp_mu_from, rho_from
from tests.refusals import refused
from tests.tiers import examples

dp.enable_features("contrib")

rhos = st.floats(-12, 3).map(lambda x: 10.0**x)
deltas = st.floats(-300, -3).map(lambda x: 10.0**x)
epsilons = st.floats(-6, 3).map(lambda x: 10.0**x)
RHO_GRID = (1e-12, 1e-6, 1e-3, 0.0149, 1.0, 100.0, 1e3)
DELTA_GRID = (1e-3, 1e-9, 1e-50, 1e-300)


def opendp_curve(rho: float) -> Any:
    """OpenDP's own (epsilon, delta) curve of a Gaussian that costs rho."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=math.sqrt(1 / (2 * rho)))).map(1.0)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho"), [(1, 1e-9, 0.014973), (10, 1e-9, 1.090786), (1, 1e-5, 0.030557), (0.1, 1e-9, 0.000177)]
)
def test_rho_of_a_budget_matches_the_published_values(epsilon: float, delta: float, rho: float) -> None:
    assert rho_from(epsilon, delta) == pytest.approx(rho, abs=5e-7)  # they are printed to six decimals


@pytest.mark.parametrize(("epsilon", "delta", "gain"), [(1, 1e-9, 1.0516), (1, 1e-5, 1.0843)])
def test_gaussian_dp_needs_less_noise_by_the_published_factor(epsilon: float, delta: float, gain: float) -> None:
    assert gdp_mu_from(epsilon, delta) / math.sqrt(2 * rho_from(epsilon, delta)) == pytest.approx(gain, abs=5e-5)  # four decimals


@pytest.mark.parametrize("rho", RHO_GRID)
@pytest.mark.parametrize("delta", DELTA_GRID)
def test_epsilon_of_rho_agrees_with_opendp_and_is_not_below_it(rho: float, delta: float) -> None:
    theirs, ours = opendp_curve(rho).epsilon(delta), epsilon_from(rho, delta)
    # both search numerically; we round up, they may stop a little early: relative 1e-12 below is rounding, 1e-9 above is slack
    assert theirs * (1 - 1e-12) <= ours <= theirs * (1 + 1e-9)


@pytest.mark.parametrize("rho", RHO_GRID)
@pytest.mark.parametrize("delta", DELTA_GRID)
def test_delta_of_rho_agrees_with_opendp_and_is_not_below_it(rho: float, delta: float) -> None:
    epsilon = epsilon_from(rho, delta)
    theirs, ours = opendp_curve(rho).delta(epsilon), delta_from(rho, epsilon)
    # ln(delta) reaches -690, where one rounding error of a term is 1e-13: 1e-9 leaves room for the sum of a few
    assert theirs * (1 - 1e-12) <= ours <= theirs * (1 + 1e-9)


@pytest.mark.parametrize(("rho", "delta"), [(0.001, 1e-9), (0.0149, 1e-9), (0.5, 1e-5), (5.0, 1e-6)])
def test_epsilon_of_rho_agrees_with_dp_accounting(rho: float, delta: float) -> None:
    orders = 1 + np.geomspace(1e-2, 1e5, 20_000)  # a grid so fine that its minimum is the minimum to 1e-6
    theirs = RdpAccountant(orders).compose(ZCDpEvent(rho)).get_epsilon(delta)
    assert epsilon_from(rho, delta) == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("mu", [1e-3, 0.03, 0.5, 1.0, 3.0, 10.0, 40.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-50, 1e-300])
def test_gaussian_dp_agrees_with_dp_accounting(mu: float, delta: float) -> None:
    ours = gdp_epsilon_from(mu, delta)
    # dp_accounting bisects epsilon to an absolute 1e-12 or so; 1e-9 relative plus 1e-11 absolute covers both
    assert ours == pytest.approx(get_epsilon_gaussian(1 / mu, delta), rel=1e-9, abs=1e-11)


@given(epsilons, deltas)
@examples(400)
def test_a_solved_budget_never_exceeds_what_was_asked(epsilon: float, delta: float) -> None:
    rho, mu = rho_from(epsilon, delta), gdp_mu_from(epsilon, delta)
    assert delta_from(rho, epsilon) <= delta
    assert gdp_delta(mu, epsilon) <= delta


@given(rhos, deltas)
@examples(400)
def test_a_solved_epsilon_covers_its_delta(rho: float, delta: float) -> None:
    assert delta_from(rho, epsilon_from(rho, delta)) <= delta
    assert gdp_delta(math.sqrt(2 * rho), gdp_epsilon_from(math.sqrt(2 * rho), delta)) <= delta


@given(epsilons, deltas)
def test_rho_and_epsilon_are_inverse_to_each_other(epsilon: float, delta: float) -> None:
    # above is impossible but for the width of two bisections; below, nothing is wasted
    assert epsilon_from(rho_from(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-9)


@given(rhos, epsilons)
def test_delta_is_a_probability_falling_in_epsilon_and_rising_in_rho(rho: float, epsilon: float) -> None:
    here = delta_from(rho, epsilon)
    assert 0 < here <= 1
    # plateaus at 1 and at the smallest float are equal; elsewhere 1 % is far above rounding
    assert delta_from(rho, epsilon * 1.01) <= here <= delta_from(rho * 1.01, epsilon)


@given(rhos, epsilons)
def test_gaussian_dp_is_never_worse_than_its_zcdp_reading(rho: float, epsilon: float) -> None:
    assert gdp_delta(math.sqrt(2 * rho), epsilon) <= delta_from(rho, epsilon) * (1 + 1e-9)


def test_an_ordinary_budget_has_no_warnings() -> None:
    assert check_budget(1, 1e-9, public_n=48_842) == []


def test_delta_of_one_in_the_number_of_people_is_warned_about() -> None:
    assert check_budget(1, 1e-4) == []
    assert check_budget(1, 0.99 / 48_842, public_n=48_842) == []
    assert "random person's record" in check_budget(1, 1 / 48_842, public_n=48_842)[0]


def test_delta_of_one_in_a_declared_number_of_people_is_refused() -> None:
    check_delta(0.99 / 48_842, 48_842)
    caught = refused(check_delta, 1 / 48_842, 48_842, saying="random person's record")
    assert caught.field == "budget.delta"


def test_large_epsilon_is_warned_about() -> None:
    assert "weak promise" in check_budget(20.0, 1e-9)[0]


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "one", "1", None, True, 1e-9, 1e4])
def test_unusable_epsilon_is_refused_by_name(epsilon: object) -> None:
    refused(check_budget, epsilon, 1e-9, saying=r"budget\.epsilon")


@pytest.mark.parametrize("delta", [0, -1e-9, 1e-3, 0.5, 1, math.nan, "1e-9", None, 1e-310])
def test_unusable_delta_is_refused_by_name(delta: object) -> None:
    refused(check_budget, 1, delta, saying=r"budget\.delta")


@pytest.mark.parametrize(
    ("function", "arguments"), [(rho_from, (0, 1e-9)), (epsilon_from, (-1, 1e-9)), (delta_from, (1, math.nan)), (rho_from, (1, 1))]
)
def test_numbers_outside_the_formulas_are_refused(function: Any, arguments: tuple[float, float]) -> None:
    refused(function, *arguments, kind=ValueError, saying="must be")
