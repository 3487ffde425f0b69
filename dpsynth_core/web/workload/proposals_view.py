"""The Workload page with many columns: what could be asked instead, each with what it costs and one click away."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning.proposals import Cost, Proposal
from dpsynth_core.web.run.history import in_words
from dpsynth_core.web.shell import document, frame, numbers, session
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

NOISE_HELP = (
    "What 95 % of all cells are within, at the budget and with the mechanism that are chosen now. First if every table were measured, with "
    "equal shares; then if as many tables are as an adaptive mechanism would choose."
)
MORE_THAN_MINUTES, MORE_THAN_MB = 60, 4000
"""From so much on, a cost is marked."""


def offered(here: Current) -> None:
    """The proposals for these columns; nothing where there are few."""
    proposals = document.proposals(here.draft)
    if not proposals:
        return
    why = "With many columns, most tables would only share the budget and cost time. These are feasible, one click each."
    with frame.card("Proposals for many columns", Zone.PUBLIC, why):
        for proposal in proposals:
            _row(here, proposal)


def _row(here: Current, proposal: Proposal) -> None:
    taken = dict(proposal.form) == here.draft["workload"]
    with st.container(border=True, gap="small"):
        st.markdown(f"**{literal(proposal.title)}**  \n{literal(proposal.text, 300)}")
        price(document.cost({**here.draft, "workload": dict(proposal.form)}))
        label = "This is what you ask for" if taken else "Ask for this"
        icon = ":material/check:" if taken else None
        st.button(label, key=f"propose_{proposal.name}", on_click=_take, args=(proposal,), disabled=taken, icon=icon)


def _take(proposal: Proposal) -> None:
    session.edit(lambda draft: draft.update(workload=dict(proposal.form)))


def of_choice(here: Current) -> None:
    """What the tables that are asked for now cost."""
    price(document.cost(here.draft))


def price(cost: Cost | InputError) -> None:
    """Number of tables, time and memory, noise: or why it cannot be."""
    if isinstance(cost, InputError):
        st.caption(f":orange[:material/block:] {literal(str(cost), 500)}")
        return
    needed, tables = cost.forecast, f"{cost.tables:,} table{'s' * (cost.tables != 1)}, {numbers.count(cost.cells)} cells"
    if not needed.fits:
        st.caption(f"{tables}  \n:orange[:material/block:] {literal(needed.reason, 500)}")
        return
    large = needed.seconds > 60 * MORE_THAN_MINUTES or needed.memory_mb > MORE_THAN_MB
    machine = f"{in_words(needed.seconds)}, {needed.memory_mb:,.0f} MB of memory"
    noise = f"± {cost.noise:,.0f} people a cell"
    if round(cost.noise) != round(cost.noise_measured):
        noise += f" if all were measured, ± {cost.noise_measured:,.0f} in chosen ones"
    if cost.passes > 1:
        tables += f", counted in {cost.passes} passes over the records"
    st.caption(f"{tables} · {f':orange[:material/hourglass_top:] {machine}' if large else machine}  \n{noise}", help=NOISE_HELP)
