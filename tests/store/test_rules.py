"""Rules of the house: a plan that breaks one hears which before its table is read; no file counts but the one that the ledger names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core import cli
from dpsynth_core.planning.spec import MembersSpec, Spec
from dpsynth_core.report import words
from dpsynth_core.store import approvals, balance, chain, recorded_views, rules, runs, verified_books
from dpsynth_core.store.database import reading
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.store.home import LOCAL_OWNER
from tests.refusals import refused
from tests.store.test_ledger import reserve, touch

Make = Callable[..., Spec]
REASON = "decided by the board in March"
PERSON = {"relation": "add-remove", "person_column": "id", "max_rows_per_person": 2}
QUERY = {"path": "sqlite:///x.db", "kind": "database", "query": "SELECT a FROM t"}
MUST = [{"kind": "tables", "limit": 0.1}]


def put(stated: Mapping[str, Any]) -> str:
    return rules.put_in_force(LOCAL_OWNER, json.dumps(stated), REASON)


@pytest.mark.parametrize(
    ("stated", "breaks", "keeps", "named"),
    [
        ({"largest_epsilon": 1.0}, {"budget": {"epsilon": 1.5, "delta": 1e-9}}, {}, "epsilon is at most 1, and this one is 1.5"),
        ({"largest_delta": 1e-9}, {"budget": {"epsilon": 1.0, "delta": 1e-6}}, {}, "delta is at most 1e-09, and this one is 1e-06"),
        ({"data": ["parquet"]}, {}, {"data": {"path": "x.parquet", "kind": "parquet"}}, "of the kinds parquet, and this one is csv"),
        ({"person_column": True}, {}, {"unit": PERSON}, "which column tells people apart"),
        ({"mechanisms": ["aim"]}, {}, {"mechanism": {"name": "aim"}}, "mechanisms are aim, and this one is independent"),
        ({"criteria": ["tables"]}, {}, {"criteria": MUST}, "a condition 'tables' that must be met"),
        ({"criteria": ["tables"]}, {"criteria": [MUST[0] | {"importance": "should"}]}, {"criteria": MUST}, "that must be met"),
        ({"queries": False}, {"data": QUERY}, {}, "no table is the answer of a query"),
    ],
)  # fmt: skip
def test_a_plan_that_breaks_a_rule_hears_which(
    make_spec: Make, stated: Mapping[str, Any], breaks: Mapping[str, Any], keeps: Mapping[str, Any], named: str
) -> None:
    rules.check(make_spec(**breaks))
    put(stated)
    error = refused(rules.check, make_spec(**breaks), saying="rules of the house")
    assert named in str(error)
    rules.check(make_spec(**keeps))


def test_the_second_of_two_linked_tables_keeps_the_rules_too(make_spec: Make) -> None:
    put({"data": ["parquet"]})
    plan = make_spec(data={"path": "x.parquet", "kind": "parquet"})
    wrong, right = (MembersSpec(path=f"m.{kind}", kind=kind, domain={"x": 2}) for kind in ("csv", "parquet"))
    refused(rules.check, plan.model_copy(update={"members": wrong}), saying="of the kinds parquet, and this one is csv")
    rules.check(plan.model_copy(update={"members": right}))


@pytest.mark.usefixtures("no_workers")
def test_it_is_refused_before_its_table_is_opened_in_the_app_and_on_the_command_line(
    make_spec: Make, project: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put({"largest_epsilon": 0.5})
    spec = make_spec()
    table.unlink()
    table.mkdir()  # whatever opens it fails
    refused(runs.submit, "ann", project, spec, saying=r"epsilon is at most 0\.5")
    assert [entry.kind for entry in chain.entries()] == ["rules"]
    table.rmdir()
    table.write_text("a,b,c\n0,0,0\n")
    (tmp_path / "spec.json").write_text(spec.model_dump_json())
    assert cli.main(["run", str(tmp_path / "spec.json"), "--out", str(tmp_path / "out"), "--population", "people"]) == cli.BAD_INPUT
    assert "epsilon is at most 0.5" in capsys.readouterr().err
    assert [entry.kind for entry in chain.entries()] == ["rules"]


def test_nothing_is_shown_where_no_looks_are_allowed(project: str) -> None:
    put({"looks": False})
    refused(recorded_views.record, "ann", project, "rows", saying="nothing of a private table is shown")
    assert recorded_views.of("ann", project) == ()


def lacks(run: str, stage: str) -> bool:
    with reading() as db:
        return approvals.lacks(db, verified_books.read(), run, stage)


def test_what_the_rules_say_of_approval_holds_for_every_population() -> None:
    reserve("r1", 0.01)
    put({"approve": ["plan"]})
    assert lacks("r1", "plan")
    assert not lacks("r1", "release")
    approvals.approve("bob", "r1", "plan", "checked with the protocol")
    assert not lacks("r1", "plan")


def test_a_release_names_the_rules_it_was_made_under_and_no_later_ones() -> None:
    reserve("r0", 0.01)
    first = put({"largest_epsilon": 2.0})
    reserve("r1", 0.01)
    touch("r1")
    put({"largest_epsilon": 3.0})
    assert "rules" not in balance.citation("r0")
    assert balance.citation("r1")["rules"] == first
    assert first in words._ledger(balance.citation("r1"))
    assert "rules" not in words._ledger(balance.citation("r0"))


def test_no_other_file_counts_than_the_one_that_the_ledger_names(make_spec: Make, home: Path) -> None:
    (home / rules.NAME).parent.mkdir()
    (home / rules.NAME).write_text('{"largest_epsilon": 0.1}')
    rules.check(make_spec())
    put({"largest_epsilon": 2.0})
    entry = chain.entries()[-1]
    assert (entry.kind, entry.curator, entry.note) == ("rules", LOCAL_OWNER, REASON)
    kept = (home / rules.NAME).read_bytes()
    for other in (kept.replace(b"2.0", b"9.0"), b"", None):
        (home / rules.NAME).unlink()
        if other is not None:
            (home / rules.NAME).write_bytes(other)
        refused(rules.check, make_spec(), kind=StoreFault, saying="missing, or not the one that the ledger names")
        (home / rules.NAME).write_bytes(kept)
    rules.check(make_spec())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "rules"), ("[]", "rules"), ('{"largest_epsilon": 0}', "rules.largest_epsilon"), ('{"looks": 1}', "rules.looks"),
        ('{"largest_epsilon": NaN}', "rules"), ('{"epsilon": 1}', "rules.epsilon"), ('{"version": 2}', "rules.version"),
        ('{"data": ["csvs"]}', "'csvs' is not known"), ('{"mechanisms": ["AIM"]}', "'AIM' is not known"),
        ('{"criteria": ["x"]}', "'x' is not known"),
        ('{"approve": ["all"]}', "rules.approve"), ('{"largest_delta": "1"}', "rules.largest_delta"),
        ('{"looks": true, "looks": false}', "rules"),
    ],
)  # fmt: skip
def test_what_are_no_rules_is_refused_and_changes_nothing(text: str, problem: str, home: Path) -> None:
    refused(rules.put_in_force, LOCAL_OWNER, text, REASON, saying=problem.replace(".", r"\."))
    refused(rules.put_in_force, LOCAL_OWNER, "{}", "", saying="not given a reason")
    assert chain.entries() == ()
    assert not (home / rules.NAME).exists()


def test_the_command_puts_them_in_force_and_prints_their_digest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "house.json").write_text('{"largest_epsilon": 2}')
    assert cli.main(["ledger", "rules", str(tmp_path / "house.json"), "--reason", REASON]) == 0
    assert capsys.readouterr().out == f"rules: {chain.entries()[-1].spec}\n"
    assert cli.main(["ledger", "rules", str(tmp_path / "none.json"), "--reason", REASON]) == cli.BAD_INPUT
    assert rules.in_force(verified_books.read()).largest_epsilon == 2
