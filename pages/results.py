"""Results: how good the synthetic rows are, table by table, and the downloads."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.compare import compare_view
from dpsynth_core.web.results import open_runs, quality_view, results_view
from dpsynth_core.web.run import launch
from dpsynth_core.web.shell import additions, fields, frame

_VIEW, _KEY, _SHOWN = "view", open_runs.VIEW, "_results_view"
VIEWS = {
    "tables": (":material/format_list_numbered: Tables", quality_view.tables),
    "columns": (":material/bar_chart: Columns", results_view.columns),
    "pairs": (":material/grid_on: Pairs", results_view.pairs),
    "rows": (":material/table_rows: Rows", results_view.rows),
    "downloads": (":material/download: Downloads", results_view.take_away),
    "about": (":material/info: About this run", results_view.about),
}
_FIRST = next(iter(VIEWS))


def main() -> None:
    """Draw the page: one view of one finished run.

    The visitor chooses the run; at first it is the project's favourite, or the newest if there is no favourite.
    The address of the page names the view.
    """
    project = frame.require("results")
    finished = open_runs.finished(project.owner, project.id)
    frame.header("results", "Judge and download the rows.", Zone.RELEASED)
    run = _picked(finished, compare_view.favourite(project))
    opened = open_runs.open_run(run)
    if run.id == finished[0].id:
        launch.banner(project, run)
    results_view.warnings(opened)
    # the view stands in the address, so that a link or a reload opens it again, and Back the one before
    stated = st.query_params.get(_VIEW, _FIRST)
    linked = stated if stated in VIEWS else _FIRST
    if linked != st.session_state.get(_SHOWN) or st.session_state.get(_KEY) is None:
        st.session_state[_KEY] = linked
    look = {"format_func": lambda name: VIEWS[name][0], "required": True, "label_visibility": "collapsed"}
    with open_runs.beside_toggle():
        view = str(st.segmented_control("View", list(VIEWS), key=_KEY, persist_state=fields.AGAIN, **look))
        results_view.ask(opened)
    st.session_state[_SHOWN] = view
    if view != stated:  # the first view needs no word in the address: adding it would be a step that cannot be gone back
        st.query_params[_VIEW] = view
    VIEWS[view][1](opened)
    if view == _FIRST:
        additions.draw("results", opened)
    frame.nav("results")


def _picked(finished: list[open_runs.Run], favourite: str) -> open_runs.Run:
    """Return the run to show, at first the favourite, else the newest; a single run needs no choice."""
    if len(finished) == 1:
        return finished[0]
    ordered = sorted(finished, key=lambda run: run.id != favourite)
    names = {run.id: ("★ " if run.id == favourite else "") + compare_view.run_name(run) for run in ordered}
    chosen = st.selectbox("Run", list(names), format_func=lambda run: names[run], key="results_run")
    return next(run for run in finished if run.id == chosen)


main()
