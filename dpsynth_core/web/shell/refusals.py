"""Errors of callbacks, kept until the next run of the page shows them beside their widgets (`frame.refused_at`)."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpsynth_core.foundation.errors import InputError


def attempt(place: str, action: Callable[[], object]) -> bool:
    """Whether the action was done; if it raised InputError, that is kept for `place` and nothing else happens."""
    try:
        action()
    except InputError as error:
        st.session_state[_key(place)] = error
        return False
    return True


def taken(place: str) -> InputError | None:
    """What was refused at `place` since the last time, once."""
    return st.session_state.pop(_key(place), None)


def _key(place: str) -> str:
    return f"_refused_{place}"
