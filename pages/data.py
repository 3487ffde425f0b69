"""Data: the sensitive table, what counts as one person, and whose account in the ledger it is charged to."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.data import data_view, public_view
from dpsynth_core.web.domain import sources_view
from dpsynth_core.web.shell import document, frame


def main() -> None:
    project = frame.require("data")
    sentence = "Which table is sensitive, and what counts as one person. Nothing here spends privacy budget."
    frame.header("data", sentence, Zone.PUBLIC)
    left, right = st.columns([11, 10], gap="medium")
    with left:
        data_view.source(project, sources_view.beginning)
        data_view.population(project)
    with right:
        data_view.unit(project)
        if "data" in project.draft:
            public_view.card(project)
    if "data" in project.draft:
        data_view.survey(project)
        data_view.preview(project)
    frame.nav_checked("data", document.problem(project.draft, "data"))


main()
