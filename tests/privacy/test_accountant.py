"""Two accountants of the same events: closed forms, the two coins behind selections, conversions on the safe side, what adds up in what."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.privacy import conversions, lattice
from dpsynth_core.privacy.accountant import GDP, RUNS, ZCDP, Accountant, common, in_force, named
from dpsynth_core.privacy.events import Event, Gaussian, Residual, Selection
from dpsynth_core.privacy.meter import Meter
from tests.additions import added
from tests.refusals import refused

BUDGETS = pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-9), (1.0, 1e-6), (10.0, 1e-9), (10.0, 1e-12), (20.0, 1e-9)])
HALF_PI = math.pi / 2


@pytest.mark.parametrize(
    ("event", "zcdp", "factor"),
    [
        (Gaussian(3.0, 2.0), 4 / 18, 1),
        (Residual(3.0, 0.5), 0.25 / 18, 1),
        (Selection(0.3), 0.09 / 8, HALF_PI),
        (Selection(0.3, 7), 7 * 0.09 / 8, HALF_PI),
        *(cost for module in added("privacy.event_costs") for cost in module.COSTS),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_an_operation_costs(event: Event, zcdp: float, factor: float) -> None:
    assert float(ZCDP.cost(event)) == pytest.approx(zcdp, rel=1e-12)
    assert float(GDP.cost(event)) == pytest.approx(zcdp * factor, rel=1e-7)
    assert float(GDP.cost(event)) >= zcdp * factor * (1 - 1e-15)


@pytest.mark.parametrize("r", [1e-3, 0.05, 0.2, 1.0, 3.0, 8.0])
def test_no_two_coins_of_a_range_need_more_mu_than_a_selection_is_charged_for(r: float) -> None:
    """p/q = e^t and (1-p)/(1-q) = e^(t-r), on a fine grid of t; the worst are the symmetric ones, and small ranges come close."""
    t = r * np.linspace(1e-6, 1 - 1e-6, 20_001)
    q = -np.expm1(t - r) / (np.exp(t) * -np.expm1(-r))
    mu = ndtri(np.exp(t) * q) - ndtri(q)
    charged = math.sqrt(2 * float(GDP.cost(Selection(r))))
    assert mu.max() <= charged * (1 + 1e-9)  # q is computed with a relative error of 1e-13 or so, and mu is a difference
    assert abs(t[mu.argmax()] - r / 2) <= 1e-3 * r
    assert r > 0.3 or mu.max() >= 0.999 * charged


@BUDGETS
def test_the_budget_of_gdp_is_larger_and_still_implies_epsilon_and_delta(epsilon: float, delta: float) -> None:
    rho = GDP.rho_from(epsilon, delta)
    assert GDP.covers(epsilon, delta)
    assert 1.03 < rho / ZCDP.rho_from(epsilon, delta) < 1.25
    real = conversions.gdp_delta(math.sqrt(2 * rho), epsilon) + (1 + math.exp(epsilon)) * RUNS * lattice.DISTANCE
    assert real <= delta
    assert GDP.epsilon_from(rho, delta) == pytest.approx(epsilon, rel=1e-9)


def test_how_much_is_gained() -> None:
    assert GDP.rho_from(1.0, 1e-9) == pytest.approx(0.016557, abs=5e-6)
    assert GDP.rho_from(1.0, 1e-9) / ZCDP.rho_from(1.0, 1e-9) == pytest.approx(1.1057, abs=5e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(30.0, 1e-9), (1000.0, 1e-3), (1.0, 1e-20), (1e-6, 1e-300)])
def test_where_whole_numbers_are_too_coarse_zcdp_is_in_force(epsilon: float, delta: float) -> None:
    assert not GDP.covers(epsilon, delta)
    assert in_force(GDP, epsilon, delta) is ZCDP
    assert GDP.rho_from(epsilon, delta) == ZCDP.rho_from(epsilon, delta)
    rho = ZCDP.rho_from(epsilon, delta)
    assert GDP.epsilon_from(rho, delta) <= ZCDP.epsilon_from(rho, delta)


@given(st.floats(-4, 1.3).map(lambda x: 10.0**x), st.floats(-14, -3).map(lambda x: 10.0**x))
def test_the_accountant_in_force_never_allows_less_than_zcdp(epsilon: float, delta: float) -> None:
    accountant = in_force(GDP, epsilon, delta)
    assert accountant.rho_from(epsilon, delta) >= ZCDP.rho_from(epsilon, delta)


def test_a_meter_charges_as_its_accountant_does_and_refuses_the_rest() -> None:
    meter = Meter(1.0, accountant=GDP)
    eps = math.sqrt(0.5 * meter.rho_total / meter.selection_price)
    meter.part(0.6).charge(Selection(eps))
    refused(meter.charge, Selection(eps * 1.001), kind=BudgetExceeded)
    meter.charge(Gaussian(math.sqrt(1 / (2 * meter.rho_left)), 1.0))
    assert sum(map(GDP.cost, meter.events), Fraction(0)) <= 1
    assert meter.rho_spent == pytest.approx(1.0, rel=2e-9)


def test_runs_add_up_in_gdp_only_if_all_of_them_are() -> None:
    assert common([]) is GDP
    assert common([GDP, GDP]) is GDP
    assert common([GDP, ZCDP]) is ZCDP
    assert common([GDP] * (RUNS + 1)) is ZCDP


def test_accountants_are_found_by_name() -> None:
    assert (named("zCDP"), named("GDP")) == (ZCDP, GDP)
    refused(named, "PLD", saying="unknown")


@pytest.mark.parametrize("accountant", [ZCDP, GDP], ids=repr)
def test_copies_of_an_accountant_are_the_accountant(accountant: Accountant) -> None:
    copies = (pickle.loads(pickle.dumps(accountant)), copy.copy(accountant), copy.deepcopy(accountant))
    assert all(one is accountant for one in copies)
    assert all(common([one]) is accountant for one in copies)
