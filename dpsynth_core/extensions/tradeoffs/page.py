"""The page Trade-offs, and the ways to it from other pages."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.extensions.tradeoffs import sweep_form, sweep_view
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.shell import document, frame
from dpsynth_core.web.shell.session import Current

_OTHER = "tradeoffs_other"


def draw() -> None:
    """Draw the page Trade-offs: the project's sweeps and the form for another one, or the step that is missing before a sweep.

    Buttons start, stop, resume or delete a sweep; starting one on the private table charges it after a
    confirmation. A project must be open.
    """
    project = frame.require("tradeoffs")
    listed = sweep_view.listed(project)
    zones = sorted({Zone.PUBLIC, *(stored.sweep.zone for stored in listed)})
    frame.header("tradeoffs", "Compare mechanisms and values of ε before you spend anything.", *zones)
    if listed:
        sweep_view.panel(listed)
    if extension.layout(stated := document.stated(project.draft)) is not None:
        st.info(f"Trials on invented data do not go with {extension.what_is_linked(stated)} yet.", icon=":material/science:")
        return
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


def from_mechanisms(_: Current) -> None:
    """Draw a link to the page Trade-offs, on the page on which a mechanism is chosen. The project is not used."""
    frame.link("tradeoffs", "Try several on simulated data first, at no cost")


def from_compare(_: Current) -> None:
    """Draw a link to the page Trade-offs, on the page Compare where there are too few runs. The project is not used."""
    frame.link("tradeoffs", "Or try something out, which costs nothing")
