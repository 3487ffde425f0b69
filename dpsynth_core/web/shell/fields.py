"""Widgets that show a value of the draft and save it at the moment it changes, so that neither a reload nor another page loses it.

A value is addressed by its path in the draft ("unit.relation"). A widget's own memory is set from the draft before it is drawn:
the store is the truth, the widget only shows it. Texts that cannot be read as a value are stored in the wizard's notes with
their path, and the value itself becomes None, so that no step can go on with an old value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any, Literal

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.file_kinds import COMPRESSED, FILE_KINDS, KNOWN
from dpsynth_core.store import projects
from dpsynth_core.web.shell import refusals, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.text import code, literal

AGAIN: Literal["page"] = "page"
"""`persist_state` of a widget whose memory is set once, not at each drawing.

A browser that missed the value, because a click interrupted the drawing, gets it again. Without this the browser shows an empty field, and
the next click stores that.
"""


def value(path: str, default: Any = None) -> Any:
    """Return a value of the open project's draft.

    Args:
        path: Keys from the root, separated by dots.
        default: The result if a key is missing. A stored None is returned as None.
    """
    content: Any = session.current().draft
    for part in path.split("."):
        if not isinstance(content, dict) or part not in content:
            return default
        content = content[part]
    return content


@session.edits
def store(draft: Draft, path: str, new: Any) -> None:
    """Save one value of the open project's draft, and delete the invalid text stored for the same path, if any.

    It is called without `draft`, and returns whether the change was not refused (`session.edits`). Missing
    sections on the path are added.

    Args:
        draft: The draft, passed by the decorator.
        path: Keys from the root, separated by dots.
        new: The value.
    """
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
    """Draw a widget for a value of the draft that is one of `options`, and return the value shown.

    A chosen value is saved at once. If the stored value is not among the options, the default is shown, or
    the first option.

    Args:
        label: The label of the widget.
        path: The path of the value in the draft.
        options: The possible values.
        names: The label of each option (Markdown, except for "select"); an option without one shows itself.
        kind: "select", "radio" or "segmented".
        default: The option shown while nothing is stored; None for the first.
        on_change: Called after the new value is stored.
        **look: Further arguments of the widget.
    """
    widget = {"select": st.selectbox, "radio": st.radio, "segmented": st.segmented_control}[kind]
    shown = next(option for option in (value(path), default, options[0]) if option in options)
    if kind == "segmented":
        look["required"] = True

    def take(chosen: Any) -> None:
        store(path, chosen)
        if on_change is not None:
            on_change()

    look["format_func"] = lambda option: names.get(option, str(option))
    return linked(path, shown, take, widget, label, options, **look)


def text(label: str, path: str, widget: Callable[..., Any] = st.text_input, **look: Any) -> str:
    """Draw a field for a text of the draft, and return the text; "" if nothing is entered.

    A changed text is saved at once, without outer spaces.

    Args:
        label: The label.
        path: The path of the text in the draft.
        widget: The Streamlit function that draws the field.
        **look: Further arguments of the widget.
    """
    return linked(path, value(path) or "", lambda entered: store(path, entered.strip()), widget, label, **look)


paragraph = partial(text, widget=st.text_area)


def typed(widget: Any, label: str, path: str, parse: Callable[[str], Any], as_text: Callable[[Any], str] = str, **look: Any) -> Any:
    """Draw a text field for a value of the draft, and return the value.

    Args:
        widget: The Streamlit function that draws the field.
        label: The label of the field.
        path: The path of the value in the draft.
        parse: Converts the text to the value, or raises InputError, whose message is shown below
            the field once somebody has typed there.
        as_text: Converts the stored value to text.
        **look: Further arguments of the widget.

    Returns:
        The value; None if `parse` refuses the text. A refused text is kept, and None stored as the value.
    """
    kept, stored = session.current().draft.get("wizard", {}).get("typed", {}).get(path), value(path)
    shown = kept if kept is not None else "" if stored is None else as_text(stored)
    entered = linked(path, shown, lambda text: _store_typed(path, text, parse), widget, label, **look)
    try:
        return parse(entered)
    except InputError as error:
        if kept is not None:
            problem(error)
        return None


number = partial(typed, st.text_input)


def file(title: str, kinds: Sequence[str], place: str, take: Callable[[Any], object], help: str | None = None) -> None:
    """Draw an uploader that passes a file to `take` and is empty again afterwards.

    The server's copy in memory is thus freed.

    Args:
        title: The label.
        kinds: The endings that may be chosen, without dots.
        place: The unique name of this uploader.
        take: Gets the uploaded file.
        help: The tooltip.
    """
    counter = f"_{place}"
    number = st.session_state.get(counter, 0)
    key = f"{place}_{number}"

    def changed() -> None:
        if (chosen := st.session_state.get(key)) is not None:
            st.session_state[counter] = number + 1
            take(chosen)

    st.file_uploader(title, type=list(kinds), key=key, on_change=changed, help=help)


def table_file(place: str, take: Callable[[Any], object], help: str | None = None) -> None:
    """Draw an uploader for a table of any known format.

    Args:
        place: The unique name of this uploader.
        take: Gets the uploaded file.
        help: The tooltip.
    """
    kinds = [ending.removeprefix(".") for ending in (*chain.from_iterable(kind.endings for kind in FILE_KINDS.values()), *COMPRESSED)]
    file(f"{KNOWN} file", kinds, place, take, help)


def taken_file(
    name: str, about: str, key: str, place: str, shelves: Sequence[projects.Shelf], let_go: Callable[[Draft], None], **look: Any
) -> None:
    """Draw a chosen table with a button that removes the table and deletes its uploaded files.

    Args:
        name: The name of the table.
        about: A remark on the table.
        key: The key of the button.
        place: The place at which a refusal to remove the table is shown.
        shelves: The folders of the uploads to delete.
        let_go: Removes the table from the draft.
        **look: Further arguments of the button.
    """

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
    """Draw a choice of a share of the budget, and return the share, a fraction from 0 to 1. A change is saved at once.

    Args:
        label: The label.
        path: The path of the share in the draft.
        usual: The shares offered; the draft's own is added.
        default: The share shown while nothing is stored.
        help: The tooltip.
        none: The label of a share of 0.
    """
    options = sorted({*usual, value(path, default)})
    names = {one: f"{100 * one:g}%" if one else none for one in options}
    return float(choice(label, path, options, names, kind="segmented", default=default, help=help))


def linked(key: str, shown: Any, take: Callable[[Any], object], widget: Callable[..., Any], *arguments: Any, **look: Any) -> Any:
    """Draw a widget for a value that the caller stores, and return the widget's value.

    If the value was changed elsewhere, a new widget shows it. A browser that has not drawn the
    change yet sends the old widget's value with the next click; that value would count as entered,
    and undo the change.

    Args:
        key: The widget's key within the open project.
        shown: The value that the widget shows.
        take: Gets the entered value, in a callback.
        widget: The Streamlit function that draws the widget.
        *arguments: Arguments of `widget`.
        **look: Keyword arguments of `widget`.
    """
    name = f"{session.current().id}:{key}"
    own = _widget_key(name)
    if own in st.session_state and st.session_state[own] != shown:
        del st.session_state[own]  # it may hold a password that was refused
        _renew(name)
        own = _widget_key(name)
    if own not in st.session_state:  # setting it each time would undo half-typed text
        st.session_state[own] = shown

    def changed() -> None:
        if own == _widget_key(name):
            take(st.session_state[own])

    return widget(*arguments, key=own, on_change=changed, persist_state=AGAIN, **look)


def _widget_key(name: str) -> str:
    """Return the session key of the widget for a value; the key changes whenever the value is changed elsewhere."""
    version = _version(name)
    return f"{name}:{version}" if version else name


def editor_key(name: str, changed_since: Callable[[Any], bool]) -> str:
    """Return the session key under which a data editor stores its edits.

    If the editor's content was changed elsewhere, the key is a new one, so that earlier edits are dropped.

    Args:
        name: The name of the editor.
        changed_since: Returns whether the content was changed elsewhere, given the editor's stored edits
            by row number, from 0.
    """
    if changed_since(st.session_state.get(f"{name}_{_version(name)}", {}).get("edited_rows", {})):
        _renew(name)
    return f"{name}_{_version(name)}"


def _version(name: str) -> int:
    """Return how often a widget was replaced because its value was changed elsewhere."""
    return int(st.session_state.get(f"_version:{name}", 0))


def _renew(name: str) -> None:
    st.session_state[f"_version:{name}"] = _version(name) + 1


def problem(error: InputError) -> None:
    """Draw the problem and the remedy of an error as one line of small red text, below the field that it is about."""
    st.caption(f":red[:material/error: {literal(error.problem)}; {literal(error.remedy)}.]")


@contextmanager
def minded() -> Iterator[None]:
    """Draw an InputError of the block as one line of small red text (`problem`); the script goes on after the block."""
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
