"""Published tables on the Domain page: given with where they are from, shown, deleted, and part of the plan."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.mechanisms.mechanism import Forecast
from dpsynth_core.sources import demo
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.mechanism import choice_view
from dpsynth_core.web.shell import document
from tests.additions import listed
from tests.app.demo_project import COLUMNS, draft, open_page, stored, words

SEXES = b"sex,count\nfemale,510\nmale,490\n"


def opened() -> AppTest:
    ready = draft()
    ready["wizard"]["rows"] = [ColumnDraft.of(a).to_json() for a in demo.demo_domain().keep(COLUMNS)]
    return open_page("domain", projects.create(LOCAL_OWNER, "Trial", ready).id)


def given(app: AppTest, content: bytes, where: str = "Census 2021") -> AppTest:
    app.text_input(key=next(one.key for one in app.text_input if ":published:where" in one.key)).set_value(where).run()
    uploader = next(one for one in app.file_uploader if one.key.startswith("published_upload"))
    return uploader.set_value(("table.csv", content, "text/csv")).run()


def test_a_table_is_shown_is_part_of_the_plan_and_can_be_deleted() -> None:
    app = opened()
    assert "never published are private" in words(app)
    app = given(app, SEXES)
    assert "Census 2021" in words(app)
    assert [*next(frame.value for frame in app.dataframe if "people" in frame.value.columns)["people"]] == [510, 490]
    (table,) = document.plan(stored(), "x").domain.published
    assert (table.columns, table.shares.tolist(), table.source) == (("sex",), [0.51, 0.49], "Census 2021")
    forecasts = choice_view.forecasts(stored())
    refusing = [name for name, one in forecasts.items() if isinstance(one, Forecast) and "published tables" in one.reason]
    assert {"gaussian", *listed("IGNORE_PUBLISHED")} <= {*refusing}
    assert not {"aim", "mst", "independent", *listed("KEEP_PUBLISHED")} & {*refusing}
    app.button(key="published_delete_0").click().run()
    assert stored()["published_tables"] == []
    assert document.plan(stored(), "x").domain.published == ()


@pytest.mark.parametrize(
    ("content", "where", "saying"),
    [
        (SEXES, " ", "not said where it was published"),
        (b"sex,count\nfemale,510\n", "Census", "missing from the table"),
        (b"sex,number\nfemale,510\n", "Census", "has no column 'count'"),
    ],
)
def test_what_is_no_published_table_is_refused_and_not_kept(content: bytes, where: str, saying: str) -> None:
    app = given(opened(), content, where)
    assert saying in words(app).replace("\\", "")
    assert not stored().get("published_tables")


def test_a_domain_that_changed_since_stops_the_plan_and_says_why() -> None:
    given(opened(), SEXES)
    (project,) = projects.list(LOCAL_OWNER)
    changed = stored()
    next(one for one in changed["domain"]["attributes"] if one["name"] == "sex")["categories"] = ["f", "m"]
    projects.save(LOCAL_OWNER, project.id, changed)
    problem = document.problem(stored(), "domain")
    assert problem is not None
    assert problem.field == "published_tables.0.cells"


@pytest.mark.parametrize("cell", [["female", 510, 3], ["female"]])
def test_a_draft_with_broken_cells_shows_its_page_and_can_be_mended(cell: list[object]) -> None:
    given(opened(), SEXES)
    (project,) = projects.list(LOCAL_OWNER)
    broken = stored()
    broken["published_tables"][0]["cells"].append(cell)
    projects.save(LOCAL_OWNER, project.id, broken)
    app = open_page("domain", project.id)
    assert not app.exception
    app.button(key="published_delete_0").click().run()
    assert stored()["published_tables"] == []


def test_a_column_may_be_named_as_the_heading_of_the_counts() -> None:
    given(opened(), SEXES)
    (project,) = projects.list(LOCAL_OWNER)
    named = json.loads(json.dumps(stored()).replace('"sex"', '"people"'))
    projects.save(LOCAL_OWNER, project.id, named)
    app = open_page("domain", project.id)
    assert not app.exception
    assert "people " in next(frame.value for frame in app.dataframe if "people" in frame.value.columns).columns
