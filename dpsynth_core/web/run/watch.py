"""A run on screen, live while it works, and how it ended. Built from the store and from released events only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dpsynth_core import charts
from dpsynth_core.foundation.zones import Zone, Zoned, released
from dpsynth_core.release.release import Progress
from dpsynth_core.statistics.evidence import label
from dpsynth_core.store import approvals, dispatch, runs
from dpsynth_core.store.runs import Run
from dpsynth_core.store.times import age, seconds_between
from dpsynth_core.vocabulary import link
from dpsynth_core.web.shell import document, frame, refusals, session
from dpsynth_core.web.shell.figures import show
from dpsynth_core.web.shell.numbers import duration, short
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

POLL_SECONDS = 1.0
REDRAW_SECONDS = 3.0
"""Charts and table are redrawn less often: drawing them took browsers most of the time of watching a run."""
_ROWS_SHOWN = 200
_KEEP = "keep"
_NOISE = "This is the standard deviation of the noise in people, or in households where two tables are linked."

_WAITING = {
    "queued": ("Waiting for its turn", ":material/hourglass_empty:"),
    "running": ("Under way", ":material/progress_activity:"),
    "cancelling": ("Stopping", ":material/stop_circle:"),
}
_ENDED = {
    "done": ("Done", ":material/check_circle:", st.success),
    "cancelled": ("Cancelled", ":material/cancel:", st.warning),
    "failed": ("Failed", ":material/error:", st.error),
    "lost": ("Lost", ":material/sync_problem:", st.error),
}
_ADVICE = {
    "cancelled": "Start another run when you are ready; the plan is unchanged.",
    "failed": "Correct what the message names and start another run. If it names nothing that you can correct, try a smaller model.",
    "lost": "Start another run when you are ready. If that is lost too, choose a smaller model.",
}
_SEARCHES = (
    "A solver that looks for rows sees what was chosen, never a record: a row that is not proved to be the best costs accuracy, not "
    "privacy. The gap is how much better another row could be, in counts."
)


def listed(project: Current) -> tuple[Run, ...]:
    """Return the project's runs, the newest first."""
    return runs.list(project.owner, project.id)


def panel(run: Run) -> None:
    """Draw the state of a run every second, and its measurements every 3 seconds, until it ends.

    When it ends, the whole page is drawn again. Buttons stop the run, or keep what a stopped run measured.
    """
    help = "You may reload, close the tab or restart the server: the run goes on."
    with frame.card("This run", Zone.RELEASED, help):
        refusals.polled(state, POLL_SECONDS if run.active else None)(run)
        refusals.polled(_progress, REDRAW_SECONDS if run.active else None)(run)


def state(run: Run) -> None:
    """Draw the state of a run: how far it is, with a button to cancel it, or how it ended.

    Drawing an active run also checks the queue, which may start waiting runs. When the run ends while it is
    watched, the whole page is drawn again.
    """
    if run.active:
        dispatch.pump()
        run = runs.get(session.current().owner, run.id)
        if not run.active:
            st.rerun()
    (_live if run.active else _ended)(run)


def _live(run: Run) -> None:
    words, icon = _WAITING[run.state]
    steps = runs.events(session.current().owner, run.id)
    forecast = document.plan_of(run.sealed).forecast.seconds
    elapsed = age(run.started) if run.started else 0.0
    now = literal(steps[-1].message or label(steps[-1].attributes), 120) if steps else "starting: a process of its own loads the program"
    if run.state == "queued":
        before = runs.queue_position(session.current().owner, run.id)
        now = f"{before} run{'s' * (before > 1)} before this one" if before else "next in line"
        if approvals.awaited(run.id, approvals.PLAN):
            now = "a reviewer has to approve its plan first"
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"{icon} **{words}** · {now}", width="content")
        if run.state != "cancelling" and st.button("Cancel", icon=":material/stop:", key=f"cancel_{run.id}"):
            _confirm_cancel(run.id)
    left = duration(seconds_left(steps, elapsed, forecast))
    share = share_done(steps)
    st.progress(share, f"{share:.0%} of the work" if share else "Getting ready: nothing is measured yet")
    if run.started:
        _for_your_eyes(f"{duration(elapsed)} so far, about {left} left.")
    opened = "Records have been opened: the charge is final."
    unopened = "Until the run opens the first record, cancelling gives the budget back."
    charged = f"ε {short(run.spec.budget.epsilon)} is charged to “{literal(run.population, 60)}”."
    st.caption(f"{charged} {opened if run.touched else unopened}")


@refusals.dialog("Stop this run?")
def _confirm_cancel(run_id: str) -> None:
    owner = session.current().owner
    run = runs.get(owner, run_id)
    if run.touched:
        st.write(
            "The run has begun to read records. **Its whole budget stays charged**: nobody can undo a measurement. "
            "No rows will come out, but you can keep the noisy tables that it measured."
        )
    else:
        st.write("The run has not read any record yet. Its budget is given back.")
    with st.container(horizontal=True):
        if st.button("Stop the run", type="primary", icon=":material/stop:", on_click=refusals.stored(runs.cancel), args=(owner, run_id)):
            st.rerun()
        if st.button("Let it go on"):
            st.rerun()


