"""A table of a database through the pages: chosen, described, checked, looked at and released."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.extensions.databases import connect, view
from dpsynth_core.foundation import extension, interrupts, settings
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning.spec import DataSpec
from dpsynth_core.store import balance, dispatch, fingerprints, projects, recorded_views, runs, worker
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.data import project_table
from dpsynth_core.web.results import quality_view
from dpsynth_core.web.shell import document, session
from tests.app.demo_project import draft, field, finished_run, open_page, project, stored, words
from tests.extensions.databases import database_tables
from tests.refusals import refused

DOMAIN = {
    "version": 1,
    "attributes": [
        {"name": "age", "kind": "integer", "lower": 0, "upper": 79, "width": 20, "missing": False, "other": False},
        {"name": "member", "kind": "categorical", "dtype": "bool", "categories": ["false", "true"]},
    ],
}


@pytest.fixture
def people(tmp_path: Path) -> str:
    """The path of a database with a table, a view and 600 people, of whom 75 are older than the domain says."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE people AS SELECT (i % 80 + (i % 8 = 0)::INT * 80)::INT AS age, i % 3 = 0 AS member FROM range(600) r(i)")
        made.execute("CREATE VIEW adults AS SELECT * FROM people WHERE age >= 18")
    return str(path)


@pytest.fixture
def described(people: str) -> str:
    """A project over that table, ready to run."""
    section = {"kind": "database", "path": people, "table": "people", "missing_markers": ["?"]}
    fields = draft(domain=DOMAIN, data=section, population="Members")
    fields["wizard"] |= {"source": "database", "label": "people in people.duckdb", "columns": ["age", "member"], "people": None}
    return project(**fields)


def connected(address: str) -> AppTest:
    """The Data page after Connect."""
    app = open_page("data", projects.create(LOCAL_OWNER, "Members", document.new()).id)
    field(app, "button_group", ":wizard.way").set_value("database").run()
    field(app, "text_input", "Address of a database").set_value(address).run()
    return app.button(key="connect_database").click().run()


def test_from_the_data_page_to_a_finished_release(people: str) -> None:
    app = connected(people)
    assert field(app, "selectbox", ".table").options == ["Choose a table…", "adults", "people"]
    assert view.LOG in words(app)
    field(app, "selectbox", ".table").select("people").run()
    field(app, "text_input", "Seconds").set_value("60").run()
    app.button(key="use_database").click().run()
    assert (stored()["data"]["path"], stored()["data"]["table"], stored()["data"]["timeout"]) == (people, "people", 60)
    assert stored()["wizard"]["columns"] == ["age", "member"]
    for text in ("people in people.duckdb", extension.places()["database"].unchecked):
        assert text in words(app)
    assert [toggle.label for toggle in app.toggle] == ["Show the first rows"]
    app.toggle[0].set_value(True).run()
    assert app.dataframe[0].value["age"].tolist()[:3] == ["80", "1", "2"]
    assert recorded_views.of(LOCAL_OWNER, projects.list(LOCAL_OWNER)[0].id) == ("rows",)
    field(app, "text_input", ":population").set_value("Members").run()
    app.button(key="next_data").click().run()
    rows = {row["name"]: row for row in stored()["wizard"]["rows"]}
    assert (rows["age"]["kind"], rows["member"]["categories"]) == ("integer", ["false", "true"])
    place = projects.list(LOCAL_OWNER)[0].id
    projects.save(LOCAL_OWNER, place, draft(domain=DOMAIN, population="Members", data=stored()["data"], wizard=stored()["wizard"]))
    run = finished_run(place)
    assert (run.state, run.error) == ("done", "")
    results = open_page("results", place)
    results.session_state[quality_view.EVERY_TABLE] = True
    results.run().toggle(key="results_curator").set_value(True).run()
    results.button(key=f"first_look_{run.id}").click().run()
    assert not results.error, [error.value for error in results.error]
    assert recorded_views.of(LOCAL_OWNER, place) == ("rows", "truth")


