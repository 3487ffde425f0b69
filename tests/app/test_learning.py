"""Learning values as a step of its own: what was found is shown and taken, and what went wrong is mended before the release is planned."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.store import balance, dispatch, projects, runs, worker
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.domain import domain_table, draft_rows
from dpsynth_core.web.run import launch
from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.session import Current
from tests.app.demo_project import field, open_page, stored
from tests.app.test_preparation_pages import can_continue, first_visit


@pytest.fixture
def learnt() -> str:
    """A project whose three columns were learnt: grades, scores that no two people share, and an income in words, taken for a number."""
    rng = np.random.default_rng(1)
    lines = [f"{rng.choice(list('abc'))},{rng.integers(0, 3_000)},over {rng.integers(1, 4)}0000" for _ in range(6_000)]
    app = first_visit("people.csv", ("grade,score,income\n" + "\n".join(lines)).encode())
    field(app, "text_input", ":population").set_value("P").run()
    app.button(key="next_data").click().run()
    _learn({"grade": "categorical", "score": "categorical", "income": "numeric"}, 3.0)
    return projects.list(LOCAL_OWNER)[0].id


def _learn(kinds: dict[str, str], epsilon: float) -> None:
    place = projects.list(LOCAL_OWNER)[0]
    draft = dict(place.draft)
    rows = domain_table.to_learn(draft_rows.of(draft), kinds)
    unknown = [one for one in domain_table.measured(rows) if one.most]
    with patch.object(dispatch, "launch_worker", lambda job: worker.work(dispatch.claim(job))):
        launch.submit_learning(Current(LOCAL_OWNER, place.id, "Trial", draft), unknown, epsilon, [])
    draft["wizard"]["rows"] = [one.to_json() for one in domain_table.of_kinds(draft_rows.of(draft), kinds)]
    projects.save(LOCAL_OWNER, place.id, draft)


def _open() -> list[str]:
    return [row.name for row in draft_rows.of(stored()) if domain_table.is_open(row)]


def test_what_was_learnt_is_in_the_plan_and_what_was_not_stays_open(learnt: str) -> None:
    app = open_page("domain", learnt)
    assert not can_continue(app, "domain")
    rows = {row.name: row for row in draft_rows.of(stored())}
    assert rows["grade"].categories == ["a", "b", "c"]
    assert rows["grade"].origin == "learnt"
    assert document.people(stored()) == 6_000
    assert _open() == ["score", "income"]
    assert "use_learnt" not in [one.key for one in app.button]


def test_values_are_taken_once_and_what_is_changed_afterwards_stays(learnt: str) -> None:
    open_page("domain", learnt)
    draft = stored()
    emptied = [row.changed(categories=[], origin="") if row.name == "grade" else row for row in draft_rows.of(draft)]
    draft["wizard"]["rows"] = [row.to_json() for row in emptied]
    projects.save(LOCAL_OWNER, learnt, draft)
    app = open_page("domain", learnt)
    assert "grade" in _open()
    app.button(key="use_learnt").click().run()
    assert "grade" not in _open()


def test_a_column_of_the_wrong_kind_is_learnt_again_alone(learnt: str) -> None:
    app = open_page("domain", learnt)
    app.button(key="Learn as numbers_score").click().run()
    app.button(key="Learn as categories_income").click().run()
    again = {row.name: row.kind for row in draft_rows.of(stored()) if domain_table.is_open(row)}
    assert again == {"score": "numeric", "income": "categorical"}
    _learn(again, 3.0)
    newest = runs.list(LOCAL_OWNER, learnt)[0]
    assert [one["name"] for one in newest.spec.domain["attributes"]] == ["score", "income"]
    app = open_page("domain", learnt)
    assert _open() == []
    assert can_continue(app, "domain")  # without a comparison, whose answer is known with noise
    assert not document.domain(stored()).unknown
    assert stored()["domain_origin"] == "learnt"


def test_all_proposals_are_taken_by_one_button_which_asks_for_the_charge(learnt: str) -> None:
    app = open_page("domain", learnt)
    assert any("learn ` income ` again as categories; learn ` score ` again as numbers" in one.value for one in app.markdown)
    app.button(key="take_proposals").click().run()
    again = {row.name: row.kind for row in draft_rows.of(stored()) if domain_table.is_open(row)}
    assert again == {"score": "numeric", "income": "categorical"}
    assert any(one.label == "Learning spends" for one in app.metric)
    assert len(runs.list(LOCAL_OWNER, learnt)) == 1, "nothing is spent before it is confirmed"


def test_a_kind_that_was_tried_is_not_proposed_again(learnt: str) -> None:
    """Nor is a column learnt for a third time: after numbers and categories, it is to be left out."""
    open_page("domain", learnt)  # takes what the first run learnt
    _learn({"income": "categorical", "score": "numeric"}, 0.01)
    app = open_page("domain", learnt)
    assert any("leave out ` score `, ` income `" in one.value for one in app.markdown)
    app.button(key="take_proposals").click().run()
    assert _open() == []
    assert not any(one.label == "Learning spends" for one in app.metric)


def test_learning_is_charged_by_itself_and_is_not_the_release(learnt: str) -> None:
    assert balance.spent("P").epsilon == pytest.approx(3.0, rel=0.01)
    (run,) = runs.list(LOCAL_OWNER, learnt)
    assert run.only_learns
    app = open_page("results", learnt)
    assert "mechanism" not in [one.key for one in app.button if str(one.key).startswith("results")]
    assert app.info  # no release was made yet


def test_a_column_can_be_left_out_instead(learnt: str) -> None:
    app = open_page("domain", learnt)
    app.button(key="Leave out_income").click().run()
    assert "income" not in _open()


def test_what_was_learnt_of_another_table_is_not_offered(learnt: str) -> None:
    draft = stored()
    draft["population"] = "Other people"
    projects.save(LOCAL_OWNER, learnt, draft)
    app = open_page("domain", learnt)
    assert "use_learnt" not in [one.key for one in app.button]
    assert "grade" in _open()


def _all_learnt(learnt: str) -> AppTest:
    """The Domain page, where the one column that was learnt is the only one in use."""
    app = open_page("domain", learnt)
    for name in ("score", "income"):
        app.button(key=f"Leave out_{name}").click().run()
    return app


@pytest.mark.parametrize(("population", "asked", "said"), [("P", False, "was not checked"), ("New", True, "the ledger has no release")])
def test_a_domain_that_says_it_was_learnt_is_checked_against_the_ledger(learnt: str, population: str, asked: bool, said: str) -> None:
    """In another project, whose runs learnt nothing."""
    _all_learnt(learnt)
    app = open_page("domain", projects.create(LOCAL_OWNER, "Another", stored() | {"population": population}).id)
    assert any(said in one.value for one in app.caption)
    assert can_continue(app, "domain") is not asked


def test_values_that_a_run_of_the_project_learnt_need_no_comparison(learnt: str) -> None:
    app = _all_learnt(learnt)
    assert any("You need no comparison" in one.value for one in app.caption)
    assert can_continue(app, "domain")
