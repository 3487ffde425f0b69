"""What this machine cannot hold is refused before the charge, and the message names what to change."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.planning import machine
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.release.statement import row_policy
from tests.refusals import refused
from tests.releases import run
from tests.specs import usual


def plan(mechanism: str = "independent", **output: Any) -> Plan:
    return Plan.of(
        Spec.from_json(
            usual(
                {"kind": "standin", "standin": {"rows": 500, "strength": 0.5, "seed": 1}}, {"a": 3, "b": 2}, k=1,
                mechanism={"name": mechanism}, output=output,
            )
        )
    )


def test_rows_beyond_the_free_memory_are_refused_and_the_number_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_mb", lambda: 500.0)
    machine.check(plan(rows=1000))
    with pytest.raises(CapacityError, match=r"^memory: it may need .* MB, and 500 MB are free here; ask for fewer rows"):
        machine.check(plan(rows=20_000_000))


def test_several_tables_of_an_unstated_number_of_rows_count_as_the_most_that_they_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two columns, 20 bytes each: 40 MB for a table of a million rows, all of which are held together, beside the mechanism's needs."""
    monkeypatch.setattr(machine, "free_mb", lambda: 500.0)
    machine.check(plan())
    machine.check(plan(tables=5))
    machine.check(plan(tables=20, rows=10_000))
    with pytest.raises(CapacityError, match=r"^memory: it may need 9\d\d MB, and 500 MB .*; state the number of rows \(output\.rows\)"):
        synthesis.plan(plan(tables=20).spec)  # that is, before anything is charged
    with pytest.raises(CapacityError, match=r"or ask for fewer tables of rows \(output\.tables\), or use a machine with more memory"):
        machine.check(plan(tables=20))


def test_a_model_beyond_the_free_memory_is_refused_and_its_parameter_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_mb", lambda: 100.0)
    with pytest.raises(CapacityError, match="use fewer or smaller tables, or a smaller max_size_mb, or use a machine with more memory"):
        machine.check(plan("aim"))


def test_tables_that_only_criteria_need_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    document = plan().spec.model_dump(mode="json") | {"domain": dict.fromkeys("abcde", 1000)}
    pairs = [{"kind": "share", "of": {one: ["0"], other: ["0"]}, "tolerance": 0.1} for one, other in combinations("abcde", 2)]
    monkeypatch.setattr(machine, "free_mb", lambda: 400.0)
    machine.check(Plan.of(Spec.from_json(document)))
    with pytest.raises(CapacityError, match=r"^memory: it may need 4\d\d MB besides .* 400 MB are free here; state fewer criteria"):
        machine.check(Plan.of(Spec.from_json(document | {"criteria": pairs})))


def test_a_run_of_weeks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    weeks = plan()
    vars(weeks)["forecast"] = replace(weeks.forecast, seconds=30 * 86_400.0)
    monkeypatch.setattr(machine, "free_mb", lambda: None)
    refused(machine.check, weeks, kind=CapacityError, saying=r"^time: it would take about 30 days; use fewer or smaller tables")


def test_where_the_system_does_not_say_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_mb", lambda: None)
    machine.check(plan(rows=20_000_000))


def test_this_machine_says_what_is_free() -> None:
    assert 10 < (machine.free_mb() or 0) < 10**8


def test_a_plan_is_checked_against_the_machine_before_anything_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_mb", lambda: 10.0)
    with pytest.raises(CapacityError, match=r"^memory: it may need .* MB besides the rows, whose number is not stated, and 10 MB are free"):
        synthesis.plan(plan().spec)


def test_a_noisy_number_of_records_writes_so_many_rows_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsynth_core.planning.spec.MAX_UNSTATED_ROWS", 100)
    for given, rows in ((plan(), 100), (plan(rows=200), 200)):
        made = run(given.spec)
        assert made.rows == rows
        assert made.total > 100
        assert made.row_policy == row_policy(made.plan, made.total)
    assert "the most that are written where no number is stated" in row_policy(plan(), 500.0)
    assert json.dumps(row_policy(plan(), 50.0)) == '"the noisy estimate of the number of records"'
