"""The page Workload takes named analyses and checks them, and the page Results has a light for each."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.extensions.intervals import named
from dpsynth_core.sources import demo
from dpsynth_core.web.shell import document
from tests.app.demo_project import COLUMNS, draft, field, finished_run, open_page, project, stored, words

AIM = {"name": "aim", "settings": {}}
NAMED = ['difference(age, sex == "male")', "age ~ sex"]


def entered(place: str, text: str) -> AppTest:
    return field(open_page("workload", place), "text_area", "Analyses").set_value(text).run()


def test_named_analyses_are_stored_and_their_tables_are_asked_for() -> None:
    place = project(mechanism=AIM, workload={"kind": "all", "k": 1})
    app = entered(place, "\n".join(["", *NAMED, NAMED[0], " "]))
    assert not app.exception
    assert stored(place)["extensions"] == {"analysis": NAMED}
    assert document.workload(stored(place)).first == (("age", "sex"),)
    assert words(app).count("needs age × sex") == 2
    assert not field(app, "button", "Continue").disabled


@pytest.mark.parametrize(
    ("text", "saying"),
    [
        ("mean(", "a column is missing"),
        ("mean(height)", "is not a column of the domain"),
        ('mean(age | sex == "other people")', "use one of"),
        ("mean(sex)", "holds no numbers"),
    ],
)
def test_a_wrong_analysis_has_a_remedy_and_stops_the_wizard(text: str, saying: str) -> None:
    place = project(mechanism=AIM)
    app = entered(place, text)
    assert saying in words(app)
    assert field(app, "button", "Continue").disabled
    app = field(app, "text_area", "Analyses").set_value("").run()
    assert "extensions" not in stored(place)
    assert not field(app, "button", "Continue").disabled


def test_a_mechanism_that_measures_no_tables_first_is_named() -> None:
    app = entered(project(), NAMED[0])
    assert "Independent does not measure the tables of named analyses before others" in words(app)


def test_examples_are_analyses_of_the_domain() -> None:
    place = project(mechanism=AIM)
    domain = demo.demo_domain().keep(COLUMNS)
    app = open_page("workload", place)
    for number, texts in enumerate(named.examples(domain).values()):
        assert all(named.rests_on(text, domain) for text in texts)
        app = app.button(key=f"example_analysis_{number}").click().run()
    assert stored(place)["extensions"]["analysis"] == [text for texts in named.examples(domain).values() for text in texts]
    assert 'mean(age | sex == "female")' in stored(place)["extensions"]["analysis"]


def test_budget_shows_how_wide_the_intervals_will_be() -> None:
    place = project(mechanism=AIM, extensions={"analysis": NAMED})
    table = next(one.value for one in open_page("budget", place).dataframe if "width" in one.value)
    assert list(table["analysis"]) == NAMED
    assert all(float(width) > 1 for width in table["width"])
    unknown = draft(mechanism=AIM, extensions={"analysis": NAMED})
    unknown["wizard"]["people"] = None
    assert "State the approximate number of people" in words(open_page("budget", project(**unknown)))
    assert not [one for one in open_page("budget", project()).expander if one.label.startswith("Expected intervals")]


def test_results_have_a_light_for_each_named_analysis() -> None:
    fields: dict[str, Any] = {"extensions": {"analysis": NAMED}, "output": {"rows": 2000, "seed": None}}
    place = project(mechanism=AIM, **fields)
    assert finished_run(place).state == "done"
    app = open_page("results", place)
    assert not app.exception
    assert words(app).count("passes") == 2
    table = app.dataframe[-1].value
    assert list(table["analysis"]) == [NAMED[0], NAMED[1], NAMED[1]]
    assert (table["from"] < table["estimate"]).all()
    assert (table["interval"] == "holds").all()


def test_results_without_named_analyses_have_no_light() -> None:
    place = project()
    assert finished_run(place).state == "done"
    assert "Analyses named before the run" not in words(open_page("results", place))
    assert "extensions" not in draft()
