"""Finished releases beside the curves of a sweep, of this project or another one: chosen here, and where one cannot stand there, why."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import publishable
from dpsynth_core.store import runs
from dpsynth_core.store.sweeps import Stored
from dpsynth_core.tradeoffs.curves import MEAN, Beside, Metric, Setting, obstacle
from dpsynth_core.tradeoffs.curves import release_point as point
from dpsynth_core.web.compare import compare_view
from dpsynth_core.web.results import open_runs
from dpsynth_core.web.shell import session
from dpsynth_core.web.shell.text import literal

MOST = 4
_PICKED = "tradeoffs_beside"
_HELP = (
    "A release measured its errors on its own people, a trial on the table that was tried on. They can be compared where both are about "
    "the same columns, values and tables."
)


def beside(stored: Stored, metric: Metric, chosen: Setting) -> tuple[Beside, ...]:
    """What is to be drawn beside the curves: nothing until it is asked for."""
    project = session.current()
    finished = [run for run in runs.list(project.owner) if run.state == "done"]
    if not finished:
        return ()
    names = compare_view.run_names(project, finished)
    look = {"max_selections": MOST, "placeholder": "Choose releases, also of other projects", "help": _HELP}
    picked = compare_view.picked("Finished releases beside it", _PICKED, names, [], **look)
    points = []
    for run in finished:
        if run.id in picked:
            opened = open_runs.open_run(run)
            headline = publishable(open_runs.judged(opened), "a release beside a sweep").headline
            why_not = _wrong_view(stored, metric, chosen) or obstacle(stored.sweep, opened.release, headline)
            if why_not:
                st.caption(f":orange[:material/block:] {literal(names[run.id], 120)} is not drawn: {why_not}.")
            else:
                points.append(point(names[run.id], opened.release, headline))
    return tuple(points)


def _wrong_view(stored: Stored, metric: Metric, chosen: Setting) -> str:
    """Why no release can stand beside what is looked at now, as a clause."""
    if metric != MEAN:
        return f"releases state “{MEAN.title}” alone"
    if chosen.tables != len(stored.sweep.workload.cliques):
        return "only a part of the tables is looked at"
    return ""
