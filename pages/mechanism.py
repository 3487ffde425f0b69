"""Mechanism: choose a mechanism, see what the plan can do and what it leaks, then seal the plan and run it once."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.mechanism import sealing_view
from dpsynth_core.web.run import launch, watch
from dpsynth_core.web.shell import frame


def main() -> None:
    """Draw the page: the running or newest run, and the planning of one, folded away after a finished run.

    Runs that only learn values are shown while they are active.
    """
    project = frame.require("mechanism")
    listed = [run for run in watch.listed(project) if run.active or not run.only_learns]
    active = next((run for run in listed if run.active), None)
    frame.header("mechanism", "Lock and run the plan once.", Zone.PUBLIC)
    sealing_view.say_if_refused()
    changed = bool(listed) and active is None and not sealing_view.was_check(listed[0]) and launch.banner(project, listed[0])
    if listed:
        watch.panel(active or listed[0])
    if active is None and not listed:
        sealing_view.planning(project)
    elif active is None:
        last = listed[0]
        undecided = last.state != "done" or sealing_view.was_check(last) or changed
        again = st.expander("Plan another run", undecided, key=f"plan_again_{last.id}", icon=":material/replay:", on_change="rerun")
        if again.open:  # else the page would wait for what is not shown
            with again:
                sealing_view.planning(project)
    done = any(run.state == "done" for run in listed)
    frame.nav("mechanism", ready=done, why="Run the plan first.")


main()