def test_a_query_is_counted_and_what_is_no_query_is_refused(people: str) -> None:
    app = connected(people)
    field(app, "button_group", "What is counted?").set_value("query").run()
    for query, problem in (
        ("", "not written a query"),
        ("DROP TABLE people", "one SELECT"),
        ("SELECT age FROM nobody", "the catalogue"),
    ):
        field(app, "text_area", "One SELECT").set_value(query).run()
        app.button(key="use_database").click().run()
        assert problem in words(app).replace("**", "")
        assert "data" not in stored()
    field(app, "text_area", "One SELECT").set_value("SELECT age AS years FROM people").run()
    app.button(key="use_database").click().run()
    assert (stored()["data"]["query"], stored()["wizard"]["columns"]) == ("SELECT age AS years FROM people", ["years"])
    assert "A query" in words(app)
    field(app, "selectbox", "marks").select((",", "")).run()
    assert stored()["data"]["decimal"] == ","
    app.button(key="remove_table").click().run()
    assert "data" not in stored()
    assert Path(people).exists()


def test_a_table_that_is_gone_and_a_timeout_that_is_no_number_are_refused(people: str) -> None:
    app = connected(people)
    field(app, "selectbox", ".table").select("adults").run()
    field(app, "text_input", "Seconds").set_value("soon").run()
    app.button(key="use_database").click().run()
    assert "cannot be used" in words(app)
    field(app, "text_input", "Seconds").set_value("").run()
    with duckdb.connect(people) as made:
        made.execute("DROP VIEW adults")
    app.button(key="use_database").click().run()
    assert "cannot be read" in words(app)
    assert "data" not in stored()


@pytest.mark.parametrize("address", ["postgresql://ann:s3cret@host/db", "postgresql://host/db?password=s3cret", "host=h password=s3cret"])
def test_a_password_in_the_address_is_refused_and_kept_nowhere(address: str) -> None:
    app = connected(address)
    assert app.error
    assert "Where the table is" in app.error[0].value
    assert field(app, "text_input", "Address of a database").value == ""
    assert "s3cret" not in words(app)
    assert "s3cret" not in str(stored())
    assert "s3cret" not in str(app.session_state._state.filtered_state)


def test_a_database_that_is_not_there_is_refused_and_its_address_can_be_corrected(tmp_path: Path) -> None:
    app = connected(str(tmp_path / "none.duckdb"))
    assert "there is no such file" in words(app)
    assert field(app, "text_input", "Address of a database").value.endswith("none.duckdb")
    assert "database" not in stored()["wizard"]


