"""The card on the page Domain about rows in order: columns that stay the same for a person, and the time since the row before."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpsynth_core.extensions.sequences.layout import FILE_ORDER
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.usual import Role
from dpsynth_core.web.domain import draft_rows
from dpsynth_core.web.domain.column_draft import ColumnDraft, blank
from dpsynth_core.web.shell import document, fields, frame, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import WHOLE, literal, names

TITLE = "Rows of a person, in order"
SAME, SAME_HELP = (
    "The same in all rows of a person",
    "State what holds by the meaning of a column, such as sex or year of birth. If a person's rows disagree, the first one in the file "
    "counts. No record is read for this page.",
)
GAP, GAP_HELP = (
    "Add the time since the row before as a column",
    "It is reckoned from the order: days for dates, differences for numbers. First rows have none. Its groups are set in the list below.",
)
NAME = "Name of this column"
_USUAL = ("sex", "birth-year", "birth-date", "blood-groups")
"""Entries of the list of usual values (`vocabulary.usual`) that never change for a person."""
_DAYS, _MOST_DAYS = [0, 1, 8, 31, 91, 181, 366, 731], 1460
"""Where groups of days begin at first: the same day, a week, a month, a quarter, half a year, one and two years; and the last day."""
_PLACE = "gap"


def on_domain(project: Current) -> None:
    """Draw the card; what it asks is stored in the draft as the settings `constant` and `gap`. Nothing is drawn without an order.

    Args:
        project: The open project.
    """
    stated = document.stated(project.draft)
    if "order" not in stated:
        return
    (order,) = stated["order"]
    with frame.card(TITLE, Zone.PUBLIC):
        if not document.has_second(project.draft):
            _constant(project, stated)
        if order != FILE_ORDER or "gap" in stated:
            _gap(project, stated, order)
        frame.refused_at(_PLACE)


def _constant(project: Current, stated: dict[str, list[str]]) -> None:
    now, made = stated.get("constant", []), document.made_columns(project.draft)
    used = [row.name for row in draft_rows.of(project.draft) if row.use and row.name not in (*made, *stated["order"])]
    options = list(dict.fromkeys([*used, *now]))
    look = {"help": SAME_HELP, "placeholder": "Choose columns"}
    fields.linked("constant", now, partial(_state, "constant"), st.multiselect, SAME, options, **look)
    if not now and (likely := [name for name in used if (one := usual.suggested(name)) is not None and one.name in _USUAL]):
        st.button(f"Take {names(likely, 3)}", key="constant_usual", icon=":material/add:", on_click=_state, args=("constant", likely))


def _gap(project: Current, stated: dict[str, list[str]], order: str) -> None:
    named = stated.get("gap", [])
    usual_name = "days_before" if _is_dated(project.draft) else f"{order}_before"
    fields.linked("gap_tick", bool(named), lambda asked: _take_gap(usual_name if asked else ""), st.checkbox, GAP, help=GAP_HELP)
    for name in named:
        fields.linked("gap", name, _take_gap, st.text_input, NAME)
        if any(row.name == name and not row.use for row in draft_rows.of(project.draft)):
            st.caption(f":orange[:material/block:] {literal(name, WHOLE)} is left out below: use it there, or take the tick away.")


@session.edits
def _state(draft: Draft, name: str, value: list[str]) -> None:
    document.state_setting(draft, name, value)


def _take_gap(name: str) -> None:
    """State the column of the time since the row before, with a first description; "" takes it away. A refusal is shown in the card."""
    if session.edit(partial(_name_gap, name=name.strip()), _PLACE) and name.strip():
        draft = session.current().draft
        draft_rows.change_one(name.strip(), lambda column: _described(draft, column))


def _name_gap(draft: Draft, name: str) -> None:
    if name in (*document.columns(draft), *document.columns(document.tables(draft)[-1])):
        raise InputError(column_field(name), "the table has a column of this name", "give the time since the row before another one")
    document.state_setting(draft, "gap", [name] if name else [])


def _described(draft: Draft, column: ColumnDraft) -> ColumnDraft:
    """Return a first description of the column: groups of days if the order has dates, else a whole number whose bounds are open."""
    days = {"lower": 0, "upper": _MOST_DAYS, "edges": _DAYS, "guessed": True} if _is_dated(draft) else {}
    return blank(column.name).changed(kind="integer", missing=True, other="nearest", table=column.table, **days)


def _is_dated(draft: Draft) -> bool:
    """Return whether the rows' order has dates, by its name or its description."""
    (order,) = document.stated(draft)["order"]
    kinds = {row.name: row.kind for row in draft_rows.of(draft)}
    return usual.role(order) is Role.DATE or kinds.get(order) in ("date", "timestamp")
