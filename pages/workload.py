"""Workload: which tables of counts (marginals) must come out right, and how much each one counts."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.shell import document, frame
from dpsynth_core.web.workload import workload_view


def main() -> None:
    project = workload_view.prefill(frame.require("workload"))
    sentence = "Which tables of counts must come out right. Few and small ones come out best: what is not asked for costs nothing."
    frame.header("workload", sentence, Zone.PUBLIC)
    error = document.problem(project.draft, "workload")
    left, right = st.columns(2, gap="medium")
    with left:
        workload_view.choice(project)
    with right:
        if error is None:
            workload_view.outcome(document.workload(project.draft))
            workload_view.coverage(document.workload(project.draft))
        elif not workload_view.is_empty_list(project):
            frame.refused(error)
    frame.nav_checked("workload", error)


main()
