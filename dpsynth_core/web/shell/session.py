"""The visitor, the open project, and its draft.

`st.session_state` is only a cache: every change is in the store before the page is drawn again.

`begin` is called by the router at each run of the script and reads the draft again, so that a second tab sees what the first one saved.
Widgets save through `edit`, also from callbacks, which run before `begin`.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.private_views import Look
from dpsynth_core.store import projects, roles, runs
from dpsynth_core.store.projects import Project
from dpsynth_core.store.roles import Act
from dpsynth_core.web.shell import document, refusals
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.door import address, doors
from dpsynth_core.web.shell.door.sign_in import SignIn

P = ParamSpec("P")

FIRST_NAME = "First release"
PARAMETER = "project"
_OWNER, _CURRENT, _LOADED, _ROUTED = "_owner", "_current", "_loaded", "_routed"
_TRIES = 20


@dataclass(frozen=True)
class Current:
    """The open project.

    Attributes:
        owner: The visitor's owner id in the store.
        name: The name as the curator wrote it (hostile text).
        mine: Whether the project is the visitor's own, not one that another person shares.
    """

    owner: str
    id: str
    name: str
    draft: Draft
    mine: bool = True


def admitted() -> bool:
    """Return whether the door knows the visitor. It has let them in already; a server started without the door serves nothing either."""
    st.session_state[_OWNER] = doors.admitted(st.context.cookies)
    return bool(st.session_state[_OWNER])


def signed_in_as() -> str:
    """Return the name of the visitor who signed in (hostile text); "" on a server for one person."""
    return doors.chosen().name(st.context.cookies)


def in_office() -> bool:
    """Return whether people sign in here, so that there are roles and other people who may approve."""
    return not doors.chosen().one_person


def ends() -> None:
    """Let the browser load the page again when the sign-in has ended, because from then on this page gets no answer."""
    door = doors.chosen()
    if isinstance(door, SignIn):
        wait = 1000 * max(1, math.ceil(door.seconds_left(st.context.cookies)) + 1)
        script = f"clearTimeout(window.signInEnds); window.signInEnds = setTimeout(() => location.reload(), {wait})"
        st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


def only_this_machine() -> bool:
    """Return whether the only user is the person who runs the server, at this machine, who can read its files anyway."""
    return doors.chosen().one_person and address.only_this_machine()


def own_projects() -> tuple[Project, ...]:
    """Return the visitor's projects, the last changed first; a first project is created if needed. Call `admitted` first.

    A visitor who may not prepare releases has no projects.
    """
    owner = st.session_state[_OWNER]
    if not roles.may(owner, Act.PREPARE):
        return ()
    return projects.list(owner) or (projects.create(owner, FIRST_NAME, document.new()),)


def begin(own: Sequence[Project]) -> Current:
    """Open the project that the address names, else the last changed one; without projects, an empty one that is not stored.

    Args:
        own: The projects as read by `own_projects`.
    """
    if not own:
        st.session_state[_CURRENT] = ""
        st.session_state[_LOADED] = Current(st.session_state[_OWNER], "", "", document.completed(document.new()))
        return current()
    wanted = st.session_state.get(_CURRENT) or st.query_params.get(PARAMETER)
    if st.session_state.get(_CURRENT) and wanted not in [p.id for p in own]:
        st.toast("That project was deleted, or is not shared with you any more.", icon=":material/delete:")
    return _open(next((p for p in own if p.id == wanted), own[0]))


@contextlib.contextmanager
def routing() -> Iterator[None]:
    """Mark that the router runs a page."""
    st.session_state[_ROUTED] = True
    try:
        yield
    finally:
        st.session_state[_ROUTED] = False


def routed() -> bool:
    """Return whether the router is running this page; False if the page's file was run around it."""
    return bool(st.session_state.get(_ROUTED))


def current() -> Current:
    """Return the project as read at the beginning of this run of the script, with the changes made since."""
    return st.session_state[_LOADED]


def edit(change: Callable[[Draft], None], place: str = refusals.STORE) -> bool:
    """Apply `change` to the newest stored draft and save it, also when another tab saves at the same moment.

    Returns: Whether nothing was refused. A refused change is not saved; its error is shown at `place` after a callback, else raised. A
        project that was deleted meanwhile refuses nothing: `begin` reports it.
    """
    if routed():
        _edit(change)
        return True
    return refusals.attempt(place, lambda: _edit(change))


def edits(change: Callable[Concatenate[Draft, P], None]) -> Callable[P, bool]:
    """Return a function that applies a change with further arguments to the stored draft, as `edit` does."""

    @wraps(change)
    def edited(*arguments: P.args, **options: P.kwargs) -> bool:
        return edit(lambda draft: change(draft, *arguments, **options))

    return edited


def _edit(change: Callable[[Draft], None]) -> None:
    owner, project = st.session_state[_OWNER], st.session_state[_CURRENT]
    for attempt in range(_TRIES):
        try:
            stored = projects.load(owner, project)
        except InputError:  # deleted in another tab, or no longer shared: `begin` says so and opens another one
            return
        draft = document.completed(copy.deepcopy(dict(stored.draft)))
        change(draft)
        try:
            _open(projects.save(owner, project, draft, stored.revision))
            return
        except projects.StaleDraft:
            if attempt == _TRIES - 1:
                raise


def note(**values: object) -> None:
    """Save notes of the wizard (see document)."""
    edit(lambda draft: draft.setdefault("wizard", {}).update(values))


def create(name: str, plan: Draft | None = None, looked: Iterable[Look] = ()) -> None:
    """Add a project with a plan, or with an empty one, and open it.

    Args:
        looked: The looks of the project that the plan comes from.
    """
    _open(projects.create(st.session_state[_OWNER], name, plan or document.new(), looked))


def switch(project: str) -> None:
    """Open another of the visitor's projects."""
    _open(projects.load(st.session_state[_OWNER], project))


def rename(name: str) -> None:
    """Give the open project a new name."""
    project = current()
    _open(projects.rename(project.owner, project.id, name))


def delete() -> None:
    """Delete the open project with its uploads; the ledger keeps its charges."""
    project = current()
    projects.delete(project.owner, project.id)
    st.session_state.pop(_CURRENT)
    st.query_params.pop(PARAMETER, None)
    begin(own_projects())


def check_idle(field: str) -> None:
    """Raise InputError about `field` while a run waits or works, because it must find the tables of its plan unchanged."""
    project = current()
    if any(run.active for run in runs.list(project.owner, project.id)):
        raise InputError(field, "a run of this project is under way with the present table", "wait for its end, or cancel it")


def _open(project: projects.Project) -> Current:
    st.session_state[_CURRENT] = project.id
    visitor = st.session_state[_OWNER]
    draft = document.completed(project.draft)
    st.session_state[_LOADED] = Current(visitor, project.id, project.name, draft, mine=project.owner == visitor)
    return st.session_state[_LOADED]
