"""Budget: epsilon and delta, what they mean for one person and for the tables, and what the population's account allows."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.budget import budget_view, claims_view
from dpsynth_core.web.shell import document, frame


def main() -> None:
    here = frame.require("budget")
    workload, unit = document.workload(here.draft), document.unit(here.draft)
    error = document.problem(here.draft, "budget")
    sentence = "How strongly each person is protected. More budget means less noise; what is spent cannot be had back."
    frame.header("budget", sentence, Zone.PUBLIC)
    left, right = st.columns([11, 10], gap="medium")
    with left:
        budget_view.amount(here)
        budget_view.accuracy(here, workload, unit)
        if budget_view.can_be_divided(error):
            divided = document.shares(here.draft)
            budget_view.learning(here)
            claims_view.cards(here, workload, unit, divided)
            budget_view.noise(here, workload, unit, divided.mechanism)
            error = error or budget_view.account(here, divided)
    with right:
        if budget_view.can_be_divided(document.problem(here.draft, "budget")):
            budget_view.pictures(here.draft, workload, unit, document.shares(here.draft))
    frame.nav_checked("budget", error)


main()
