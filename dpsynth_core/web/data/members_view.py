"""The second table on the Data page: the key that links its rows to the first table, and how many rows count per key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.sources.registry import KINDS
from dpsynth_core.store import projects
from dpsynth_core.vocabulary.link import MOST
from dpsynth_core.web.data import project_table, reading_view
from dpsynth_core.web.data.project_table import Table
from dpsynth_core.web.shell import additions, document, fields, frame, numbers, refusals, session
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import names

SHELF: projects.Shelf = "members"
_PLACE = "second table"
_WHAT = (
    "Examples are the people of households, the visits of patients or the workers of firms. One release makes both tables, with keys that "
    "match, and protects a row of the first with all its rows in the second."
)
_KEY_HELP = "This column links the rows of both tables. Its values are not released: rows get new keys."
_MOST_HELP = "The first rows of a key in file order count; others are left out. You can choose 1 to 10."
_LEFT_OUT_HELP = "State what you know of these people. No table is counted, and your answer is not published."


def part(project: Current) -> None:
    """Draw the choice of the second table: an upload or, on one's own machine, a path.

    A chosen table is saved in the draft. The error of a refused one is drawn below.
    """
    st.markdown("**A second table of their members (optional)**", help=_WHAT)
    owner, own = project.owner, project.id
    fields.table_file("second_upload", lambda file: take(lambda: project_table.from_upload(owner, own, file.name, file, SHELF)))
    if session.only_this_machine():
        example, label = "/data/persons.csv", "Or its path on this machine"
        fields.text(label, "wizard.second_path", placeholder=example)
        take_it = partial(take, lambda: project_table.from_path(fields.value("wizard.second_path", ""), True))
        st.button("Open it", icon=":material/folder_open:", key="open_second", on_click=take_it)
    frame.refused_at(_PLACE)


def take(look_at: Callable[[], Table]) -> None:
    """Make a table the project's second table, in the stored draft.

    An InputError, also if a run is under way, is not raised but shown on the page.

    Args:
        look_at: Returns the table; may raise InputError.
    """
    with refusals.attempted(_PLACE):
        session.check_idle(_PLACE)
        table = look_at()
        session.edit(lambda draft: project_table.link(draft, table), _PLACE)


def chosen(project: Current) -> None:
    """Draw the second table: its key, the limit of rows per key, its format, and its removal.

    Key, limit and format are stored in the draft. A warning is drawn if the two tables have no
    column in common.
    """
    second = replace(project, draft=document.second(project.draft))  # as if it were the only table
    st.markdown("**The second table has their members**", help=_WHAT)
    kind = KINDS[second.draft["data"]["kind"]]
    about = f"{kind.label}, {len(document.columns(second.draft))} columns"
    label = second.draft["wizard"]["label"]
    fields.taken_file(label, about, "remove_second", _PLACE, (SHELF,), project_table.unlink)
    if kind.is_file:
        reading_view.doubts(second, _again, _PLACE)
    shared = [name for name in document.columns(project.draft) if name in document.columns(second.draft)]
    if not shared:
        st.warning("The two tables have no column in common. Give their key the same name in both.", icon=":material/key_off:")
    left, right = st.columns([3, 2])
    with left:
        fields.choice("Key of both tables", "unit.person_column", [None, *shared], {None: "Choose a column…"}, help=_KEY_HELP)
    with right:
        parse = partial(numbers.whole, field="unit.max_rows_per_person", low=1, high=MOST)
        most = fields.number("Members of each, at most", "unit.max_rows_per_person", parse, help=_MOST_HELP)
    left_out(most, "members")
    if project.draft["unit"]["person_column"] is not None:
        additions.draw("person", project)
    if doubled := [name for name in shared if name != project.draft["unit"]["person_column"]]:
        st.caption(f"Both tables have {names(doubled)}: the release uses those of the first. Rename them in one file to use both.")
    if kind.is_file:
        reading_view.panel(second, _again)
    frame.refused_at(_PLACE)


def _again(**changes: Any) -> None:
    take(lambda: project_table.reread(document.second(session.current().draft), **changes))


_MANY = ("half", "most")
_LEFT_OUT = {"unknown": "I do not know", "few": "None or a few", "half": "About half", "most": "Most"}


def left_out(most: int | None, what: str, grows: bool = False) -> None:
    """Draw a question about how many rows exceed the limit, and a warning if these are many.

    The answer, a note in the draft, is the curator's own; no table is counted.

    Args:
        most: The limit of rows per person or household; None while it is not valid.
        what: The name of the rows on the page, "rows" or "members".
        grows: Whether noise grows with the limit.
    """
    look: dict[str, Any] = {"kind": "segmented", "help": _LEFT_OUT_HELP}
    said = fields.choice(f"How many {what} are beyond that?", "wizard.left_out", list(_LEFT_OUT), _LEFT_OUT, **look)
    if most and said in _MANY:
        whose, noise = "household" if what == "members" else "person", ", with more noise" * grows
        told = f"{_LEFT_OUT[said]} of the {what} will be missing from the release: it has {most:,} of each {whose}."
        st.warning(f"{told} A higher limit keeps more of them{noise}.", icon=":material/content_cut:")
