"""A public table in the wizard: the check of it, and PMW^Pub."""

from __future__ import annotations

import pytest

from dpsynth_core.store import balance, dispatch, projects, runs, worker
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.run import launch
from dpsynth_core.web.shell.session import Current
from tests.app.demo_project import finished_run, open_page, project, words
from tests.app.test_public_table import CENSUS, census, with_public


def test_the_check_is_a_run_of_its_own_that_warns_before_more_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "launch_worker", lambda job: worker.work(dispatch.claim(job)))
    one_sex = CENSUS[CENSUS["sex"] == CENSUS["sex"].iloc[0]].to_csv(index=False).encode()
    place = with_public(project(population="Checked people", mechanism={"name": "pmwpub", "settings": {}}), one_sex)
    stored = projects.load(LOCAL_OWNER, place)
    run = launch.submit_check(Current(LOCAL_OWNER, place, "Trial", dict(stored.draft)), 0.05, [])
    made = runs.release(LOCAL_OWNER, run)
    assert [type(event).__name__ for event in made.charges] == ["Gaussian", "Laplace"]
    assert made.details["best_mixture"]["poor"]
    assert "public-table-poor" in [brand.code for brand in made.brands]
    assert balance.spent("Checked people").epsilon == pytest.approx(0.05, rel=0.01)
    assert "another public" in words(open_page("mechanism", place))


def test_pmwpub_runs_from_the_wizard_and_names_the_public_table() -> None:
    place = with_public(project(mechanism={"name": "pmwpub", "settings": {"rounds": 5}}), census())
    made = runs.release(LOCAL_OWNER, finished_run(place).id)
    assert made.details["public_table"]["name"] == "census.csv"
    assert made.details["public_table"]["rows"] == 2_000
    assert made.spec.public.path == "census.csv"
    assert "assumed-public" in [brand.code for brand in made.brands]
    assert made.rows > 0
