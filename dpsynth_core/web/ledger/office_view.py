"""The office's part of the Ledger page: approvals, tokens of people's programs, retention, and projects of people who have left.

An administrator offers those projects to another person or deletes them, without seeing their content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core import report
from dpsynth_core.foundation.zones import Zone, publishable
from dpsynth_core.store import approvals, projects, retention, roles, runs, sharing, tokens
from dpsynth_core.store.approvals import PLAN, RELEASE, Waiting
from dpsynth_core.store.roles import Act
from dpsynth_core.store.sharing import Left
from dpsynth_core.web.shell import frame, numbers, refusals
from dpsynth_core.web.shell.text import code, literal

_WORDS = {PLAN: "A plan before it runs", RELEASE: "A release before it is downloaded"}
_DEMANDED = {PLAN: "plans before they run", RELEASE: "releases before they are downloaded"}
_APPROVALS_HELP = "You cannot approve your own. The ledger keeps who approved what, and why."
_TOKENS_HELP = (
    f"With DPSYNTH_LEDGER and a token, command line and Python programs charge this ledger. A token counts for {tokens.DAYS} days."
)
_KEPT_HELP = "A project counts from its last change or run, an upload from the day on which it was sent."
_LEFT_HELP = f"People with projects who did not sign in for {sharing.LEFT_DAYS} days. You do not see what is in these projects."


def cards(owner: str) -> None:
    """Draw the office's cards for a visitor; each hides what the visitor's role must not see.

    They are what waits for approval, tokens for programs, how long projects are kept, and projects of people who
    have left. Their buttons act at once, and are drawn for those who may use them.

    Args:
        owner: The visitor's owner id.
    """
    _waiting(owner)
    _tokens(owner)
    _kept(owner)
    _left(owner)


def _button(label: str, place: str, action: Callable[[], object], key: str, **look: Any) -> None:
    """Draw a button that calls `action`. Its InputError is stored for `place`, where the page shows it.

    Args:
        label: The label.
        place: Where the page shows errors.
        action: Called by the button.
        key: The key of the button.
        **look: Further arguments of the button.
    """
    st.button(label, key=key, on_click=partial(refusals.attempt, place, action), **look)


def _waiting(owner: str) -> None:
    """Draw everybody's plans and releases that wait for approval.

    Each has a form for visitors who may approve it. If nothing waits, a sentence says so.

    Args:
        owner: The visitor's owner id.
    """
    found, names = approvals.waiting(), roles.names()
    with frame.card("Waiting for approval", Zone.RELEASED, _APPROVALS_HELP):
        frame.refused_at("approval")
        if not found:
            st.caption("Nothing waits for approval.")
        for one in found:
            with st.container(border=True, key=f"waiting_{one.run}"):
                _waits(owner, one, names.get(one.owner) or one.owner[:8])


def _waits(owner: str, waits: Waiting, name: str) -> None:
    charge = waits.charge
    st.markdown(
        f"**{_WORDS[waits.what]}** · {literal(name)} · {code(charge.population)} · ε {numbers.short(charge.epsilon)}"
        f" (δ {numbers.short(charge.delta)}) · sealed as `{charge.spec[:16]}`"
    )
    with st.expander("The sealed plan", icon=":material/description:"):
        st.json(waits.plan, expanded=1)
    if waits.what == RELEASE:

        def content() -> bytes:
            return publishable(report.report_page(runs.release(waits.owner, waits.run)), "the report")

        look: dict[str, Any] = {"icon": ":material/article:", "on_click": "ignore", "key": f"report_{waits.run}"}
        st.download_button("Read its report", content, f"report-{waits.run}.html", "text/html", **look)
    if waits.owner == owner:
        st.caption("You made it: another person has to approve it.")
    elif roles.may(owner, Act.APPROVE):
        key = f"approve_reason_{waits.run}"
        st.text_input("Reason", key=key, placeholder="Checked against the protocol of 12 March")

        def approve() -> None:
            runs.approve(owner, waits.run, waits.what, st.session_state[key])

        _button("Approve", "approval", approve, f"approve_{waits.run}", type="primary", icon=":material/how_to_reg:")


def demand(owner: str, population: str, now: tuple[str, ...]) -> None:
    """Draw which stages of a population's releases a second person must approve.

    Visitors with the right role can change them, which takes effect at once. Others see a sentence,
    or nothing if no stage needs approval.

    Args:
        owner: The visitor's owner id.
        population: The name of the population.
        now: The stages that need approval now, of `approvals.STAGES`.
    """
    if roles.may(owner, Act.DEMAND):
        place = f"demand_{population}"
        change = partial(refusals.attempt, place, lambda: approvals.demand(owner, population, st.session_state[place]))
        look: dict[str, Any] = {"format_func": _DEMANDED.get, "placeholder": "nothing", "key": place, "on_change": change}
        st.multiselect("A second person approves", approvals.STAGES, list(now), **look)
        frame.refused_at(place)
    elif now:
        st.caption(f"A second person approves {' and '.join(_DEMANDED[stage] for stage in now)}.")


def _tokens(owner: str) -> None:
    """Draw the visitor's tokens for programs, and everybody's for an administrator.

    Each can be revoked at once. Visitors who may run releases also have a form for a new token.
    Nothing is drawn for visitors who may neither run releases nor revoke tokens.

    Args:
        owner: The visitor's owner id.
    """
    makes, listed = roles.may(owner, Act.RUN), tokens.listed(owner)
    if not makes and not roles.may(owner, Act.REVOKE):
        return
    with frame.card("Tokens for programs", help=_TOKENS_HELP):
        frame.refused_at("tokens")
        names = roles.names()
        for token in listed:
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                whose = "" if token.owner == owner else f" of {names.get(token.owner, token.owner[:8])}"
                st.markdown(f"{literal(token.name + whose)} · `{token.key[:8]}` · since {token.created[:10]}", width="content")
                _button("Revoke", "tokens", partial(tokens.revoke, owner, token.key), f"revoke_{token.key}", icon=":material/key_off:")
        if makes:
            _new_token(owner)
        elif not listed:
            st.caption("Nobody has one.")


@refusals.explained()
def _new_token(owner: str) -> None:
    with st.form("new_token", border=False, clear_on_submit=True):
        name = st.text_input("Where you will use the new token", key="token_place", placeholder="My notebook", max_chars=80)
        if not st.form_submit_button("Make a token", icon=":material/key:"):
            return
    token = tokens.make(owner, name)
    st.code(f"DPSYNTH_LEDGER_TOKEN={token}", language=None)
    st.caption("You see it only once. Keep it where only you can read it: it spends in your name.")


def _kept(owner: str) -> None:
    """Draw after how many days projects are deleted, with a form for visitors who may change it.

    Without a limit, other visitors see nothing.
    """
    many, may = retention.days(), roles.may(owner, Act.RETAIN)
    if not many and not may:
        return
    with frame.card("How long projects are kept", help=_KEPT_HELP):
        st.caption(f"Projects and uploads are deleted for good after {many:,} days." if many else "Nothing is deleted automatically.")
        if may:
            with st.expander("Change it", icon=":material/edit:"):
                _change_kept(owner, many)


@refusals.explained()
def _change_kept(owner: str, many: int) -> None:
    with st.form("retention", border=False):
        days = st.number_input("Days; 0 deletes nothing", 0, retention.MOST_DAYS, many, 1, key="retention_days")
        st.caption("Older projects and uploads of everybody here are deleted within the hour, for good.")
        if not st.form_submit_button("Keep them so long", icon=":material/auto_delete:"):
            return
    retention.state(owner, int(days))
    st.rerun()


def _left(owner: str) -> None:
    """Draw the projects of people who have not signed in for a long time.

    Nothing is drawn without such projects, or if the visitor is not an administrator.

    Args:
        owner: The visitor's owner id.
    """
    if not roles.may(owner, Act.SETTLE) or not (found := sharing.left(owner)):
        return
    may = sharing.candidates(owner)
    with frame.card("Projects of people who have left", help=_LEFT_HELP):
        frame.refused_at("left")
        for one in found:
            has = f"{len(one.projects):,} project{'s' * (len(one.projects) > 1)}, last signed in {one.seen[:10] or 'at no known time'}"
            with st.expander(f"{literal(one.name or one.owner[:8])}: {has}", icon=":material/person_off:"):
                _of_one(owner, one, {person: name for person, name in may.items() if person != one.owner})


def _of_one(owner: str, left: Left, may: Mapping[str, str]) -> None:
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
    _button("Offer them", "left", offer, f"left_offer_{left.owner}", icon=":material/forward:")
    st.checkbox("Nobody needs them any more", key=sure)
    about = "This deletes their tables, runs and rows for good. The ledger keeps its charges."
    look: dict[str, Any] = {"icon": ":material/delete:", "disabled": not st.session_state[sure], "help": about}
    _button("Delete them for good", "left", delete, f"left_delete_{left.owner}", **look)
