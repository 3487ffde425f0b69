"""Who counts a table that is a file: this machine, or a Dask cluster. On the Data page."""

from __future__ import annotations

import re

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.web.shell import fields, session
from dpsynth_core.web.shell.session import Current

HERE, DASK = None, "dask"
_NAMES = {HERE: "This machine", DASK: "A Dask cluster"}
_HELP = "The counts, and with them the release, are the same. A cluster is for tables that take this machine too long."
_ADDRESS_HELP = (
    "Such as tls://scheduler:8786. Left empty, processes on this machine count, and end with the run. Workers read the table by the same "
    "path or address, and need this version of the program. A person who can connect to a scheduler can read counts: it has to be yours."
)


def panel(project: Current) -> None:
    """Nothing where others use the server, too: its scheduler would be a program of theirs that it trusts."""
    if not session.only_this_machine():
        return
    with st.expander(f"Counted by {_NAMES[project.draft['data'].get('engine')].lower()}", icon=":material/memory:"):
        chosen = fields.choice("Who counts it?", "data.engine", (HERE, DASK), _NAMES, kind="segmented", on_change=_forget, help=_HELP)
        if chosen == DASK:
            fields.number("Address of its scheduler", "data.scheduler", address, lambda known: known or "", help=_ADDRESS_HELP)


def address(text: str) -> str | None:
    """The address of a scheduler as typed, None for no text. Raises InputError."""
    if not text.strip():
        return None
    if not re.fullmatch(r"(tcp|tls|ws|wss)://[^@\s]+", text.strip()):
        raise InputError("data.scheduler", "it is no address of a Dask scheduler", "write one such as tls://scheduler:8786")
    return text.strip()


def _forget() -> None:
    """An address goes with a cluster only."""
    fields.store("data.scheduler", None)
