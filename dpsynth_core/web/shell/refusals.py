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
    """Draw an error as a red box on the page: the field, the problem and the remedy."""
    st.error(sentence(error), icon=":material/error:")


def sentence(error: InputError) -> str:
    """Return the field, the problem and the remedy of an InputError as Markdown, with its texts escaped."""
    return f"**{literal(capital(plan_words.named(error.field)))}**: {literal(error.problem)}. {literal(capital(error.remedy))}."


def stored(action: Callable[P, object]) -> Callable[P, object]:
    """Return the action as a callback of a widget whose InputError is stored, and shown at the top of the page later."""
    return attempted(STORE)(action)


def polled(draw: Callable[P, None], seconds: float | None) -> Callable[P, None]:
    """Return `draw` as a part of the page that is drawn again by itself.

    An InputError of `draw` is shown in its place.

    Args:
        draw: Draws the part.
        seconds: Seconds between two drawings; None if only its own widgets cause a new drawing.
    """
    return st.fragment(explained()(draw), run_every=seconds)


def dialog(title: str, **look: Any) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return a decorator that makes a function draw a dialog.

    Using a widget of the dialog draws only the dialog again. An InputError is shown inside.

    Args:
        title: The title of the dialog.
        **look: Further arguments of `st.dialog`.
    """
    return lambda draw: st.dialog(title, **look)(explained()(draw))


@contextmanager
def explained() -> Iterator[None]:
    """Draw an InputError of the block in place of the rest of the block.

    Such an error comes from the disk or the database, or from content that another window deleted.
    """
    try:
        yield
    except InputError as error:
        refused(error)


@contextmanager
def attempted(place: str) -> Iterator[None]:
    """Store an InputError of the block, to be shown later at `place`, instead of raising it."""
    try:
        yield
    except InputError as error:
        st.session_state[_key(place)] = error


def attempt(place: str, action: Callable[[], object]) -> bool:
    """Run the action, and return whether it succeeded.

    Its InputError is not raised, but stored in the session to be shown later at `place`, as in `attempted`.
    """
    done: list[object] = []
    with attempted(place):
        done.append(action())
    return bool(done)


def taken(place: str) -> InputError | None:
    """Return the error stored for `place` and delete it from the session; None without an error."""
    return st.session_state.pop(_key(place), None)


def _key(place: str) -> str:
    return f"_refused_{place}"
