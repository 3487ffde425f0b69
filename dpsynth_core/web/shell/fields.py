"""Widgets that show a value of the draft and save it at the moment it changes, so that neither a reload nor another page loses it.

A value is addressed by its path in the draft ("unit.relation"). A widget's own memory is set from the draft before it is drawn:
the store is the truth, the widget only shows it. Texts that cannot be read as a value are kept in the wizard's notes with
their path, and the value itself becomes None, so that no step can go on with an old one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any, Literal

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.formats import COMPRESSED, KNOWN, SUFFIXES
from dpsynth_core.store import projects
from dpsynth_core.web.shell import refusals, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.text import code, literal

AGAIN: Literal["page"] = "page"
"""`persist_state` of a widget whose memory is set only where it differs: a browser that missed it, because a click interrupted the drawing,
is sent its value again. Without it the browser shows an empty field, and the next click stores that."""


def value(path: str, default: Any = None) -> Any:
    content: Any = session.current().draft
    for part in path.split("."):
        if not isinstance(content, dict) or part not in content:
            return default
        content = content[part]
    return content


@session.edits
def store(draft: Draft, path: str, new: Any) -> None:
    """Save one value of the draft; a text typed there before that could not be used is forgotten."""
    _put(draft, path, new)
    draft.get("wizard", {}).get("typed", {}).pop(path, None)


def choice(
    label: str,
    path: str,
    options: Sequence[Any],
    names: dict[Any, str],
    *,
    kind: str = "select",
    default: Any = None,
    on_change: Callable[[], None] | None = None,
    **look: Any,
) -> Any:
    """One of `options`; kind: "select", "radio" or "segmented". names: what to call each (Markdown, except for "select"). default: while
    nothing is stored; else the first. on_change: what else to do once the new value is stored."""
    widget = {"select": st.selectbox, "radio": st.radio, "segmented": st.segmented_control}[kind]
    shown = next(option for option in (value(path), default, options[0]) if option in options)
    if kind == "segmented":
        look["required"] = True

    def take(chosen: Any) -> None:
        store(path, chosen)
        if on_change is not None:
            on_change()

    look["format_func"] = lambda option: names.get(option, str(option))
    return remembered(path, shown, take, widget, label, options, **look)


def text(label: str, path: str, widget: Callable[..., Any] = st.text_input, **look: Any) -> str:
    return remembered(path, value(path) or "", lambda entered: store(path, entered.strip()), widget, label, **look)


paragraph = partial(text, widget=st.text_area)


def typed(widget: Any, label: str, path: str, parse: Callable[[str], Any], as_text: Callable[[Any], str] = str, **look: Any) -> Any:
    """A value, typed as text. parse: raises InputError for a text that is none; that message is shown below the field. Returns the
    value, or None while the text in the field cannot be used, or is empty."""
    kept, stored = session.current().draft.get("wizard", {}).get("typed", {}).get(path), value(path)
    shown = kept if kept is not None else "" if stored is None else as_text(stored)
    entered = remembered(path, shown, lambda text: _store_typed(path, text, parse), widget, label, **look)
    try:
        return parse(entered)
    except InputError as error:
        if kept is not None:
            problem(error)
        return None


number = partial(typed, st.text_input)


def file(title: str, kinds: Sequence[str], place: str, take: Callable[[Any], object], help: str | None = None) -> None:
    """Hands a file to `take`, then is empty again: the server's copy of it in memory is let go. place: unlike that of any other."""
    counter = f"_{place}"
    number = st.session_state.get(counter, 0)
    key = f"{place}_{number}"

    def changed() -> None:
        if (chosen := st.session_state.get(key)) is not None:
            st.session_state[counter] = number + 1
            take(chosen)

    st.file_uploader(title, type=list(kinds), key=key, on_change=changed, help=help)


def table_file(place: str, take: Callable[[Any], object], help: str | None = None) -> None:
    kinds = [ending.removeprefix(".") for ending in (*chain.from_iterable(SUFFIXES.values()), *COMPRESSED)]
    file(f"{KNOWN} file", kinds, place, take, help)


def taken_file(
    name: str, about: str, key: str, place: str, shelves: Sequence[projects.Shelf], let_go: Callable[[Draft], None], **look: Any
) -> None:
    """A table that was taken, and a button that deletes what was uploaded to these shelves and lets go of it. place: what it is called if
    that is refused."""

    def remove() -> None:
        with refusals.attempted(place):
            session.check_idle(place)
            project = session.current()
            for shelf in shelves:
                projects.remove_uploads(project.owner, project.id, shelf=shelf)
            session.edit(let_go, place)

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":green[:material/check_circle:] {code(name)}", width="content")
        st.caption(about, width="content")
        st.button("Remove", icon=":material/delete:", type="tertiary", key=key, on_click=remove, **look)


def share(label: str, path: str, usual: Sequence[float], default: float, help: str | None = None, none: str = "0%") -> float:
    """A share of the budget, one of the usual ones or what the draft says. none: what to call no share at all."""
    options = sorted({*usual, value(path, default)})
    names = {one: f"{100 * one:g}%" if one else none for one in options}
    return float(choice(label, path, options, names, kind="segmented", default=default, help=help))


def linked(key: str, shown: Any, take: Callable[[Any], object], widget: Callable[..., Any], *arguments: Any, **look: Any) -> Any:
    """A widget for what has no path of its own in the draft: it shows `shown`, and hands what is entered to `take`. key: its own within
    the open project. Returns what the widget does."""
    own = f"{session.current().id}:{key}"
    st.session_state[own] = shown
    return widget(*arguments, key=own, on_change=lambda: take(st.session_state[own]), **look)


def remembered(key: str, shown: Any, take: Callable[[Any], object], widget: Callable[..., Any], *arguments: Any, **look: Any) -> Any:
    """The same, whose memory is set only where it differs: setting it anew would undo half-typed text."""
    own = f"{session.current().id}:{key}"
    if st.session_state.get(own) != shown or own not in st.session_state:
        st.session_state[own] = shown
    return widget(*arguments, key=own, on_change=lambda: take(st.session_state[own]), persist_state=AGAIN, **look)


def editor_key(name: str, changed_since: Callable[[Any], bool]) -> str:
    """The key of a data editor, under which it keeps its edits: a new one when what it shows was changed elsewhere since. changed_since:
    whether that is so, from the edits of rows that it keeps."""
    version = st.session_state.setdefault(f"_version:{name}", 0)
    if changed_since(st.session_state.get(f"{name}_{version}", {}).get("edited_rows", {})):
        st.session_state[f"_version:{name}"] = version + 1
    return f"{name}_{st.session_state[f'_version:{name}']}"


def problem(error: InputError) -> None:
    """What is wrong with the field above, in one quiet line."""
    st.caption(f":red[:material/error: {literal(error.problem)}; {literal(error.remedy)}.]")


@contextmanager
def minded() -> Iterator[None]:
    """Says so what is wrong with what is inside."""
    try:
        yield
    except InputError as error:
        problem(error)


@session.edits
def _store_typed(draft: Draft, path: str, entered: str, parse: Callable[[str], Any]) -> None:
    typed = draft.setdefault("wizard", {}).setdefault("typed", {})
    try:
        _put(draft, path, parse(entered))
        typed.pop(path, None)
    except InputError:
        _put(draft, path, None)
        typed[path] = entered


def _put(draft: Draft, path: str, new: Any) -> None:
    *parents, last = path.split(".")
    place = draft
    for part in parents:
        place = place.setdefault(part, {})
    place[last] = new
