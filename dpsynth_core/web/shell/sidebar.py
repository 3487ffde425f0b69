"""The sidebar under the navigation: the run that is under way, the projects, and who has signed in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import recorded_views, roles, runs, sharing
from dpsynth_core.store.projects import Project
from dpsynth_core.web.shell import fields, refusals, session
from dpsynth_core.web.shell.plan_first import Whose, copied
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code, literal

POLL_SECONDS = 2.0
_NEW_NAME, _OTHER_NAME, _COPY_NAME, _WHOSE_KEY = "project_new_name", "project_rename_name", "project_copy_name", "project_copy_whose"
COPY_HELP = "Use last year's plan on this year's table: the new project has the same plan and no table."
_WHOSE = {
    Whose.SAME: ("The same people, or some of them", "Their account in the ledger is charged again: losses add up."),
    Whose.OTHERS: ("Other people", "No person is in both tables. You name the people on the Data page; they have an account of their own."),
}
_PROJECT, _WITH_KEY, _TO_KEY = "project", "project_share_with", "project_hand_to"
_APART = " · "
_SHARE_HELP = "Only you see the project until you name others, or hand it over."


def show(project: Current, own: Sequence[Project], first_page: st.Page) -> None:
    """Draw the picker of projects, and buttons to create, copy, rename, delete and share one.

    Delete and Share are drawn for the owner alone, and Share in an office only. Projects that
    others offer to the visitor come first.

    Args:
        project: The open project.
        own: All projects that the visitor owns or shares.
        first_page: The page on which a new project begins.
    """
    for offer in sharing.offers(project.owner) if session.in_office() else ():
        _offered(project.owner, offer)
    people = roles.names() if any(one.owner != project.owner for one in own) else {}
    labels: dict[str, str] = {}  # a select box tells its options apart by what they are called, so equal names are numbered
    for one in sorted(own, key=lambda p: p.created):
        number = 1 + sum(p.name == one.name and p.id in labels for p in own)
        labels[one.id] = one.name if number == 1 else f"{one.name} ({number})"
        if one.owner != project.owner:
            labels[one.id] += f" · of {people.get(one.owner, one.owner[:8])}"
    names = {one.id: labels[one.id] for one in own}
    help = "A project prepares one release, and has its uploads and runs."
    look: dict[str, Any] = {"format_func": lambda choice: names.get(choice, ""), "help": help}
    fields.linked("project_picker", project.id, refusals.stored(session.switch), st.selectbox, "Project", list(names), **look)
    with st.container(horizontal=True, gap="small"):
        if st.button("New", key="project_new", type="tertiary"):
            _new(first_page)
        if st.button("Copy", key="project_copy", type="tertiary", help=COPY_HELP):
            _copy(project, first_page)
        if st.button("Rename", key="project_rename", type="tertiary"):
            _rename(project)
        if project.mine and st.button("Delete", key="project_delete", type="tertiary"):
            _delete(project)
        if project.mine and session.in_office() and st.button("Share", key="project_share", type="tertiary", help=_SHARE_HELP):
            _share(project)


def _offered(person: str, offer: sharing.Offer) -> None:
    with st.container(border=True, key=f"offer_{offer.project}"):
        st.caption(
            f"The project **{literal(offer.name, 60)}** of {literal(roles.names().get(offer.owner, offer.owner[:8]))} is offered to you, "
            "with its runs. Once you take it over it is yours."
        )
        with st.container(horizontal=True, gap="small"):
            for label, take in (("Take it over", True), ("Decline", False)):
                say = refusals.stored(partial(sharing.answer, person, offer.project, take))
                st.button(label, key=f"offer_{take}_{offer.project}", on_click=say)


def visitor() -> None:
    """Draw the visitor's name and a button to sign out; nothing without sign-in."""
    if name := session.signed_in_as():
        st.caption(f"Signed in as {literal(name)}")
        st.button("Sign out", icon=":material/logout:", key="sign_out", type="tertiary", on_click=st.logout)


@partial(refusals.polled, seconds=POLL_SECONDS)
def run_badge(owner: str, runs_page: st.Page) -> None:
    """Draw a badge for the visitor's first active run and a link to its progress.

    It is drawn again every two seconds; when no run is active any more, the whole page is drawn again.

    Args:
        owner: The visitor's owner id.
        runs_page: The page that shows the run's progress.
    """
    active = [run for run in runs.list(owner) if run.active]
    if not active:
        st.rerun()
    words = {"queued": "waiting", "running": "under way", "cancelling": "stopping"}[active[0].state]
    st.badge(f"Run {words}", icon=":material/progress_activity:", color="blue", help="The run goes on when you close this page.")
    st.page_link(runs_page, label="Show progress", icon=":material/monitoring:")


