"""How long projects and uploads are kept, on the Ledger page of an office."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.store import retention, roles
from dpsynth_core.store.roles import Act
from dpsynth_core.web.shell import frame, refusals

_HELP = "A project counts from its last change or run, an upload from the day on which it was sent."


def card(owner: str) -> None:
    """The days, for everybody where there are any; to change, for those who may."""
    many, may = retention.days(), roles.may(owner, Act.RETAIN)
    if not many and not may:
        return
    with frame.card("How long projects are kept", help=_HELP):
        st.caption(f"Projects and uploads are deleted for good after {many:,} days." if many else "Nothing is deleted by itself.")
        if may:
            with st.expander("Change it", icon=":material/edit:"):
                _change(owner, many)


@refusals.explained
def _change(owner: str, many: int) -> None:
    with st.form("retention", border=False):
        days = st.number_input("Days; 0 deletes nothing", 0, retention.MOST_DAYS, many, 1, key="retention_days")
        st.caption("What is older than that is deleted within the hour, of everybody here, and does not come back.")
        if not st.form_submit_button("Keep them so long", icon=":material/auto_delete:"):
            return
    retention.state(owner, int(days))
    st.rerun()
