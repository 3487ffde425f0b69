"""A schedule on the page Budget: it is planned, used for the draft, and becomes the population's limit."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from dpsynth_core.store import balance
from tests.app.demo_project import open_page, project, stored, words


def opened() -> AppTest:
    app = open_page("budget", project())
    assert not [one for one in app.selectbox if one.key == "schedule_every"]  # closed at first
    app.session_state["schedule"] = True
    return app.run()


def test_a_schedule_is_planned_used_and_set_as_the_limit() -> None:
    app = opened()
    assert not app.exception
    assert "4 releases in 1 year" in words(app)
    app.number_input(key="schedule_years").set_value(2).run()
    assert "8 releases in 2 years" in words(app)
    assert any("Expected error" in table.value for table in app.dataframe)
    app.button(key="schedule_use").click().run()
    assert 0.48 < stored()["budget"]["epsilon"] < 0.49
    next(one for one in app.button if one.label.startswith("Set the limit to")).click().run()
    assert not app.exception
    assert 1.4 < balance.spent("Invented people").cap_epsilon < 1.5
    assert "enough for the schedule" in words(app)
    assert not [one for one in app.button if one.label.startswith("Set the limit to")]


def test_a_changed_limit_needs_a_reason_and_a_wrong_epsilon_is_named() -> None:
    app = opened()
    next(one for one in app.button if one.label.startswith("Set the limit to")).click().run()
    app.text_input(key="schedule_epsilon").set_value("2").run()
    next(one for one in app.button if one.label.startswith("Set the limit to")).click().run()
    assert "write why the cap changes" in words(app).lower()
    app.text_input(key="schedule_reason").set_value("Two more years are planned for the register.")
    next(one for one in app.button if one.label.startswith("Set the limit to")).click().run()
    assert balance.spent("Invented people").cap_epsilon == 2.0
    app.text_input(key="schedule_epsilon").set_value("much").run()
    assert "“much” is not a number" in words(app)
