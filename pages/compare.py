"""Compare: finished runs side by side."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.compare import compare_view
from dpsynth_core.web.results import open_runs
from dpsynth_core.web.shell import frame


def main() -> None:
    """Draw the page."""
    project = frame.require("compare")
    frame.header("compare", "Finished runs side by side: what was set differently, and where one wins.", Zone.RELEASED)
    finished = open_runs.finished(project.owner)
    if len(finished) < 2:
        st.info("There is nothing to compare yet: this page needs two finished runs.", icon=":material/compare:")
        frame.link("mechanism", "Make a run")
        frame.link("tradeoffs", "Or try something out, which costs nothing")
        return
    chosen = compare_view.pick(project, finished)
    if len(chosen) < 2:
        st.info("Choose two runs or more.", icon=":material/compare:")
    else:
        compare_view.compare(project, chosen)


main()
