"""The forecast of AIM walks through its rounds as a run does, and follows people, budget and capacity."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsynth_core.mechanisms.graphical import aim_forecast
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.aim_forecast import Spending
from dpsynth_core.mechanisms.graphical.aim_strategies import COLUMNS_ALONE
from dpsynth_core.mechanisms.mechanism import Adaptive
from dpsynth_core.mechanisms.registry import forecast, get
from dpsynth_core.mechanisms.rounds import equal_shares, least_error_shares
from dpsynth_core.mechanisms.steps import Fitted
from dpsynth_core.planning.plan import Shares
from dpsynth_core.planning.plan import forecast as forecast_of_plan
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import DOMAIN, people, run

PAIRS = all_kway(DOMAIN, 2)
MIXED = all_kway(Domain.from_json({f"c{number:02d}": (2, 3, 5, 8, 12, 16)[number % 6] for number in range(12)}), 2)
AIM = Aim()
SPENDING = Spending(
    AIM,
    single=1 / 6,
    shares=equal_shares(MIXED.domain, {(name,): 1.0 for name in MIXED.domain.names}),
)


def test_single_columns_get_what_a_run_gives_them() -> None:
    number, rho = int(people().counts([()])[()]), 0.001
    done = run("aim", PAIRS, rho, strategies=replace(AIM.strategies, planned=0))
    first = next(event for event in done.events if isinstance(event, Fitted))
    weights = {clique: weight for clique, weight in PAIRS.aim_weights().items() if len(clique) == 1}
    noise = aim_forecast.noise_of_columns(DOMAIN, least_error_shares(DOMAIN, weights), rho, number)
    worth = noise / (noise + AIM.column_noise)
    assert worth > 1 / AIM.rounds_per_attribute  # more than the least, or nothing is tested
    assert first.rho_spent / rho == pytest.approx(AIM.measure_share * worth, rel=0.1)  # a run knows the people by noisy counts


@pytest.mark.parametrize("rho", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("number", [100, 10_000, 1_000_000])
def test_the_budget_is_spent_in_rounds_between_the_reserve_and_what_was_planned(rho: float, number: int) -> None:
    rounds = aim_forecast.walked(MIXED, rho, number, SPENDING)
    columns = len(MIXED.domain)
    assert AIM.reserve_rounds <= len(rounds) <= columns / SPENDING.single
    assert rounds[-1].spent == pytest.approx(1.0)
    assert [one.spent for one in rounds] == sorted(one.spent for one in rounds)
    assert all(one.cells <= SPENDING.capacity for one in rounds)
    assert all(0 < one.tables <= len(MIXED.aim_weights()) for one in rounds)


def test_more_people_make_more_rounds_and_larger_models() -> None:
    few, many = (aim_forecast.walked(MIXED, 0.01, number, SPENDING) for number in (300, 3_000_000))
    assert len(few) < len(many)
    assert few[-1].cells < many[-1].cells


def test_nothing_but_columns_has_no_rounds() -> None:
    assert aim_forecast.walked(MIXED, 0.01, 300, replace(SPENDING, single=COLUMNS_ALONE)) == []
    assert aim_forecast.walked(all_kway(DOMAIN, 1), 0.01, 300, SPENDING) == []
    assert AIM.forecast_for(all_kway(DOMAIN, 1), 0.01, 300).fits


def test_rare_values_are_told_apart_where_there_are_many_people() -> None:
    domain = Domain.from_json({"a": 2, "b": 80})
    spending = replace(SPENDING, shares={("a",): 0.1, ("b",): 0.9})
    sizes = [aim_forecast.told_apart(domain, spending, 0.01, number) for number in (1_000, 50_000, 10**9)]
    assert sizes[0][1] < sizes[1][1] < sizes[2][1] == 80
    assert all(size[0] == 2 for size in sizes)
    assert aim_forecast.told_apart(domain, replace(spending, aim=replace(AIM, merge_below=0.0)), 0.01, 10) == [2, 80]


def test_a_forecast_is_the_same_each_time_and_follows_the_people() -> None:
    assert isinstance(AIM, Adaptive)
    few, many = (forecast(AIM, MIXED, 0.01, number) for number in (300, 3_000_000))
    assert forecast(AIM, MIXED, 0.01, 300) == few
    assert few.seconds < many.seconds
    assert few.memory_mb < many.memory_mb
    assert forecast(AIM, MIXED, 0.01) == forecast(AIM, MIXED, 0.01, aim_forecast.PEOPLE_ASSUMED)
    assert forecast(get("mst"), MIXED, 0.01, 300) == forecast(get("mst"), MIXED, 0.01)


def test_who_changes_more_counts_makes_noise_larger_beside_the_people() -> None:
    shares = Shares(0.01, 0.01, 0.0, GDP)
    alone, several = (forecast_of_plan(AIM, MIXED, Unit("add-remove", rows), shares, 4_000) for rows in (1, 4))
    assert several == forecast(AIM, MIXED, 0.01, 1_000) != alone


def test_a_smaller_model_takes_less() -> None:
    large, small = (replace(AIM, max_size_mb=size).forecast_for(MIXED, 1.0, 1_000_000) for size in (256.0, 1.0))
    assert small.seconds < large.seconds
    assert small.memory_mb < large.memory_mb


@pytest.mark.parametrize(("columns", "rho", "seconds", "megabytes"), [(300, 0.0166, 187, 2058), (600, 0.0166, 316, 2339)])
def test_a_wide_run_takes_between_half_and_twice_its_forecast(columns: int, rho: float, seconds: float, megabytes: float) -> None:
    """One run each, of 20,000 people in 12 hidden classes; docs/accuracy.md, "Time and memory of a run"."""
    wide = all_kway(Domain.from_json({f"c{number}": 2 + number % 7 for number in range(columns)}), 2)
    needed = AIM.forecast_for(wide, rho, 20_000)
    assert 0.5 * needed.seconds <= seconds <= 2 * needed.seconds
    assert 0.5 * needed.memory_mb <= megabytes <= 2 * needed.memory_mb


def test_refining_the_rows_of_a_wide_table_takes_longer_for_more_people_up_to_a_limit() -> None:
    wide = all_kway(Domain.from_json({f"c{number:03d}": 3 for number in range(60)}), 2)
    few, many, more = (AIM.forecast_for(wide, 0.01, number).seconds for number in (1_000, 20_000, 10**9))
    assert few < many < more == AIM.forecast_for(wide, 0.01, 10**10).seconds
