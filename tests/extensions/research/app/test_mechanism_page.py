"""The cards of the extension's mechanisms on the Mechanism page."""

from __future__ import annotations

from tests.app.demo_project import open_page, project, words


def test_a_group_of_which_nothing_fits_says_so() -> None:
    app = open_page("mechanism", project()).button(key="change_mechanism").click().run()
    assert "None of" not in words(app)
    app = app.button_group(key="mechanism_wanted").set_value("research").run()
    assert "None of" in words(app)


def test_the_cards_say_which_mechanisms_take_thresholds() -> None:
    app = open_page("mechanism", project(workload={"kind": "all", "k": 2, "threshold": 1})).button(key="change_mechanism").click().run()
    app = app.button_group(key="mechanism_wanted").set_value("research").run()
    assert not app.button(key="choose_mwem").disabled
