"""The cards of both claims on the page Budget: the questions, their share of the budget, and how precisely the answers will be known."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpsynth_core.extensions.disclosure import MOST, SETTING, UNIQUES
from dpsynth_core.extensions.disclosure.claim import DISCLOSURE
from dpsynth_core.extensions.disclosure.planned import alone_widths, check_people, check_width, widths
from dpsynth_core.extensions.disclosure.uniques import REPLICATED
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning.plan import Plan
from dpsynth_core.web.shell import document, fields, frame, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import WHOLE, literal

LABEL = f"Questions, one on each line, {MOST} at most"
ALONE_LABEL = f"Columns that are known together, one list on each line, {MOST} at most"
SHARES = 0.01, 0.02, 0.05, 0.1
_KNOWN = 3
"""Columns that the examples take as known."""


def card(project: Current) -> None:
    """Draw the questions about disclosure, stored in the draft, and, once there are some, their share and widths, or what is wrong.

    Nothing is drawn for two linked tables without questions.

    Args:
        project: The open project.
    """
    stated = project.draft.get("extensions", {}).get(SETTING, [])
    if document.is_linked(project.draft) and not stated:
        return
    names = document.domain(project.draft).names
    with frame.card(DISCLOSURE.title, Zone.PUBLIC, DISCLOSURE.reading):
        look = {"placeholder": f"{names[-1]} from {', '.join(names[:-1][:_KNOWN])}" if len(names) > 1 else "", "height": 80}
        fields.linked("disclosure", "\n".join(stated), _take, st.text_area, LABEL, **look)
        if stated:
            fields.share("Share of the budget for these questions", f"budget.{SETTING}", SHARES, DISCLOSURE.share.default)
            _expected(project, check_width, widths)


def alone_card(project: Current) -> None:
    """Draw the questions about people who are alone with their values, as `card` draws those about disclosure.

    Args:
        project: The open project.
    """
    stated = project.draft.get("extensions", {}).get(UNIQUES, [])
    if document.is_linked(project.draft) and not stated:
        return
    with frame.card(REPLICATED.title, Zone.PUBLIC, REPLICATED.reading):
        look = {"placeholder": ", ".join(document.domain(project.draft).names[:_KNOWN]), "height": 80}
        fields.linked("uniques", "\n".join(stated), _take_alone, st.text_area, ALONE_LABEL, **look)
        if stated:
            fields.share("Share of the budget for these columns", f"budget.{UNIQUES}", SHARES, REPLICATED.share.default)
            _expected(project, check_people, alone_widths)


def _expected(project: Current, check: Callable[[Plan, int | None], None], said: Callable[[Plan, int | None], list[str]]) -> None:
    people = document.people(project.draft)
    try:
        plan = document.plan(project.draft, project.name)
        check(plan, people)
    except InputError as error:
        st.caption(f":material/block: {literal(error.problem, WHOLE)}. To mend it: {literal(error.remedy, WHOLE)}.")
        return
    for sentence in said(plan, people):
        st.caption(f"{literal(sentence[0].upper() + sentence[1:], WHOLE)}.")


@session.edits
def _take(draft: Draft, entered: str) -> None:
    _store(draft, SETTING, entered)


@session.edits
def _take_alone(draft: Draft, entered: str) -> None:
    _store(draft, UNIQUES, entered)


def _store(draft: Draft, name: str, entered: str) -> None:
    """Store questions of a setting, each once; the share of the budget goes with the last question."""
    texts = list(dict.fromkeys(line.strip() for line in entered.splitlines() if line.strip()))
    document.state_setting(draft, name, texts)
    if not texts:
        draft["budget"].pop(name, None)
