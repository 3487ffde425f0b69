"""One light, at the same place on Workload, Budget and Mechanism: what to expect of the plan as it stands, before anything is spent. It
moves as the plan does. Public facts only."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning import power
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.power import Light
from dpsynth_core.web.mechanism import ways_view
from dpsynth_core.web.shell import document, frame, numbers
from dpsynth_core.web.shell.session import Current

_BOX = {
    Light.GREEN: (st.success, ":material/check_circle:"),
    Light.AMBER: (st.warning, ":material/error:"),
    Light.RED: (st.error, ":material/block:"),
}


def light(project: Current) -> Plan | None:
    """Draw it; the plan that it is about, None while there is none: the page says what is missing."""
    try:
        plan = document.plan(project.draft, project.name)
    except InputError:
        return None
    if not shown(project, plan):
        frame.link("data", "Say how many")
    return plan


def shown(project: Current, plan: Plan) -> bool:
    """The light of a plan; whether it is known how many people there are. Nothing for a mechanism that makes no tables that are judged."""
    people, hope = document.people(project.draft), ways_view.outlook(project, plan)
    counted = "people" if plan.link is None else "rows in the first table"
    if hope is not None:
        box, icon = _BOX[hope.light]
        box(f"**{hope.light.capitalize()}:** with about {numbers.count(people or 0)} {counted}, {hope.told}", icon=icon)
    elif plan.mechanism.card.publishes_tables:
        needed = power.people_needed(plan.shares, plan.counted, plan.workload.cliques)
        fewest = numbers.count(float(f"{needed:.2g}"))
        known = f" With fewer than about {fewest} {counted}, even rows without any error would not be shown to be good." if needed else ""
        asked = "about how many people are in the table?" if plan.link is None else "about how many rows does the first table have?"
        why = "these two tables are unlike all that we tried." if people else asked
        st.info(f"**No light:** {why}{known}", icon=":material/help:")
        return bool(people)
    return True
