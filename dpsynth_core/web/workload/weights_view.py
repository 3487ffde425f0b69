"""Part of the Workload page: the hand-picked tables with their weights, to edit and to delete like lines of a spreadsheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

Tables = list[dict[str, Any]]
"""As a workload's document lists them: {"attributes": columns, "weight": weight}."""

_BASE = "_weights_base"
"""In the session: the version of the editor, and the tables that its edits are about."""


def editor(tables: Tables, take: Callable[[Callable[[Tables], Tables]], None]) -> None:
    """The list; `take` gets with each edit how to change the stored one. While nothing else changes the tables, the editor stays the same
    one: a new one after each edit would lose what is being typed meanwhile."""
    version, base = st.session_state.get(_BASE, (0, tables))
    if edited(base, base, st.session_state.get(_key(version), {})) != tables:
        version, base = version + 1, tables
    st.session_state[_BASE] = version, base
    st.data_editor(
        {"table": [" × ".join(table["attributes"]) for table in base], "weight": [float(table["weight"]) for table in base]},
        key=_key(version),
        num_rows="delete",
        hide_index=True,
        height=35 * min(len(base), 6) + 40,
        column_config={
            "table": st.column_config.TextColumn("Table", disabled=True),
            "weight": st.column_config.NumberColumn("Weight", min_value=0.001, max_value=1e6, help="A table of weight 2 counts twice."),
        },
        on_change=lambda: take(partial(edited, base=base, edits=st.session_state[_key(version)])),
        alt="Tables of the workload with their weights",
    )


def edited(tables: Tables, base: Tables, edits: Mapping[str, Any]) -> Tables:
    """The tables after all edits of a data editor that was given `base`. They are found by their columns: some may be gone from the list
    meanwhile, or new. A weight that was emptied is 1."""
    weights = {_columns(base[int(line)]): values.get("weight") or 1.0 for line, values in edits.get("edited_rows", {}).items()}
    gone = {_columns(base[line]) for line in edits.get("deleted_rows", ())}
    left = [table for table in tables if _columns(table) not in gone]
    return [table | {"weight": weights.get(_columns(table), table["weight"])} for table in left]


def _columns(table: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(table["attributes"])


def _key(version: int) -> str:
    return f"weights_editor_{version}"
