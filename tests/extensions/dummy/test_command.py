"""`dummy` and `dps.dummy`: from a domain, a codebook, the labels of a questionnaire or a plan to a bundle that `verify` accepts."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.cli.command_line import main
from dpsynth_core.extensions.dummy import interface
from dpsynth_core.vocabulary.domain import Domain
from tests.extensions.dummy.orders import AGES, DOMAIN, HOMES, MEMBERS, RULES
from tests.refusals import refused
from tests.specs import usual

FIVE_MINUTES = 300


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_published_table_is_taken_over_and_named(tmp_path: Path) -> None:
    domain = written(tmp_path, "domain.json", DOMAIN)
    table = written(tmp_path, "ages.csv", "age,count\n" + "".join(f"{label},{count}\n" for label, count in AGES))
    command = ["dummy", str(domain), "--rows", "550", "--out", str(tmp_path), "--published", str(table), "--published-from", "Census"]
    assert main(command) == 0
    ages = pd.read_csv(tmp_path / "dummy.csv")["age"]
    assert (ages // 10).value_counts().sort_index().tolist() == [count for _, count in AGES]
    assert "Census" in json.loads((tmp_path / "dummy.json").read_text())["order"]["published_tables"][0]["source"]


def test_two_linked_tables_from_options_and_from_a_plan_are_the_same(tmp_path: Path) -> None:
    homes, members, rules = (written(tmp_path, *one) for one in (("h.json", HOMES), ("m.json", MEMBERS), ("r.json", RULES)))
    options = ["--members-domain", str(members), "--key", "home", "--max-members", "4", "--rules", str(rules)]
    assert main(["dummy", str(homes), "--rows", "60", "--out", str(tmp_path / "a"), *options]) == 0
    second = {"kind": "csv", "path": "members.csv", "domain": MEMBERS, "rules": RULES}
    unit = {"person_column": "home", "max_rows_per_person": 4}
    plan = usual({"kind": "csv", "path": "homes.csv"}, HOMES, members=second, unit=unit, mechanism="households")
    assert main(["dummy", str(written(tmp_path, "spec.json", plan)), "--rows", "60", "--out", str(tmp_path / "b")]) == 0
    for name in ("dummy.csv", "dummy-members.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    ("more", "saying"),
    [
        (["--rows", "many"], "--rows: 'many' cannot be used"),
        (["--rows", "0"], "rows: 0 cannot be used"),
        (["--format", "doc"], "not a known format"),
        (["--key", "home"], "--key: it is of two linked tables"),
        (["--published", "a.csv"], "--published-from"),
        (["--members-domain", "DOMAIN", "--key", "home"], "--max-members"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    more: list[str], saying: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    domain = written(tmp_path, "domain.json", DOMAIN)
    more = [str(domain) if one == "DOMAIN" else one for one in more]
    assert main(["dummy", str(domain), "--out", str(tmp_path / "out"), *more]) == 2
    said = capsys.readouterr().err
    assert saying in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_domain_that_was_read_from_the_table_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    domain = written(tmp_path, "domain.json", DOMAIN | {"origin": "data"})
    assert main(["dummy", str(domain), "--out", str(tmp_path / "out")]) == 2
    assert "state the values from public knowledge" in capsys.readouterr().err


def test_python_makes_the_rows_of_the_command_line(tmp_path: Path) -> None:
    made = dps.dummy(DOMAIN, rows=70, seed=4)
    assert main(["dummy", str(written(tmp_path, "d.json", DOMAIN)), "--rows", "70", "--seed", "4", "--out", str(tmp_path)]) == 0
    assert made.save(tmp_path / "python.zip").read_bytes() == (tmp_path / "dummy.zip").read_bytes()
    assert dps.verify(tmp_path / "python.zip").verdict == "consistent"
    assert len(made.rows) == 70
    assert made.rows.columns.tolist() == [*Domain.stated(DOMAIN).column_names]
    assert "draw no conclusion" in repr(made)


def test_python_takes_published_tables_linked_tables_and_plans() -> None:
    made = dps.dummy({"sex": ["f", "m"]}, rows=100, published=[(pd.Series({"f": 3, "m": 1}).rename_axis("sex"), "Census")])
    assert made.rows["sex"].value_counts().to_dict() == {"f": 75, "m": 25}
    two = dps.dummy(HOMES, rows=30, members=MEMBERS, person="home", rows_per_person=4, rules=RULES)
    assert two.members is not None
    assert set(two.members["home"]) <= set(two.rows["home"])
    plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="independent")
    assert dps.dummy(plan, rows=20).rows.columns.tolist() == ["sex"]
    refused(dps.dummy, plan, person="home", saying="a plan says all the rest itself")
    refused(dps.dummy, {"sex": ["f", "m"]}, person="home", saying="two linked tables")
    refused(dps.dummy, {"age": dps.discover("integer")}, saying="to be learnt")
    refused(dps.dummy, {"sex": ["f", "m"]}, rows=0, saying="rows: 0 is not a number of rows")


def test_the_example_of_the_docstring_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(interface)
    assert found.attempted
    assert not found.failed
