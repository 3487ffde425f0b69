"""Trade-offs: mechanisms and values of epsilon tried on a table that costs nothing, before anything is spent."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.shell import frame
from dpsynth_core.web.tradeoffs import sweep_form, sweep_view

_OTHER = "tradeoffs_other"


def main() -> None:
    """Draw the page."""
    project = frame.require("tradeoffs")
    listed = sweep_view.listed(project)
    zones = sorted({Zone.PUBLIC, *(stored.sweep.zone for stored in listed)})
    frame.header("tradeoffs", "Compare mechanisms and values of ε before you spend anything.", *zones)
    if listed:
        sweep_view.panel(listed)
    missing = sweep_form.problem(project.draft)
    if missing is not None:
        st.info("This page needs columns, tables and a budget.", icon=":material/science:")
        frame.refused(missing[1])
        frame.link(missing[0], "Go there")
        return
    if not listed:
        sweep_form.form(project)
    elif (other := st.expander("Try something else", icon=":material/science:", key=_OTHER, on_change="rerun")).open:
        with other:
            sweep_form.form(project)


main()
