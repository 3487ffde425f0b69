"""Workload: which tables of counts (marginals) must come out right, and how much each one counts."""

from __future__ import annotations

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.mechanism import outlook_view
from dpsynth_core.web.shell import additions, document, frame
from dpsynth_core.web.workload import workload_view


def main() -> None:
    """Draw the page: the choice of the tables. A draft without a workload gets all pairs of columns."""
    project = workload_view.prefill(frame.require("workload"))
    frame.header("workload", "Choose the tables of counts to get right.", Zone.PUBLIC)
    error = document.problem(project.draft, "workload")
    if error is None:
        outlook_view.light(project)
    workload_view.choice(project)
    additions.draw("workload", project)
    if error is None:
        workload_view.outcome(document.workload(project.draft))
    elif not workload_view.is_empty_list(project):
        frame.refused(error)
    frame.nav_checked("workload", error)


main()
