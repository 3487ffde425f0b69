"""A sweep on screen: its progress, its charts as points arrive, the tables of a chosen setting, and the downloads.

The page has the zone of the sweep: results on the private table are drawn as watermarked pictures, never cached, not offered as files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import pandas as pd
import pyarrow as pa
import streamlit as st

from dpsynth_core import charts
from dpsynth_core.evaluation.verdict import LIMIT
from dpsynth_core.foundation.zones import Zone, Zoned, publishable
from dpsynth_core.release.document import csv_bytes
from dpsynth_core.store import approvals, sweeps
from dpsynth_core.store.sweeps import Stored
from dpsynth_core.tradeoffs import curves, trial
from dpsynth_core.tradeoffs.curves import MEAN, METRICS, Beside, Metric, Setting
from dpsynth_core.tradeoffs.sweep import PRIVATE, PUBLIC, Sweep
from dpsynth_core.tradeoffs.trial import Outcome
from dpsynth_core.web.compare import compare_view
from dpsynth_core.web.mechanism import plan_view
from dpsynth_core.web.results import open_runs
from dpsynth_core.web.shell import curator, fields, frame, refusals, session
from dpsynth_core.web.shell.figures import draw
from dpsynth_core.web.shell.numbers import duration
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal
from dpsynth_core.web.tradeoffs.sweep_form import SHOWN

T = TypeVar("T", str, float, int)
V = TypeVar("V")
Outcomes = Mapping[int, Outcome]
"""The outcomes of finished trials by the trials' numbers."""

POLL_SECONDS, REDRAW_SECONDS = 1.5, 4.5
"""The intervals at which the progress and the charts are drawn; charts are most of what is sent."""
_METRIC, _MECHANISM, _EPSILON, _TABLES = "tradeoffs_metric", "tradeoffs_mechanism", "tradeoffs_epsilon", "tradeoffs_tables"
_PICKED = "_tradeoffs_picked"
BY_EPSILON, BY_TABLES, OF_TABLES = "by_epsilon", "by_tables", "of_tables"
_LIMIT = "tradeoffs_limit"
_ON = {PRIVATE: "the private table", PUBLIC: "a public table"}


def listed(project: Current) -> tuple[Stored, ...]:
    """Return the project's sweeps, the newest first."""
    return sweeps.list(project.owner, project.id)


def picked(stored_sweeps: tuple[Stored, ...]) -> Stored:
    """Draw the choice of a sweep if there are several, and return the chosen one, at first the newest."""
    ids = [stored.id for stored in stored_sweeps]
    if st.session_state.get(SHOWN) not in ids:
        st.session_state[SHOWN] = ids[0]
    if len(stored_sweeps) == 1:
        return stored_sweeps[0]
    names = {stored.id: _name(stored) for stored in stored_sweeps}
    chosen = st.selectbox("Sweep", ids, format_func=lambda sweep: names[sweep], key=SHOWN)
    return next(stored for stored in stored_sweeps if stored.id == chosen)


def panel(stored: Stored) -> None:
    """Draw the progress and the results of a sweep, regularly while it runs."""
    with frame.card("Results of the trials", stored.sweep.zone, _about(stored)):
        refusals.polled(_state, POLL_SECONDS if stored.active else None)(stored.id, stored.active)
        refusals.polled(_results, REDRAW_SECONDS if stored.active else None)(stored)


def _state(sweep: str, was_active: bool) -> None:
    owner = session.current().owner
    stored = sweeps.get(owner, sweep)
    if was_active and not stored.active:
        st.rerun()
    points = sweeps.points(owner, sweep)
    took = {point.number: point.seconds for point in points if point.seconds is not None}
    ended = sum(point.state in ("done", "failed", "lost") for point in points)
    bad = [point for point in points if point.state in ("failed", "lost")]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if _waits(stored):
            st.warning(
                "These trials wait for an approval that cannot come. A second person now approves the plans of their population, and "
                "trials have none. **Stop** gives their budget back."
            )
        elif stored.active:
            forecast = {point.number: point.forecast for point in points}
            left = duration(trial.seconds_left(forecast, took, stored.workers))
            st.progress(ended / len(points), f"{ended:,} of {len(points):,} trials · about {left} left", width="stretch")
        else:
            state = "Stopped" if stored.state == "stopped" else "Done"
            st.markdown(f"**{state}** · {len(took):,} of {len(points):,} trials", width="content")
        with st.container(horizontal=True, width="content", gap="small"):
            _buttons(stored, any(point.state == "failed" for point in points))
    if bad:
        reasons = "; ".join(dict.fromkeys(literal(point.error.rstrip(".")) for point in bad))
        st.warning(f"{len(bad):,} trials failed: {reasons}.", icon=":material/error:")


