"""Schedules of repeated releases: the ledger takes every release of a schedule and none more."""

from __future__ import annotations

import doctest
import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpsynth_core as dps
from dpsynth_core.cli.command_line import main
from dpsynth_core.extensions.repeated import planned, schedule_interface
from dpsynth_core.extensions.repeated.schedule import EVERY, NEW, SAME, WHOLE, YEAR, Costs, Schedule, Wanted
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy.accountant import GDP, ZCDP, Accountant
from dpsynth_core.store import balance, ledger
from dpsynth_core.store.accounts import CapExceeded
from dpsynth_core.store.database import transaction
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.ledger import Charge
from dpsynth_core.vocabulary.domain import Domain
from tests.refusals import refused
from tests.specs import usual

DOMAIN = Domain.from_json({"sex": 2, "age": 5, "region": 4})

WANTED = st.builds(
    Wanted,
    every=st.sampled_from(sorted(EVERY)),
    years=st.integers(1, 50),
    epsilon=st.floats(0.01, 10),
    per=st.sampled_from([YEAR, WHOLE]),
    who=st.sampled_from([SAME, NEW]),
    delta=st.sampled_from([1e-12, 1e-9, 1e-6]),
)
ACCOUNTANTS = st.sampled_from([ZCDP, GDP])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))


@given(WANTED, ACCOUNTANTS)
@settings(deadline=None)
def test_all_releases_fit_below_the_cap_and_one_more_does_not(wanted: Wanted, accountant: Accountant) -> None:
    """The sums are written here anew from the accountant alone."""
    found = Schedule.of(wanted, Costs(accountant, accountant))
    together = found.number if wanted.who == SAME else 1
    assert found.rho == accountant.rho_from(found.each, wanted.delta)
    allowed = Fraction(accountant.rho_from(found.cap, wanted.delta))
    assert together * Fraction(found.rho) <= allowed < (together + 1) * Fraction(found.rho)
    assert found.allowed_by(found.cap, wanted.delta)
    assert not found.allowed_by(found.cap * 0.99, wanted.delta)
    of_epsilon = EVERY[wanted.every] if wanted.per == YEAR and wanted.who == SAME else together
    whole = Fraction(accountant.rho_from(wanted.epsilon, wanted.delta))
    assert of_epsilon * Fraction(found.rho) <= whole
    more = accountant.rho_from(found.each * 1.0002, wanted.delta)
    assert found.each * 1.0002 > wanted.epsilon or of_epsilon * Fraction(more) > whole  # no larger budget was possible


@given(WANTED, ACCOUNTANTS, st.integers(1, 40))
@settings(deadline=None, max_examples=30)
def test_lines_say_what_one_person_lost_so_far(wanted: Wanted, accountant: Accountant, parts: int) -> None:
    spent = Fraction(parts, 1000)
    found = Schedule.of(wanted, Costs(accountant, accountant, spent=spent))
    before = spent if wanted.who == SAME else Fraction(0)
    assert found.allowed_by(found.cap, wanted.delta)
    lines = found.lines
    assert [one.number for one in lines] == list(range(1, found.number + 1))
    assert lines[-1].year == wanted.years
    assert {one.epsilon for one in lines} == {found.each}
    for line in (lines[0], lines[-1]):
        rho = float(before + (line.number if wanted.who == SAME else 1) * Fraction(line.rho))
        assert line.so_far == pytest.approx(accountant.epsilon_from(rho, wanted.delta), rel=1e-9)
    assert lines[-1].so_far == found.whole <= found.cap * (1 + 1e-9)


def charged(name: str, schedule: Schedule, run: str) -> None:
    with transaction() as db:
        price = schedule.rho, schedule.each, schedule.delta
        charge = Charge(name, run, "d" * 64, UnitSpec(), *price, "f", accountant=schedule.costs.charged.name)
        ledger.reserve(db, LOCAL_OWNER, charge)


@pytest.mark.parametrize("accountant", [ZCDP, GDP])
def test_the_ledger_takes_a_year_of_releases_and_refuses_the_next(accountant: Accountant) -> None:
    found = Schedule.of(Wanted("quarter", 1, 1.0), Costs(accountant, accountant))
    planned.set_cap(LOCAL_OWNER, found, "Patients", "")
    assert planned.has_cap(found, "Patients")
    for number in range(4):
        charged("Patients", found, f"run{number}")
    assert balance.spent("Patients", accountant).epsilon == pytest.approx(found.whole)
    with pytest.raises(CapExceeded):
        charged("Patients", found, "run4")


@pytest.mark.parametrize(
    ("every", "years", "epsilon", "charging"),
    [("quarter", 1, 22.0, GDP), ("month", 1, 22.0, GDP), ("month", 5, 22.0, GDP), ("half-year", 1, 60.0, ZCDP), ("year", 1, 25.0, ZCDP)],
)
def test_a_whole_epsilon_beyond_gdp_is_counted_as_the_ledger_charges_its_releases(
    every: str, years: int, epsilon: float, charging: Accountant
) -> None:
    """GDP covers epsilon up to 21.56 at delta 1e-9: not all releases together, but each of many."""
    plan = Plan.of(Spec.from_json(usual({"kind": "demo"}, DOMAIN.to_json(), mechanism="gaussian")))
    found = planned.planned(Wanted(every, years, epsilon), plan, "Patients")
    alone = Plan.of(Spec.from_json(usual({"kind": "demo"}, DOMAIN.to_json(), mechanism="gaussian", epsilon=found.each)))
    assert found.costs.charged is alone.shares.accountant is charging
    assert found.rho == alone.shares.rho
    planned.set_cap(LOCAL_OWNER, found, "Patients", "")
    for number in range(found.number):
        charged("Patients", found, f"run{number}")
    with pytest.raises(CapExceeded):
        charged("Patients", found, "next")


