"""Rows of a person in order through the pages: asked for on Data and Domain, and the plan is that of the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core import cli
from dpsynth_core.release import synthesis
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.data import project_table
from dpsynth_core.web.shell import document
from tests.additions import listed
from tests.app.demo_project import field, finished_run, open_page, stored, words
from tests.app.test_preparation_pages import can_continue, first_visit
from tests.extensions.sequences.stays import MOST, files, of_one, of_two


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    files(tmp_path, 200)
    return tmp_path


def chosen(folder: Path, *, two: bool = False) -> str:
    """A project over the table, or the two tables, whose step Data is open."""
    draft = document.new() | {"population": "patients"}
    draft["budget"]["epsilon"] = 4.0
    project_table.adopt(draft, project_table.from_path(str(folder / ("persons.csv" if two else "stays.csv")), True))
    if two:
        project_table.link(draft, project_table.from_path(str(folder / "rows.csv"), True))
    draft["unit"].update(person_column="patient", max_rows_per_person=MOST)
    draft["wizard"] |= {"passed": ["data", "domain", "workload", "budget"], "people": 200, "comparison": "declined", "several": not two}
    return projects.create(LOCAL_OWNER, "Stays", draft).id


def ticked(place: str) -> AppTest:
    """The page Data, once the order was asked for."""
    app = open_page("data", place)
    return field(app, "checkbox", "order_tick").set_value(True).run()


def codebook(app: AppTest, path: Path) -> AppTest:
    return field(app, "file_uploader", "Domain JSON").set_value((path.name, path.read_bytes(), "application/json")).run()


def described(place: str, folder: Path, *books: str) -> AppTest:
    """The page Domain with the time since the row before and the values of codebooks."""
    app = open_page("domain", place)
    app = field(app, "checkbox", "gap_tick").set_value(True).run()
    field(app, "text_input", ":gap").set_value("days_before").run()
    for book in books:
        app = codebook(open_page("domain", place), folder / book)
    return app


def sealed(folder: Path, out: str) -> dict[str, Any]:
    """The spec of a release that the command line made."""
    return dict(json.loads((folder / out / "release.json").read_text())["spec"])


def same(place: str, spec: dict[str, Any]) -> None:
    """The plan of the project says of tables, columns, unit, workload, mechanism and extensions what a spec says."""
    mine = document.plan(document.completed(stored(place)), "Stays").spec.model_dump(mode="json")
    for name in ("unit", "workload", "mechanism", "extensions"):
        assert mine[name] == spec[name], name
    assert [one["name"] for one in mine["domain"]["attributes"]] == [one["name"] for one in spec["domain"]["attributes"]]
    assert mine["domain"]["attributes"] == spec["domain"]["attributes"]
    assert mine["members"]["domain"]["attributes"] == spec["members"]["domain"]["attributes"]
    assert mine["members"].get("rules", []) == spec["members"].get("rules", [])
    assert Path(mine["members"]["path"]).name == spec["members"]["path"]


def test_one_file_is_planned_as_on_the_command_line(home: Path) -> None:
    place = chosen(home)
    app = ticked(place)
    assert document.stated(stored(place)) == {"order": ["file order"]}  # no name of a column speaks of a date
    app = field(app, "selectbox", ":order").set_value("admitted").run()
    assert can_continue(app, "data"), words(app)
    app = described(place, home, "whole.json")
    assert not can_continue(app, "domain")
    assert "the same in all rows" in words(app)
    app = app.button(key="constant_usual").click().run()
    assert document.stated(stored(place))["constant"] == ["sex", "born"]
    assert can_continue(app, "domain"), words(app)
    assert cli.main(of_one(home)) == 0
    same(place, sealed(home, "out"))


def test_two_files_are_planned_as_on_the_command_line(home: Path) -> None:
    place = chosen(home, two=True)
    app = ticked(place)
    field(app, "selectbox", ":order").set_value("admitted").run()
    app = described(place, home, "persons.json", "rows.json")
    assert not [one for one in app.multiselect if one.key and "constant" in one.key]  # the first file has what is constant
    assert can_continue(app, "domain"), words(app)
    assert cli.main(of_two(home, "--gap", "days_before", out="two")) == 0
    same(place, sealed(home, "two"))


def complete(folder: Path) -> str:
    """A project over one file whose steps are all complete."""
    place = chosen(folder)
    field(ticked(place), "selectbox", ":order").set_value("admitted").run()
    described(place, folder, "whole.json").button(key="constant_usual").click().run()
    return place


def test_nothing_is_asked_where_no_person_column_is_chosen(home: Path) -> None:
    place = chosen(home)
    draft = stored(place)
    projects.save(LOCAL_OWNER, place, {**draft, "unit": draft["unit"] | {"person_column": None}})
    assert not [one for one in open_page("data", place).checkbox if "order_tick" in str(one.key)]


@pytest.mark.parametrize(("most", "remedy"), [("1", "from 2 to 10"), ("11", "from 2 to 10")])
def test_a_number_of_rows_that_has_no_order_stops_the_page(home: Path, most: str, remedy: str) -> None:
    place = chosen(home)
    ticked(place)
    app = field(open_page("data", place), "text_input", ":unit.max_rows_per_person").set_value(most).run()
    assert not can_continue(app, "data")
    assert remedy in words(app)


def test_another_table_without_the_column_of_the_order_stops_the_page(home: Path) -> None:
    place = chosen(home)
    field(ticked(place), "selectbox", ":order").set_value("admitted").run()
    draft = document.completed(stored(place))
    project_table.adopt(draft, project_table.from_path(str(home / "persons.csv"), True))
    projects.save(LOCAL_OWNER, place, draft)
    app = open_page("data", place)
    assert not can_continue(app, "data")
    assert "has no such column" in words(app)


def test_the_time_since_the_row_before_needs_a_name_of_its_own(home: Path) -> None:
    place = chosen(home)
    field(ticked(place), "selectbox", ":order").set_value("admitted").run()
    app = field(open_page("domain", place), "checkbox", "gap_tick").set_value(True).run()
    app = field(app, "text_input", ":gap").set_value("alive").run()
    assert "the table has a column of this name" in words(app)
    assert document.stated(stored(place))["gap"] == ["admitted_before"]


def test_who_unticks_the_order_has_one_table_again(home: Path) -> None:
    place = complete(home)
    assert document.plan(document.completed(stored(place)), "x").link is not None
    field(open_page("data", place), "checkbox", "order_tick").set_value(False).run()
    assert "extensions" not in stored(place)
    assert not document.is_linked(stored(place))
    assert "days_before" not in document.every_column(document.completed(stored(place)))


def test_rules_may_name_the_last_row_and_the_row_before(home: Path) -> None:
    place = complete(home)
    app = open_page("domain", place)
    next(one for one in app.selectbox if one.label == "If").set_value("last row").run()
    next(one for one in app.selectbox if one.label == "then").set_value("alive").run()
    app = next(one for one in app.multiselect if ":zeros:if:last row" in one.key).set_value(["no"]).run()
    app = next(one for one in app.multiselect if ":zeros:then:alive" in one.key).set_value(["no"]).run()
    app = app.button(key="zeros_add").click().run()
    plan = document.plan(document.completed(stored(place)), "x")
    assert plan.spec.members is not None
    assert {"never": {"last row": ["no"], "alive": ["no"]}} in plan.spec.members.rules
    assert can_continue(app, "domain"), words(app)


def test_five_kinds_of_tables_are_told_by_plain_names(home: Path) -> None:
    app = open_page("workload", complete(home))
    for kind in ("Of persons", "Of rows", "Person and row", "A row and the row before", "Number of rows"):
        assert kind in words(app)
    assert "household" not in words(app)
    assert can_continue(app, "workload")


def test_the_invented_hospital_goes_from_one_click_to_a_plan_that_protects_nobody() -> None:
    app = first_visit()
    app.button(key="use_demo-stays").click().run()
    assert app.title[0].value == "Domain"
    for page, following in (("domain", "Workload"), ("workload", "Budget"), ("budget", "Mechanism")):
        assert can_continue(app, page), words(app)
        app.button(key=f"next_{page}").click().run()
        assert app.title[0].value == following
    plan = document.plan(stored(), "x")
    assert plan.mechanism.card.name == "sequences"
    assert not plan.spec.protects
    synthesis.plan(plan.spec)
    app = open_page("data", projects.list(LOCAL_OWNER)[0].id)
    field(app, "toggle", ":preview").set_value(True).run()
    assert next(iter(app.dataframe[0].value.columns)) == "patient"
    app.button(key="remove_table").click().run()
    assert "extensions" not in stored()
    assert stored()["unit"] == document.new()["unit"]


def test_results_show_transitions_and_offer_the_table_like_the_one_given(home: Path) -> None:
    place = complete(home)
    assert finished_run(place).state == "done"
    app = open_page("results", place)
    assert "What follows what?" in [one.value for one in app.subheader]
    assert "is the same in the next row" in words(app)
    for view in ("columns", "pairs", "rows", "downloads", "about"):
        app = open_page("results", place, view=view)
        if view == "rows":
            assert app.button_group(key="results_table").options == ["Persons", "Rows in order"]
    assert "All rows as one table" in words(open_page("results", place, view="downloads"))


@pytest.mark.parametrize("page", ["budget", "mechanism", "compare", *listed("PAGES")])
def test_every_page_of_the_plan_is_drawn_without_words_of_households(home: Path, page: str) -> None:
    app = open_page(page, complete(home))
    assert "household" not in words(app).lower()
