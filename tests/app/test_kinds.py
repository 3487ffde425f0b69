"""Kinds of columns on the Domain page: chosen, said, stored as the domain has them, and what is wrong under its field."""

from __future__ import annotations

import io

from streamlit.testing.v1 import AppTest

from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.vocabulary.kinds.registry import CONSTANT, IDENTIFIER
from dpsynth_core.web.domain.column_draft import blank
from dpsynth_core.web.shell import document
from tests.app.demo_project import draft, open_page, project, stored, words

TABLE = b"when,stay,icd,ward,case\n2024-01-01 10:00,26:30,A00.1,x,C1\n2024-01-02 11:30,1:00,I21,x,C2\n"
COLUMNS = ("when", "stay", "icd", "ward", "case")


def opened() -> AppTest:
    fields = draft(domain=None)
    rows = [blank(name).to_json() for name in COLUMNS]
    fields["wizard"] |= {"columns": list(COLUMNS), "source": "upload", "label": "t.csv", "rows": rows}
    place = project(**fields)
    path = projects.upload(LOCAL_OWNER, place, "t.csv", io.BytesIO(TABLE))
    projects.save(LOCAL_OWNER, place, fields | {"data": {"path": str(path), "kind": "csv"}})
    return open_page("domain", place)


def select(app: AppTest, column: str, kind: str) -> None:
    next(radio for radio in app.radio if any(column in option for option in radio.options)).set_value(column).run()
    next(box for box in app.selectbox if box.label == "Kind").set_value(kind).run()


def say(app: AppTest, **texts: str) -> None:
    """Fill fields, by the beginning of their label."""
    for label, value in texts.items():
        wanted = label.replace("_", " ")
        fields = [*app.text_input, *app.text_area, *app.selectbox]
        next(one for one in fields if one.label.startswith(wanted)).set_value(value).run()


def test_every_new_kind_is_chosen_and_stored_as_the_domain_has_it() -> None:
    app = opened()
    select(app, "when", "timestamp")
    say(app, Written="minute", Lowest="2024-01-01", Highest="2024-01-31", Groups="days")
    select(app, "stay", "duration")
    say(app, Written="minute", Lowest="0:00", Highest="47:59", Groups="6 hours")
    select(app, "icd", "hierarchical")
    say(app, First="3", Values="A00 = Cholera\nI21")
    select(app, "ward", "constant")
    say(app, The_value="Ward 3")
    select(app, "case", "identifier")
    say(app, The_first="C1")
    january = {"lower": "2024-01-01 00:00", "upper": "2024-01-31 23:59"}
    own = {"other": True, "missing": True}
    assert stored()["domain"]["attributes"] == [
        {"name": "when", "kind": "timestamp", **january, "precision": "minute", "bins": 31} | own,
        {"name": "stay", "kind": "duration", "lower": "00:00:00", "upper": "47:59:00", "precision": "minute", "bins": 8} | own,
        {"name": "icd", "kind": "hierarchical", "level": 3, "categories": ["A00", "I21"], "labels": ["Cholera", "I21"]} | own,
        {"name": "ward", "kind": "constant", "value": "Ward 3", "dtype": "string"},
        {"name": "case", "kind": "identifier", "pattern": "C1"},
    ]


def test_the_column_of_persons_offers_new_identifiers_and_no_kind_with_its_values() -> None:
    fields = draft(domain=None, unit={"relation": "add-remove", "person_column": "case", "max_rows_per_person": 2})
    rows = [blank("ward").changed(categories=["a"]).to_json()]
    fields["wizard"] |= {"columns": ["ward", "case"], "source": "upload", "label": "t.csv", "rows": rows, "several": True}
    place = project(**fields)
    path = projects.upload(LOCAL_OWNER, place, "t.csv", io.BytesIO(TABLE))
    projects.save(LOCAL_OWNER, place, fields | {"data": {"path": str(path), "kind": "csv"}})
    app = open_page("domain", place)
    app.radio[0].set_value("case").run()
    next(button for button in app.button if button.label == "Give the rows new identifiers").click().run()
    assert next(box for box in app.selectbox if box.label == "Kind").options == [CONSTANT.title, IDENTIFIER.title]
    assert stored()["domain"]["attributes"][1] == {"name": "case", "kind": "identifier", "pattern": "P000001"}
    assert document.problem(projects.list(LOCAL_OWNER)[0].draft, "domain") is None
    shown = dict(projects.list(LOCAL_OWNER)[0].draft)
    shown["domain"]["attributes"][1] = {"name": "case", "kind": "categorical", "categories": ["a"]}
    refusal = document.problem(shown, "domain")
    assert refusal is not None
    assert "tells people apart" in str(refusal)


def test_what_is_wrong_stands_under_the_column() -> None:
    app = opened()
    select(app, "case", "identifier")
    say(app, The_first="no number")
    assert "its pattern has no number to count up" in words(app)
    select(app, "icd", "hierarchical")
    say(app, Values="A00", First="many")
    assert "its level is not a whole number" in words(app)
