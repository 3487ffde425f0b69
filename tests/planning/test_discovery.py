"""The plan of a release that learns values: its shares, its price in words, and what does not go with it."""

from __future__ import annotations

from typing import Any

import pytest

from dpsynth_core.interface.shown import plan_text
from dpsynth_core.planning.discovery import of_column, sentences
from dpsynth_core.planning.expected_verdict import Facts, Light, expected
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.accountant import GDP
from tests.additions import added
from tests.refusals import refused
from tests.specs import usual

COLUMNS: list[dict[str, Any]] = [
    {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
    {"name": "city", "kind": "categorical", "discover": True, "most": 9},
    {"name": "age", "kind": "integer", "discover": True, "most": 9},
]


def spec(columns: list[dict[str, Any]] = COLUMNS, **more: Any) -> Spec:
    whole = usual(
        {"kind": "csv", "path": "people.csv"}, {"version": 1, "attributes": columns}, population="trial",
        budget={"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05},
    )
    return Spec.from_json(whole | more)


def test_shares_add_up_and_the_thresholds_delta_is_part_of_delta() -> None:
    shares = Plan.of(spec()).shares
    assert shares.mechanism + shares.of("certificate") + shares.of("discovery") == pytest.approx(shares.rho)
    assert shares.of("discovery") == pytest.approx(0.1 * shares.rho)
    assert shares.delta == pytest.approx(1e-10)
    alone = Plan.of(spec(mechanism={"name": "aim"})).shares
    assert alone.rho == GDP.rho_from(1.0, 1e-9 - shares.delta)


def test_numbers_need_no_delta() -> None:
    assert Plan.of(spec([COLUMNS[0], COLUMNS[2]])).shares.delta == 0


def test_where_all_is_declared_nothing_changes() -> None:
    declared = [COLUMNS[0], {"name": "eye", "kind": "categorical", "categories": ["a", "b"]}]
    plan, other = Plan.of(spec(declared)), spec(declared, budget={"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05, "discovery": 0.3})
    assert plan.shares.of("discovery") == plan.shares.delta == 0
    assert Plan.of(other).shares.of("discovery") == 0
    assert not list(sentences(plan))


def test_the_share_is_sealed_with_the_plan() -> None:
    other = spec(budget={"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05, "discovery": 0.2})
    assert spec().published()["budget"]["discovery"] == 0.1
    assert spec().digest() != other.digest()
    assert Plan.of(other).shares.of("discovery") == pytest.approx(0.2 * Plan.of(other).shares.rho)


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.8, 1.0])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    error = refused(Plan.of, spec(budget={"epsilon": 1.0, "delta": 1e-9, "discovery": share}), saying="out of range")
    assert error.field == "budget.discovery"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        *(case for module in added("planning.discovery_cases") for case in module.REFUSED),
        ({"public": {"path": "public.csv"}}, "public table"),
        ({"data": {"kind": "standin", "standin": {}}}, "stand-in"),
    ],
)
def test_what_does_not_go_with_learning_is_refused(more: dict[str, Any], says: str) -> None:
    refused(Plan.of, spec(**more), saying=says)


def test_the_price_is_said_in_numbers_of_the_plan() -> None:
    plan = Plan.of(spec())
    text = " ".join(sentences(plan))
    city = plan.portions[0]
    for number in (city.least(1), city.shared_by(1)):
        assert f"{number:,} " in text.replace(";", " ")
    assert "“city”" in text
    assert "“age”" in text
    assert "“sex”" not in text
    assert of_column(plan, "sex") == ""
    assert f"{city.least(1):,}" in of_column(plan, "city")
    assert "bounds" in of_column(plan, "age")


def test_capacity_is_judged_with_the_most_cells_that_a_column_may_have() -> None:
    assert Plan.of(spec()).workload.cells == 2 * 9 + 2 * 9 + 9 * 9


def test_no_light_is_green_for_values_that_nobody_knows_yet() -> None:
    """Two columns of at most 9 cells count as if they had 9. With known ones of 9 the numbers are the same, and the light is green."""
    facts, budget = Facts(200_000), {"epsilon": 4.0, "delta": 1e-9, "certificate": 0.05}
    known = [{"name": name, "kind": "categorical", "categories": list("abcdefghi"), "other": False} for name in ("city", "age")]
    open_ones, listed = (Plan.of(spec(columns, budget=budget)) for columns in (COLUMNS, [COLUMNS[0], *known]))
    hope, sure = expected(open_ones, facts), expected(listed, facts)
    assert (hope.unknown, sure.unknown) == (2, 0)
    assert hope.enough
    assert (hope.light, sure.light) == (Light.AMBER, Light.GREEN)
    assert hope.good == pytest.approx(sure.good, abs=0.01)
    assert hope.told == f"{hope.hope} should come out good enough. {hope.rests}"
    assert "the values of 2 columns, which are still to be learnt" in hope.rests
    assert not hope.warning
    assert (sure.rests, sure.told) == ("", f"{sure.hope} should come out good enough.")
    assert hope.rests in plan_text(open_ones, [], hope)
    few = expected(open_ones, Facts(40))
    assert few.light is Light.RED