def _waits(stored: Stored) -> bool:
    """Return whether an active sweep on the private table awaits approval and has read no record.

    Args:
        stored: The sweep.
    """
    unread = stored.active and stored.sweep.table == PRIVATE and not stored.touched
    return unread and approvals.awaited(stored.id, approvals.PLAN)


def _results(stored: Stored) -> None:
    outcomes = _outcomes(stored)
    if not outcomes and _waits(stored):
        return
    if not outcomes:
        words = "The first points appear here in a moment." if stored.active else "No trial has finished."
        st.info(words, icon=":material/hourglass_empty:")
        return
    if stored.sweep.zone is Zone.CURATOR:
        st.warning(curator.WARNING, icon=":material/visibility_lock:")
    metric, chosen = _controls(stored.sweep, curves.settings(stored.sweep, outcomes))
    left, right = st.columns([7, 5], gap="medium")
    with left:
        limit = _limit(stored, outcomes, metric, chosen)
        _drawn(stored, outcomes, BY_EPSILON, metric, chosen, limit, *_beside(stored, metric, chosen))
    with right:
        _drawn(stored, outcomes, OF_TABLES, metric, chosen)
        _way_on(stored, chosen)
    if len(stored.sweep.sizes) > 1:
        _drawn(stored, outcomes, BY_TABLES, metric, chosen)
    if stored.sweep.zone is not Zone.CURATOR:
        _downloads(stored.sweep, outcomes, metric, chosen)


def _name(stored: Stored) -> str:
    sweep = stored.sweep
    titles = ", ".join(sweep.titles.values())
    tried = f"{len(sweep.points):,} trials on {_ON.get(sweep.table, 'simulated data')}"
    return f"{stored.created[:16].replace('T', ' ')} UTC · {titles} · {tried}"


def _about(stored: Stored) -> str:
    data, strengths = stored.sweep.base.data, stored.sweep.strengths
    if data.standin is not None:
        how = f"by {min(strengths):g} to {max(strengths):g}" if strengths else f"by {data.standin.strength:g}"
        made = f"{data.standin.rows:,} rows, whose columns are related {how} (0 not at all, 1 entirely)"
        return f"These errors are exact, and not secret. They are of simulated data of {made}."
    if stored.sweep.table == PRIVATE:
        return "These are true errors, for this screen only."
    return "These are exact errors on a public table. They are not secret."


def _buttons(stored: Stored, some_failed: bool) -> None:
    """Draw the buttons for a sweep: Stop while it is active, else Delete and, if possible, Go on.

    A click takes effect at once, and then the complete page is drawn again.

    Args:
        stored: The sweep.
        some_failed: Whether a trial failed; then the failed trials can be tried again.
    """
    if stored.active:
        _button("Stop", ":material/stop:", sweeps.stop, stored, help="Finished trials stay.")
        return
    if stored.can_resume and (stored.state == "stopped" or some_failed):
        _button("Go on" if stored.state == "stopped" else "Try the failed ones again", ":material/play_arrow:", sweeps.resume, stored)
    _button("Delete", ":material/delete:", sweeps.delete, stored, type="tertiary")


def _button(label: str, icon: str, action: Callable[[str, str], None], stored: Stored, **look: Any) -> None:
    def act() -> None:
        refusals.stored(action)(session.current().owner, stored.id)
        st.rerun()

    st.button(label, icon=icon, key=f"sweep_{action.__name__}", on_click=act, **look)


def _kept(stored: Stored, of: tuple[Any, ...], make: Callable[[], V]) -> V:
    """Return the result of `make`, cached unless the sweep is on the private table.

    Args:
        stored: The sweep.
        of: What the result depends on besides the sweep, such as the number of finished trials: the
            cache key.
        make: Computes the result.
    """
    if stored.sweep.zone is Zone.CURATOR:
        return make()
    return cast(V, _public(session.current().owner, stored.id, of, make))


@st.cache_data(max_entries=128, show_spinner=False)
def _public(owner: str, sweep: str, of: tuple[Any, ...], _make: Callable[[], Any]) -> Any:
    del owner, sweep, of
    return _make()


def _outcomes(stored: Stored) -> Outcomes:
    owner = session.current().owner
    finished = sum(point.state == "done" for point in sweeps.points(owner, stored.id))
    return _kept(stored, ("outcomes", finished), lambda: sweeps.outcomes(owner, stored.id))


def _bands(stored: Stored, outcomes: Outcomes, metric: Metric) -> Zoned[pd.DataFrame]:
    of = "bands", len(outcomes), METRICS.index(metric)
    return _kept(stored, of, lambda: curves.bands(curves.outcomes(stored.sweep, outcomes), metric))


