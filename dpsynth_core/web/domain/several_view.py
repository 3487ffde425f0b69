"""Long lists of columns on the Domain page: a search by name, pages, and a choice of several columns.

The chosen columns are kept, used or left out at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.web.domain import draft_rows
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.shell.session import Current

MANY = 20
"""Number of columns above which the list has a search, and several columns can be changed at once."""
PAGE = 30
"""Largest number of columns that the list shows at once: about two screens."""
_ASKED = "_several_columns_asked"
_TITLE = "Keep the columns that matter"
_HELP = "Fewer columns get more of the budget each. Columns that are left out are neither measured nor released; you can use them again."


def ask() -> None:
    """Let the Domain page open the choice of several columns when it is drawn next."""
    st.session_state[_ASKED] = True


def search(project: Current, columns: int) -> None:
    """Draw the search of the list; nothing for at most 20 columns (`MANY`).

    Args:
        project: The open project.
        columns: The number of columns.
    """
    if columns > MANY:
        look = {"label_visibility": "collapsed", "placeholder": f"Search {columns:,} columns", "icon": ":material/search:"}
        st.text_input("Search columns", key=_search_key(project), **look)


def is_searched(project: Current, name: str) -> bool:
    """Return whether a column's name contains the text typed into the search, in small or capital letters.

    It is True for every name while nothing is typed.
    """
    return str(st.session_state.get(_search_key(project)) or "").strip().lower() in name.lower()


def page(project: Current, rows: Sequence[ColumnDraft], chosen: str) -> Sequence[ColumnDraft]:
    """Draw the buttons that turn the pages of the list, and return the columns of the open page, in their order.

    When the selection changes, the page with the selected column opens; when the text of the search
    changes, the first page opens. With at most 30 columns (`PAGE`) there is one page and no buttons.

    Args:
        project: The open project.
        rows: The columns that the search found, the selected one among them.
        chosen: The name of the selected column.
    """
    if len(rows) <= PAGE:
        return rows
    key, searched = f"{project.id}:column_page", str(st.session_state.get(_search_key(project)) or "")
    number, earlier, was_searched = st.session_state.get(key, (0, None, searched))
    if searched != was_searched:
        number = 0
    elif chosen != earlier:
        number = [row.name for row in rows].index(chosen) // PAGE
    number = min(number, (len(rows) - 1) // PAGE)
    st.session_state[key] = number, chosen, searched
    shown = rows[PAGE * number : PAGE * (number + 1)]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="column_pages"):
        back: dict[str, Any] = {"icon": ":material/chevron_left:", "disabled": number == 0, "args": (key, -1)}
        on: dict[str, Any] = {"icon": ":material/chevron_right:", "icon_position": "right", "args": (key, 1)}
        st.button("Earlier", key="earlier_columns", type="tertiary", on_click=_turn, **back)
        st.caption(f"{PAGE * number + 1:,} to {PAGE * number + len(shown):,} of {len(rows):,}", width="content")
        last = PAGE * (number + 1) >= len(rows)
        st.button("Later", key="later_columns", type="tertiary", disabled=last, on_click=_turn, **on)
    return shown


def _turn(key: str, pages: int) -> None:
    number, *rest = st.session_state[key]
    st.session_state[key] = (number + pages, *rest)


def several(project: Current, rows: Sequence[ColumnDraft]) -> None:
    """Draw the choice of several columns with buttons that keep only these, use them, or leave them out.

    The buttons save in the draft. Nothing is drawn for at most 20 columns (`MANY`), unless `ask` was called.
    """
    asked = bool(st.session_state.get(_ASKED))
    if len(rows) <= MANY and not asked:
        return
    with st.expander(_TITLE, asked, icon=":material/checklist:", key=f"{project.id}:several_{asked}"):
        key = f"{project.id}:several_columns"
        found = [row.name for row in rows]
        chosen = st.multiselect("Columns", found, key=key, placeholder="Type a part of a name, or choose", help=_HELP)
        with st.container(horizontal=True, gap="small"):
            look = {"disabled": not chosen, "on_click": _change}
            st.button(f"Keep only these {len(chosen)}" if chosen else "Keep only these", key="keep_only", args=(key, True, False), **look)
            st.button("Use them", key="use_several", args=(key, True, None), **look)
            st.button("Leave them out", key="leave_several", args=(key, False, None), **look)


def _change(key: str, use: bool, others: bool | None) -> None:
    """Use the chosen columns or leave them out, and others too if `others` is not None; then forget the choice."""
    chosen = frozenset(st.session_state[key])
    draft_rows.save(partial(_with_use, chosen=chosen, use=use, others=others))
    st.session_state[key] = []
    st.session_state.pop(_ASKED, None)


def _with_use(rows: Sequence[ColumnDraft], chosen: frozenset[str], use: bool, others: bool | None) -> list[ColumnDraft]:
    wanted = {row.name: use if row.name in chosen else row.use if others is None else others for row in rows}
    return [row if row.use == wanted[row.name] else row.changed(use=wanted[row.name]) for row in rows]


def _search_key(project: Current) -> str:
    return f"{project.id}:column_search"
