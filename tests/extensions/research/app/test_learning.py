"""Certified learning in the app: words and columns as parameters, what stands in the way, the rule on the Results page."""

from __future__ import annotations

from typing import Any

import pytest

from dpsynth_core.store import projects, runs
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import document
from tests.app.demo_project import draft, every_card, finished_run, open_page, project, words

HALVES: dict[str, Any] = {
    "version": 1,
    "attributes": [
        {"name": "sex", "kind": "categorical", "categories": ["female", "male"], "other": False, "missing": False},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 2, "other": False, "missing": False},
        {"name": "health", "kind": "categorical", "categories": ["good"], "other": True, "missing": False},
    ],
}


def learning(**given: Any) -> str:
    return project(domain=HALVES, workload={"kind": "all", "k": 2}, mechanism={"name": "learn", "settings": given})


def chosen(place: str) -> dict[str, Any]:
    return document.plan(projects.load(LOCAL_OWNER, place).draft, "Trial").settings


@pytest.mark.parametrize(("name", "wanted"), [("rule", "parity"), ("target", "age"), ("learner", "exponential"), ("oracle", "cp-sat")])
def test_words_and_columns_reach_the_sealed_plan(name: str, wanted: str) -> None:
    place = learning()
    page = open_page("mechanism", place)
    next(box for box in page.selectbox if box.key.endswith(f"mechanism.settings.{name}")).select(wanted).run()
    assert chosen(place)[name] == wanted


def test_the_card_says_what_stands_in_the_way() -> None:
    text = words(open_page("mechanism", learning(learner="prsma")))
    assert "PRSMA is proved" in text
    assert "rules are" in every_card(project(**draft()))


def test_the_cards_explain_what_a_proof_is_for_where_learning_is_chosen() -> None:
    for place, explained in ((learning(), True), (project(**draft()), False)):
        text = words(open_page("mechanism", place))
        assert ("*certifiable*" in text) == explained
        assert ("**robust**" in text) == explained


def test_the_rule_is_told_on_the_results_page() -> None:
    place = learning(target="health")
    run = finished_run(place)
    assert run.state == "done", run.error
    page = open_page("results", place)
    text = words(page)
    assert "What was learnt" in text
    assert "Predict that health is" in text
    assert "no rows" in text


def test_a_plan_that_cannot_run_spends_nothing() -> None:
    place = learning(learner="prsma")
    assert next(b for b in open_page("mechanism", place).button if "Lock the plan" in b.label).disabled
    assert runs.list(LOCAL_OWNER) == ()