def test_only_whoever_runs_the_server_may_choose_one(people: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(view.catalogue, people, only_this_machine=False, saying="may not be opened")
    refused(view.chosen, {"address": people, "table": "people"}, only_this_machine=False, saying="may not be opened")
    with pytest.raises(InputError, match="may not be opened"):  # our own store is a database, too
        view.catalogue(str(tmp_path / "home" / "dpsynth.db"), only_this_machine=True)
    refused(view.catalogue, "people.duckdb", only_this_machine=True, saying="whole path")
    refused(project_table.from_path, people, only_this_machine=True, saying="A database")
    monkeypatch.setattr(session, "only_this_machine", lambda: False)
    app = open_page("data", projects.create(LOCAL_OWNER, "Members", document.new()).id)
    assert not [way for way in field(app, "button_group", ":wizard.way").options if "database" in str(way)]
    monkeypatch.setenv(settings.DATA_ROOTS, str(tmp_path))
    assert view.catalogue(people, only_this_machine=True) == ["adults", "people"]
    refused(view.catalogue, "postgresql://host/db", only_this_machine=True, saying="may not be opened")


def test_the_domain_page_counts_what_does_not_fit(described: str) -> None:
    app = open_page("domain", described)
    app.button(key="compare").click().run()
    assert "75 values (12.5%)" in words(app)
    assert "` 80 ` (8 ×)" in words(app)
    assert recorded_views.of(LOCAL_OWNER, described) == ("compared",)
    duckdb.connect(stored()["data"]["path"]).close()  # whoever fills the database is not kept out
    app.button(key=f"{described}:mend:age:aside").click().run()
    assert stored()["domain"]["attributes"][0]["other"] is True
    assert recorded_views.of(LOCAL_OWNER, described) == ("outside",), "a mend of the domain is a choice after looking"


def test_values_of_a_database_are_learnt(described: str) -> None:
    learnt = {"name": "member", "kind": "categorical", "discover": True, "most": 8}
    domain = {"version": 1, "attributes": [DOMAIN["attributes"][0], learnt]}
    projects.save(LOCAL_OWNER, described, stored() | {"domain": domain})
    app = open_page("domain", described)
    assert not app.error, [error.value for error in app.error]
    run = finished_run(described)
    assert (run.state, run.error) == ("done", "")


def test_a_plan_that_came_first_is_compared_with_the_table(people: str) -> None:
    app = connected(people)
    field(app, "selectbox", ".table").select("people").run()
    field(app, "button_group", ":wizard.way").set_value("plan").run()
    field(app, "text_area", ":plan_lines").set_value("age\nregion").run()
    app.button(key="plan_columns").click().run()
    field(app, "button_group", ":wizard.way").set_value("database").run()
    app.button(key="use_database").click().run()
    said = words(app).replace("\\", "")
    assert "The plan has columns that this table lacks: “region”." in said
    assert "This table has columns that the plan does not name: “member”." in said


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_other_databases_are_chosen_the_same_way(engine: str, tmp_path: Path) -> None:
    section = database_tables.section(engine, tmp_path, pa.table({"age": [1, 2], "sex": ["f", "m"]}))
    assert section["table"] in view.catalogue(section["path"], only_this_machine=True)
    table = view.chosen({"address": section["path"], "table": section["table"]}, only_this_machine=True)
    assert table.columns == ("age", "sex")
    assert [entry["kind"] for entry in table.declared] == ["categorical" if engine == "sqlite" else "integer", "categorical"]


def test_records_are_looked_at_as_those_of_files_are(described: str) -> None:
    kept = dict(projects.load(LOCAL_OWNER, described).draft)
    rows = project_table.preview(kept)
    assert (rows.zone, list(rows.value.columns), len(rows.value)) == (Zone.CURATOR, ["age", "member"], project_table.PREVIEW_ROWS)
    assert [guess.attribute.kind for guess in project_table.look(kept).value if guess.attribute] == ["integer", "categorical"]
    assert not project_table.is_small(kept)
    duckdb.connect(stored()["data"]["path"]).close()


def test_a_table_charged_for_other_people_is_recognised_by_its_address(people: str, described: str) -> None:
    other = projects.create(LOCAL_OWNER, "Others", draft(**{**stored(), "population": "Others"})).id
    assert finished_run(described).state == "done"
    assert "another population" in words(open_page("mechanism", other))
    marks = {
        fingerprints.of_data(DataSpec(kind="database", path=path, table=table, query=query))
        for path, table, query in (
            (people, "people", None),
            (f"duckdb://{people}", "people", None),
            (people, "adults", None),
            (people, None, "SELECT 1"),
            ("postgresql://ann@host:5432/db", "people", None),
            ("postgresql://host:5432/db?sslmode=require", "people", None),
        )
    }
    assert len(marks) == 4


def test_cancelling_a_run_ends_the_running_statement(described: str, people: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT 1 AS age, true AS member FROM n"
    path = str(Path(people).with_name("slow.duckdb"))
    with duckdb.connect(path) as made:
        made.execute(f"CREATE VIEW forever AS {slow}")
    data = {"kind": "database", "path": path, "table": "forever"}
    projects.save(LOCAL_OWNER, described, stored() | {"data": data})
    run = runs.submit(LOCAL_OWNER, described, document.spec(stored(), "Trial"))
    asked: list[str] = []

    def keep(connection: connect.Connection, select: str, *arguments: Any) -> Iterator[pa.RecordBatch]:
        asked.append(select)
        looked = signalled_after(3)
        monkeypatch.setattr(interrupts, "check", lambda: next(looked))
        return original(connection, select, *arguments)

    original = connect.Connection.batches
    monkeypatch.setattr(connect.Connection, "batches", keep)
    worker.work(dispatch.claim(run))
    assert len(asked) == 1
    assert runs.get(LOCAL_OWNER, run).state == "cancelled"
    assert balance.spent("Members").releases == 1


def signalled_after(looks: int) -> Iterator[None]:
    """What a statement sees of a signal that comes while it runs."""
    for _ in range(looks):
        yield
    raise interrupts.Interrupted
