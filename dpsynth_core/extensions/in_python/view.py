"""Python code for a plan: in the sidebar of each step of the wizard, the code for what was entered so far."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from dpsynth_core.extensions.in_python.script import STEPS, Table, lacking, script
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import recorded_views, runs
from dpsynth_core.web.shell import document, frame, refusals
from dpsynth_core.web.shell.session import Current

_TITLE, _ICON = "The same in Python", ":material/code:"
_LINES = 22
"""Lines of code that a window has room for."""
_UPLOADED = "the uploaded file: say where yours is"
_RUN = "results_run"
"""Session key of the run that the Results page shows."""


def draw(place: tuple[Current, str]) -> None:
    """Draw the button that opens the code.

    A click opens a dialog with the code. Nothing is stored, and no table is read.

    Args:
        place: The open project, and the name of the open page; nothing is drawn on pages that are
            no step of the wizard.
    """
    project, step = place
    if step not in STEPS or not project.id:
        return
    if st.button(_TITLE, icon=_ICON, type="tertiary", key="in_python"):
        _shown(project, step)


@refusals.dialog(_TITLE, icon=_ICON, width="large")
def _shown(project: Current, step: str) -> None:
    if document.domain_zone(project.draft) is Zone.CURATOR:
        frame.zone_badge(Zone.CURATOR)
    plan, seal = stated(project, step)
    if why := lacking(plan):
        st.caption(f":material/block: {why}")
        return
    st.caption("What is entered up to this step, as a script. The icon at its top right copies it.")
    code = script(plan, step, *tables_of(project.draft), seal=seal, people=document.people(project.draft))
    st.code(code, language="python", height=500 if code.count("\n") > _LINES else "content")


def stated(project: Current, step: str) -> tuple[Mapping[str, Any], str]:
    """Return the known parts of the spec of a project in JSON, and its digest if it is complete.

    On Results it is the spec of the run that the page shows; without any run, the draft. While the draft is
    not complete, what it has is returned, with the name of the project and the digest "".

    Args:
        project: The open project.
        step: The step whose page is open.
    """
    spec = _of_run(project) if step == "results" else None
    if spec is None:
        try:
            spec = document.spec(project.draft, project.name, recorded_views.of(project.owner, project.id))
        except InputError:
            return {**_decided(project.draft), "name": project.name}, ""
    return spec.model_dump(mode="json"), spec.digest()


def tables_of(draft: Mapping[str, Any]) -> tuple[Table, Table | None]:
    """Return how the code names the first and the second table of a draft; None for a second table that is not there.

    An uploaded file has its name alone, any other table its path.

    Args:
        draft: The draft.
    """
    first, *second = (_table(one) for one in document.tables(dict(draft)))
    return first, second[0] if second else None


def _of_run(project: Current) -> Spec | None:
    done = [run for run in runs.list(project.owner, project.id) if run.state == "done" and not run.only_learns]
    wanted = st.session_state.get(_RUN)
    return next((run.spec for run in done if run.id == wanted), done[0].spec if done else None)


def _decided(draft: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the draft with what two linked tables fix, once it can be worked out."""
    try:
        return document.decided(draft)
    except InputError:
        return draft


def _table(draft: Mapping[str, Any]) -> Table:
    wizard, data = document.wizard(draft), draft.get("data") or {}
    uploaded, path = wizard.get("source") == "upload", data.get("path", "")
    if data.get("kind") == "demo":
        return Table("demo")
    return Table(Path(path).name if uploaded else path, frozenset(wizard.get("stated", ())), _UPLOADED if uploaded else "")
