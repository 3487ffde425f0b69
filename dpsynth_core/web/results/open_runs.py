"""A finished run on the Results page: its release, its judgement, and the curator's switch for true values."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsynth_core import report
from dpsynth_core.evaluation import quality, standing, wall
from dpsynth_core.evaluation.comparison import Truth
from dpsynth_core.evaluation.standing import Standing
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zoned, combine, publishable, released
from dpsynth_core.release.release import Release
from dpsynth_core.report import Quality
from dpsynth_core.store import runs
from dpsynth_core.store.runs import Run
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.web.shell import curator, frame, looks, session

VIEW, COLUMN, FIRST, SECOND = "results_view", "results_column", "results_first", "results_second"
"""Keys of the page's choices: its view, the column in that of columns, and the columns down and across in that of pairs."""


@dataclass(frozen=True)
class OpenRun:
    """A finished run of a visitor.

    Attributes:
        run: The run.
        release: Its release.
        cliques: The cliques of its workload, in order.
    """

    run: Run
    release: Release
    cliques: tuple[Clique, ...]


def finished(owner: str, project: str | None = None) -> list[Run]:
    """Return the finished runs of a project, or of all the visitor's projects if `project` is None.

    The newest comes first; runs that only learnt values come last. [] if no run is finished.

    Args:
        owner: The visitor's owner id.
        project: The id of the project.
    """
    return sorted((run for run in runs.list(owner, project) if run.state == "done"), key=lambda run: run.only_learns)


KEY: dict[str, Any] = {"hash_funcs": {OpenRun: lambda opened: (session.current().owner, opened.run.id)}}
"""Results computed from a release are cached by visitor and run."""


@st.cache_resource(max_entries=8, show_spinner="Opening the release …")
def _release(owner: str, run: str) -> Release:
    return runs.release(owner, run)


def open_run(run: Run) -> OpenRun:
    """Return the run with its release, which is read once and cached until `forget` is called.

    Raises:
        InputError: The run has no release, or is in no project that the visitor owns or shares.
    """
    release = _release(session.current().owner, run.id)
    return OpenRun(run, release, release.plan.workload.cliques)


@st.cache_resource(max_entries=16, show_spinner="Judging every table …", **KEY)
def judged(opened: OpenRun) -> Zoned[Quality]:
    """Return the quality of the release (verdict, headline, errors of each table), from released values alone; cached."""
    return released(report.quality_of(opened.release).value)


@st.cache_resource(max_entries=16, show_spinner=False, **KEY)
def pair_map(opened: OpenRun) -> Zoned[pd.DataFrame]:
    """Return the error bound of every pair of columns, from released values alone; cached.

    Returns:
        The frame of `quality.pair_map`, marked as released: one row per ordered pair, a column with
        itself included, with the bound as a share of people (NaN where no bound is known). It is shared: do not
        change it.
    """
    return released(quality.pair_map(report.statements(opened.release)).value)


@st.cache_resource(max_entries=16, show_spinner=False, **KEY)
def standings(opened: OpenRun) -> Zoned[tuple[Standing, ...]]:
    """Return how good or odd each column is in the release, those that stand out first; cached.

    A `Standing` is one column's state with the bound on its error. All follows from released values.
    """
    verdict = judged(opened).value.verdict
    off = () if verdict is None else verdict.off
    return combine(lambda stated: standing.standings(stated, off), report.statements(opened.release))


@st.cache_resource(max_entries=16, show_spinner=False, **KEY)
def column_bars(opened: OpenRun, columns: tuple[str, ...]) -> Zoned[pd.DataFrame]:
    """Return the bars of some columns (`wall.bars`: one row per bar, counts in people), from released values alone.

    The frame is cached and shared: do not change it.
    """
    return wall.bars(report.evidence(opened.release), columns)


@st.cache_resource(max_entries=64, show_spinner=False, **KEY)
def column_in_short(opened: OpenRun, column: str) -> str:
    """Return the mean and the quantiles of a column in words, from released values alone; cached.

    It is "" if the release states neither.
    """
    return report.column_in_short(opened.release, column)


@lru_cache(maxsize=4)  # also asked for by a route, where Streamlit's are none
def question_page(owner: str, run: str, despite: str) -> bytes:
    """Return the question page of a release as HTML, cached.

    Args:
        owner: The visitor's owner id.
        run: The id of the run.
        despite: The reason for publishing a withheld release; "" without one. It is part of the
            cache key, because the page has no rows until the reason is given.

    Raises:
        InputError: The run has no release, or is in no project that the visitor owns or shares.
    """
    del despite
    release = runs.release(owner, run)
    return publishable(report.question_page(release, not release.withheld), "the page of questions")


def forget() -> None:
    """Remove all cached releases and results from memory.

    This is needed after a run was deleted, and after its release changed.
    """
    for kept in (_release, judged, pair_map, standings, column_bars, column_in_short):
        kept.clear()
    question_page.cache_clear()


def beside_toggle() -> DeltaGenerator:
    """Return a row for widgets with the curator's switch at its right end."""
    return st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute")


def curator_toggle() -> bool:
    """Draw the curator's switch for true values, and return whether it is on. It is off at first."""
    help = (
        "This reads the private table. True values are on this screen only, never in a download. Later releases of this project state that "
        "you saw them."
    )
    return st.toggle("Show true values (curator-only)", key="results_curator", help=help)


def truth_for(opened: OpenRun, cliques: Collection[Clique]) -> Truth | None:
    """Return the exact marginals of a run's table, curator-only, and record that the curator saw them.

    They are in records, without values that have no cell of their own in the domain; for two linked tables, in
    households, with such values counted in the cell that the domain names. They are read each time and never
    stored. Before the first look at a project's own table, a warning and a button to confirm are drawn; simulated
    people need neither, and their look is not recorded.

    Returns:
        The marginals by clique; None before the look is confirmed, or if the look is refused or the table cannot
        be read: the error is then drawn.
    """
    return shown_counts(opened, lambda: curator.truth(opened.run.spec, cliques))


def shown_counts(opened: OpenRun, count: Callable[[], Truth], name: str = "first") -> Truth | None:
    """Return exact counts of a run's table, curator-only, and record that the curator saw them.

    Before the first look at a project's own table, a warning and a button to confirm are drawn, and nothing is
    read. Looks at simulated people need no button and are not recorded.

    Args:
        opened: The open run.
        count: Reads the table; it may raise InputError.
        name: Name of the button that confirms the first look, which is different in each part of a page.

    Returns:
        The counts; None before the look is confirmed, or if the look is refused or the table cannot be read: the
        error is then drawn.
    """
    if not may_look(opened, name):
        return None
    try:
        with st.spinner("Counting in the private table …"):
            return count()
    except InputError as error:
        frame.refused(error)
        return None


def may_look(opened: OpenRun, name: str) -> bool:
    """Return whether exact values of a run's table may be shown now, and record that the curator sees them (`looks.allowed`).

    Args:
        opened: The open run.
        name: Name of the button that confirms the first look, which is different in each part of a page.
    """
    return looks.allowed(opened.run.project, opened.release.spec.data.simulated, f"{name}_look_{opened.run.id}")