def _limit(stored: Stored, outcomes: Outcomes, metric: Metric, chosen: Setting) -> float | None:
    """Draw the field for the largest acceptable error, and the smallest sufficient epsilon per mechanism.

    The words about epsilon are left out for the private table, because words can be copied.

    Returns:
        The error as a share of people; None if the metric is not a share of people.
    """
    if not metric.percent:
        return None
    percent = st.number_input("Good enough up to (%)", 0.1, 100.0, 100 * LIMIT, 1.0, "%.1f", key=_LIMIT, width=180)
    if stored.sweep.zone is not Zone.CURATOR:  # words can be copied
        crossings = curves.crossings(_bands(stored, outcomes, metric), percent / 100, chosen.tables).value
        st.markdown("  \n".join(literal(curves.crossing_words(name, crossing, percent)) for name, crossing in crossings.items()))
    return percent / 100


def _controls(sweep: Sweep, tried: list[Setting]) -> tuple[Metric, Setting]:
    """Draw the boxes for metric, mechanism, epsilon and number of tables, and return what is chosen.

    The choice begins near the plan. A click on a chart sets the same boxes.

    Args:
        sweep: The sweep.
        tried: The settings with a finished trial.
    """
    several = len(sweep.sizes) > 1
    places = st.columns([6, 3, 2, 2] if several else [6, 3, 2], vertical_alignment="bottom")
    with places[0]:
        titles = {metric.title: metric for metric in METRICS}
        error_help = " ".join(f"**{metric.title}**: {metric.help}" for metric in METRICS)
        metric = st.segmented_control("Error", list(titles), key=_METRIC, default=METRICS[0].title, required=True, help=error_help)
    names = list(sweep.titles.values())
    mechanisms = sorted({s.mechanism for s in tried}, key=names.index)
    planned = sweep.titles.get(sweep.base.mechanism.name)
    mechanism = _box(places[1], "Mechanism", _MECHANISM, mechanisms, planned if planned in mechanisms else mechanisms[0])
    epsilons = sorted({s.epsilon for s in tried if s.mechanism == mechanism})
    near = min(epsilons, key=lambda epsilon: abs(math.log(epsilon) - math.log(sweep.base.budget.epsilon)))
    epsilon = _box(places[2], "ε", _EPSILON, epsilons, near)
    sizes = sorted({s.tables for s in tried if (s.mechanism, s.epsilon) == (mechanism, epsilon)})
    tables = _box(places[3], "Tables", _TABLES, sizes, sizes[-1]) if several else sizes[-1]
    return titles[metric], Setting(mechanism, epsilon, tables)


def _box(place: st.delta_generator.DeltaGenerator, label: str, key: str, options: Sequence[T], first: T) -> T:
    """Draw a select box whose options change, and return the chosen option.

    Until the curator changes any of these boxes or clicks a chart, every box shows its `first`.
    Afterwards a box keeps its choice, and shows `first` only if that option is gone.

    Args:
        place: Where the box is drawn.
        label: The label of the box.
        key: Key of the choice in the session state.
        options: The options, texts or numbers.
        first: The option to show where nothing is chosen; one of `options`.
    """
    if not st.session_state.get(_PICKED) or st.session_state.get(key) not in options:
        st.session_state[key] = first
    titles = {option: option if isinstance(option, str) else f"{option:g}" for option in options}
    return cast(T, place.selectbox(label, options, format_func=titles.get, key=key, on_change=_pick))


def _pick() -> None:
    st.session_state[_PICKED] = True


def _drawn(stored: Stored, outcomes: Outcomes, name: str, metric: Metric, chosen: Setting, *beside: Any) -> None:
    """Draw a chart of the sweep. A public chart is cached; a click on its points chooses a setting.

    The chart of single tables (`OF_TABLES`) has no such points.

    Args:
        stored: The sweep.
        outcomes: The finished trials.
        name: `BY_EPSILON`, `BY_TABLES` or `OF_TABLES`.
        metric: The error to draw.
        chosen: The chosen setting.
        *beside: Further arguments of `_chart`.
    """
    key, make = f"tradeoffs_{name}", partial(_chart, stored, outcomes, name, metric, chosen, *beside)
    if stored.sweep.zone is Zone.CURATOR:
        draw(make(), key)
        return
    of = "chart", len(outcomes), name, METRICS.index(metric), chosen, beside
    spec: dict[str, Any] = _kept(stored, of, lambda: make().to_dict(validate=False))
    if name == OF_TABLES:
        st.vega_lite_chart(spec, key=key)
    else:
        st.vega_lite_chart(spec, on_select=partial(_take, key), selection_mode=charts.TRIED, key=key)


