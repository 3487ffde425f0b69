"""Finished runs side by side: what was set differently, how far each may be off, where one wins; and the favourite.

Released values, unless the curator asks for true errors on this very screen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dpsynth_core import charts, report
from dpsynth_core.evaluation import contest, quality
from dpsynth_core.mechanisms import registry
from dpsynth_core.report import percent
from dpsynth_core.store import projects
from dpsynth_core.store.runs import Run
from dpsynth_core.web import document, frame, session, shown
from dpsynth_core.web.drawing import show
from dpsynth_core.web.numbers import short
from dpsynth_core.web.session import Current
from dpsynth_core.web.shown import Shown
from dpsynth_core.web.text import literal, one_line
from dpsynth_core.zones import Zone, Zoned, combine

MOST = 4
FAVOURITE = "favourite"
"""The note of a project that names the run the curator likes best."""

_LETTERS = "ABCD"
_PICKED = "compare_runs"


def pick(here: Current, finished: Sequence[Run]) -> list[Run]:
    """The runs to compare; the newest two of this project to begin with, its favourite among them."""
    names = _names(here, finished)
    own = [run.id for run in finished if run.project == here.project]
    first = sorted(own or list(names), key=lambda run: run != favourite(here))[:2]
    if not set(st.session_state.get(_PICKED, [])) <= set(names):
        st.session_state[_PICKED] = first
    st.session_state.setdefault(_PICKED, first)
    chosen = st.multiselect("Runs", list(names), format_func=names.get, key=_PICKED, max_selections=MOST, placeholder="Choose two to four")
    return [next(run for run in finished if run.id == picked) for picked in chosen]


def favourite(here: Current) -> str:
    """The pinned run of the open project, or nothing."""
    return str(document.wizard(here.draft).get(FAVOURITE) or "")


def _names(here: Current, finished: Sequence[Run]) -> dict[str, str]:
    """What to call each run in a list: its project only where it is another one."""
    titles = {project.id: project.name for project in projects.list(here.owner)}
    pinned = favourite(here)
    return {
        run.id: ("★ " if run.id == pinned else "")
        + ("" if run.project == here.project else f"{one_line(titles.get(run.project, ''), 30)} · ")
        + run_name(run)
        for run in finished
    }


def run_name(run: Run) -> str:
    """Mechanism, epsilon, when it was made, and the beginning of its plan's digest."""
    made = (run.finished or run.created)[:16].replace("T", " ")
    return f"{registry.get(run.spec['mechanism']['name']).title} · ε {short(run.spec['budget']['epsilon'])} · {made} UTC · {run.digest[:8]}"


def compare(here: Current, chosen: Sequence[Run]) -> None:
    """Everything about the chosen runs."""
    opened = dict(zip(_LETTERS, map(shown.open_run, chosen), strict=False))
    _pins(here, opened)
    _settings(opened)
    labels = contest.shared([o.release.domain for o in opened.values()], [o.cliques for o in opened.values()])
    with frame.card("How far may each be off?", Zone.RELEASED, "With 95 % confidence, from what each run released."):
        if not labels:
            st.info("These runs have no table in common: other columns, other cells, or other workloads.", icon=":material/info:")
            return
        with st.container(horizontal=True, horizontal_alignment="right"):
            asked = shown.curator_toggle()
        both = contest.side_by_side(_judged(opened, asked), labels)
        _wins(both, opened)
        show(charts.contest, both, name="contest")
        if both.zone is not Zone.CURATOR:
            _list(both)


def _pins(here: Current, opened: Mapping[str, Shown]) -> None:
    for place, (letter, one) in zip(st.columns(len(opened)), opened.items(), strict=True):
        with place.container(border=True, height="stretch", key=f"compare_{letter}"):
            pinned = favourite(here) == one.run.id
            st.markdown(f"**{letter}** · {literal(run_name(one.run), 120)}")
            if one.run.project != here.project:
                st.caption("A run of another project.")
            else:
                label, icon = ("Favourite", ":material/star:") if pinned else ("Make it the favourite", ":material/star_outline:")
                help = "The favourite comes first on the Results page."
                st.button(label, icon=icon, key=f"pin_{letter}", on_click=_pin, args=("" if pinned else one.run.id,), help=help)


def _pin(run: str) -> None:
    session.note(**{FAVOURITE: run})


def _settings(opened: Mapping[str, Shown]) -> None:
    found = contest.differences({letter: one.release.spec for letter, one in opened.items()})
    with frame.card("What was set differently?", Zone.PUBLIC):
        if found.empty:
            st.markdown("Nothing: only the noise differs.")
        else:
            st.dataframe(found, hide_index=True)


def _judged(opened: Mapping[str, Shown], asked: bool) -> dict[str, Zoned[pd.DataFrame]]:
    """Every run's tables; with true errors if they were asked for and can be had."""
    tables = {}
    for letter, one in opened.items():
        truth = shown.truth_for(one, one.cliques) if asked else None
        if truth is None:
            tables[letter] = combine(lambda q: q.table, shown.judged(one))
        else:
            tables[letter] = quality.marginal_table(report.statements(one.release), truth)
    return tables


def _wins(both: Zoned[pd.DataFrame], opened: Mapping[str, Shown]) -> None:
    found = contest.wins(both)
    exact = "true" in both.value
    for place, one in zip(st.columns(len(opened)), found.value, strict=True):
        with place:
            st.metric(
                f"{one.run}: on average" if exact else f"{one.run}: at most, on average",
                "–" if math.isnan(one.mean) else percent(one.mean),
                help="People in a wrong cell, over the tables that all runs have.",
            )
            st.caption(f"Lowest in {one.best:,} of {one.tables:,} tables" + ("." if exact else f", beyond doubt in {one.surely:,}."))


def _list(both: Zoned[pd.DataFrame]) -> None:
    wide = both.value.pivot(index=["place", "marginal"], columns="run", values="limit").reset_index().drop(columns="place")
    config = {run: st.column_config.NumberColumn(f"{run}, at most", format="percent") for run in wide.columns if run != "marginal"}
    config["marginal"] = st.column_config.TextColumn("Table", width="large")
    st.dataframe(wide, hide_index=True, height=320, column_config=config)
