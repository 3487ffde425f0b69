"""The command `learn`: values of columns for a charge of their own, and the plan of the release with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.cli import main
from dpsynth_core.cli.terminal import BAD_INPUT
from dpsynth_core.planning.spec import load_spec

PEOPLE = 4_000
OPEN: tuple[dict[str, Any], ...] = (
    {"name": "age", "kind": "integer", "discover": True},
    {"name": "town", "kind": "categorical", "discover": True},
)
STATED: dict[str, Any] = {"name": "sick", "kind": "categorical", "categories": ["no", "yes"], "missing": False, "other": False}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "age": rng.integers(20, 80, PEOPLE),
            "town": rng.choice(["Aa", "Bb", "Cc"], PEOPLE, p=[0.5, 0.3, 0.2]),
            "sick": rng.choice(["no", "yes"], PEOPLE),
        }
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def planned(folder: Path, **more: Any) -> Path:
    plan = {
        "version": 1,
        "name": "People",
        "population": "People",
        "data": {"kind": "csv", "path": "people.csv"},
        "domain": {"version": 1, "attributes": [*OPEN, STATED]},
        "workload": {"kind": "all", "k": 2},
        "budget": {"epsilon": 5, "delta": 1e-6},
        "mechanism": {"name": "independent"},
    }
    path = folder / "spec.json"
    path.write_text(json.dumps(plan | more), encoding="utf-8")
    return path


def columns(plan: Path) -> Mapping[str, Any]:
    return {one["name"]: one for one in json.loads(plan.read_text(encoding="utf-8"))["domain"]["attributes"]}


def test_values_are_learnt_for_a_charge_of_their_own_and_stand_in_a_plan_that_runs(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, out = planned(table), table / "learnt"
    assert main(["learn", str(spec), "--epsilon", "2", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "'age': " in said
    assert "'town': 3 values" in said
    learnt = columns(out / "plan.json")
    assert learnt["town"]["categories"] == ["Aa", "Bb", "Cc"]
    assert learnt["age"]["lower"] <= 25
    assert learnt["age"]["upper"] >= 75
    assert learnt["sick"]["categories"] == STATED["categories"]
    run = json.loads((out / "release.json").read_text(encoding="utf-8"))
    assert run["spec"]["budget"]["epsilon"] == 2
    assert main(["verify", str(out / "release.zip")]) == 0
    made = load_spec(out / "plan.json")
    assert made.budget.epsilon == 5
    assert made.domain_origin == "learnt"
    assert main(["run", str(out / "plan.json"), "--out", str(table / "release")]) == 0
    assert set(pd.read_csv(table / "release" / "synthetic.csv")["town"].dropna()) <= {"Aa", "Bb", "Cc", "other"}


def test_only_named_columns_are_learnt_and_an_origin_of_the_others_stays(table: Path) -> None:
    spec, out = planned(table, domain_origin="codebook"), table / "learnt"
    assert main(["learn", str(spec), "--columns", "town", "--out", str(out)]) == 0
    learnt = columns(out / "plan.json")
    assert "categories" in learnt["town"]
    assert learnt["age"]["discover"] is True
    assert load_spec(out / "plan.json").domain_origin == "codebook"


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (["--columns", "sick"], "--columns"),
        (["--columns", "nobody"], "--columns"),
        (["--epsilon", "nothing"], "epsilon"),
    ],
)
def test_what_cannot_be_learnt_is_refused_before_anything_is_read(
    table: Path, more: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (table / "people.csv").unlink()
    assert main(["learn", str(planned(table)), *more, "--out", str(table / "learnt")]) == BAD_INPUT
    assert named in capsys.readouterr().err
    assert not (table / "learnt" / "plan.json").exists()


def test_a_plan_that_is_there_is_not_replaced_and_nothing_is_charged(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = table / "learnt"
    out.mkdir()
    (out / "plan.json").write_text("mine", encoding="utf-8")
    assert main(["learn", str(planned(table)), "--out", str(out)]) == BAD_INPUT
    assert "is there already" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["plan.json"]


def test_a_plan_without_open_columns_has_nothing_to_learn(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = planned(table, domain={"version": 1, "attributes": [STATED]}, workload={"kind": "all", "k": 1})
    assert main(["learn", str(spec), "--out", str(table / "learnt")]) == BAD_INPUT
    assert "no column has values to be learnt" in capsys.readouterr().err
