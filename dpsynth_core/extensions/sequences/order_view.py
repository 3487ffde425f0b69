"""The tick on the page Data that keeps rows of a person together in an order, and the choice of that order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from dpsynth_core.extensions.sequences.layout import FILE_ORDER
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.usual import Role
from dpsynth_core.web.shell import document, fields, kept_rules, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import one_line

TICK, TITLE = "Rows of one person belong together, in an order", "In the order of"
HELP = "The release then keeps how many rows a person has, what follows what, and what stays the same. Examples are stays, waves and trips."
TOLD = "The first rows of a person in this order count, 10 at most. On the page Domain, say what is the same in all rows of a person."
TOLD_OF_TWO = "The first rows of a person in this order count. People without rows count, too."
FILE = "The order of the file must come from each person's own rows, such as their dates: the number of a line tells of other people's."
_TIMES = ("date", "timestamp", "time")


def on_data(project: Current) -> None:
    """Draw the tick, and for ticked rows the choice of their order; both are stored in the draft as the setting `order`.

    Args:
        project: The open project, with a person column or a key of two tables.
    """
    stated = document.stated(project.draft).get("order")
    offered = _columns(project.draft)
    tick = partial(_take, usual_order(offered, project.draft))
    if not fields.linked("order_tick", bool(stated), tick, st.checkbox, TICK, help=HELP) or not stated:
        return
    (now,) = stated
    options = list(dict.fromkeys([*offered, FILE_ORDER, now]))
    look = {"format_func": lambda name: "the file" if name == FILE_ORDER else one_line(name)}
    fields.linked("order", now, lambda name: _take(name, True), st.selectbox, TITLE, options, **look)
    st.caption(FILE if now == FILE_ORDER else TOLD_OF_TWO if document.has_second(project.draft) else TOLD)


def usual_order(columns: Sequence[str], draft: Draft) -> str:
    """Return the likely order: the first column with dates or times, by name or declared type. Without one, return `FILE_ORDER`.

    Args:
        columns: The columns of the table of rows.
        draft: The draft.
    """
    declared = {one["name"] for one in document.tables(draft)[-1]["wizard"].get("declared", ()) if one.get("kind") in _TIMES}
    dated = [name for name in columns if name in declared or usual.role(name) in (Role.DATE, Role.TIME)]
    return dated[0] if dated else FILE_ORDER


def _columns(draft: Draft) -> list[str]:
    """Return the columns of the table of rows, without the person column."""
    return [name for name in document.columns(document.tables(draft)[-1]) if name != draft["unit"]["person_column"]]


@session.edits
def _take(draft: Draft, name: str, asked: bool) -> None:
    """State the order, or take it away with all that goes with it; rules that were stated stay."""
    if asked:
        document.state_setting(draft, "order", [name])
    else:
        document.forget_layout(draft)
    kept_rules.take_over(draft)