@refusals.dialog("New project", icon=":material/add:")
def _new(first_page: st.Page) -> None:
    st.text_input("Name", placeholder="Hospital stays 2025", max_chars=80, key=_NEW_NAME)
    _confirm("Create", "project_new_confirm", lambda: session.create(st.session_state[_NEW_NAME]), partial(_begin, first_page))


@refusals.dialog("Copy the plan to a new project", icon=":material/content_copy:")
def _copy(project: Current, first_page: st.Page) -> None:
    st.caption(
        "The copy has the columns with their values, the tables of counts, budget, criteria and mechanism. It has no table, results or "
        "charges. What you have seen of the former records may have shaped the plan: the new release says so too."
    )
    st.text_input("Name", placeholder="Hospital stays 2026", max_chars=80, key=_COPY_NAME)
    look = {"format_func": lambda whose: _WHOSE[whose][0], "captions": [about for _, about in _WHOSE.values()], "index": None}
    st.radio("Whom is the new table about?", list(_WHOSE), key=_WHOSE_KEY, **look)

    def copy() -> None:
        if (whose := st.session_state[_WHOSE_KEY]) is None:
            raise InputError("people", "you have not said whom the new table is about", "choose one of the two answers")
        session.create(st.session_state[_COPY_NAME], copied(project.draft, whose), recorded_views.of(project.owner, project.id))

    _confirm("Copy", "project_copy_confirm", copy, partial(_begin, first_page))


def _begin(first_page: st.Page) -> None:
    st.switch_page(first_page, query_params={session.PARAMETER: session.current().id})


@refusals.dialog("Rename project", icon=":material/edit:")
def _rename(project: Current) -> None:
    st.session_state.setdefault(_OTHER_NAME, project.name)
    st.text_input("Name", max_chars=80, key=_OTHER_NAME)
    _confirm("Rename", "project_rename_confirm", lambda: session.rename(st.session_state[_OTHER_NAME]))


@refusals.dialog("Delete project", icon=":material/delete:")
def _delete(project: Current) -> None:
    st.markdown(f"Delete {code(project.name)} with its uploaded table, its runs and their synthetic rows? This cannot be undone.")
    st.caption("The ledger keeps what was spent: privacy that is gone does not come back.")
    _confirm("Delete for good", "project_delete_confirm", session.delete)


@refusals.dialog("Share project", icon=":material/group:")
def _share(project: Current) -> None:
    may, now, people = sharing.candidates(project.owner), sharing.people(project.owner, project.id), roles.names()
    labels = _told_apart({**{person: people.get(person, "") for person in now}, **may})
    if not labels:
        st.caption("Nobody else who may prepare releases has signed in here yet.")
        return
    st.caption(
        "They see its tables and true values as you do, and may change, run and download, each by their role. The ledger notes who shared "
        "what with whom, and nobody who worked on a project approves its plans or releases. People who want a project of their own use "
        "Copy."
    )
    look = {"format_func": labels.get, "placeholder": "nobody"}
    st.multiselect("Who works on it with you", list(labels), now, key=_WITH_KEY, **look)
    _confirm("Share", "project_share_confirm", lambda: sharing.share(project.owner, project.id, st.session_state[_WITH_KEY]))
    with st.expander("Hand it over", icon=":material/forward:"):
        asked = sharing.offered_to(project.id)
        st.selectbox("The new owner", list(may), list(may).index(asked) if asked in may else None, key=_TO_KEY, **look)
        st.caption("They are asked. Once they take it over, it is theirs with its runs, and you no longer see it unless they share it.")
        if asked:
            st.caption(f"{literal(people.get(asked, asked[:8]))} has not answered yet. Hand it over to nobody to take your offer back.")
        _confirm("Hand over", "project_hand_confirm", lambda: sharing.offer(project.owner, project.id, st.session_state[_TO_KEY] or ""))


def _told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Return a unique label for each person, because a select box identifies its options by their labels.

    Args:
        names: The names by owner id (hostile text).
    """
    often = Counter(names.values())
    return {one: name if name and often[name] == 1 and _APART not in name else f"{name}{_APART}{one[:8]}" for one, name in names.items()}


def _confirm(label: str, key: str, action: Callable[[], None], after: Callable[[], None] = st.rerun) -> None:
    """Draw the buttons Cancel and `label` of a dialog.

    Args:
        label: The label of the button that acts.
        key: The key of the button.
        action: Called by the button; its InputError is shown in the dialog.
        after: Called after `action` succeeded; by default it closes the dialog.
    """
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Cancel", key=f"{key}_not"):
            st.rerun()
        confirmed = st.button(label, type="primary", key=key, on_click=refusals.attempt, args=(_PROJECT, action))
    if confirmed and (error := refusals.taken(_PROJECT)) is not None:
        st.error(literal(f"{error.problem}; {error.remedy}"))
    elif confirmed:
        after()
