"""Errors of callbacks and of parts that are drawn by themselves.

They are stored until the next run of the page shows them beside their widgets (`frame.refused_at`).

No other code shows these errors.
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
"""The place of the store's refusals: the top of the page."""


def refused(error: InputError) -> None:
    """Draw an error: the place, the problem and the remedy."""
    st.error(sentence(error), icon=":material/error:")


def sentence(error: InputError) -> str:
    """Return an InputError as Markdown with its texts escaped."""
    return f"**{literal(capital(plan_words.named(error.field)))}**: {literal(error.problem)}. {literal(capital(error.remedy))}."


def stored(action: Callable[P, object]) -> Callable[P, object]:
    """Return the action as a callback whose refusal appears at the top of the page."""
    return attempted(STORE)(action)


def polled(draw: Callable[P, None], seconds: float | None) -> Callable[P, None]:
    """Return a part of a page that draws itself again after so many seconds; an error appears in its place."""
    return st.fragment(explained()(draw), run_every=seconds)


def dialog(title: str, **look: Any) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return a decorator for a dialog, which draws itself again when a widget inside is used; an error appears inside."""
    return lambda draw: st.dialog(title, **look)(explained()(draw))


@contextmanager
def explained() -> Iterator[None]:
    """Draw an InputError of the block in its place: disk or database refuse, or another window deleted the content."""
    try:
        yield
    except InputError as error:
        refused(error)


@contextmanager
def attempted(place: str) -> Iterator[None]:
    """Store an InputError of the block for `place`, and do nothing else."""
    try:
        yield
    except InputError as error:
        st.session_state[_key(place)] = error


def attempt(place: str, action: Callable[[], object]) -> bool:
    """Return whether the action succeeded; its InputError is stored as in `attempted`."""
    done: list[object] = []
    with attempted(place):
        done.append(action())
    return bool(done)


def taken(place: str) -> InputError | None:
    """Return the error stored for `place`, or None, and forget it."""
    return st.session_state.pop(_key(place), None)


def _key(place: str) -> str:
    return f"_refused_{place}"
