"""A schedule of releases on the page Budget, in a part that is closed at first."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.extensions.repeated.planned import error_text, fits, forecast, has_cap, planned, set_cap
from dpsynth_core.extensions.repeated.schedule import EVERY, MOST_YEARS, NEW, SAME, TITLES, WHOLE, YEAR, Schedule, Wanted
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.store import remote_ledger, roles
from dpsynth_core.store.roles import Act
from dpsynth_core.web.budget.budget_view import set_epsilon
from dpsynth_core.web.shell import document, numbers, refusals
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

TITLE = "Schedule"
_HELP = "It plans the budget of each release of a table that is published again. Nothing is charged."
_EVERY = {"month": "every month", "quarter": "every quarter", "half-year": "every half-year", "year": "every year"}
_PER = {YEAR: "of each year", WHOLE: "of all years together"}
_WHO = {SAME: "the same people", NEW: "new people each time"}
_WHO_HELP = "New people are in no other release. If a person may be in two releases, choose the same people."


def budget(project: Current) -> None:
    """Draw the schedule under the budget of the draft, in a part that is closed and empty until a person opens it.

    One button sets the epsilon of the draft. A form sets the cap of the population in the ledger, if the role
    of the owner allows it, and draws the page again.

    Args:
        project: The open project.
    """
    part = st.expander(TITLE, icon=":material/event_repeat:", key="schedule", on_change="rerun")
    if not part.open:
        return
    with part, refusals.explained():
        st.caption(_HELP)
        wanted = _wanted(project)
        try:
            plan = document.plan(project.draft, project.name)
        except InputError:
            plan = None
        found = planned(wanted, plan, project.draft.get("population"))
        _table(project, found, plan)
        for sentence in found.sentences:
            st.markdown(f"- {literal(sentence, 1000)}")
        use = f"Use ε {numbers.short(found.each)} for this release"
        st.button(use, icon=":material/check:", key="schedule_use", on_click=set_epsilon, args=(found.each,))
        _cap(project, found)


def _wanted(project: Current) -> Wanted:
    first, second, third = st.columns(3)
    every = first.selectbox("Published", list(EVERY), 1, format_func=_EVERY.__getitem__, key="schedule_every")
    years = int(second.number_input("Years", 1, MOST_YEARS, 1, key="schedule_years"))
    epsilon = third.text_input("ε", "1", key="schedule_epsilon")
    per = st.segmented_control("This ε is", [YEAR, WHOLE], format_func=_PER.__getitem__, default=YEAR, required=True, key="schedule_per")
    look = {"format_func": _WHO.__getitem__, "default": SAME, "required": True, "key": "schedule_who", "help": _WHO_HELP}
    who = st.segmented_control("In each release are", [SAME, NEW], **look)
    delta = project.draft["budget"].get("delta") or document.DEFAULT_BUDGET["delta"]
    return Wanted(every, years, numbers.positive(epsilon, "ε of the schedule", "1"), per or YEAR, who or SAME, float(delta))


def _table(project: Current, found: Schedule, plan: Plan | None) -> None:
    columns = {title: list(cells) for title, cells in zip(TITLES, zip(*found.rows, strict=True), strict=True)}
    error = None if plan is None else forecast(found, plan, document.people(project.draft))
    if error is not None:
        columns["Expected error"] = [error_text(error)] * found.number
    st.dataframe(columns, hide_index=True, height=min(320, 40 + 35 * found.number), alt="Releases of the schedule")
    if error is not None:
        st.caption("The expected error is the share of people in a wrong cell, on average over the tables of this plan.")
    elif plan is None:
        st.caption("Complete the plan to see the expected error of each release.")
    else:
        st.caption("No error can be forecast: state the number of people on the page Data.")


def _cap(project: Current, found: Schedule) -> None:
    """Draw whether the limit of the population is enough, and the form that sets it."""
    name = project.draft.get("population") or ""
    if not name:
        st.caption("Name the population on the page Data to set its limit.")
        return
    st.caption(literal(fits(found, name), 1000))
    if remote_ledger.configured() is not None or not roles.may(project.owner, Act.CAP) or has_cap(found, name):
        return
    with st.form("schedule_cap", border=False):
        reason = st.text_input("Reason", key="schedule_reason", help="The ledger keeps it for auditors.")
        set_now = st.form_submit_button(f"Set the limit to ε {numbers.short(found.cap)}", icon=":material/account_balance:")
    if set_now:
        set_cap(project.owner, found, name, reason)
        st.rerun()
