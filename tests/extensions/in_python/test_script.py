"""The code of a plan, run as a script on the same tables, makes the same plan: the digests of both specs are equal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.extensions.in_python.literals import literal
from dpsynth_core.extensions.in_python.script import STEPS, lacking, script
from dpsynth_core.extensions.in_python.view import tables_of
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.data import project_table
from dpsynth_core.web.shell import document
from tests.app.demo_project import ROOT
from tests.app.demo_project import draft as demo_draft
from tests.homes import MOST, PEOPLE, tables
from tests.patience import SECONDS

NAME = "Visits"
NEVER = {"other": False, "missing": False}
COLUMNS: list[dict[str, Any]] = [
    {"name": "age", "kind": "integer", "lower": 0, "upper": 99, **NEVER},
    {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "missing": True},
    {"name": "weight", "kind": "numeric", "lower": 0.0, "upper": 8.0, "bins": 4, "other": "nearest", "missing": False},
    {"name": "ward “A”\u202e", "kind": "categorical", "categories": ["n\"o'r\\th", "süd"], "label": "Where"},
]
LEARNT = [*COLUMNS[:2], {"name": "region", "kind": "categorical", "discover": True, "most": 12}]
OF_TWO = {"name": "region", "kind": "coded", "size": 2}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))


def domain(*columns: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A domain as the wizard keeps it: with every field."""
    return Domain.stated({"version": 1, "attributes": list(columns), **more}).to_json()


def visits(folder: Path, **written: Any) -> Path:
    rng = np.random.default_rng(1)
    ward = COLUMNS[3]
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 100, 300),
            "sex": rng.choice(["f", "m"], 300),
            "weight": rng.uniform(0.5, 8, 300).round(2),
            ward["name"]: rng.choice(ward["categories"], 300),
            "region": rng.choice(["n", "s"], 300),
        }
    )
    path = folder / "visits.csv"
    frame.to_csv(path, index=False, **written)
    return path


