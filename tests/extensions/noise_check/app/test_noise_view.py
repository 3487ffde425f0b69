"""The check on Budget, and the size of the noise on Results: nothing is read until the curator asks, and asking counts as a look."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpsynth_core.extensions.noise_check.statement import as_charged
from dpsynth_core.extensions.noise_check.view import ASKED, HELP, PRICE, SWITCH, TITLE
from dpsynth_core.store import recorded_views, runs
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import curator
from tests.app.demo_project import draft, finished_run, hostile_project, open_page, project, stored, words


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))


def test_the_ratio_is_shown_when_it_is_asked_for() -> None:
    place = project()
    assert finished_run(place).state == "done"
    app = open_page("results", place)
    assert "times what was paid for" not in words(app)
    (switch,) = [one for one in app.toggle if one.label == SWITCH]
    assert switch.help == HELP
    app = switch.set_value(True).run()
    found = re.search(r"The noise is (\d\.\d\d) times what was paid for, in [\d,]+ noisy counts", words(app))
    assert found
    assert 0.5 < float(found[1]) < 1.5
    assert TITLE in [one.label for one in app.expander]


def test_the_first_look_at_a_private_table_is_confirmed_and_recorded() -> None:
    place = hostile_project(("a", "b", "c"))
    assert finished_run(place).state == "done"
    app = open_page("results", place)
    app = app.toggle(key="noise_curator").set_value(True).run()
    assert curator.FIRST_LOOK in words(app)
    assert "times what was paid for" not in words(app)
    assert recorded_views.of(LOCAL_OWNER, place) == ()
    app = next(one for one in app.button if one.label == "Show them").click().run()
    assert recorded_views.of(LOCAL_OWNER, place) == ("truth",)
    assert "times what was paid for" in words(app)


def test_the_check_is_asked_for_on_budget_and_its_answer_is_in_the_release() -> None:
    place = project()
    app = open_page("budget", place)
    assert PRICE in words(app)
    app = next(one for one in app.checkbox if one.label == ASKED).check().run()
    assert stored(place)["extensions"] == {"noise": 1}
    assert "To mend it" not in words(app)
    run = finished_run(place)
    assert run.state == "done"
    assert run.spec.extensions == {"noise": 1}
    assert as_charged(runs.release(LOCAL_OWNER, run.id)) is True
    app = next(one for one in open_page("budget", place).checkbox if one.label == ASKED).uncheck().run()
    assert "extensions" not in stored(place)


def test_budget_says_why_a_plan_cannot_have_the_check() -> None:
    place = project(budget={**draft()["budget"], "epsilon": 50.0})
    app = next(one for one in open_page("budget", place).checkbox if one.label == ASKED).check().run()
    assert "epsilon is too large for the check" in words(app)


def test_the_box_keeps_what_other_extensions_are_asked_for() -> None:
    place = project(extensions={"another": 1})
    app = next(one for one in open_page("budget", place).checkbox if one.label == ASKED).check().run()
    assert stored(place)["extensions"] == {"another": 1, "noise": 1}
    next(one for one in app.checkbox if one.label == ASKED).uncheck().run()
    assert stored(place)["extensions"] == {"another": 1}
