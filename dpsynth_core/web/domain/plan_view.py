"""Part of the Data page: begin without the table. A codebook, or the names of the columns, is enough for every step but the run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpsynth_core.store import projects
from dpsynth_core.vocabulary.codebook import holds_values, pasted_domain, pasted_names
from dpsynth_core.web.data import data_view
from dpsynth_core.web.domain import draft_rows
from dpsynth_core.web.domain.draft_rows import Codebook
from dpsynth_core.web.shell import fields, plan_first, refusals, session
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import names


def beginning(project: Current) -> None:
    """Codebook or names, and what was made of them."""
    st.caption(
        "Recommended: decide everything from public knowledge, and choose the table last. Nothing that you decide can then come from the "
        "records, and the release can say so."
    )
    lines = f"{project.id}:plan_lines"
    fields.file("A codebook: domain JSON, CSV or DDI", draft_rows.ENDINGS, "plan_codebook", _take_codebook)
    st.text_area(
        "Or paste names of columns, or two columns: column and value",
        key=lines,
        height=110,
        placeholder="age\nsex\nregion",
        help="From a spreadsheet: the names in one line or one below the other, or one line per value of a column.",
    )
    st.button("Plan with these columns", key="plan_columns", icon=":material/edit_note:", on_click=_take_lines, args=(lines,))
    if plan_first.is_planned(project.draft):
        columns = project.draft["wizard"]["columns"]
        st.markdown(f":green[:material/check_circle:] {len(columns)} columns are planned: {names(columns)}. The table can come later.")


def _take_codebook(file: UploadedFile) -> None:
    _begin(lambda: _of_codebook(draft_rows.read_codebook(file.getvalue())))


def _take_lines(key: str) -> None:
    text = st.session_state[key]
    _begin(lambda: _of_codebook(draft_rows.codebook_of(pasted_domain(text))) if holds_values(text) else (pasted_names(text), None))


Plan = tuple[tuple[str, ...], Codebook | None]
"""The columns, and what is said of them already."""


def _of_codebook(codebook: Codebook) -> Plan:
    return codebook.names, codebook


def _begin(read: Callable[[], Plan]) -> None:
    """Let go of a table that was chosen before, and plan with these columns."""

    def act() -> None:
        columns, codebook = read()
        session.check_idle("data")
        project = session.current()
        projects.remove_uploads(project.owner, project.id)
        session.edit(partial(plan_first.begin, columns=columns))
        if codebook is not None:
            draft_rows.adopt(codebook)

    refusals.attempt(data_view.TABLE, act)
