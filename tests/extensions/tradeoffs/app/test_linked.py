"""The page Trade-offs of a plan over two linked tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.extensions.tradeoffs import sweeps
from dpsynth_core.sources import demo_households
from dpsynth_core.sources.registry import LINKED_DEMO
from dpsynth_core.store import chain, dispatch, projects, worker
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.data import project_table
from dpsynth_core.web.shell import document
from tests.app.demo_project import button, open_page, words
from tests.app.test_linked_pages import PASSED, linked


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No worker processes: the list says which would have been started."""
    workers: list[str] = []
    monkeypatch.setenv("DPSYNTH_SWEEP_WORKERS", "1")
    monkeypatch.setattr(dispatch, "launch_worker", lambda job: workers.append(job))
    return workers


def place_with(folder: Path, **notes: Any) -> str:
    """A project over both tables; keyword arguments are choices of the page."""
    place = linked(folder)
    draft = projects.load(LOCAL_OWNER, place).draft
    grid = {"rows": 300, "strength": 0.5, "epsilons": [1.0, 8.0], "repeats": 1}
    projects.save(LOCAL_OWNER, place, {**draft, "wizard": draft["wizard"] | {"tradeoffs": grid | notes}})
    return place


def test_both_tables_are_invented_and_tried_and_a_budget_is_taken_into_the_plan(tmp_path: Path, started: list[str]) -> None:
    place = place_with(tmp_path, mechanisms=["aim"])  # chosen before there was a second table
    app = open_page("tradeoffs", place)
    assert "errors are shares of households" in words(app)
    button(app, "Start 2 trials").click().run()
    worker.work(dispatch.claim(started[-1]))
    (stored,) = sweeps.list(LOCAL_OWNER, place)
    assert stored.state == "done"
    assert stored.sweep.base.members is not None
    assert (stored.sweep.base.data.kind, stored.sweep.base.members.kind) == ("standin", "standin")
    assert chain.entries() == ()
    app = open_page("tradeoffs", place)
    assert "2 of 2 trials" in words(app)
    assert len(app.get("vega_lite_chart")) > 0
    app.button(key="sweep_take").click().run()
    draft = projects.load(LOCAL_OWNER, place).draft
    assert draft["budget"]["epsilon"] in (1.0, 8.0)


def test_trials_on_the_private_tables_are_charged(tmp_path: Path, started: list[str]) -> None:
    place = place_with(tmp_path, table="private", epsilons=[1.0])
    app = open_page("tradeoffs", place)
    button(app, "Start 1 trials").click().run()
    button(app, "Charge it and start").click().run()
    worker.work(dispatch.claim(started[-1]))
    assert sweeps.list(LOCAL_OWNER, place)[0].state == "done"
    assert "touch" in [entry.kind for entry in chain.entries()]


def test_the_simulated_households_are_tried_as_they_are(started: list[str]) -> None:
    first, second = demo_households.domains()
    made = document.new() | {"population": "Simulated households", "domain": first.to_json()}
    project_table.adopt(made, project_table.simulated(LINKED_DEMO[0]))
    project_table.link(made, project_table.simulated(LINKED_DEMO[1]))
    made["members"]["domain"] = second.to_json()
    grid = {"table": "public", "epsilons": [1.0], "repeats": 1}
    made["wizard"] |= {"passed": PASSED, "tradeoffs": grid}
    place = projects.create(LOCAL_OWNER, "Simulated", made).id
    button(open_page("tradeoffs", place), "Start 1 trials").click().run()
    worker.work(dispatch.claim(started[-1]))
    (stored,) = sweeps.list(LOCAL_OWNER, place)
    assert stored.state == "done"
    assert stored.sweep.base.data.kind == LINKED_DEMO[0]
    assert chain.entries() == ()
