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
        id: The project's id; "" for a visitor without projects.
        name: The name as the curator wrote it (hostile text).
        draft: The draft of the release.
        mine: Whether the project is the visitor's own, not one that another person shares.
    """

    owner: str
    id: str
    name: str
    draft: Draft
    mine: bool = True


def admitted() -> bool:
    """Read the visitor's owner id from the cookies into the session, and return whether the door knows the visitor.

    The door itself serves nothing to strangers; this also covers a server that was started without
    the door.
    """
    st.session_state[_OWNER] = doors.admitted(st.context.cookies)
    return bool(st.session_state[_OWNER])


def signed_in_as() -> str:
    """Return the name of the visitor who signed in (hostile text); "" on a server for one person."""
    return doors.chosen().name(st.context.cookies)


def in_office() -> bool:
    """Return whether people sign in here, so that there are roles, sharing and approvals."""
    return not doors.chosen().one_person


def ends() -> None:
    """Make the browser reload the page when the sign-in ends, because the page gets no answer afterwards.

    Nothing is done on a server for one person.
    """
    door = doors.chosen()
    if isinstance(door, SignIn):
        wait = 1000 * max(1, math.ceil(door.seconds_left(st.context.cookies)) + 1)
        script = f"clearTimeout(window.signInEnds); window.signInEnds = setTimeout(() => location.reload(), {wait})"
        st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


def only_this_machine() -> bool:
    """Return whether the server is for one person and reachable only from this machine.

    That person can read the machine's files anyway.
    """
    return doors.chosen().one_person and address.only_this_machine()


def own_projects() -> tuple[Project, ...]:
    """Return the projects that the visitor owns or shares, the last changed first. Call `admitted` first.

    A visitor without a project gets a new one, which is stored. A visitor who may not prepare releases gets
    an empty tuple.
    """
    owner = st.session_state[_OWNER]
    if not roles.may(owner, Act.PREPARE):
        return ()
    return projects.list(owner) or (projects.create(owner, FIRST_NAME, document.new()),)


def begin(own: Sequence[Project]) -> Current:
    """Open and return a project: the session's own, or else the one that the address names, or the last changed one.

    If the session's project is not in `own` any more, a notice is drawn.

    Args:
        own: The projects from `own_projects`; if empty, an empty project is opened that is not
            stored.
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
    """Mark the block as a page that the router runs. See `routed`."""
    st.session_state[_ROUTED] = True
    try:
        yield
    finally:
        st.session_state[_ROUTED] = False


def routed() -> bool:
    """Return whether the router runs this page; False in a callback, and if the page's file was run directly."""
    return bool(st.session_state.get(_ROUTED))


def current() -> Current:
    """Return the project as read at the beginning of this run of the script, with the changes made since.

    Raises:
        KeyError: No project was opened yet (`begin`).
    """
    return st.session_state[_LOADED]


def edit(change: Callable[[Draft], None], place: str = refusals.STORE) -> bool:
    """Apply `change` to the newest stored draft and save it, also when another tab saves at the same moment.

    Args:
        change: Changes the draft in place; may raise InputError. It is called again if another tab saved first.
        place: Where the page shows the error of a change that was made in a callback.

    Returns:
        Whether the change was not refused. A refused change is not saved. A change to a project
        that was deleted meanwhile counts as not refused: `begin` reports the deletion.

    Raises:
        InputError: The change was refused, or other tabs saved first 20 times, and this is not a callback.
    """
    if routed():
        _edit(change)
        return True
    return refusals.attempt(place, lambda: _edit(change))


def edits(change: Callable[Concatenate[Draft, P], None]) -> Callable[P, bool]:
    """Turn a function that changes a draft into one that changes the stored draft (`edit`).

    The decorated function takes the same arguments without the draft, and returns whether the
    change was not refused.
    """

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
    """Save notes of the open project by name, as entries of `draft["wizard"]`; other notes stay."""
    edit(lambda draft: draft.setdefault("wizard", {}).update(values))


def create(name: str, plan: Draft | None = None, looked: Iterable[Look] = ()) -> None:
    """Create a project in the store and open it.

    Args:
        name: The name of the project, 1 to 200 printable characters; spaces around it are removed.
        plan: Its draft; None for the defaults.
        looked: The views of private values (looks) that the project from which the draft was copied has
            taken.

    Raises:
        InputError: The name is not valid, or the visitor may not prepare releases.
    """
    _open(projects.create(st.session_state[_OWNER], name, plan or document.new(), looked))


def switch(project: str) -> None:
    """Open another of the visitor's projects.

    Args:
        project: Its id.

    Raises:
        InputError: The visitor has no such project.
    """
    _open(projects.load(st.session_state[_OWNER], project))


def rename(name: str) -> None:
    """Give the open project a new name, and save it.

    The name has 1 to 200 printable characters; spaces around it are removed.

    Raises:
        InputError: The name is not valid, the project was deleted meanwhile, or the visitor may not change it.
    """
    project = current()
    _open(projects.rename(project.owner, project.id, name))


def delete() -> None:
    """Delete the open project with its uploads and runs, and open another one; the ledger keeps its charges.

    Active runs are stopped first. If it was the visitor's last project, a new one is made.

    Raises:
        InputError: The visitor may not delete it, because another person owns it.
    """
    project = current()
    projects.delete(project.owner, project.id)
    st.session_state.pop(_CURRENT)
    st.query_params.pop(PARAMETER, None)
    begin(own_projects())


def check_idle(field: str) -> None:
    """Check that no run of the open project is queued or under way.

    A run must find the tables of its plan unchanged.

    Raises:
        InputError: A run is; the error is about `field`.
    """
    project = current()
    if any(run.active for run in runs.list(project.owner, project.id)):
        raise InputError(field, "a run of this project is under way with the present table", "wait for its end, or cancel it")


def _open(project: projects.Project) -> Current:
    st.session_state[_CURRENT] = project.id
    visitor = st.session_state[_OWNER]
    draft = document.completed(project.draft)
    st.session_state[_LOADED] = Current(visitor, project.id, project.name, draft, mine=project.owner == visitor)
    return st.session_state[_LOADED]
