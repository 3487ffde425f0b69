"""Dummy rows on the pages: on Domain, and on Data while the plan has no table yet."""

from __future__ import annotations

import io

from streamlit.testing.v1 import AppTest

from dpsynth_core.bundle.remade import pack
from dpsynth_core.bundle.unpack import read_any_bytes
from dpsynth_core.extensions.dummy import view
from dpsynth_core.extensions.dummy.document import STATEMENT
from dpsynth_core.extensions.dummy.making import make
from dpsynth_core.sources import demo, demo_households
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.shell import plan_first
from tests.app.demo_project import COLUMNS, draft, open_page, project, words
from tests.extensions.dummy.orders import order

OFFER = "Invented rows of these columns. No record is read, and nothing is charged."


def with_rows(**fields: object) -> dict[str, object]:
    ready = draft(**fields)
    ready["wizard"]["rows"] = [ColumnDraft.of(a).to_json() for a in demo.demo_domain().keep(COLUMNS)]
    return ready


def opened(page: str, ready: dict[str, object]) -> AppTest:
    return open_page(page, projects.create(LOCAL_OWNER, "Trial", ready).id)


def test_on_domain_rows_are_made_and_offered_with_their_statement() -> None:
    app = opened("domain", with_rows())
    assert OFFER in words(app)
    app.number_input(key="dummy_rows").set_value(40).run()
    assert not app.get("download_button") or "dummy" not in " ".join(one.label for one in app.get("download_button"))
    app.button(key="dummy_make").click().run()
    assert not app.exception
    assert STATEMENT in words(app)
    labels = [one.label for one in app.get("download_button")]
    assert "Download 40 dummy rows" in labels
    _, content = app.session_state[view._MADE]
    assert read_any_bytes(content).kind is not None
    app.number_input(key="dummy_rows").set_value(50).run()  # the bundle is of the former order
    assert STATEMENT not in words(app)


def test_on_domain_an_incomplete_column_comes_first() -> None:
    ready = with_rows()
    ready["domain"] = None
    ready["wizard"]["rows"][0] |= {"lower": "", "upper": ""}  # type: ignore[index]
    app = opened("domain", ready)
    assert "Complete all columns first" in words(app)
    assert not [one for one in app.button if one.key == "dummy_make"]


def test_on_domain_values_from_the_table_are_refused() -> None:
    app = opened("domain", with_rows(domain_origin="data", domain_justification="Everybody knows these values from the yearbook."))
    assert "were read from the private table" in words(app)


def test_on_data_rows_are_offered_while_there_is_no_table() -> None:
    assert OFFER not in words(opened("data", with_rows()))
    ready = with_rows()
    plan_first.begin(ready, COLUMNS)
    app = opened("data", ready)
    assert OFFER in words(app)
    app.button(key="dummy_make").click().run()
    assert STATEMENT in words(app)


def test_the_order_of_two_linked_tables_has_their_key_and_rules() -> None:
    homes, people = (one.to_json() for one in demo_households.domains())
    ready = draft(domain=homes, members={"domain": people, "rules": [{"members_with": {"work": ["at school"]}, "at_most": 2}]})
    ready["unit"] = dict(ready["unit"]) | {"person_column": "household", "max_rows_per_person": 3}
    made = view.order_of(ready, 20)
    assert made.link is not None
    assert (made.key, made.link.most, len(made.link.numbers)) == ("household", 3, 1)


def test_verify_says_what_a_bundle_of_dummy_rows_is_and_offers_no_more_rows_of_a_model() -> None:
    stream = io.BytesIO()
    pack(make(order(rows=30)), stream)
    app = open_page("verify", project())
    app = app.file_uploader[0].set_value(("dummy.zip", stream.getvalue(), "application/zip")).run()
    assert not app.exception
    assert "This bundle is consistent" in app.success[0].value
    assert "These rows say nothing about people." in app.success[0].value
    said = words(app).replace("\\", "").replace("\u2060", "")
    assert "What the bundle is" in said
    assert STATEMENT in said
    assert "epsilon" not in said
    assert not [one for one in app.button if one.key == "draw_rows"]