def draft(path: Path, attributes: list[dict[str, Any]], more: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A complete draft over a file."""
    ready = document.new()
    project_table.adopt(ready, project_table.from_path(str(path), True))
    ready |= {
        "population": "Patients",
        "domain": domain(*attributes, **(more or {})),
        "domain_origin": "codebook",
        "workload": {"kind": "all", "k": 2},
    }
    return document.completed(ready | fields)


def linked(folder: Path, **fields: Any) -> dict[str, Any]:
    """A complete draft over two linked tables."""
    homes, people = tables(folder)
    ready = document.new() | {"population": "Homes", "budget": document.new()["budget"] | {"epsilon": 4.0}}
    project_table.adopt(ready, project_table.from_path(str(homes), True))
    project_table.link(ready, project_table.from_path(str(people), True))
    ready["unit"]["max_rows_per_person"] = MOST
    ready["domain"] = domain(OF_TWO)
    ready["members"]["domain"] = Domain.from_json(PEOPLE).to_json()
    return document.completed(ready | fields)


def sealed(ready: dict[str, Any], looks: tuple[Any, ...] | None = ()) -> tuple[dict[str, Any], str]:
    """The spec of a draft, in JSON and as a digest."""
    spec = document.spec(ready, NAME, looks)
    return spec.model_dump(mode="json"), spec.digest()


def made(ready: dict[str, Any], looks: tuple[Any, ...] | None = ()) -> str:
    """The digest of the plan that the code of the last step before the run makes."""
    plan, seal = sealed(ready, looks)
    assert lacking(plan) == ""
    there: dict[str, Any] = {}
    exec(script(plan, "mechanism", *tables_of(ready), seal, document.people(ready)), there)
    assert seal[:16] in script(plan, "results", *tables_of(ready), seal)
    return str(there["plan"].digest)


WEIGHT = {"weight": {"column": "weight", "totals": {"sex": {"f": 150.0, "m": 140.0, "other": 3.0, "missing": 7.0}}}}
CRITERIA = [{"kind": "share", "of": {"sex": ["f"]}, "tolerance": 0.1}]
BUDGET = {"epsilon": 0.3, "delta": 1e-8, "certificate": 0.2, "inside": 0.0, "means": 0.05}
CASES: dict[str, dict[str, Any]] = {
    "as proposed": {},
    "a budget": {"budget": BUDGET, "output": {"rows": 77, "tables": 2, "seed": None}},
    "several rows": {"unit": {"relation": "replace", "person_column": "region", "max_rows_per_person": 3}},
    "an older budget without shares": {"budget": {"epsilon": 2, "delta": 1e-9}},
    "tables with weights": {"workload": {"kind": "marginals", "marginals": [{"attributes": ["age", "sex"], "weight": 2}]}},
    "tables without": {"workload": {"kind": "marginals", "marginals": [{"attributes": ["age"], "weight": 1.0}]}},
    "ranges": {"workload": {"kind": "ranges", "columns": ["age"]}, "mechanism": {"name": "independent", "settings": {}}},
    "a mechanism with settings": {"mechanism": {"name": "mst", "settings": {}}},
    "a survey weight": {**WEIGHT, "budget": {"epsilon": 1.0, "delta": 1e-9, "weighted": 0.1}},
    "criteria and models": {"criteria": CRITERIA, "models": [{"column": "sex"}]},
    "statements": {
        "about": {"licence": "CC-BY-4.0", "creators": ["Statistics Office"]},
        "other_copies": "None that I know of.",
        "domain_origin": "data",
        "domain_justification": "The hospital has published its wards and the ages of its patients.",
    },
    "a reason": {"budget": {"epsilon": 12.0, "delta": 1e-9, "reason": "They agreed to it, each of them in writing."}},
}


@pytest.mark.parametrize("case", CASES)
def test_a_file_of_numbers_and_categories(tmp_path: Path, case: str) -> None:
    ready = draft(visits(tmp_path), COLUMNS, **CASES[case])
    assert made(ready) == sealed(ready)[1]


def test_the_simulated_people() -> None:
    ready = demo_draft(mechanism={"name": "aim", "settings": {}})
    assert made(ready) == sealed(ready)[1]


def test_rules_and_the_origin_of_values_are_kept(tmp_path: Path) -> None:
    rules = {"impossible": [{"never": {"age": ["0"], "sex": ["m"]}, "note": "so it is"}]}
    ready = draft(visits(tmp_path), [{**COLUMNS[0], "upper": 40}, COLUMNS[1]], rules)
    assert made(ready) == sealed(ready)[1]


def test_columns_that_are_learnt(tmp_path: Path) -> None:
    ready = draft(visits(tmp_path), LEARNT)
    assert "dps.discover(most=12" in script(sealed(ready)[0], "domain", *tables_of(ready))
    assert made(ready) == sealed(ready)[1]


@pytest.mark.parametrize("looks", [None, (), ("rows", "compared")])
def test_what_was_looked_at(tmp_path: Path, looks: tuple[str, ...] | None) -> None:
    ready = draft(visits(tmp_path), COLUMNS)
    assert made(ready, looks) == sealed(ready, looks)[1]


def test_two_linked_tables_with_their_rules(tmp_path: Path) -> None:
    ready = linked(tmp_path)
    assert made(ready) == sealed(ready)[1]


def test_two_linked_tables_with_a_weight(tmp_path: Path) -> None:
    ready = linked(tmp_path)
    weight = {"name": "w", "kind": "numeric", "lower": 0.0, "upper": 8.0, "bins": 4, "other": "nearest", "missing": False}
    path = Path(ready["data"]["path"])
    frame = pd.read_csv(path)
    frame.assign(w=1.5).to_csv(path, index=False)
    ready["wizard"]["columns"] = [*frame.columns, "w"]
    ready |= {"domain": domain(OF_TWO, weight), "weight": {"column": "w"}}
    ready["budget"] = {**ready["budget"], "weighted": 0.05}
    assert made(ready) == sealed(ready)[1]


def test_how_a_file_is_written_is_stated_where_it_was_stated(tmp_path: Path) -> None:
    path = visits(tmp_path, sep=";", decimal=",", encoding="utf-8")
    ready = document.new()
    project_table.adopt(ready, project_table.from_path(str(path), True))
    project_table.adopt(ready, project_table.reread(document.completed(ready), decimal=",", missing_markers=["-9", ""]))
    ready |= {"population": "Patients", "domain": domain(*COLUMNS), "workload": {"kind": "all", "k": 1}}
    ready = document.completed(ready)
    plan, seal = sealed(ready)
    there: dict[str, Any] = {}
    exec(script(plan, "mechanism", *tables_of(ready), seal), there)
    assert there["plan"].digest == seal
    read = there["plan"].sealed.spec
    assert read.reading == document.spec(ready, NAME, ()).reading


def test_published_tables_are_kept_or_it_is_said_that_python_reads_files(tmp_path: Path) -> None:
    table = {"columns": ["sex"], "cells": [["f", 160.0], ["m", 140.0]], "source": "Census 2021"}
    never = [{**one, "missing": False, "other": False} for one in COLUMNS[:2]]
    ready = draft(visits(tmp_path), never, published_tables=[table])
    assert made(ready) == sealed(ready)[1]
    unsaid = {**table, "cells": [["f", 160], ["m", 140]]}
    plan = sealed(draft(visits(tmp_path), never, published_tables=[unsaid]))[0]
    assert "Give their files" in lacking(plan)


def test_an_uploaded_file_is_named_as_it_was_and_the_script_runs_beside_it(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    ready = draft(visits(tmp_path / "private"), COLUMNS)
    ready["wizard"] |= {"source": "upload"}
    plan, seal = sealed(ready)
    code = script(plan, "mechanism", *tables_of(ready), seal)
    assert "private" not in code
    visits(tmp_path)
    (tmp_path / "same.py").write_text(code, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "same.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.stdout.splitlines()[-1:] == [seal], done.stderr


def test_of_invented_linked_tables_it_is_said_that_python_has_no_name_for_them() -> None:
    assert "Python has no name" in lacking({"data": {"kind": "demo-households"}, "members": {"kind": "demo-members"}})
    assert lacking({}) == ""


@pytest.mark.parametrize("step", STEPS)
def test_a_step_says_what_the_steps_before_said_with_more_below(tmp_path: Path, step: str) -> None:
    ready = draft(visits(tmp_path), COLUMNS)
    plan, seal = sealed(ready)
    texts = [script(plan, one, *tables_of(ready), seal).rstrip() for one in STEPS[: STEPS.index(step) + 1]]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    compile(texts[-1], "same.py", "exec")


def test_an_incomplete_plan_is_code_too() -> None:
    ready = document.completed(document.new())
    plan = {**ready, "name": NAME}
    for step in STEPS:
        text = script(plan, step, *tables_of(ready))
        compile(text, "same.py", "exec")
        assert "no table is chosen yet" in text


@pytest.mark.parametrize("value", ["\u202ex", "a\nb", "it's", 'say "no"', 'it\'s "no"', "\\", "ü“”", "\x00", "{}", "a" * 300])
def test_texts_are_read_back_and_hide_nothing(value: str) -> None:
    for given in (value, [value] * 5, {value: (value,)}, [{value: [1.5, None, True, -3]}] * 9, ()):
        text = literal(given)
        assert eval(text) == given
        assert all(sign.isprintable() or sign == "\n" for sign in text)
