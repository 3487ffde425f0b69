"""What an office demands binds a release of a Python program: house rules, approvals and roles, before a record is read, for no charge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dpsynth_core as dps
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.store import approvals, balance, chain, ledger, roles, rules, spools
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.roles import Role
from tests.interface.test_going_on import PEOPLE, planned
from tests.refusals import refused

REASON = "decided by the board in March"


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> dps.Plan:
    """A plan of an open population, whose run must not ask a table."""

    def ask(*_: object, **__: object) -> object:
        raise AssertionError("a table was asked")

    ledger.open_population(LOCAL_OWNER, PEOPLE)
    made = planned()
    monkeypatch.setattr(PrivacyKernel, "_ask", ask)
    return made


def stopped(plan: dps.Plan, saying: str) -> list[str]:
    """Run it, which is refused. Return the kinds of the entries that the ledger got meanwhile; what they reserve they return."""
    before = len(chain.entries())
    refused(plan.run, progress=False, saying=saying)
    assert balance.spent(PEOPLE).rho == 0
    assert not spools.unfinished()
    return [entry.kind for entry in chain.entries()[before:]]


@pytest.mark.parametrize(
    ("stated", "saying"),
    [
        ({"largest_epsilon": 0.5}, r"epsilon is at most 0\.5, and this one is 3"),
        ({"largest_delta": 1e-12}, "delta is at most 1e-12"),
        ({"person_column": True}, "which column tells people apart"),
        ({"data": ["csv"]}, "tables are of the kinds csv"),
        ({"mechanisms": ["independent"]}, "mechanisms are independent, and this one is aim"),
        ({"criteria": ["tables"]}, "a condition 'tables' that must be met"),
    ],
)  # fmt: skip
def test_a_rule_of_the_house_binds(plan: dps.Plan, stated: dict[str, object], saying: str) -> None:
    rules.put_in_force(LOCAL_OWNER, json.dumps(stated), REASON)
    assert stopped(plan, saying) == []


def test_rules_that_are_not_those_of_the_ledger_let_nothing_run(plan: dps.Plan, home: Path) -> None:
    rules.put_in_force(LOCAL_OWNER, "{}", REASON)
    (home / rules.NAME).write_text("{}")
    refused(plan.run, progress=False, kind=StoreFault, saying="not the one that the ledger names")
    (home / rules.NAME).unlink()
    refused(plan.run, progress=False, kind=StoreFault, saying="missing")
    assert [entry.kind for entry in chain.entries()] == ["population", rules.KIND]


@pytest.mark.parametrize(
    "demand",
    [
        lambda: approvals.demand(LOCAL_OWNER, PEOPLE, [approvals.PLAN]),
        lambda: rules.put_in_force(LOCAL_OWNER, json.dumps({"approve": ["plan"]}), REASON),
    ],
)  # fmt: skip
def test_a_plan_without_its_approval_reads_nothing(plan: dps.Plan, demand: Callable[[], object]) -> None:
    demand()
    assert stopped(plan, "a second person approves it, and none has") == ["reserve", "return"]


def test_a_person_without_the_role_runs_nothing(plan: dps.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roles, "of", lambda *_: frozenset({Role.REVIEWER}))
    assert stopped(plan, "yours does not let you run a plan") == []


def test_a_release_names_the_rules_that_it_kept(home: Path) -> None:
    digest = rules.put_in_force(LOCAL_OWNER, json.dumps({"largest_epsilon": 3}), REASON)
    release = planned().run(progress=False)
    assert release.made.ledger["rules"] == digest
    assert (home / rules.NAME).is_file()
