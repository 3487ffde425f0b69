"""Errors of callbacks, kept until the next run of the page shows them beside their widgets (`frame.refused_at`), and errors of parts of a
page that are drawn by themselves: no other code shows the errors of either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.web.shell import plan_words
from dpsynth_core.web.shell.text import capital, literal

P = ParamSpec("P")

STORE = "store"
"""The place of what the store refused to a callback: at the top of the page."""


def refused(error: InputError) -> None:
    """What is wrong, where, and what to do."""
    st.error(sentence(error), icon=":material/error:")


def sentence(error: InputError) -> str:
    """An InputError as Markdown in which its texts mean only themselves."""
    return f"**{literal(capital(plan_words.named(error.field)))}**: {literal(error.problem)}. {literal(capital(error.remedy))}."


def stored(action: Callable[P, object]) -> Callable[P, object]:
    """The action as a callback: why it is refused is said at the top of the page."""
    return attempted(STORE)(action)


def polled(draw: Callable[P, None], seconds: float | None) -> Callable[P, None]:
    """A part of a page that draws itself again after so many seconds, and says in its place why it cannot."""
    return st.fragment(explained()(draw), run_every=seconds)


def dialog(title: str, **look: Any) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A dialog, which draws itself again when something in it is used; why it cannot is said inside."""
    return lambda draw: st.dialog(title, **look)(explained()(draw))


@contextmanager
def explained() -> Iterator[None]:
    """Says in its place why what is inside cannot be drawn: disk or database refuse, or another window deleted what it shows."""
    try:
        yield
    except InputError as error:
        refused(error)


@contextmanager
def attempted(place: str) -> Iterator[None]:
    """If what is inside raises InputError, that is kept for `place` and nothing else happens."""
    try:
        yield
    except InputError as error:
        st.session_state[_key(place)] = error


def attempt(place: str, action: Callable[[], object]) -> bool:
    """Whether the action was done; see `attempted`."""
    done: list[object] = []
    with attempted(place):
        done.append(action())
    return bool(done)


def taken(place: str) -> InputError | None:
    """The error kept for `place`, which is then forgotten; None if there is none."""
    return st.session_state.pop(_key(place), None)


def _key(place: str) -> str:
    return f"_refused_{place}"
