"""The meter: exact sums, a hard limit, and enough headroom for honest float arithmetic."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.privacy.events import Event, Gaussian, Selection
from dpsynth_core.privacy.meter import Meter
from tests.additions import added
from tests.refusals import refused

rhos = st.floats(-15, 3).map(lambda x: 10.0**x)
events = st.one_of(
    st.builds(Gaussian, st.floats(0.1, 1e6), st.sampled_from([1.0, math.sqrt(2), 3.0])),
    st.builds(Selection, st.floats(1e-4, 10)),
    *(module.drawn() for module in added("privacy.event_builds")),
)
OTHERS = [build for module in added("privacy.event_builds") for build in module.OF_ONE_NUMBER]


@given(rhos, st.lists(events, max_size=40))
def test_what_was_charged_never_exceeds_the_sealed_budget(rho: float, attempts: list[Event]) -> None:
    meter = Meter(rho)
    for event in attempts:
        spent, charged = meter.rho_spent, meter.events
        try:
            meter.charge(event)
        except BudgetExceeded:
            assert (meter.rho_spent, meter.events) == (spent, charged)
        else:
            assert meter.events == (*charged, event)
    assert sum((event.cost for event in meter.events), Fraction(0)) <= Fraction(rho)


@given(rhos, st.integers(1, 400), st.sampled_from([1.0, math.sqrt(2), 2.0]))
def test_equal_shares_computed_in_floats_can_all_be_spent(rho: float, shares: int, l2: float) -> None:
    meter = Meter(rho)
    sigma = l2 * math.sqrt(shares / (2 * meter.rho_total))
    for _ in range(shares):
        meter.charge(Gaussian(sigma, l2))
    assert meter.rho_left <= meter.rho_total * 1e-12  # nothing but rounding is left over


@given(rhos, st.lists(st.floats(0.01, 0.5), min_size=1, max_size=60))
def test_everything_that_is_left_can_be_spent_at_once(rho: float, fractions: list[float]) -> None:
    meter = Meter(rho)
    for fraction in fractions:
        meter.charge(Gaussian(math.sqrt(1 / (2 * fraction * meter.rho_left)), 1.0))
    meter.charge(Selection(math.sqrt(8 * 0.3 * meter.rho_left)))
    meter.charge(Gaussian(math.sqrt(1 / (2 * meter.rho_left)), 1.0))


@given(rhos)
def test_the_advertised_budget_is_the_sealed_one_but_for_a_billionth(rho: float) -> None:
    assert rho * (1 - 1e-9) <= Meter(rho).rho_total < rho


@given(rhos, st.floats(0.01, 0.99), st.lists(events, max_size=20))
def test_a_part_keeps_to_its_share_and_reports_to_the_whole(rho: float, share: float, attempts: list[Event]) -> None:
    whole = Meter(rho)
    part = whole.part(share * rho)
    for event in attempts:
        with suppress(BudgetExceeded):
            part.charge(event)
    assert whole.events == part.events
    assert sum((event.cost for event in part.events), Fraction(0)) <= Fraction(share * rho)
    rest = whole.part((1 - share) * rho)
    rest.charge(Gaussian(math.sqrt(1 / (2 * rest.rho_left)), 1.0))  # what the first part was not given can always be spent
    assert whole.rho_spent <= rho


def test_one_part_in_a_million_over_budget_is_refused() -> None:
    refused(Meter(0.5).charge, Gaussian(1 - 1e-6, 1.0), kind=BudgetExceeded, saying="left")


def test_a_sum_of_many_tiny_costs_is_exact() -> None:
    meter = Meter(1.0)
    meter.charge(Selection(2.0))
    for _ in range(1000):
        meter.charge(Selection(1e-9))  # 1.25e-19 each: below the resolution of a float near 0.5
    assert meter.rho_spent > 0.5


@pytest.mark.parametrize("rho", [0.0, -1.0, math.nan, math.inf])
def test_a_budget_that_is_not_a_positive_number_is_refused(rho: float) -> None:
    refused(Meter, rho, kind=ValueError, saying="rho")


@pytest.mark.parametrize("build", [Selection, lambda x: Gaussian(x, 1.0), lambda x: Gaussian(1.0, x), *OTHERS])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_events_of_impossible_noise_do_not_exist(build: type[Selection], value: float) -> None:
    refused(build, value, kind=ValueError, saying="positive")
