"""What the two tables of the Data page have in common: an uploader, and changes that wait for the running run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import streamlit as st

from dpsynth_core.sources.formats import COMPRESSED, KNOWN, SUFFIXES
from dpsynth_core.web.shell import refusals, session
from dpsynth_core.web.shell.document import Draft


def uploader(place: str, keep: Callable[[Any], object], help: str | None = None) -> None:
    """Hands a file to `keep`, then is empty again: the server's copy of it in memory is let go. place: unlike the other one's."""
    counter = f"_{place}"
    number = st.session_state.get(counter, 0)
    key = f"{place}_{number}"

    def take() -> None:
        if (file := st.session_state.get(key)) is not None:
            st.session_state[counter] = number + 1
            keep(file)

    kinds = [ending.removeprefix(".") for ending in (*chain.from_iterable(SUFFIXES.values()), *COMPRESSED)]
    st.file_uploader(f"{KNOWN} file", type=kinds, key=key, on_change=take, help=help)


def change(place: str, field: str, prepare: Callable[[], Callable[[Draft], None]]) -> None:
    """Do what `prepare` does, then edit the draft as it says; refused at `place` while a run is under way, or if either is refused."""

    def act() -> None:
        session.check_idle(field)
        session.edit(prepare())

    refusals.attempt(place, act)
