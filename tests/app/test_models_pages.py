"""Columns to predict: chosen on the Budget page, priced there, refused where they cannot be, and shown on Results."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.claims.models import training_time
from dpsynth_core.evaluation.beside_real import BesideReal
from dpsynth_core.planning.spec import DataSpec
from dpsynth_core.store import projects, recorded_views
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.results import claims_view
from dpsynth_core.web.shell import document
from tests.app.demo_project import draft, field, finished_run, open_page, project, stored, words
from tests.app.test_preparation_pages import can_continue, stages

AGE = {"column": "age", "tolerance": 5.0}


def near(app: AppTest) -> Any:
    return next(one for one in app.number_input if "right within" in one.label)


def test_columns_are_chosen_priced_and_part_of_the_plan() -> None:
    one = project(workload={"kind": "target", "column": "health", "k": 2})
    app = open_page("budget", one)
    before = stages(app)
    app.button(key="predict_target").click().run()
    assert stored()["models"] == [{"column": "health"}]
    assert stages(app) == pytest.approx({**before, "single columns": 0.8, "models": 0.02})
    assert "how often models of" in words(app)
    assert "% of the people" in words(app)
    field(app, "multiselect", ":models").set_value(["health", "age"]).run()
    near(app).set_value(5.0).run()
    field(app, "button_group", "Share of the budget for models").set_value(0.1).run()
    spec = document.spec(stored(), "Trial")
    assert [(model.column, model.tolerance) for model in spec.models] == [("health", None), ("age", 5.0)]
    assert spec.budget.share("models") == 0.1
    field(app, "multiselect", ":models").set_value([]).run()
    assert document.plan(stored(), "Trial").shares == document.plan(draft(workload=spec.workload), "Trial").shares


@pytest.mark.parametrize(
    ("models", "words_of"),
    [([{"column": "gone"}], "no column"), ([{"column": "sex", "tolerance": 1.0}], "is not a number"), ([{"column": "sex"}], "people")],
    ids=["a column that was dropped", "a tolerance of what is not a number", "nothing wrong"],
)
def test_what_cannot_be_predicted_stops_continue_and_can_be_taken_away(models: list[dict[str, Any]], words_of: str) -> None:
    app = open_page("budget", project(models=models))
    assert can_continue(app, "budget") == (models == [{"column": "sex"}])
    assert words_of in words(app)
    field(app, "multiselect", ":models").set_value([]).run()
    assert can_continue(app, "budget")


def test_a_mechanism_without_rows_is_refused_and_another_can_be_chosen() -> None:
    app = open_page("mechanism", project(models=[{"column": "sex"}], mechanism={"name": "gaussian", "settings": {}}))
    assert "makes no rows" in words(app) + app.error[0].value
    without = open_page("mechanism", project(mechanism={"name": "gaussian", "settings": {}}))
    assert {button.label for button in without.button} - {button.label for button in app.button} == {"Lock the plan and run it…"}


@pytest.mark.parametrize("rows", [1, 3])
def test_what_is_held_out_are_records_and_their_people_may_be_known(rows: int) -> None:
    nobody = pd.DataFrame()
    said = claims_view.held_out(BesideReal(100, 90, nobody, nobody, nobody), rows)
    assert said.startswith("100 records were held out; the models of real rows were trained on 90 others")
    assert ("may be of the same people" in said) == ("± 10.0% or more" in said) == (rows > 1)


def test_results_show_what_models_are_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_time, "ROUNDS", 10)
    hostile = "**bold** :smile: $x$"
    domain = draft()["domain"]
    domain["attributes"][1]["categories"] = ["female", hostile]
    place = project(models=[{"column": "sex"}, AGE], domain=domain, data={"kind": "standin", "standin": {"rows": 400}, "path": ""})
    assert finished_run(place).state == "done"
    app = open_page("results", place)
    text = words(app)
    assert "What is a model worth" in text
    assert hostile not in text
    labels = [metric.label for metric in app.metric]
    assert {"gradient boosting", "logistic regression", "linear regression"} <= {label.replace("\\", "") for label in labels}


def test_models_of_real_rows_are_shown_only_after_a_button_and_are_kept_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_time, "ROUNDS", 10)
    table = pd.DataFrame({"sex": ["f", "m"] * 100, "job": ["a", "b", "b", "a"] * 50})
    listed = {"kind": "categorical", "other": False, "missing": False}
    attributes = [{"name": "sex", "categories": ["f", "m"], **listed}, {"name": "job", "categories": ["a", "b"], **listed}]
    fields = {"domain": {"version": 1, "attributes": attributes}, "models": [{"column": "sex"}]}
    place = project(**fields)
    path = projects.upload(LOCAL_OWNER, place, "people.csv", io.BytesIO(table.to_csv(index=False).encode()))
    kept = draft(**fields, data={"path": str(path), "kind": "csv"})
    kept["wizard"] |= {"columns": ["sex", "job"], "source": "upload", "label": "people"}
    projects.save(LOCAL_OWNER, place, kept)
    assert finished_run(place).state == "done"
    app = open_page("results", place)
    assert "Trained on real rows" not in [metric.label for metric in app.metric]
    assert "truth" not in recorded_views.of(LOCAL_OWNER, place)
    app.button(key="real_models").click().run()
    assert [metric.label for metric in app.metric].count("Trained on real rows") == 2
    assert "truth" in recorded_views.of(LOCAL_OWNER, place)
    assert "records were held out" in words(app)
    app.run()
    assert "Trained on real rows" not in [metric.label for metric in app.metric]


def test_where_no_record_is_at_hand_it_is_said_why() -> None:
    assert "on a cluster" in claims_view.obstacle(DataSpec(path="people.csv").model_copy(update={"engine": "another"}))
    assert claims_view.obstacle(DataSpec(path="people.csv")) == ""
