"""RAP in the wizard: a workload of thresholds, run in a worker, with a table of results at the end."""

from __future__ import annotations

import pytest

from dpsynth_core.store import runs
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import finished_run, open_page, project


def test_rap_runs_thresholds_from_the_wizard_and_its_release_is_shown() -> None:
    chosen = {"name": "rap", "settings": {"rounds": 2, "queries": 5, "relaxed_rows": 100}}
    place = project(workload={"kind": "all", "k": 2, "threshold": 1}, mechanism=chosen)
    made = runs.release(LOCAL_OWNER, finished_run(place).id)
    assert made.details["rounds"] == 2
    assert made.rows > 0
    assert made.rho_spent == pytest.approx(made.rho, rel=1e-8)
    assert [step.message for step in made.history if step.kind == "fitted" and "10 counts" in step.message]
    assert not open_page("results", place).exception