def test_what_was_spent_before_counts_on_top_of_the_schedule() -> None:
    first = Schedule.of(Wanted("year", 1, 2.0), Costs(ZCDP, ZCDP))
    planned.set_cap(LOCAL_OWNER, first, "Patients", "")
    charged("Patients", first, "run0")
    plan = Plan.of(Spec.from_json(usual({"kind": "demo"}, DOMAIN.to_json(), mechanism="gaussian")))
    found = planned.planned(Wanted("half-year", 2, 1.0), plan, "Patients")
    assert found.costs.accountant is ZCDP  # as one charge is
    assert found.costs.spent == Fraction(first.rho)
    assert planned.fits(found, "Patients").endswith("not enough for the schedule.")
    planned.set_cap(LOCAL_OWNER, found, "Patients", "The register is now published twice a year.")
    for number in range(1, 5):
        charged("Patients", found, f"run{number}")
    with pytest.raises(CapExceeded):
        charged("Patients", found, "run5")


def test_new_people_need_a_population_of_their_own() -> None:
    found = Schedule.of(Wanted("year", 3, 1.0, who=NEW), Costs(GDP, GDP))
    assert (found.each, found.cap, found.number) == (1.0, 1.0, 3)
    planned.set_cap(LOCAL_OWNER, found, "Births 2026", "")
    charged("Births 2026", found, "run0")
    assert "name a new population" in planned.fits(found, "Births 2026")
    refused(planned.set_cap, LOCAL_OWNER, found, "Births 2026", "Because it is next year.", saying="was charged before")


@pytest.mark.parametrize(
    ("wanted", "saying"),
    [
        (Wanted("week", 1, 1.0), "every: 'week' is unknown"),
        (Wanted("year", 0, 1.0), "years: 0 is not a number of years"),
        (Wanted("year", 1, -1.0), "budget.epsilon"),
        (Wanted("year", 1, 1.0, per="person"), "per: 'person' is unknown"),
        (Wanted("year", 1, 1.0, who="all"), "who: 'all' is unknown"),
        (Wanted("month", 50, 1e-5, per=WHOLE), "leaves each release less"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(wanted: Wanted, saying: str) -> None:
    refused(Schedule.of, wanted, Costs(ZCDP, ZCDP), saying=saying)


def test_own_deltas_of_releases_add_up() -> None:
    costs = Costs(ZCDP, ZCDP, own_delta=2e-10)
    found = Schedule.of(Wanted("quarter", 1, 1.0), costs)
    assert 4 * Fraction(found.rho) <= Fraction(ZCDP.rho_from(1.0, 1e-9 - 4 * 2e-10))
    refused(Schedule.of, Wanted("month", 1, 1.0), costs, saying="the steps of 12 releases need more than 1e-09")


def test_the_command_forecasts_an_error_and_sets_the_cap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "spec.json"
    plan.write_text(json.dumps(usual({"kind": "demo"}, DOMAIN.to_json(), mechanism="independent", population="Patients")), encoding="utf-8")
    command = ["schedule", "--every", "quarter", "--epsilon", "1", "--plan", str(plan)]
    assert main([*command, "--people", "50000"]) == 0
    said = capsys.readouterr().out
    assert "Expected error" in said
    assert "The ledger has no account of “Patients” yet." in said
    assert main([*command, "--set-cap"]) == 0
    assert main(command) == 0
    assert "enough for the schedule" in capsys.readouterr().out
    assert main([*command, "--years", "2", "--set-cap"]) == 2
    assert "write why the cap changes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "saying"),
    [
        (["--every", "week"], "every: 'week' is unknown"),
        (["--years", "two"], "--years: 'two' cannot be used"),
        (["--epsilon", "much"], "--epsilon: 'much' is not a number"),
        (["--set-cap"], "--set-cap: no population is named"),
    ],
)
def test_a_mistake_is_one_line(more: list[str], saying: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule", "--every", "year", "--epsilon", "1", *more]) == 2
    said = capsys.readouterr().err
    assert saying in said
    assert said.count("\n") == 1


def test_python_gives_the_schedule_of_a_plan() -> None:
    plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="gaussian")
    found = dps.schedule("quarter", 1, plan=plan, per="whole", years=2)
    assert found.costs.charged is GDP
    assert found.number == 8
    assert found.cap == 1.0
    with pytest.raises(InputError, match="is not a plan"):
        dps.schedule("quarter", 1, plan="plan")  # type: ignore[arg-type]
    tried = doctest.testmod(schedule_interface)
    assert tried.attempted
    assert not tried.failed
