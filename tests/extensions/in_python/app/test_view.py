"""The code in the sidebar of each step: of an uploaded table, of what is not complete yet, of a run, and what Python cannot say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.extensions.in_python.script import STEPS
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import document, steps
from tests.app.demo_project import draft, finished_run, open_page, project, words
from tests.extensions.in_python.test_script import COLUMNS, domain, visits


def code(app: AppTest) -> str:
    """The code that a click on the button shows."""
    app.button(key="in_python").click().run()
    assert not app.exception
    (shown,) = app.code
    return str(shown.value)


def test_its_steps_are_those_of_the_wizard() -> None:
    assert tuple(step.name for step in steps.STEPS) == STEPS


def test_nothing_is_written_before_somebody_asks_and_pages_that_are_no_step_have_none() -> None:
    place = project()
    assert not open_page("workload", place).code
    assert not [one for one in open_page("ledger", place).button if one.key == "in_python"]


@pytest.mark.parametrize("step", STEPS[:-1])
def test_each_step_has_the_code_up_to_it(step: str) -> None:
    text = code(open_page(step, project()))
    assert re.findall(r"^# (\w+)$", text, flags=re.MULTILINE) == [one.title() for one in STEPS[: STEPS.index(step) + 1]]
    assert 'data = "demo"' in text


def test_the_code_of_an_uploaded_table_makes_the_plan_of_the_wizard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = visits(tmp_path).read_bytes()
    app = open_page("data", projects.create(LOCAL_OWNER, "Visits", document.new()).id)
    app.file_uploader[0].set_value(("visits.csv", content, "text/csv")).run()
    (place,) = [one.id for one in projects.list(LOCAL_OWNER)]
    kept: dict[str, Any] = dict(projects.load(LOCAL_OWNER, place).draft)
    kept |= {"population": "Patients", "domain": domain(*COLUMNS), "domain_origin": "typed", "workload": {"kind": "all", "k": 2}}
    kept["wizard"]["passed"] = list(STEPS[:4])
    projects.save(LOCAL_OWNER, place, kept)
    text = code(open_page("mechanism", place))
    assert 'data = "visits.csv"' in text
    assert str(projects.project_folder(place)) not in text
    monkeypatch.chdir(tmp_path)
    there: dict[str, Any] = {}
    exec(text, there)
    assert there["plan"].digest == document.spec(document.completed(kept), "Visits", ()).digest()


def test_a_new_project_says_that_no_table_is_chosen() -> None:
    assert "no table is chosen yet" in code(open_page("data", projects.create(LOCAL_OWNER, "Trial", document.new()).id))


def test_on_results_it_is_the_plan_of_the_run_and_nothing_that_spends() -> None:
    place = project()
    run = finished_run(place)
    kept = dict(projects.load(LOCAL_OWNER, place).draft)
    projects.save(LOCAL_OWNER, place, {**kept, "workload": {"kind": "all", "k": 1}})
    text = code(open_page("results", place))
    assert "tables = 2" in text
    assert run.spec.digest()[:16] in text
    assert not [line for line in text.splitlines() if "run()" in line and not line.startswith("#")]
    assert 'release = dps.open("release.zip")' in text


def test_a_domain_that_was_read_from_the_records_is_marked_as_the_curators_own() -> None:
    app = open_page("data", project(domain_origin="data", domain_justification=""))
    assert Zone.CURATOR.label not in words(app)
    app.button(key="in_python").click().run()
    assert Zone.CURATOR.label in words(app)


def test_of_invented_households_it_is_said_that_python_has_no_name_for_them() -> None:
    ready = draft(data={"kind": "demo-households", "path": ""}, members={"kind": "demo-members", "path": "", "domain": None})
    app = open_page("data", projects.create(LOCAL_OWNER, "Homes", ready).id)
    app.button(key="in_python").click().run()
    assert not app.code
    assert "Python has no name for these invented tables" in words(app)
