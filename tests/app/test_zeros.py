"""Combinations that cannot occur on the Domain page: stated, listed, deleted, and part of what is run."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpsynth_core.sources import demo
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.shell import document, fields
from tests.app.demo_project import COLUMNS, draft, open_page, stored, words


def opened(**fields: Any) -> AppTest:
    ready = draft(**fields)
    ready["wizard"]["rows"] = [ColumnDraft.of(a).to_json() for a in demo.demo_domain().keep(COLUMNS)]
    return open_page("domain", projects.create(LOCAL_OWNER, "Trial", ready).id)


def plain(app: AppTest) -> str:
    """The words on the page without what keeps them from being read as Markdown."""
    return words(app).replace("\\", "").replace("\u2060", "")


def choose(app: AppTest, side: str, column: str, values: list[str]) -> None:
    """Fill one side of the sentence."""
    select = {"if": "If", "then": "then"}[side]
    next(box for box in app.selectbox if box.label == select).set_value(column).run()
    picker = next(w for w in app.multiselect if f":zeros:{side}:{column}" in w.key)
    picker.set_value(values).run()


def test_a_sentence_becomes_a_rule_of_the_spec_and_can_be_deleted() -> None:
    app = opened()
    assert app.button(key="zeros_add").disabled
    choose(app, "if", "sex", ["female"])
    choose(app, "then", "health", ["bad", "missing"])
    next(box for box in app.text_input if box.label.startswith("In your words")).set_value("An *invented* rule")
    app.button(key="zeros_add").click().run()  # at once, as by whoever types and then presses the button
    assert stored()["domain"]["impossible"] == [{"never": {"sex": ["female"], "health": ["bad", "missing"]}, "note": "An *invented* rule"}]
    assert "sex “female” never goes with health “bad” or “missing”" in plain(app)
    assert document.plan(stored(), "x").domain.zeros["sex", "health"].sum() == 2
    app.button(key="zeros_delete_0").click().run()
    assert "impossible" not in stored()["domain"]


def test_ages_are_chosen_as_a_range_and_must_be_is_a_condition() -> None:
    app = opened()
    next(s for s in app.select_slider if ":zeros:if:age" in s.key).set_range("16 to 20", "21 to 25").run()
    choose(app, "then", "sex", ["male"])
    next(g for g in app.get("button_group") if g.key.endswith("zeros:verb")).set_value("must be").run()
    app.button(key="zeros_add").click().run()
    assert stored()["domain"]["impossible"] == [{"if": {"age": ["16 to 20", "21 to 25"]}, "then": {"sex": ["male"]}}]
    assert "If age is “16 to 25”, then sex must be “male”" in plain(app)


def test_numbers_of_few_values_are_listed_and_a_single_value_is_a_text() -> None:
    columns = [Attribute.integer("age", 1, 1), Attribute.integer("region", 1, 3), *demo.demo_domain().keep(("sex", "health"))]
    ready = draft(domain=Domain(tuple(columns)).to_json())
    ready["wizard"]["rows"] = [ColumnDraft.of(a).to_json() for a in columns]
    app = open_page("domain", projects.create(LOCAL_OWNER, "Few", ready).id)
    assert not app.select_slider
    assert "is **1**" in words(app)
    choose(app, "then", "region", ["2", "3"])
    app.button(key="zeros_add").click().run()
    assert stored()["domain"]["impossible"] == [{"never": {"age": ["1"], "region": ["2", "3"]}}]


def test_a_rule_that_leaves_nothing_is_refused_and_not_stored() -> None:
    app = opened()
    choose(app, "if", "sex", ["female", "male"])
    choose(app, "then", "region", list(demo.REGION))
    app.button(key="zeros_add").click().run()
    assert "no combination" in words(app)
    assert "impossible" not in stored()["domain"]


def test_a_rule_about_a_column_that_is_dropped_is_shown_and_stops_until_it_is_deleted() -> None:
    rule = {"never": {"sex": ["female"], "health": ["bad"]}}
    limited = demo.demo_domain().keep(COLUMNS).to_json() | {"impossible": [rule]}
    assert not opened(domain=limited).button(key="next_domain").disabled
    projects.delete(LOCAL_OWNER, projects.list(LOCAL_OWNER)[0].id)

    left = demo.demo_domain().keep([name for name in COLUMNS if name != "health"])
    ready = draft(domain=left.to_json() | {"impossible": [rule]})
    ready["wizard"]["rows"] = [ColumnDraft.of(a).to_json() | {"use": a.name != "health"} for a in demo.demo_domain().keep(COLUMNS)]
    app = open_page("domain", projects.create(LOCAL_OWNER, "Trial", ready).id)
    assert "no longer fits" in words(app)
    assert app.button(key="next_domain").disabled
    app.button(key="zeros_delete_0").click().run()
    assert not app.button(key="next_domain").disabled


def test_groups_are_cut_where_the_range_of_a_refused_rule_ends() -> None:
    rule = {"never": {"age": "18..23", "health": ["bad"]}}
    domain = demo.demo_domain().keep(COLUMNS).to_json() | {"impossible": [rule]}
    app = opened(domain=domain)
    assert "cuts the groups" in words(app)
    assert app.button(key="next_domain").disabled
    app.button(key="zeros_cut_0").click().run()
    age = next(column for column in stored()["domain"]["attributes"] if column["name"] == "age")
    assert {18, 24} <= set(age["edges"])
    assert stored()["domain"]["impossible"] == [rule]
    assert "age “18 to 23” never goes with health “bad”" in plain(app)
    assert not any(button.key == "zeros_cut_0" for button in app.button)
    assert not app.button(key="next_domain").disabled


def test_the_grid_draws_for_two_and_three_columns_and_says_when_it_is_too_large() -> None:
    app = opened()
    next(g for g in app.get("button_group") if g.key.endswith("zeros:way")).set_value("grid").run()
    assert "Tick what cannot occur" in words(app)
    next(box for box in app.selectbox if box.label.startswith("And where")).set_value("health").run()
    assert "Tick what cannot occur" in words(app)
    wide = demo.demo_domain().keep(COLUMNS).to_json()
    wide["attributes"][0] |= {"bins": 80}
    ready = draft(domain=wide)
    ready["wizard"]["rows"] = [ColumnDraft.of(a).to_json() for a in document.domain(ready)]
    app = open_page("domain", projects.create(LOCAL_OWNER, "Wide", ready).id)
    next(g for g in app.get("button_group") if g.key.endswith("zeros:way")).set_value("grid").run()
    next(box for box in app.selectbox if box.label == "Down").set_value("sex").run()
    next(box for box in app.selectbox if box.label == "Across").set_value("age").run()
    assert "Too large" in words(app)


def test_columns_whose_names_differ_by_a_number_have_grids_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", kept)
    key = fields.editor_key("grid:x", lambda edits: bool(edits))
    kept[key] = {"edited_rows": {0: {"1": True}}}
    assert fields.editor_key("grid:x_0", lambda edits: bool(edits)) == "grid:x_0_0"
    assert fields.editor_key("grid:x", lambda edits: bool(edits)) == "grid:x_1"  # what it shows was changed elsewhere


def test_two_columns_are_put_in_order() -> None:
    days = [Attribute.day(name, "2024-01-01", "2024-12-31") for name in ("age", "region")]
    columns = [*demo.demo_domain().keep(("sex", "health")), *days]
    ready = draft(domain=Domain(tuple(columns)).to_json())
    ready["wizard"]["rows"] = [ColumnDraft.of(a).to_json() for a in columns]
    app = open_page("domain", projects.create(LOCAL_OWNER, "Order", ready).id)
    assert "an order?" in plain(app)
    next(g for g in app.get("button_group") if g.key.endswith("zeros:way")).set_value("order").run()
    boxes = {box.label: box for box in app.selectbox}
    assert (boxes["Column"].value, boxes["Other column"].value) == (None, None)  # which comes first is for the curator to say
    assert app.button(key="zeros_order").disabled
    boxes["Column"].set_value("age").run()
    boxes = {box.label: box for box in app.selectbox}
    assert boxes["Other column"].options == ["region"]  # neither itself nor a column of categories
    boxes["Other column"].set_value("region").run()
    {box.label: box for box in app.selectbox}["Order"].set_value("below").run()
    app.button(key="zeros_order").click().run()
    assert stored()["domain"]["impossible"] == [{"column": "age", "below": "region"}]
    assert "age is before region, where both are known." in plain(app)
    assert "an order?" not in plain(app)
