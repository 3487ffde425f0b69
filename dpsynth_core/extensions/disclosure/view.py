"""The card of disclosure on the page Budget: the questions, their share of the budget, and how precisely the answers will be known."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.extensions.disclosure import MOST, SETTING
from dpsynth_core.extensions.disclosure.claim import DISCLOSURE
from dpsynth_core.extensions.disclosure.planned import check_width, widths
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.shell import document, fields, frame, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import WHOLE, literal

LABEL = f"Questions, one on each line, {MOST} at most"
SHARE, SHARES = f"budget.{DISCLOSURE.name}", (0.01, 0.02, 0.05, 0.1)
_KNOWN = 3
"""Columns that the example takes as known."""


def card(project: Current) -> None:
    """Draw the questions, stored in the draft, and, once there are some, their share and expected widths, or what is wrong with them.

    Nothing is drawn for two linked tables without questions.

    Args:
        project: The open project.
    """
    stated = project.draft.get("extensions", {}).get(SETTING, [])
    if document.is_linked(project.draft) and not stated:
        return
    with frame.card(DISCLOSURE.title, Zone.PUBLIC, DISCLOSURE.reading):
        look = {"placeholder": _example(project), "height": 80}
        fields.linked("disclosure", "\n".join(stated), _take, st.text_area, LABEL, **look)
        if not stated:
            return
        fields.share("Share of the budget for these questions", SHARE, SHARES, DISCLOSURE.share.default)
        people = document.people(project.draft)
        try:
            plan = document.plan(project.draft, project.name)
            check_width(plan, people)
        except InputError as error:
            st.caption(f":material/block: {literal(error.problem, WHOLE)}. To mend it: {literal(error.remedy, WHOLE)}.")
            return
        for sentence in widths(plan, people):
            st.caption(f"{literal(sentence[0].upper() + sentence[1:], WHOLE)}.")


def _example(project: Current) -> str:
    names = document.domain(project.draft).names
    return f"{names[-1]} from {', '.join(names[:-1][:_KNOWN])}" if len(names) > 1 else ""


@session.edits
def _take(draft: Draft, entered: str) -> None:
    """Store the questions, each once; the share of the budget goes with the last question."""
    texts = list(dict.fromkeys(line.strip() for line in entered.splitlines() if line.strip()))
    document.state_setting(draft, SETTING, texts)
    if not texts:
        draft["budget"].pop(DISCLOSURE.name, None)
