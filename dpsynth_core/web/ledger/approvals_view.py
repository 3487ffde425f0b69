"""What waits for a second person, on the Ledger page of an office: plans before they run, releases before they leave."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpsynth_core import report
from dpsynth_core.foundation.zones import Zone, publishable
from dpsynth_core.store import approvals, roles, runs
from dpsynth_core.store.approvals import PLAN, RELEASE, Waiting
from dpsynth_core.store.roles import Act
from dpsynth_core.web.shell import frame, numbers, refusals
from dpsynth_core.web.shell.text import code, literal

_WORDS = {PLAN: "A plan before it runs", RELEASE: "A release before it is downloaded"}
_PLACE = "approval"


def waiting(owner: str) -> None:
    """Everything that waits, of all people; to approve for those who may."""
    found, names = approvals.waiting(), roles.names()
    with frame.card("Waiting for approval", Zone.RELEASED, "Nobody approves their own. Who approved what, and why, is kept in the ledger."):
        frame.refused_at(_PLACE)
        if not found:
            st.caption("Nothing waits.")
        for one in found:
            with st.container(border=True, key=f"waiting_{one.run}"):
                _one(owner, one, names.get(one.owner, ""))


def _one(owner: str, waits: Waiting, name: str) -> None:
    charge = waits.charge
    st.markdown(
        f"**{_WORDS[waits.what]}** · {literal(name or waits.owner[:8])} · {code(charge.population)} · ε {numbers.short(charge.epsilon)}"
        f" (δ {numbers.short(charge.delta)}) · sealed as `{charge.spec[:16]}`"
    )
    with st.expander("The sealed plan", icon=":material/description:"):
        st.json(waits.plan, expanded=1)
    if waits.what == RELEASE:
        content, look = partial(_report, waits), {"icon": ":material/article:", "on_click": "ignore", "key": f"report_{waits.run}"}
        st.download_button("Read its report", content, f"report-{waits.run}.html", "text/html", **look)
    if waits.owner == owner:
        st.caption("You made it: another person has to approve it.")
    elif roles.may(owner, Act.APPROVE):
        key = f"approve_reason_{waits.run}"
        st.text_input("Reason", key=key, placeholder="Checked against the protocol of 12 March")

        def approve() -> None:
            runs.approve(owner, waits.run, waits.what, st.session_state[key])

        action = partial(refusals.attempt, _PLACE, approve)
        st.button("Approve", type="primary", icon=":material/how_to_reg:", key=f"approve_{waits.run}", on_click=action)


def _report(waits: Waiting) -> bytes:
    return publishable(report.report_page(runs.release(waits.owner, waits.run)), "the report")


def demand(owner: str, population: str, now: tuple[str, ...]) -> None:
    """Say what must be approved; change it, for those who may. now: what is demanded."""
    words = {PLAN: "plans before they run", RELEASE: "releases before they are downloaded"}
    if not roles.may(owner, Act.DEMAND):
        if now:
            st.caption(f"A second person approves {' and '.join(words[stage] for stage in now)}.")
        return
    place = f"demand_{population}"

    def change() -> None:
        approvals.demand(owner, population, st.session_state[place])

    look = {"placeholder": "nothing", "key": place, "on_change": partial(refusals.attempt, place, change)}
    st.multiselect("A second person approves", approvals.STAGES, list(now), format_func=lambda stage: words[stage], **look)
    frame.refused_at(place)
