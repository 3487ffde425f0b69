"""Part of the Domain page: what happens to a column's empty values, and to those that its list or bounds do not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dpsynth_core.web.domain.column_draft import COUNT_AS, NEAREST, NEVER, OWN, ColumnDraft, treated
from dpsynth_core.web.shell import fields

Take = Callable[[str, dict[str, Any]], None]
"""Stores changed entries of the draft of a column."""

_TITLES = {"missing": "Empty values", "other": "Values outside"}
_NAMES = {
    "missing": {OWN: "a value of their own, “missing”", NEVER: "cannot occur", COUNT_AS: "count as …"},
    "other": {OWN: "a value of their own, “other”", NEVER: "cannot occur", NEAREST: "the nearest group", COUNT_AS: "count as …"},
}
_HELP = {
    "missing": "A value of their own costs a little accuracy. Say “cannot occur” where the questionnaire or the register rules it out.",
    "other": "Values that are not listed, not between the bounds, or cannot be read. A value of their own costs a little accuracy.",
}


def treatment(project: str, draft: ColumnDraft, which: str, take: Take) -> None:
    """The choice for one of the two, and what it needs. which: "missing" or "other"."""
    column, options = draft.name, draft.treatments(which)
    chosen, labels = draft.treatment(which), draft.value_labels()

    def changed(treatment: str) -> None:
        take(column, {which: treated(treatment, labels[0] if labels else "")})

    look = {"format_func": _NAMES[which].get, "help": _HELP[which]}
    fields.linked(f"{which}:{column}", chosen, changed, st.selectbox, _TITLES[which], options, **look)
    if chosen == COUNT_AS:
        _named_cell(project, draft, which, labels, take)


def _named_cell(project: str, draft: ColumnDraft, which: str, labels: tuple[str, ...], take: Take) -> None:
    column, recode = draft.name, getattr(draft, which)
    label_key, why_key = f"{project}:{which}:label:{column}", f"{project}:{which}:why:{column}"
    st.session_state[why_key] = recode["why"]

    def changed() -> None:
        take(column, {which: treated(COUNT_AS, st.session_state.get(label_key, ""), st.session_state[why_key].strip())})

    if labels:
        st.session_state[label_key] = recode["as"] if recode["as"] in labels else labels[0]
        st.selectbox("… as those of", labels, key=label_key, on_change=changed)
    st.text_input("Why? It is published.", key=why_key, on_change=changed, max_chars=500, placeholder="The form has no box for “none”.")