def _ended(run: Run) -> None:
    words, icon, box = _ENDED[run.state]
    budget = f"ε {short(run.spec.budget.epsilon)} (δ {short(run.spec.budget.delta)})"
    charged = f"{budget} is charged to “{literal(run.population, 60)}”." if run.touched else "Nothing was spent: no record was read."
    box(f"**{words}**. {literal(run.error)} {charged}", icon=icon)
    if run.started and run.finished:
        _for_your_eyes(f"It took {duration(seconds_between(run.started, run.finished))}.")
    if run.state == "done":
        frame.link("results", "See the results")
        return
    st.caption(_ADVICE[run.state])
    if runs.can_keep(run):
        help = (
            "This makes a release of the answers that you paid for: with rows if everything was measured, otherwise of noisy tables alone. "
            "It reads no record and costs nothing. If rows fail, the next click makes the noisy tables."
        )
        keep = partial(refusals.attempt, _KEEP, partial(runs.keep, session.current().owner, run.id))
        st.button("Keep what was measured", icon=":material/save:", key=f"keep_{run.id}", on_click=keep, help=help)
        frame.refused_at(_KEEP)


def _for_your_eyes(duration: str) -> None:
    """Draw how long a run took, with a warning that this can depend on records and is not released."""
    st.caption(f":material/visibility_lock: {duration} Keep this time to yourself: it can depend on the records, and no release states it.")


def _progress(run: Run) -> None:
    """Draw the measurements so far; for a mechanism that only selects, its rounds.

    Nothing is drawn before the first measurement.
    """
    steps = runs.events(session.current().owner, run.id)
    taken = measured(steps, run.rho, link.records_each(run.spec.unit.max_rows_per_person) if run.spec.members else 1)
    if chooses(steps):
        said = st.column_config.TextColumn("What it did", width="large", help=_SEARCHES)
        columns = {"round": st.column_config.NumberColumn("Round", width=70), "said": said}
        _newest_first(round_lines(steps, run.rho).value, columns)
    elif not taken.value.empty:
        for place, chart in zip(st.columns(2), (charts.budget_used, charts.noise_level), strict=True):
            with place:
                show(chart, taken)
        help = "Round 0 measures every single column; later rounds measure what the model gets wrong."
        columns = {
            "step": st.column_config.NumberColumn("#", width=50, help="Measurements are in the order in which they were taken."),
            "round": st.column_config.NumberColumn("Round", width=70, help=help),
            "marginal": st.column_config.TextColumn("Table", width="large"),
            "cells": st.column_config.NumberColumn("Cells", format="localized"),
            "sigma": st.column_config.NumberColumn("± per cell", format="%.1f", help=_NOISE),
        }
        _newest_first(taken.value, columns)


def _newest_first(steps: pd.DataFrame, columns: dict[str, Any]) -> None:
    columns["share_used"] = st.column_config.ProgressColumn("Budget used", min_value=0.0, max_value=1.0, format="percent")
    look = {"hide_index": True, "height": min(320, 40 + 35 * len(steps)), "column_order": list(columns), "column_config": columns}
    st.dataframe(steps.iloc[::-1].head(_ROWS_SHOWN), **look)


def measured(history: Sequence[Progress], rho: float, each: int = 1) -> Zoned[pd.DataFrame]:
    """Return a frame with one line per measurement, in order; without lines before the first. It is released.

    Its columns are step (from 1), round (0 before the adaptive rounds), marginal (label), cells (their
    number), sigma (standard deviation of the noise of a cell, in people or households) and share_used (of
    `rho`, a fraction, up to and including the line).

    Args:
        history: The steps of the run so far.
        rho: The whole budget, in rho.
        each: Number of records of a person or household.
    """
    taken = [event for event in history if event.kind == "measured"]
    lines = [(event.round, label(event.attributes), event.cells, event.sigma / each, event.rho_spent / rho) for event in taken]
    frame = pd.DataFrame(lines, columns=["round", "marginal", "cells", "sigma", "share_used"])
    frame.insert(0, "step", range(1, len(taken) + 1))
    return released(frame)


def round_lines(history: Sequence[Progress], rho: float) -> Zoned[pd.DataFrame]:
    """Return a frame with one line per measurement or fitted model, in order; without lines before the first. It is released.

    Its columns are round (from 0), said (the step in words) and share_used (of `rho`, a fraction, up to and
    including the line).

    Args:
        history: The steps of the run so far.
        rho: The whole budget, in rho.
    """
    steps = [event for event in history if event.kind in ("measured", "fitted")]
    said = [event.message or f"{label(event.attributes)}, ± {event.sigma:,.1f} people" for event in steps]
    shares = [event.rho_spent / rho for event in steps]
    return released(pd.DataFrame({"round": [event.round for event in steps], "said": said, "share_used": shares}))


def chooses(history: Sequence[Progress]) -> bool:
    """Return whether the run has rounds that select but measure no table, as games with an oracle do.

    It is False before the first model is fitted.

    Args:
        history: The steps of the run so far.
    """
    fitted = any(event.kind == "fitted" for event in history)
    return fitted and not any(event.kind == "measured" and event.attributes for event in history)


def share_done(history: Sequence[Progress]) -> float:
    """Return the share of the mechanism's work that is done, a fraction from 0 to 1; 0 before the first step."""
    return max((event.done for event in history), default=0.0)


def seconds_left(history: Sequence[Progress], elapsed: float, forecast: float) -> float:
    """Return an estimate of the seconds until a run ends.

    It begins with the forecast. The more work is done, the more it follows the run's own pace. At first that pace
    is misleading: AIM's early rounds use little of the budget and take as long as late ones.

    Args:
        history: The steps of the run so far.
        elapsed: Seconds since the start.
        forecast: Seconds expected for the whole run.
    """
    share = share_done(history)
    expected = max(0.0, forecast - elapsed)
    return expected if share == 0 else (1 - share) * expected + share * (elapsed * (1 - share) / share)
