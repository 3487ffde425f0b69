"""A median and a coefficient are asked for on the Budget page."""

from __future__ import annotations

from dpsynth_core.sources import demo
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import field, open_page, project, stored
from tests.app.test_criteria import captions


def test_a_median_is_asked_for_on_the_page() -> None:
    place = project()
    app = open_page("budget", place)
    app.button(key=f"{place}:criterion_add").click().run()
    field(app, "selectbox", ":kind").set_value("quantile").run()
    field(app, "selectbox", "Column").set_value("age").run()
    field(app, "number_input", "Off by at most").set_value(25.0).run()
    assert "median of age" in captions(app)
    field(app, "number_input", "Share of people below it").set_value(90.0).run()
    assert "90% quantile" in captions(app)
    assert stored(place)["criteria"] == [{"kind": "quantile", "importance": "must", "tolerance": 25.0, "column": "age", "p": 0.9}]
    field(app, "number_input", "Off by at most").set_value(0.5).run()
    assert "any bin" in captions(app)
    assert app.button(key="next_budget").disabled


def test_a_coefficient_is_asked_for_on_the_page() -> None:
    domain = demo.demo_domain().keep(("age", "sex", "income", "health", "household_size"))
    place = project(domain=domain.to_json(), criteria=[{"kind": "mean", "column": "age", "tolerance": 1.0}])
    kept = stored(place)
    kept["wizard"]["columns"] = list(domain.names)
    projects.save(LOCAL_OWNER, place, kept)
    app = open_page("budget", place)
    field(app, "selectbox", ":kind").set_value("regression-sign").run()
    assert not [one for one in app.number_input if one.label.startswith("Off by")]
    field(app, "selectbox", "Column that depends").set_value("income").run()
    field(app, "selectbox", "On the column").set_value("age").run()
    assert stored(place)["criteria"] == [{"kind": "regression-sign", "outcome": "income", "on": "age"}]
    assert "income on it," in captions(app)
    field(app, "multiselect", "Adjusted for").set_value(["household_size"]).run()
    assert stored(place)["criteria"][0]["adjusted_for"] == ["household_size"]
    assert "household_size" in captions(app)
    field(app, "multiselect", "Adjusted for").set_value([]).run()
    assert "adjusted_for" not in stored(place)["criteria"][0]
