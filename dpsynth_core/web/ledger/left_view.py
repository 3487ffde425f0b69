"""What people who have left had, on the Ledger page of an office: an administrator offers it to another person or deletes it, unseen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.store import projects, roles, sharing
from dpsynth_core.store.roles import Act
from dpsynth_core.store.sharing import Left
from dpsynth_core.web.shell import frame, refusals
from dpsynth_core.web.shell.text import literal

_PLACE = "left"
_HELP = f"People with projects who did not sign in for {sharing.LEFT_DAYS} days. You do not see what is in these projects."


def card(owner: str) -> None:
    """To administrators, where there is somebody."""
    if not roles.may(owner, Act.SETTLE) or not (found := sharing.left(owner)):
        return
    may = sharing.candidates(owner)
    with frame.card("Projects of people who have left", help=_HELP):
        frame.refused_at(_PLACE)
        for one in found:
            has = f"{len(one.projects):,} project{'s' * (len(one.projects) > 1)}, last signed in {one.seen[:10] or 'at no known time'}"
            with st.expander(f"{literal(one.name or one.owner[:8])}: {has}", icon=":material/person_off:"):
                _one(owner, one, {person: name for person, name in may.items() if person != one.owner})


def _one(owner: str, left: Left, may: Mapping[str, str]) -> None:
    to, sure = f"left_to_{left.owner}", f"left_sure_{left.owner}"

    def offer() -> None:
        to_whom = st.session_state[to] or ""
        for project in left.projects if to_whom else filter(sharing.offered_to, left.projects):
            sharing.offer(owner, project, to_whom)

    def delete() -> None:
        for project in left.projects:
            projects.delete(owner, project)

    st.selectbox("The new owner", list(may), index=None, format_func=lambda one: f"{may[one]} · {one[:8]}", key=to, placeholder="nobody")
    names = roles.names()
    for asked in {sharing.offered_to(project) for project in left.projects} - {""}:
        st.caption(f"{literal(names.get(asked, asked[:8]))} has not answered yet. Offer them to nobody to take it back.")
    _button("Offer them", offer, f"left_offer_{left.owner}", icon=":material/forward:")
    st.checkbox("Nobody needs them any more", key=sure)
    about = "With their tables, runs and rows, which do not come back; the ledger keeps its charges."
    disabled = not st.session_state[sure]
    _button("Delete them for good", delete, f"left_delete_{left.owner}", icon=":material/delete:", disabled=disabled, help=about)


def _button(label: str, action: Callable[[], None], key: str, **look: Any) -> None:
    st.button(label, key=key, on_click=partial(refusals.attempt, _PLACE, action), **look)
