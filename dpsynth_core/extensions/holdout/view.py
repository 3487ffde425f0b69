"""The choice on the page Budget to leave people out."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.extensions.holdout import SETTING
from dpsynth_core.extensions.holdout.coin import check
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.web.shell import document, fields, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import WHOLE, literal

PROPOSED = 5
"""Per cent of the people that the page proposes to leave out."""
ASKED = f"Leave {PROPOSED} % of the people out, by a coin"
READING = (
    "Attacks on the rows can then be compared with attacks on people who took no part. The release is about the others, so errors are a "
    "little larger. It is worth it from 20,000 people on."
)


def budget(project: Current) -> None:
    """Draw the box that leaves people out, and why the plan cannot have it, if it cannot.

    Nothing is drawn without a person column, or for linked tables, unless the draft states the setting already. A
    click stores the setting in the draft. A share that the draft states already is kept until the box is cleared.

    Args:
        project: The open project.
    """
    stated = SETTING in project.draft.get("extensions", {})
    names_people = project.draft.get("unit", {}).get("person_column") is not None and not document.is_linked(project.draft)
    if not stated and not names_people:
        return
    fields.linked("holdout", stated, _ask, st.checkbox, ASKED)
    st.caption(READING)
    if stated:
        try:
            check(document.plan(project.draft, project.name))
        except InputError as error:
            st.caption(f":material/block: {literal(error.problem, WHOLE)}. To mend it: {literal(error.remedy, WHOLE)}.")


@session.edits
def _ask(draft: Draft, wanted: bool) -> None:
    """Store whether people are left out; the section `extensions` goes with the last of its settings."""
    stated = {name: value for name, value in draft.pop("extensions", {}).items() if name != SETTING}
    if stated := stated | ({SETTING: PROPOSED} if wanted else {}):
        draft["extensions"] = stated
