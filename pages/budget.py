"""Budget: epsilon and delta, what they mean for one person and for the tables, and what the population's account allows."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.budget import budget_view, claims_view
from dpsynth_core.web.shell import document, frame


def main() -> None:
    project = frame.require("budget")
    workload, unit = document.workload(project.draft), document.unit(project.draft)
    error = document.problem(project.draft, "budget")
    sentence = "How strongly each person is protected. More budget means less noise; what is spent cannot be had back."
    frame.header("budget", sentence, Zone.PUBLIC)
    left, right = st.columns([11, 10], gap="medium")
    with left:
        budget_view.amount(project)
        budget_view.accuracy(project, workload, unit)
        if budget_view.can_be_divided(error):
            divided = document.shares(project.draft)
            budget_view.learning(project)
            claims_view.cards(project, workload, unit, divided)
            budget_view.noise(project, workload, unit, divided.mechanism)
            error = error or budget_view.account(project, divided)
    with right:
        if budget_view.can_be_divided(document.problem(project.draft, "budget")):
            budget_view.pictures(project.draft, workload, unit, document.shares(project.draft))
    frame.nav_checked("budget", error)


main()
