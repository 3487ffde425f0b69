"""Rows from protected tables on the Data page: from uploaded columns and tables to a bundle, while no table of records is chosen."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.bundle.remade import pack
from dpsynth_core.bundle.unpack import read_any_bytes
from dpsynth_core.extensions.rows_from import view
from dpsynth_core.extensions.rows_from.document import NO_GUARANTEE
from dpsynth_core.extensions.rows_from.making import make
from dpsynth_core.extensions.rows_from.view import Given
from dpsynth_core.sources import demo
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.shell import plan_first
from tests.app.demo_project import COLUMNS, draft, open_page, project, words
from tests.extensions.rows_from.examples import DOMAIN, GIVER, PROMISE, order
from tests.extensions.rows_from.test_command import HEALTH, SEXES

OFFER = "No record is read, nothing is charged"


def empty_project() -> AppTest:
    return open_page("data", projects.create(LOCAL_OWNER, "Office", draft_without_table()).id)


def draft_without_table() -> dict[str, object]:
    ready = draft()
    plan_first.begin(ready, COLUMNS)
    ready["domain"] = None
    ready["wizard"]["rows"] = []  # type: ignore[index]
    ready["wizard"].pop("columns", None)  # type: ignore[attr-defined]
    return ready


def filled(app: AppTest, *tables: tuple[str, str]) -> AppTest:
    app.file_uploader(key="rows_from_tables").set_value([(name, text.encode(), "text/csv") for name, text in tables])
    app.text_input(key="rows_from_giver").set_value(GIVER)
    app.text_area(key="rows_from_promise").set_value(PROMISE)
    return app.run()


def with_columns(app: AppTest) -> AppTest:
    app.file_uploader(key="rows_from_domain").set_value(("domain.json", json.dumps(DOMAIN).encode(), "application/json"))
    return app


def test_uploaded_tables_become_a_bundle_with_its_statement() -> None:
    app = with_columns(empty_project())
    assert OFFER in words(app)
    assert app.button(key="rows_from_make").disabled
    app = filled(app, ("health.csv", HEALTH), ("sexes.csv", SEXES))
    app.number_input(key="rows_from_rows").set_value(120).run()
    app.button(key="rows_from_make").click().run()
    assert not app.exception
    said = words(app).replace("\\", "")
    for sentence in (NO_GUARANTEE, PROMISE, GIVER, "Suppressed counts of health × sex: 2"):
        assert sentence in said
    assert "Download 120 rows" in [one.label for one in app.get("download_button")]
    *_, content = app.session_state[view._MADE]
    assert read_any_bytes(content).kind is not None
    app.text_area(key="rows_from_promise").set_value("Another promise.").run()  # the bundle has the former one
    assert "Download 120 rows" not in [one.label for one in app.get("download_button")]


def test_a_digest_tells_all_entries_apart() -> None:
    a, b = ("a.csv", b"1"), ("b.csv", b"2")
    given = Given(a, (b,), "giver", "promise", None, 5)
    changes: list[dict[str, object]] = [
        {"columns": None},
        {"columns": None, "tables": (a, b)},
        {"columns": b, "tables": (a,)},
        {"tables": (("b.csv", b"3"),)},
        {"tables": (("c.csv", b"2"),)},
        {"giver": "g", "promise": "iverpromise"},
        {"rows": 5, "people": None},
    ]
    others = [replace(given, **change).digest(None) for change in changes]  # type: ignore[arg-type]
    assert len({given.digest(None), given.digest(Domain.from_json(DOMAIN)), *others}) == 2 + len(others)
    assert given.digest(None) == replace(given).digest(None)


@pytest.mark.parametrize(
    ("columns", "table", "said"),
    [
        (True, "sex,count\nf,1\nwoman,2\n", "has no value 'woman'"),
        (True, "sex,count\nf,..\nm,2\n", "do not say how many people there are"),
        (False, SEXES, "upload a domain or a codebook, or complete the Domain page"),
    ],
)
def test_a_mistake_is_shown_in_its_place(columns: bool, table: str, said: str) -> None:
    app = with_columns(empty_project()) if columns else empty_project()
    filled(app, ("sexes.csv", table)).button(key="rows_from_make").click().run()
    assert not app.exception
    assert said.lower() in words(app).replace("\\", "").lower()
    assert not [one for one in app.get("download_button") if "rows" in one.label]


def test_the_number_of_people_is_taken_where_every_table_has_suppressed_counts() -> None:
    app = filled(with_columns(empty_project()), ("sexes.csv", "sex,count\nf,..\nm,2\n"))
    app.number_input(key="rows_from_people").set_value(40).run()
    app.button(key="rows_from_make").click().run()
    assert "Download 40 rows" in [one.label for one in app.get("download_button")]


def test_a_missing_promise_is_asked_for() -> None:
    app = filled(with_columns(empty_project()), ("sexes.csv", SEXES))
    app.text_area(key="rows_from_promise").set_value("").run()
    app.button(key="rows_from_make").click().run()
    assert "the giver's word alone" in words(app).replace("\\", "")


def test_the_columns_of_the_plan_are_taken_where_none_are_uploaded() -> None:
    ready = draft()
    ready["wizard"]["rows"] = [ColumnDraft.of(a).to_json() for a in demo.demo_domain().keep(COLUMNS)]
    plan_first.begin(ready, COLUMNS)
    found = view.planned_columns(ready)
    assert found is not None
    assert found.names == COLUMNS
    read_from_data = ready | {"domain_origin": "data", "domain_justification": "Everybody knows these values from the yearbook."}
    assert view.planned_columns(read_from_data).origin == "data"  # type: ignore[union-attr]


def test_with_a_table_of_records_nothing_is_offered() -> None:
    assert OFFER not in words(open_page("data", project()))


def test_verify_says_what_a_bundle_of_rows_from_tables_is() -> None:
    stream = io.BytesIO()
    pack(make(order(rows=30)), stream)
    app = open_page("verify", project())
    app = app.file_uploader[0].set_value(("rows.zip", stream.getvalue(), "application/zip")).run()
    assert not app.exception
    assert "This bundle is consistent" in app.success[0].value
    assert "whether the giver's promise about them is true" in app.success[0].value
    said = words(app).replace("\\", "").replace("\u2060", "")
    assert PROMISE in said
    assert "epsilon" not in said
    assert not [one for one in app.button if one.key == "draw_rows"]
