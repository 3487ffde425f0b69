"""What would do: each button changes the draft as it says and leads to where that is seen; it is told before spending."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.planning import alternatives
from dpsynth_core.planning.alternatives import Kind
from dpsynth_core.planning.expected_verdict import Facts, expected
from dpsynth_core.planning.plan import Plan
from dpsynth_core.sources import demo
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.mechanism import choice_view, outlook_view
from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.text import literal
from tests.app.demo_project import button, draft, finished_run, open_page, project, words

PAGES = {Kind.EPSILON: "Budget", Kind.TABLES: "Workload", Kind.GROUPS: "Domain", Kind.TOGETHER: "Workload"}


def plan(k: int, epsilon: float, people: int | None, **fields: Any) -> dict[str, Any]:
    """A draft over all columns of the simulated people, with the mechanism that is recommended."""
    domain, budget = demo.demo_domain(), {"epsilon": epsilon, "delta": 1e-9, "certificate": 0.05}
    stated = {"domain": domain.to_json(), "workload": {"kind": "all", "k": k}, "budget": budget, "mechanism": document.new()["mechanism"]}
    made = draft(**stated | fields)
    made["wizard"] |= {"columns": list(domain.names), "people": people}
    return made


def stored(place: str) -> document.Draft:
    return document.completed(projects.load(LOCAL_OWNER, place).draft)


def sealed(place: str) -> Plan:
    return document.plan(stored(place), "Trial", ())


def pressed(app: AppTest, kind: Kind) -> AppTest:
    return app.button(key=f"way_{kind}").click().run()


def title(app: AppTest) -> str:
    return str(app.title[0].value)


@pytest.mark.parametrize(
    ("kind", "k", "people"), [(Kind.EPSILON, 2, 5_000), (Kind.TABLES, 2, 5_000), (Kind.GROUPS, 2, 5_000), (Kind.TOGETHER, 2, 300)]
)
def test_each_button_makes_the_plan_that_was_told_and_leads_to_it(kind: Kind, k: int, people: int) -> None:
    place = project(**plan(k, 1.0, people))
    app = open_page("mechanism", place)
    before, facts = sealed(place), Facts(people, choice_view.among(stored(place)))
    (way,) = (one for one in alternatives.ways(before, facts) if one.kind is kind)
    assert literal(way.sentence, 500) in words(app)
    app = pressed(app, kind)
    assert title(app) == PAGES[kind]
    after = sealed(place)
    wanted = alternatives.changed(before.spec, way.changes)
    assert (after.domain.attributes, after.workload.weights) == (wanted.domain.attributes, wanted.workload.weights)
    assert after.spec.budget == wanted.spec.budget
    assert expected(after, facts) == way.power


def test_a_plan_that_should_come_out_well_has_no_such_card_and_its_button_says_nothing_more() -> None:
    app = open_page("mechanism", project(**plan(2, 1.0, 50_000)))
    assert "What would help?" not in words(app)
    assert [one.label for one in app.button if "Lock" in one.label] == ["Lock the plan and run it…"]


def test_before_spending_the_button_says_what_is_to_be_expected() -> None:
    place = project(**plan(2, 1.0, 150))
    app = open_page("mechanism", place)
    lock = button(app, "Lock the plan")
    assert lock.label == "Lock the plan and run it although none of the 66 tables should come out good enough…"
    dialog = lock.click().run()
    assert button(dialog, "Spend ε 1 although none of the 66 tables should come out good enough")


def test_without_a_number_of_people_it_is_said_from_how_many_on_rows_without_error_would_do() -> None:
    place = project(**plan(2, 1.0, None))
    app = open_page("mechanism", place)
    assert "520 people" in app.info[0].value
    dialog = button(app, "Lock the plan").click().run()
    assert button(dialog, "Spend ε 1 and run")
    assert "What would help?" not in words(open_page("mechanism", place))


@pytest.mark.parametrize(
    ("k", "epsilon", "people", "light"), [(2, 1.0, 50_000, "Green"), (2, 1.0, 5_000, "Amber"), (2, 1.0, 300, "Red"), (2, 0.1, 5_000, "Red")]
)
def test_one_light_is_the_same_on_three_pages_and_ways_stand_below_it_until_it_is_green(
    k: int, epsilon: float, people: int, light: str
) -> None:
    place, seen = project(**plan(k, epsilon, people)), set()
    for page in ("workload", "budget", "mechanism"):
        app = open_page(page, place)
        boxes = [str(box.value) for kind in ("success", "warning", "error") for box in app.get(kind)]
        (told,) = (box for box in boxes if box.startswith("**"))
        seen.add(told)
        assert ("What would help?" in words(app)) == (page != "workload" and light != "Green")
    (told,) = seen
    assert told.startswith(f"**{light}:** with about {people:,} people, ")


def test_of_very_many_tables_ways_are_worked_out_where_they_are_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    place, asked = project(**plan(2, 1.0, 333)), []
    monkeypatch.setattr(outlook_view, "_AT_ONCE", 10)
    monkeypatch.setattr(alternatives, "ways", lambda plan, _facts: asked.append(plan) or ())
    app = open_page("mechanism", place)
    assert "What would help?" in [one.label for one in app.expander]
    assert not asked
    app.session_state["would_help_False"] = True
    app.run()
    assert len(asked) == 1


def test_the_light_moves_with_epsilon_and_with_the_tables() -> None:
    place = project(**plan(2, 1.0, 5_000))
    app = open_page("budget", place)
    assert app.warning[0].value.startswith("**Amber")
    app = next(one for one in app.select_slider if one.label == "Drag ε").set_value(5.0).run()
    assert app.success[0].value.startswith("**Green")
    app = next(one for one in app.select_slider if one.label == "Drag ε").set_value(0.1).run()
    assert app.error[0].value.startswith("**Red")
    app = open_page("workload", project(**plan(2, 1.0, 5_000)))
    assert app.warning[0].value.startswith("**Amber")
    app = app.radio[0].set_value("single").run()
    assert app.success[0].value.startswith("**Green")


def test_after_do_not_publish_the_ways_go_on_from_the_released_number_of_people() -> None:
    # of pairs, one released dependence in five leaves a larger budget as a way by itself
    place = project(**plan(3, 0.02, None, mechanism={"name": "independent", "settings": {}}))
    finished_run(place)
    app = open_page("results", place)
    text = words(app)
    assert "Do not publish" in text
    assert "What would help?" in text
    assert "release counts" in text
    assert document.people(stored(place)) is None
    app = pressed(app, Kind.TOGETHER)
    people = document.people(stored(place))
    assert people is not None
    assert 45_000 < people < 55_000
    assert {len(clique) for clique in sealed(place).workload.cliques} == {1}
    assert sealed(place).spec.budget.epsilon > 0.02
    again = words(open_page("results", place))
    assert "With the present plan and Independent, about 1" in again  # the plan as it is now, of whose 12 columns most should do
    assert "of 12 single columns" in again
