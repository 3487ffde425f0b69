"""What of the plan was changed since a run, so that its results are not taken for those of the plan. Public facts only."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.evaluation import side_by_side
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store.runs import Run
from dpsynth_core.web.shell import document, plan_words
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

_WHOLE = ("domain", "workload")
"""Of these it is only said that they differ."""
_NOT_CHOSEN = ("looks", "name")
"""The plan says nothing of these."""


def since(run: Run, draft: Draft) -> tuple[str, ...]:
    """Each difference in words, the plan as it was first. Raises InputError for a plan that is not complete."""
    before, now = run.spec.published(), document.spec(draft, run.spec.name).published()
    for part in _NOT_CHOSEN:
        before.pop(part, None)
        now.pop(part, None)
    table = side_by_side.differences({"before": before, "now": now})
    return tuple(_worded(*row) for row in zip(table["setting"], table["before"], table["now"], strict=True))


def _worded(setting: str, before: str, now: str) -> str:
    name = plan_words.named(setting)
    return name if setting in _WHOLE else f"{name}: {plan_words.valued(setting, before)} → {plan_words.valued(setting, now)}"


def banner(project: Current, run: Run) -> bool:
    """Say what was changed, if anything was; whether it was."""
    try:
        differences = since(run, project.draft)
    except InputError as error:
        words = f"Your plan has changed since this run, and is not complete yet: {literal(error.problem)}; {literal(error.remedy)}."
        st.warning(words, icon=":material/edit_note:")
        return True
    if differences:
        words = "; ".join(literal(difference, 150) for difference in differences)
        st.warning(f"**Your plan has changed since this run.** Different now: {words}.", icon=":material/edit_note:")
    return bool(differences)
