"""All columns on the Domain page: a list with the state of each, or a grid to paste into for experts, with a shared selection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import streamlit as st

from dpsynth_core.foundation.zones import Zone, Zoned
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.web.domain import domain_table, draft_rows, several_view
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.shell import fields, frame
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal, one_line

ORIGIN_NAMES = {
    "typed": "typed",
    "usual": "usual",
    "learnt": "learnt",
    "codebook": "codebook",
    "public": "public table",
    "labels": "table’s labels",
    "data": "read from the data",
}
GROUPS_HELP = (
    "Write the width of each group: 10 gives 0 to 9, 10 to 19, …; for dates a number of days, week, month, quarter, year, 5 years or 10 "
    "years. You can also write the first values of the groups, separated by commas; or “20 bins” for 20 equal ones. Empty gives a round "
    "width. For codes, write how many there are."
)
_NAME_LENGTH = 36
_CELLS_HELP = "A cell is one value of one column. Every cell gets the same noise: the fewer cells, the more people in each."


def selected(project: Current, rows: Sequence[ColumnDraft]) -> ColumnDraft:
    """Return the selected column; at first the first column with an error, or else the first column.

    Args:
        project: The open project.
        rows: The columns, at least one.
    """
    names = [draft.name for draft in rows]
    return rows[names.index(_selected(project, names, domain_table.problems(rows)))]


def choices(project: Current, rows: Sequence[ColumnDraft], misfits: Zoned[Mapping[str, str]]) -> None:
    """Draw the list of columns, which selects one; the selection is kept in the session.

    More than 20 columns have a search by name, more than 30 are drawn in pages.

    Args:
        project: The open project.
        rows: The columns.
        misfits: A remark by name for columns with values that do not fit; the list is marked with
            its zone if there is a remark.
    """
    problems = domain_table.problems(rows)
    widget, chosen = f"{_key(project)}s", _selected(project, [draft.name for draft in rows], problems)
    several_view.search(project, len(rows))
    rows = [draft for draft in rows if draft.name == chosen or several_view.is_searched(project, draft.name)]
    rows = several_view.page(project, rows, chosen)
    names = [draft.name for draft in rows]
    st.session_state[widget] = chosen if chosen in names else None  # the widget is another one whenever a remark changes, and forgets
    if misfits.value:
        frame.zone_badge(misfits.zone)
    zone = misfits.zone if misfits.value else Zone.PUBLIC
    with frame.watermark(zone, "list"), st.container(key="column_list", border=True):
        alike = len({draft.origin for draft in rows if draft.use}) == 1  # the panel says it
        told = [misfits.value.get(draft.name) or _remark(draft, draft.name in problems, alike) for draft in rows]
        told = [f"{literal(draft.table, 24)} · {remark}" if draft.table else remark for draft, remark in zip(rows, told, strict=True)]
        look = {"format_func": lambda name: _line(rows[names.index(name)], name in problems), "label_visibility": "collapsed"}
        go = partial(_go_to_chosen, project, widget)
        st.radio("Columns", names, index=None, key=widget, on_change=go, captions=told, **look)


def go_to(project: Current, column: str) -> None:
    """Select a column and show its panel instead of the grid. This is for callbacks.

    Args:
        project: The open project.
        column: The name of the column.
    """
    st.session_state[_key(project)] = column
    st.session_state[table_key(project)] = False


def _go_to_chosen(project: Current, widget: str) -> None:
    go_to(project, st.session_state[widget])


def table_key(project: Current) -> str:
    """Return the session key of the switch between list and grid."""
    return f"{project.id}:as_table"


def summary(project: Current, rows: Sequence[ColumnDraft]) -> None:
    """Draw the number of columns and cells in one line, and a button that selects an open column.

    Columns that are not complete count no cells. The button selects the next column whose values or bounds are
    not complete; it is not drawn if all are complete.

    Args:
        project: The open project.
        rows: The columns.
    """
    names, problems = [draft.name for draft in rows], domain_table.problems(rows)
    used = [draft for draft in rows if draft.use]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="domain_summary"):
        st.badge(f"{len(used)} of {len(rows)} columns used", color="gray")
        cells = sum(draft.cells() or 0 for draft in used)
        st.badge(f"{cells:,} cells", color="gray", help=_CELLS_HELP)
        if problems:
            at = names.index(_selected(project, names, problems))
            following = next(name for name in (*names[at + 1 :], *names[: at + 1]) if name in problems)
            look = {"type": "tertiary", "help": "This opens the next column whose values or bounds are not complete yet."}
            go, icon = partial(go_to, project, following), ":material/arrow_downward:"
            st.button(f"{len(problems)} still open", key="next_open", icon=icon, on_click=go, **look)


def _selected(project: Current, names: Sequence[str], problems: Iterable[str]) -> str:
    if st.session_state.get(_key(project)) not in names:
        st.session_state[_key(project)] = next(iter(problems), names[0])
    return str(st.session_state[_key(project)])


def _key(project: Current) -> str:
    return f"{project.id}:column"


def _line(draft: ColumnDraft, is_open: bool) -> str:
    name = literal(in_short(draft.name))
    if not draft.use:
        return f":gray[:material/remove: {name}]"
    if is_open:
        return f":orange[:material/edit:] {name}"
    if draft.most:
        return f":blue[:material/query_stats:] {name}"
    return f":orange[:material/help:] {name}" if _doubtful(draft) else f":green[:material/check:] {name}"


def in_short(name: str) -> str:
    """Return a column's name on one line in at most 36 characters; a longer name loses its middle.

    The end is kept because long names often begin alike.
    """
    whole, end = one_line(name, 10 * _NAME_LENGTH), _NAME_LENGTH // 2
    return whole if len(whole) <= _NAME_LENGTH else f"{whole[: _NAME_LENGTH - end - 1]}…{whole[-end:]}"


def _doubtful(draft: ColumnDraft) -> bool:
    """Return whether the curator should check the column.

    It is a guess, or a codebook gave it a single value, which suggests that its bounds were
    misread.
    """
    return draft.guessed or (draft.origin == "codebook" and draft.cells() is not None and draft.attribute().values == 1)


def _remark(draft: ColumnDraft, is_open: bool, alike: bool) -> str:
    """Return a remark on a column for the list.

    Args:
        draft: The column.
        is_open: Whether the column is not complete.
        alike: Whether all columns have the same origin, which the remark then leaves out.
    """
    if not draft.use:
        return "left out"
    if is_open:
        suggestion = usual.suggested(draft.name)
        return f"open · {literal(suggestion.title.lower())}?" if suggestion and not draft.categories else "open"
    if draft.most:
        return f"at most {draft.most:,} · to be learnt"
    if draft.is_filled:
        return "filled in, not measured"
    size = draft.attribute().values
    source = "guess: check" if draft.guessed else "check" if _doubtful(draft) else "" if alike else ORIGIN_NAMES.get(draft.origin, "")
    return f"{size:,} {'value' if size == 1 else 'values'}" + (f" · {source}" if source else "")


def grid(rows: list[ColumnDraft]) -> None:
    """Draw all columns as a grid. Each edit is saved in the project's draft at once."""
    key, config = fields.editor_key("domain_grid", lambda edits: domain_table.edited(rows, edits) != rows), st.column_config

    def take() -> None:
        entered = st.session_state[key]["edited_rows"]
        draft_rows.save(lambda stored: domain_table.edited(stored, entered))

    columns = {
        "column": config.TextColumn("Column", pinned=True, width=130, disabled=True),
        "use": config.CheckboxColumn("Use", help="Columns that are not used do not appear in the release.", width=65),
        "kind": config.SelectboxColumn("Kind", options=list(KINDS), format_func=lambda name: KINDS[name].title, required=True, width=125),
        "cells": config.NumberColumn("Cells", help="The release can tell so many values apart.", width=60, disabled=True),
        "values": config.TextColumn("Values", help="You edit them in the other view.", width=150, disabled=True),
        "lower": config.TextColumn("Lowest", help="Lowest value that counts; smaller ones are “other”.", width=80),
        "upper": config.TextColumn("Highest", help="Highest value that counts; larger ones are “other”.", width=80),
        "bins": config.TextColumn("Groups of", help=GROUPS_HELP, width=80),
        "missing": config.CheckboxColumn("Missing", help="Empty values have a value of their own.", width=90),
        "other": config.CheckboxColumn("Other", help="Values outside the list or the bounds become “other”.", width=75),
    }
    look = {"hide_index": True, "height": 35 * len(rows) + 40, "placeholder": "–", "alt": "Domain: one line per column of the table"}
    st.data_editor(domain_table.grid(rows), key=key, column_config=columns, on_change=take, **look)
