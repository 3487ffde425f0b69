"""Part of the Domain page: tables that were published about the same people, whose values are those in the domain."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import MAX_SOURCE
from dpsynth_core.sources import published
from dpsynth_core.vocabulary.published import FIELD
from dpsynth_core.web.shell import document, fields, frame, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

HELP = (
    "Give counts of people by age, by sex, by region, or by age and sex together, from a census or an annual report. They are not "
    "measured, and the synthetic rows have these counts, scaled to their number."
)
_TABLE = "published table"
_FORM = "Write one line for each value, or combination of values, with columns named as here and the number of people in a column `count`."
_WARNING = (
    "Give only what was published already. Counts made from this very table and never published are private: you would give them away "
    "without noise, and nothing can find that out."
)


def section(project: Current) -> None:
    """Draw the published tables of the plan, and the fields that add one to the draft.

    Nothing is drawn for two linked tables, unless their draft has published tables, which are then
    refused. The fields are replaced by a sentence while a column is not complete.
    """
    tables = project.draft.get(FIELD, [])
    if document.is_linked(project.draft) and not tables:
        return
    title = "Published tables of these people" + (f" ({len(tables)})" if tables else "")
    with st.expander(title, expanded=bool(tables), icon=":material/newspaper:", key=f"{project.id}:published"):
        st.caption("The rows keep to these tables, and you do not pay for them.", help=HELP)
        for number, table in enumerate(tables):
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                st.markdown(f"**{literal(' × '.join(table['columns']))}** ({literal(table['source'])})")
                gone = partial(session.edit, partial(_remove, table=table), FIELD)
                st.button("Delete", icon=":material/delete:", type="tertiary", key=f"published_delete_{number}", on_click=gone)
            heading = "people" + " " * ("people" in table["columns"])  # no two columns have one name
            whole = [cell for cell in table["cells"] if len(cell) == len(table["columns"]) + 1]  # a problem is shown below
            lines = pd.DataFrame(whole, columns=[*table["columns"], heading])
            st.dataframe(lines, hide_index=True, height=min(240, 40 + 35 * len(lines)), alt="A published table")
        if document.problem(project.draft | {FIELD: []}, "domain") is not None:
            st.caption(":material/edit: Complete all columns first.")
        else:
            st.warning(_WARNING, icon=":material/lock:")
            look = {"key": f"{project.id}:published:where:{len(tables)}", "max_chars": MAX_SOURCE, "placeholder": "Census 2021, table 4"}
            where = st.text_input("Where was it published?", **look)
            st.caption(_FORM)
            fields.table_file("published_upload", partial(_add, project.draft | {FIELD: []}, where))
        frame.refused_at(FIELD)
        if tables and (wrong := document.problem(project.draft, "domain")) is not None:
            fields.problem(wrong)


def _remove(draft: Draft, table: dict[str, Any]) -> None:
    draft[FIELD].remove(table)


def _add(draft: Draft, where: str, file: Any) -> None:

    def change(stored: Draft) -> None:
        if not where.strip():
            raise InputError(_TABLE, "you have not said where it was published", "name the place above, and choose the file again")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"table{Path(file.name).suffix}")
            path.write_bytes(file.getbuffer())
            stored[FIELD] = [*stored.get(FIELD, []), published.section(path, document.domain(draft), where, _TABLE)]

    session.edit(change, FIELD)
