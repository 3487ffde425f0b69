"""The cards of the extension's mechanisms on the Mechanism page."""

from __future__ import annotations

from dpsynth_core.web.shell import document
from tests.app.demo_project import open_page, project, sealed, words


def test_a_group_of_which_nothing_fits_says_so() -> None:
    app = open_page("mechanism", project()).button(key="change_mechanism").click().run()
    assert "None of" not in words(app)
    app = app.button_group(key="mechanism_wanted").set_value("research").run()
    assert "None of" in words(app)


def test_the_cards_say_which_mechanisms_take_thresholds() -> None:
    app = open_page("mechanism", project(workload={"kind": "all", "k": 2, "threshold": 1})).button(key="change_mechanism").click().run()
    app = app.button_group(key="mechanism_wanted").set_value("research").run()
    assert not app.button(key="choose_mwem").disabled


def test_the_recommended_mechanism_is_the_chosen_one_until_somebody_chooses_another() -> None:
    place = project(mechanism=document.new()["mechanism"], workload={"kind": "all", "k": 2}, budget={"epsilon": 10.0, "delta": 1e-9})
    app = open_page("mechanism", place)
    taken = sealed(place).mechanism.name
    assert taken != document.new()["mechanism"]["name"]  # else this plan shows nothing
    assert "We would choose" not in words(app)
    app.button(key="change_mechanism").click().run()
    app.button(key="choose_aim").click().run()
    assert sealed(place).mechanism.name == "aim"
    assert "We would choose" in words(open_page("mechanism", place))
    assert sealed(place).mechanism.name == "aim"