def _chart(
    stored: Stored, outcomes: Outcomes, name: str, metric: Metric, chosen: Setting, limit: float | None = None, *releases: Beside
) -> charts.Drawing:
    """Return a chart of the sweep.

    Args:
        stored: The sweep.
        outcomes: The finished trials.
        name: `BY_EPSILON`, `BY_TABLES` or `OF_TABLES`.
        metric: The error to draw.
        chosen: The chosen setting.
        limit: The largest acceptable error, as a share of people.
        *releases: Finished releases to draw beside the curves.
    """
    sweep = stored.sweep
    if name == OF_TABLES:
        single = curves.of_each(metric)
        return charts.tables_of(curves.of_tables(sweep, outcomes, chosen, single), single)
    bands = _bands(stored, outcomes, metric)
    if name == BY_TABLES:
        return charts.by_tables(bands, metric, chosen.epsilon, chosen)
    guesses = {epsilon: sweep.guess(epsilon) for epsilon in sweep.epsilons}
    marks = charts.Marks(limit, sweep.base.budget.epsilon, guesses, curves.release_points(releases) if releases else None)
    return charts.by_epsilon(bands, metric, chosen.tables, chosen, marks)


def _take(key: str) -> None:
    if taken := st.session_state[key]["selection"].get(charts.TRIED, []):
        _pick()
        st.session_state[_MECHANISM] = taken[0]["mechanism"]
        st.session_state[_EPSILON] = float(taken[0]["epsilon"])
        st.session_state[_TABLES] = int(taken[0]["tables"])


def _way_on(stored: Stored, chosen: Setting) -> None:
    if stored.sweep.zone is Zone.CURATOR:
        st.caption("A choice by these errors would leak facts about people, so there is no button for it.")
        return
    name = next(name for name, title in stored.sweep.titles.items() if title == chosen.mechanism)
    label = f"Take {literal(chosen.mechanism)} at ε {chosen.epsilon:g} into the plan"
    if st.button(label, type="primary", icon=":material/arrow_forward:", icon_position="right", key="sweep_take"):
        own = stored.sweep.base.mechanism
        plan_view.choose(name, dict(own.settings) if own.name == name else {})
        fields.store("budget.epsilon", chosen.epsilon)
        frame.go("mechanism")


def _downloads(sweep: Sweep, outcomes: Outcomes, metric: Metric, chosen: Setting) -> None:
    trials = partial(curves.outcomes, sweep, outcomes)
    tables = partial(curves.of_tables, sweep, outcomes, chosen, curves.of_each(metric))
    drawn = "This file has what the charts draw: mean, least and most of the repeats of each setting."
    offers: tuple[tuple[str, str, Callable[[], Zoned[pd.DataFrame]], str], ...] = (
        ("Every trial", "trials.csv", trials, "This file has one line per trial, with all errors and times."),
        ("The curves", "curves.csv", lambda: curves.bands(trials(), metric), drawn),
        ("The tables of this setting", "tables.csv", tables, "This file has the error of every table of the workload."),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, file, content, about in offers:
            look = {"icon": ":material/download:", "on_click": "ignore", "help": about, "key": f"sweep_{file}"}
            st.download_button(label, partial(_csv, content), file, "text/csv", **look)


def _csv(content: Callable[[], Zoned[pd.DataFrame]]) -> bytes:
    rows = publishable(content(), "the table of a sweep on the private table")
    return csv_bytes(pa.Table.from_pandas(rows, preserve_index=False))


_MOST_BESIDE = 4
_BESIDE_PICKED = "tradeoffs_beside"
_BESIDE_HELP = (
    "A release measured its errors on its own people, and a trial on its own table. You can compare them where both have the same "
    "columns, values and tables."
)


def _beside(stored: Stored, metric: Metric, chosen: Setting) -> tuple[Beside, ...]:
    """Draw a choice of finished releases, and return those that can be drawn beside the curves.

    The reason is shown for a chosen release that cannot be drawn.
    """
    project = session.current()
    finished = open_runs.finished(project.owner)
    if not finished:
        return ()
    names = compare_view.run_names(project, finished)
    look = {"max_selections": _MOST_BESIDE, "placeholder": "Choose releases, also of other projects", "help": _BESIDE_HELP}
    picked = compare_view.picked("Finished releases beside it", _BESIDE_PICKED, names, [], **look)
    part = "only a part of the tables is looked at" if chosen.tables != len(stored.sweep.workload.cliques) else ""
    wrong_view = part if metric == MEAN else f"releases state “{MEAN.title}” alone"
    points = []
    for run in finished:
        if run.id in picked:
            opened = open_runs.open_run(run)
            headline = publishable(open_runs.judged(opened), "a release beside a sweep").headline
            why_not = wrong_view or curves.obstacle(stored.sweep, opened.release, headline)
            if why_not:
                st.caption(f":orange[:material/block:] {literal(names[run.id], 120)} is not drawn: {why_not}.")
            else:
                points.append(curves.release_point(names[run.id], opened.release, headline))
    return tuple(points)
