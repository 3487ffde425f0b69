"""Part of the Domain page for experts: all columns as one table, to edit, fill down and paste into like a spreadsheet."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.web.domain import domain_table, draft_rows
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.domain.column_view import GROUPS_HELP

_GRID = "_grid"
_LINE, _HEADER = 35, 40


def editor(rows: list[ColumnDraft]) -> None:
    """The table. Its edits are stored as they are made."""
    st.data_editor(
        domain_table.grid(rows),
        key=_key(rows),
        column_config=_columns(),
        hide_index=True,
        height=_LINE * len(rows) + _HEADER,
        placeholder="–",
        on_change=_take_edits,
        alt="Domain: one draft per column of the table",
    )


def _columns() -> dict[str, Any]:
    config = st.column_config
    return {
        "column": config.TextColumn("Column", pinned=True, width=130, disabled=True),
        "use": config.CheckboxColumn("Use", help="Columns that are not used do not appear in the release.", width=65),
        "kind": config.SelectboxColumn("Kind", options=list(KINDS), format_func=lambda name: KINDS[name].title, required=True, width=125),
        "cells": config.NumberColumn("Cells", help="Different values that the release can tell apart.", width=60, disabled=True),
        "values": config.TextColumn("Values", help="Edit them in the other view.", width=150, disabled=True),
        "lower": config.TextColumn("Lowest", help="Lowest value that counts; smaller ones are “other”.", width=80),
        "upper": config.TextColumn("Highest", help="Highest value that counts; larger ones are “other”.", width=80),
        "bins": config.TextColumn("Groups of", help=GROUPS_HELP, width=80),
        "missing": config.CheckboxColumn("Missing", help="Empty values have a value of their own.", width=90),
        "other": config.CheckboxColumn("Other", help="Values outside the list or the bounds become “other”.", width=75),
    }


def _key(rows: list[ColumnDraft]) -> str:
    """The editor keeps its edits under this key; it gets a new one when the rows were changed elsewhere since."""
    version = st.session_state.setdefault(_GRID, 0)
    edits = st.session_state.get(f"domain_grid_{version}", {}).get("edited_rows", {})
    if domain_table.edited(rows, edits) != rows:
        st.session_state[_GRID] = version + 1
    return f"domain_grid_{st.session_state[_GRID]}"


def _take_edits() -> None:
    edits = st.session_state[f"domain_grid_{st.session_state[_GRID]}"]["edited_rows"]
    draft_rows.save(lambda rows: domain_table.edited(rows, edits))
