"""Compare: finished runs side by side."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.compare import compare_view
from dpsynth_core.web.results import open_runs
from dpsynth_core.web.shell import additions, frame


def main() -> None:
    """Draw the page: a comparison of finished runs; with fewer than two, a link to make one."""
    project = frame.require("compare")
    frame.header("compare", "Compare finished runs: what you set differently, and which one is more accurate.", Zone.RELEASED)
    finished = open_runs.finished(project.owner)
    if len(finished) < 2:
        st.info("This page needs two finished runs.", icon=":material/compare:")
        frame.link("mechanism", "Make a run")
        additions.draw("compare", project)
        return
    chosen = compare_view.pick(project, finished)
    if len(chosen) < 2:
        st.info("Choose two runs or more. To get a second run, make one on the page Mechanism.", icon=":material/compare:")
    else:
        compare_view.compare(project, chosen)


main()
