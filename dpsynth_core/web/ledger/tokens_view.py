"""Tokens with which a person's own programs charge this ledger, on the Ledger page of an office."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpsynth_core.store import roles, tokens
from dpsynth_core.store.roles import Act
from dpsynth_core.web.shell import frame, refusals
from dpsynth_core.web.shell.text import literal

_PLACE = "tokens"


def card(owner: str) -> None:
    """One's own tokens, or everybody's for an administrator; nothing for others."""
    makes, listed = roles.may(owner, Act.RUN), tokens.listed(owner)
    if not makes and not roles.may(owner, Act.REVOKE):
        return
    help = f"With DPSYNTH_LEDGER and a token, command line and Python programs charge this ledger. A token counts for {tokens.DAYS} days."
    with frame.card("Tokens for programs", help=help):
        frame.refused_at(_PLACE)
        names = roles.names()
        for token in listed:
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                whose = "" if token.owner == owner else f" of {names.get(token.owner, token.owner[:8])}"
                st.markdown(f"{literal(token.name + whose)} · `{token.key[:8]}` · since {token.created[:10]}", width="content")
                end = partial(refusals.attempt, _PLACE, partial(tokens.revoke, owner, token.key))
                st.button("Revoke", key=f"revoke_{token.key}", icon=":material/key_off:", on_click=end)
        if makes:
            _new(owner)
        elif not listed:
            st.caption("Nobody has one.")


@refusals.explained
def _new(owner: str) -> None:
    with st.form("new_token", border=False, clear_on_submit=True):
        name = st.text_input("Where the new one is used", placeholder="My notebook", max_chars=80)
        if not st.form_submit_button("Make a token", icon=":material/key:"):
            return
    token = tokens.make(owner, name)
    st.code(f"DPSYNTH_LEDGER_TOKEN={token}", language=None)
    st.caption("It is shown this once: keep it where only you can read it. It spends in your name.")
