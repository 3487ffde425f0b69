"""Data: the sensitive table, what counts as one person, and whose account in the ledger it is charged to."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.data import data_view
from dpsynth_core.web.domain import sources_view
from dpsynth_core.web.shell import additions, document, frame


def main() -> None:
    """Draw the page: the choice of the table, of what counts as one person, and of the population."""
    project = frame.require("data")
    frame.header("data", "Choose the sensitive table and its people.", Zone.PUBLIC)
    left, right = st.columns([11, 10], gap="medium")
    with left:
        data_view.source(project, sources_view.beginning)
    with right:
        data_view.people(project)
    data_view.more(project)
    additions.draw("data", project)
    frame.nav_checked("data", document.problem(project.draft, "data"))


main()
