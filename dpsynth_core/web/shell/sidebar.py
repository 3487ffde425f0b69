"""The sidebar under the navigation: the run that is under way, the projects, and who has signed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dpsynth_core.store import projects, runs
from dpsynth_core.web.shell import refusals, session
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.steps import ACTIVE
from dpsynth_core.web.shell.text import code, literal

POLL_SECONDS = 2.0
_NEW_NAME, _OTHER_NAME = "project_new_name", "project_rename_name"
_PROJECT = "project"


def show(here: Current, runs_page: st.Page) -> None:
    """Draw it. runs_page: where the run badge leads."""
    _run_badge(here, runs_page)
    _picker(here)
    _visitor(session.signed_in_as())


def _visitor(name: str) -> None:
    if name:
        st.caption(f"Signed in as {literal(name)}")
        st.button("Sign out", icon=":material/logout:", key="sign_out", type="tertiary", on_click=st.logout)


def _run_badge(here: Current, runs_page: st.Page) -> None:
    active = any(run.state in ACTIVE for run in runs.list(here.owner))
    refusals.polled(_badge, POLL_SECONDS if active else None)(here.owner, runs_page, active)


def _badge(owner: str, runs_page: st.Page, was_active: bool) -> None:
    active = [run for run in runs.list(owner) if run.state in ACTIVE]
    if was_active and not active:
        st.rerun()
    if active:
        words = {"queued": "waiting", "running": "under way", "cancelling": "stopping"}[active[0].state]
        st.badge(f"Run {words}", icon=":material/progress_activity:", color="blue", help="It goes on when you close this page.")
        st.page_link(runs_page, label="Show progress", icon=":material/monitoring:")


def _picker(here: Current) -> None:
    names = _labels(projects.list(here.owner))
    key = "project_picker"
    st.session_state[key] = here.project
    st.selectbox(
        "Project",
        list(names),
        format_func=lambda project: names.get(project, ""),
        key=key,
        on_change=refusals.stored(lambda: session.switch(st.session_state[key])),
        help="A project is one release in preparation, with its uploads and runs.",
    )
    with st.container(horizontal=True, gap="small"):
        if st.button("New", icon=":material/add:", key="project_new", type="tertiary"):
            _new()
        if st.button("Rename", icon=":material/edit:", key="project_rename", type="tertiary"):
            _rename(here)
        if st.button("Delete", icon=":material/delete:", key="project_delete", type="tertiary"):
            _delete(here)


def _labels(own: Sequence[projects.Project]) -> dict[str, str]:
    """What to call each project, by id. A select box tells its options apart by what they are called, so equal names are numbered."""
    labels: dict[str, str] = {}
    for project in sorted(own, key=lambda p: p.created):
        number = 1 + sum(p.name == project.name and p.id in labels for p in own)
        labels[project.id] = project.name if number == 1 else f"{project.name} ({number})"
    return {project.id: labels[project.id] for project in own}


@refusals.dialog("New project", icon=":material/add:")
def _new() -> None:
    st.text_input("Name", placeholder="Hospital stays 2025", max_chars=80, key=_NEW_NAME)
    _confirm("Create", "project_new_confirm", lambda: session.create(st.session_state[_NEW_NAME]))


@refusals.dialog("Rename project", icon=":material/edit:")
def _rename(here: Current) -> None:
    st.session_state.setdefault(_OTHER_NAME, here.name)
    st.text_input("Name", max_chars=80, key=_OTHER_NAME)
    _confirm("Rename", "project_rename_confirm", lambda: session.rename(st.session_state[_OTHER_NAME]))


@refusals.dialog("Delete project", icon=":material/delete:")
def _delete(here: Current) -> None:
    st.markdown(f"Delete {code(here.name)} with its uploaded table, its runs and their synthetic rows? This cannot be undone.")
    st.caption("The ledger keeps what was spent: privacy that is gone does not come back.")
    _confirm("Delete for good", "project_delete_confirm", session.delete)


def _confirm(label: str, key: str, action: Callable[[], None]) -> None:
    """The button that does it: it closes the dialog, or says why it cannot be done."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Cancel", key=f"{key}_not"):
            st.rerun()
        confirmed = st.button(label, type="primary", key=key, on_click=refusals.attempt, args=(_PROJECT, action))
    if confirmed:
        if error := refusals.taken(_PROJECT):
            st.error(literal(f"{error.problem}; {error.remedy}"))
        else:
            st.rerun()
