"""How long projects and uploads are kept, on the Ledger page of an office."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpsynth_core.store import retention, roles
from dpsynth_core.store.roles import Act
from dpsynth_core.web.shell import frame, refusals

_KEY = "retention_days"
_HELP = "A project counts from its last change or run, an upload from the day on which it was sent. 0 deletes nothing."


def line(owner: str) -> None:
    """The days, for everybody; to change, for those who may."""
    many = retention.days()
    if not roles.may(owner, Act.RETAIN):
        if many:
            st.caption(f"Projects are deleted for good {many:,} days after their last change, uploads {many:,} days after they were sent.")
        return

    def change() -> None:
        retention.state(owner, int(st.session_state[_KEY]))

    look = {"min_value": 0, "max_value": retention.MOST_DAYS, "step": 1, "key": _KEY, "help": _HELP}
    st.number_input("Delete projects and uploads after so many days", value=many, on_change=partial(refusals.attempt, _KEY, change), **look)
    frame.refused_at(_KEY)
