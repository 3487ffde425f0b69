"""Criteria on the Budget page: added, changed and removed; what is stored is what is sealed, and its price is told before."""

from __future__ import annotations

import re

from streamlit.testing.v1 import AppTest

from dpsynth_core.planning.plan import Plan
from dpsynth_core.store import runs
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import document
from tests.app.demo_project import field, finished_run, open_page, project, stored


def captions(app: AppTest) -> str:
    """All of them, without the marks that make texts harmless."""
    return re.sub("[\u2060\\\\]", "", " ".join(element.value for element in (*app.caption, *app.markdown)))


def test_criteria_are_edited_on_the_budget_page_and_sealed_as_they_stand_there() -> None:
    place = project()
    app = open_page("budget", place)
    assert document.shares(stored(place)).of("criteria") == 0
    app.button(key=f"{place}:criterion_add").click().run()
    assert stored(place)["criteria"] == [{"kind": "tables", "importance": "must", "limit": 0.1}]
    assert "within 10.0%" in captions(app)
    assert "uncertain by" in captions(app)
    app.button(key=f"{place}:criterion_add").click().run()
    field(app, "selectbox", ":kind").set_value("share").run()
    assert captions(app).count("it does not say which columns; name one or more") == 1  # not beside the columns to predict, too
    assert "criterion 2" in captions(app).lower()
    assert app.button(key="next_budget").disabled
    assert field(app, "radio", "Criteria").value == 1
    field(app, "multiselect", "People with").set_value(["sex"]).run()
    field(app, "multiselect", "Among").set_value(["age"]).run()
    assert stored(place)["criteria"][1]["of"] == {"sex": []}  # nothing is chosen before somebody chooses it
    assert app.button(key="next_budget").disabled
    for name, value in (("sex", "female"), ("age", "16 to 20")):
        field(app, "multiselect", name).set_value([value]).run()
    assert "is secret" in captions(app)
    field(app, "number_input", "Off by at most").set_value(3.0).run()
    assert not app.button(key="next_budget").disabled
    share = stored(place)["criteria"][1]
    assert (share["of"], share["tolerance"]) == ({"sex": ["female"]}, 0.03)
    assert list(share["among"]) == ["age"]
    plan = document.plan(stored(place), "Trial")
    assert isinstance(plan, Plan)
    assert [one.kind for one in plan.criteria] == ["tables", "share"]
    assert plan.shares.of("criteria") == document.shares(stored(place)).of("criteria") > 0
    app.button(key=f"{place}:criterion_remove").click().run()
    app.button(key=f"{place}:criterion_remove").click().run()
    assert stored(place)["criteria"] == []


def test_a_condition_of_a_kind_that_is_unknown_is_shown_and_can_be_changed_or_removed() -> None:
    """A plan that is loaded from a file may have one."""
    place = project(criteria=[{"kind": "nope"}, {"importance": "must"}])
    app = open_page("budget", place)
    assert field(app, "radio", "Criteria").options == ["1\\. Unknown \\(must\\)", "2\\. Unknown \\(must\\)"]
    assert app.button(key="next_budget").disabled
    field(app, "selectbox", ":kind").set_value("share").run()
    assert stored(place)["criteria"][0]["kind"] == "share"
    app.button(key=f"{place}:criterion_remove").click().run()
    assert stored(place)["criteria"] == [{"importance": "must"}]


def test_what_a_spec_says_in_its_own_way_is_kept_on_the_page() -> None:
    """Ranges and single values, which the page itself writes as lists of cells."""
    criteria = [{"kind": "mean", "column": "age", "among": {"age": "0..39", "sex": ["female"]}, "tolerance": 2.5, "name": "<b>young</b>"}]
    place = project(criteria=criteria)
    app = open_page("budget", place)
    assert stored(place)["criteria"] == criteria
    field(app, "number_input", "Off by at most").set_value(2.0).run()
    assert stored(place)["criteria"] == [criteria[0] | {"tolerance": 2.0}]


def test_a_release_that_fails_a_must_is_taken_away_only_with_a_reason() -> None:
    place = project(criteria=[{"kind": "tables", "limit": 0.00001}])
    run = finished_run(place)
    app = open_page("results", place)
    assert "Do not" in captions(app)
    assert "Not met" in captions(app)
    field(app, "button_group", "View").set_value("downloads").run()
    assert [link.proto.label for link in app.get("link_button")] == ["Ask a question"]
    app.button(key=f"despite_{run.id}_button").click().run()
    assert "a reason" in captions(app)
    field(app, "text_area", "Why is it published").set_value("Only the teaching of students needs it.").run()
    app.button(key=f"despite_{run.id}_button").click().run()
    assert len(app.get("link_button")) > 1
    assert runs.release(LOCAL_OWNER, run.id).despite == "Only the teaching of students needs it."


def test_a_model_is_asked_for_by_a_condition_and_paid_as_models_are() -> None:
    place = project()
    app = open_page("budget", place)
    app.button(key=f"{place}:criterion_add").click().run()
    field(app, "selectbox", ":kind").set_value("model").run()
    assert "a column" in captions(app)
    field(app, "selectbox", "Column that is guessed").set_value("sex").run()
    field(app, "number_input", "Right for at least").set_value(60.0).run()
    assert stored(place)["criteria"] == [{"kind": "model", "importance": "must", "at_least": 0.6, "column": "sex"}]
    shares = document.shares(stored(place))
    assert shares.of("criteria") == 0 < shares.of("models")
    assert "at least 60.0%" in captions(app)
    assert "models of ` sex `" in captions(app)
    assert not app.button(key="next_budget").disabled
    field(app, "selectbox", "Model").set_value("logistic regression").run()
    assert stored(place)["criteria"][0]["model"] == "logistic regression"
    field(app, "selectbox", "Column that is guessed").set_value("age").run()
    assert "a model" in captions(app)
    field(app, "selectbox", "Model").set_value("linear regression").run()
    field(app, "number_input", "A guess is right within").set_value(15.0).run()
    assert stored(place)["criteria"][0]["tolerance"] == 15.0
    assert document.plan(stored(place), "Trial").targets[0].tolerance == 15.0
