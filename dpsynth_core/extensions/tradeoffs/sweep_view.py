"""A sweep on screen: its progress, its charts as points arrive, the tables of a chosen setting, and the downloads.

The page has the zone of the sweep: results on the private table are drawn as watermarked pictures, never cached, not offered as files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

import pandas as pd
import streamlit as st

from dpsynth_core.evaluation.verdict import LIMIT
from dpsynth_core.extensions.tradeoffs import charts, curves, sweep_form, sweeps, trial
from dpsynth_core.extensions.tradeoffs.curves import MEAN, MEMORY, METRICS, SECONDS, Cost, Metric, Setting
from dpsynth_core.extensions.tradeoffs.sweep import PRIVATE, PUBLIC, Sweep
from dpsynth_core.extensions.tradeoffs.sweep_form import SHOWN
from dpsynth_core.extensions.tradeoffs.sweeps import Stored
from dpsynth_core.extensions.tradeoffs.trial import Outcome
from dpsynth_core.foundation.zones import Zone, Zoned, combine, publishable
from dpsynth_core.release.document import frame_csv
from dpsynth_core.store import approvals
from dpsynth_core.web.compare import compare_view
from dpsynth_core.web.mechanism import plan_view
from dpsynth_core.web.results import open_runs
from dpsynth_core.web.shell import curator, fields, frame, refusals, session
from dpsynth_core.web.shell.figures import draw, show
from dpsynth_core.web.shell.numbers import duration
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

T = TypeVar("T", str, float, int)
V = TypeVar("V")
Outcomes = Mapping[int, Outcome]
"""The outcomes of finished trials by the trials' numbers."""

POLL_SECONDS, REDRAW_SECONDS = 1.5, 4.5
"""The intervals at which the progress and the charts are drawn; charts are most of what is sent."""
_METRIC, _MECHANISM, _EPSILON, _TABLES = "tradeoffs_metric", "tradeoffs_mechanism", "tradeoffs_epsilon", "tradeoffs_tables"
_AXIS = "tradeoffs_axis"
_PICKED = "_tradeoffs_picked"
BY_EPSILON, BY_TABLES, OF_TABLES = "by_epsilon", "by_tables", "of_tables"
BY_SECONDS, BY_MEMORY, BY_SETTING = "by_seconds", "by_memory", "by_setting"
_MOST_TABLES, _ACROSS = 12, 3
"""Tables that are drawn each in a chart of its own, and such charts in a row."""
_COSTS = {BY_SECONDS: SECONDS, BY_MEMORY: MEMORY}
_LIMIT = "tradeoffs_limit"
_ON = {PRIVATE: "the private table", PUBLIC: "a public table"}


def listed(project: Current) -> tuple[Stored, ...]:
    """Return the project's sweeps, the newest first; () without any."""
    return sweeps.list(project.owner, project.id)


def panel(stored_sweeps: tuple[Stored, ...]) -> None:
    """Draw the results and the progress of a sweep, regularly while it runs, and below them a choice if there are several.

    Its buttons stop, resume or delete the sweep. Another button, not offered for the private table, takes the
    chosen mechanism and epsilon into the draft and opens the page Mechanism.

    Args:
        stored_sweeps: The project's sweeps, at least one, of which the newest is shown at first.
    """
    names = {stored.id: _name(stored) for stored in stored_sweeps}
    if st.session_state.get(SHOWN) not in names:
        st.session_state[SHOWN] = stored_sweeps[0].id
    stored = next(stored for stored in stored_sweeps if stored.id == st.session_state[SHOWN])
    with frame.card("Results of the trials", stored.sweep.zone, _about(stored)):
        if stored.active:
            refusals.polled(_state, POLL_SECONDS)(stored.id, True)
        refusals.polled(_results, REDRAW_SECONDS if stored.active else None)(stored)
        if not stored.active:  # the chart is what a page is opened for
            refusals.polled(_state, None)(stored.id, False)
        if len(names) > 1:
            st.selectbox("Sweep", list(names), format_func=names.get, key=SHOWN)


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
    place, further = st.container(), st.container()  # what is chosen below is drawn above
    metric, axis, chosen = _controls(stored, outcomes)
    limit, releases = _limit(stored, outcomes, metric, chosen), _beside(stored, metric, chosen)
    with place:
        _main(stored, outcomes, axis, metric, chosen, limit, releases)
    with further:
        sweep_form.say_values(stored.sweep)
    worst, way_on = st.columns([7, 5], gap="medium")
    with worst:
        _drawn(stored, outcomes, OF_TABLES, metric, chosen)
    with way_on:
        _way_on(stored, chosen)
    if len(stored.sweep.sizes) > 1:
        _drawn(stored, outcomes, BY_TABLES, metric, chosen)
    if not stored.active:
        _every_table(stored, outcomes, metric, chosen, limit, releases)
    if stored.sweep.zone is not Zone.CURATOR:
        _downloads(stored.sweep, outcomes, metric, chosen)


def _main(
    stored: Stored, outcomes: Outcomes, axis: str, metric: Metric, chosen: Setting, limit: float | None, releases: tuple[Beside, ...]
) -> None:
    """Draw the error against the chosen axis, as wide as the page."""
    if axis == BY_SETTING:
        error, cost = st.columns(2, gap="medium")
        with error:
            _drawn(stored, outcomes, BY_SETTING, metric, chosen)
        with cost:
            _drawn(stored, outcomes, BY_SETTING, SECONDS, chosen)
        return
    _drawn(stored, outcomes, axis, metric, chosen, limit, *releases)
    if axis in _COSTS:
        st.caption("The number at a point is its ε. Upright: least and most of the trials." + (" Dashed: limit." if limit else ""))
    else:
        marks = _marks(stored.sweep, limit, releases)
        st.caption(charts.reading(_bands(stored, outcomes, metric), chosen.tables, marks))


def _every_table(
    stored: Stored, outcomes: Outcomes, metric: Metric, chosen: Setting, limit: float | None, releases: tuple[Beside, ...]
) -> None:
    """Draw the error of each table against epsilon, the tables with the largest errors first.

    Args:
        stored: The sweep.
        outcomes: The finished trials.
        metric: The error to draw.
        chosen: The chosen setting, whose mechanism's bound is shaded if it has one.
        limit: The largest acceptable error, as a share of people.
        releases: Finished releases to draw beside the curves.
    """
    single, several = curves.of_each(metric), len(stored.sweep.epsilons) > 1
    worst = curves.of_tables(stored.sweep, outcomes, chosen, single)
    shown = list(worst.value["marginal"][:_MOST_TABLES])
    if not several or len(worst.value) < 2:
        return
    st.markdown("**How does the error of each table fall with ε?**")
    of = "tables", len(outcomes), chosen.tables, METRICS.index(single)
    every = _kept(stored, of, lambda: curves.of_every_setting(stored.sweep, outcomes, chosen.tables, single))
    drawn = combine(lambda frame: frame[frame["marginal"].isin(shown)], every)
    bounded = _bounded(drawn.value, chosen.mechanism) if single == MEAN else ""
    in_sight = _range(drawn.value, bounded, limit)
    shade = f" Shade: up to the confidence bound of {literal(bounded)}, 95%." if bounded else ""
    dots = " Dot: a finished release; bar: 95%." if releases and single == MEAN else ""
    more = f"The worst {len(shown)} of {len(worst.value):,}. " if len(worst.value) > len(shown) else ""
    st.caption(f"{more}Colours as above.{shade}{' Dashed: limit.' if limit else ''}{dots}")
    places = [place for _ in range(math.ceil(len(shown) / _ACROSS)) for place in st.columns(_ACROSS, gap="small")]
    for number, marginal in enumerate(shown):
        with places[number]:
            one = combine(lambda frame, marginal=marginal: frame[frame["marginal"] == marginal], drawn)
            beside = _points_of(releases, marginal) if single == MEAN else None
            show(charts.one_table, one, single, bounded, limit, beside, in_sight, name=f"tradeoffs_table_{number}")


def _bounded(frame: pd.DataFrame, chosen: str) -> str:
    """Return the title of the mechanism whose bound is shaded: the chosen one, else the first with a bound; "" if none has one."""
    with_bound = list(dict.fromkeys(frame["mechanism"][frame["bound"].notna()]))
    return chosen if chosen in with_bound else next(iter(with_bound), "")


def _range(frame: pd.DataFrame, bounded: str, limit: float | None) -> tuple[float, ...]:
    """Return the least and the largest error that the charts of single tables show, so that all have one axis."""
    bounds = frame["bound"][frame["mechanism"] == bounded].dropna()
    seen = [frame["low"].min(), frame["high"].max(), *([bounds.max()] if len(bounds) else []), *([] if limit is None else [limit])]
    return float(min(seen)), float(max(seen))


def _points_of(releases: tuple[Beside, ...], marginal: str) -> Zoned[pd.DataFrame] | None:
    """Return the points of one table of finished releases; None if no release measured the table."""
    tables = [one.tables for one in releases]
    if not tables:
        return None
    together = combine(lambda *frames: pd.concat(frames, ignore_index=True), *tables)
    found = combine(lambda frame: frame[frame["marginal"] == marginal], together)
    return found if len(found.value) else None


def _name(stored: Stored) -> str:
    sweep = stored.sweep
    titles = ", ".join(sweep.titles.values())
    tried = f"{len(sweep.points):,} trials on {_ON.get(sweep.table, 'simulated data')}"
    return f"{stored.created[:16].replace('T', ' ')} UTC · {titles} · {tried}"


def _about(stored: Stored) -> str:
    return _tried_on(stored) + (f" {sweep_form.OF_HOUSEHOLDS}" if stored.sweep.base.members is not None else "")


def _tried_on(stored: Stored) -> str:
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
    """Draw the smallest sufficient epsilon per mechanism for the chosen largest acceptable error.

    The words about epsilon are left out for the private table, because words can be copied.

    Returns:
        The error as a share of people; None if the metric is not a share of people.
    """
    if not metric.percent:
        return None
    percent = float(st.session_state[_LIMIT])
    if stored.sweep.zone is not Zone.CURATOR:  # words can be copied
        crossings = curves.crossings(_bands(stored, outcomes, metric), percent / 100, chosen.tables).value
        st.markdown("  \n".join(literal(curves.crossing_words(name, crossing, percent)) for name, crossing in crossings.items()))
    return percent / 100


def _controls(stored: Stored, outcomes: Outcomes) -> tuple[Metric, str, Setting]:
    """Draw the boxes for metric, axis, mechanism, epsilon and number of tables, and return what is chosen.

    The choice begins near the plan. A click on a chart sets the same boxes.

    Args:
        stored: The sweep.
        outcomes: The finished trials.
    """
    sweep, tried = stored.sweep, curves.settings(stored.sweep, outcomes)
    several = len(sweep.sizes) > 1
    errors, against = st.columns([6, 5], vertical_alignment="bottom")
    with errors:
        titles = {metric.title: metric for metric in METRICS}
        error_help = " ".join(f"**{metric.title}**: {metric.help}" for metric in METRICS)
        metric = st.segmented_control("Error", list(titles), key=_METRIC, default=METRICS[0].title, required=True, help=error_help)
    with against:
        axes = _axes(sweep, outcomes)
        if st.session_state.get(_AXIS) not in axes:
            st.session_state[_AXIS] = BY_EPSILON
        costs_help = f"**{SECONDS.title}**: {SECONDS.help} **{MEMORY.title}**: {MEMORY.help}"
        axis = st.segmented_control("Against", list(axes), key=_AXIS, format_func=axes.get, required=True, help=costs_help)
    places = st.columns([5, 2, 2, 3] if several else [5, 2, 3], vertical_alignment="bottom")
    names = list(dict.fromkeys(sweep.title(*variant) for variant in sweep.variants))
    mechanisms = sorted({s.mechanism for s in tried}, key=names.index)
    mechanism = _box(places[0], "Mechanism", _MECHANISM, mechanisms, _planned(sweep, mechanisms))
    epsilons = sorted({s.epsilon for s in tried if s.mechanism == mechanism})
    near = min(epsilons, key=lambda epsilon: abs(math.log(epsilon) - math.log(sweep.base.budget.epsilon)))
    epsilon = _box(places[1], "ε", _EPSILON, epsilons, near)
    sizes = sorted({s.tables for s in tried if (s.mechanism, s.epsilon) == (mechanism, epsilon)})
    tables = _box(places[2], "Tables", _TABLES, sizes, sizes[-1]) if several else sizes[-1]
    with places[-1]:
        if titles[metric].percent:
            st.number_input("Good enough up to (%)", 0.1, 100.0, 100 * LIMIT, 1.0, "%.1f", key=_LIMIT)
    return titles[metric], axis, Setting(mechanism, epsilon, tables)


def _axes(sweep: Sweep, outcomes: Outcomes) -> dict[str, str]:
    """Return the titles of the axes against which the error can be drawn; memory only where the system told it."""
    memory = {BY_MEMORY: MEMORY.title} if any(outcome.memory_mb is not None for outcome in outcomes.values()) else {}
    setting = {} if sweep.swept is None else {BY_SETTING: sweep.swept.parameter.replace("_", " ").capitalize()}
    tried = sweep.swept is not None and any(sweep.points[number].value is not None for number in outcomes)
    return {BY_EPSILON: "ε", BY_SECONDS: SECONDS.title} | memory | (setting if tried else {})


def _planned(sweep: Sweep, mechanisms: Sequence[str]) -> str:
    """Return the title of the plan's mechanism, with the first value of the swept setting that was tried; else the first title.

    Args:
        sweep: The sweep.
        mechanisms: The titles to choose from.
    """
    own = [sweep.title(*variant) for variant in sweep.variants if variant[0] == sweep.base.mechanism.name]
    return next((title for title in own if title in mechanisms), mechanisms[0])


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


def _drawn(stored: Stored, outcomes: Outcomes, name: str, measure: Metric | Cost, chosen: Setting, *beside: Any) -> None:
    """Draw a chart of the sweep. A public chart is cached; a click on its points chooses a setting.

    The chart of single tables (`OF_TABLES`) has no such points.

    Args:
        stored: The sweep.
        outcomes: The finished trials.
        name: `BY_EPSILON`, `BY_SECONDS`, `BY_MEMORY`, `BY_SETTING`, `BY_TABLES` or `OF_TABLES`.
        measure: The error to draw; for `BY_SETTING` also what a trial needs.
        chosen: The chosen setting.
        *beside: Further arguments of `_chart`.
    """
    key, make = f"tradeoffs_{name}_{measure.column}", partial(_chart, stored, outcomes, name, measure, chosen, *beside)
    if stored.sweep.zone is Zone.CURATOR:
        draw(make(), key)
        return
    of = "chart", len(outcomes), name, measure.column, chosen, tuple(one.name if isinstance(one, Beside) else one for one in beside)
    spec: dict[str, Any] = _kept(stored, of, lambda: make().to_dict(validate=False))
    if name == OF_TABLES:
        st.vega_lite_chart(spec, key=key)
    else:
        st.vega_lite_chart(spec, on_select=partial(_take, key), selection_mode=charts.TRIED, key=key)


def _chart(
    stored: Stored, outcomes: Outcomes, name: str, measure: Metric | Cost, chosen: Setting, limit: float | None = None, *releases: Beside
) -> charts.Drawing:
    """Return a chart of the sweep.

    Args:
        stored: The sweep.
        outcomes: The finished trials.
        name: As in `_drawn`.
        measure: As in `_drawn`.
        chosen: The chosen setting.
        limit: The largest acceptable error, as a share of people.
        *releases: Finished releases to draw beside the curves.
    """
    sweep = stored.sweep
    metric = measure if isinstance(measure, Metric) else MEAN
    if name == OF_TABLES:
        single = curves.of_each(metric)
        return charts.tables_of(curves.of_tables(sweep, outcomes, chosen, single), single)
    bands = _bands(stored, outcomes, metric)
    if name == BY_TABLES:
        return charts.by_tables(bands, metric, chosen.epsilon, chosen)
    if name == BY_SETTING:
        return charts.by_setting(bands, measure, chosen.tables, chosen)
    marks = _marks(sweep, limit, releases)
    if name in _COSTS:
        return charts.by_cost(bands, metric, _COSTS[name], chosen.tables, chosen, marks)
    return charts.by_epsilon(bands, metric, chosen.tables, chosen, marks)


def _marks(sweep: Sweep, limit: float | None, releases: Sequence[Beside]) -> charts.Marks:
    """Return the reference values of the chart against epsilon.

    Args:
        sweep: The sweep.
        limit: The largest acceptable error, as a share of people.
        releases: Finished releases to draw beside the curves.
    """
    guesses = {epsilon: sweep.guess(epsilon) for epsilon in sweep.epsilons}
    points = curves.release_points([one.point for one in releases]) if releases else None
    return charts.Marks(limit, sweep.base.budget.epsilon, guesses, points)


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
    sweep = stored.sweep
    name, value = next(variant for variant in sweep.variants if sweep.title(*variant) == chosen.mechanism)
    label = f"Take {literal(chosen.mechanism)} at ε {chosen.epsilon:g} into the plan"
    if st.button(label, type="primary", icon=":material/arrow_forward:", icon_position="right", key="sweep_take"):
        if sweep.base.members is None:  # two linked tables have one mechanism
            plan_view.choose(name, sweep.settings(name, value))
        fields.store("budget.epsilon", chosen.epsilon)
        frame.go("mechanism")


def _downloads(sweep: Sweep, outcomes: Outcomes, metric: Metric, chosen: Setting) -> None:
    trials = partial(curves.outcomes, sweep, outcomes)
    tables = partial(curves.of_tables, sweep, outcomes, chosen, curves.of_each(metric))
    every = partial(curves.of_every_setting, sweep, outcomes, chosen.tables, curves.of_each(metric))
    drawn = "This file has what the charts draw: mean, least and most of the repeats of each setting, time and memory."
    offers: tuple[tuple[str, str, Callable[[], Zoned[pd.DataFrame]], str], ...] = (
        ("Every trial", "trials.csv", trials, "This file has one line per trial, with all errors and times."),
        ("The curves", "curves.csv", lambda: curves.bands(trials(), metric), drawn),
        ("The tables of this setting", "tables.csv", tables, "This file has the error of every table of the workload, and AIM's bound."),
        ("Every table", "tables_of_all.csv", every, "This file has the error of every table at every setting, and AIM's bound."),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, file, content, about in offers:
            look = {"icon": ":material/download:", "on_click": "ignore", "help": about, "key": f"sweep_{file}"}
            st.download_button(label, partial(_csv, content), file, "text/csv", **look)


def _csv(content: Callable[[], Zoned[pd.DataFrame]]) -> bytes:
    return frame_csv(publishable(content(), "the table of a sweep on the private table"))


_MOST_BESIDE = 4
_BESIDE_PICKED = "tradeoffs_beside"
_BESIDE_HELP = (
    "A release measured its errors on its own people, and a trial on its own table. You can compare them where both have the same "
    "columns, values and tables."
)


@dataclass(frozen=True, eq=False)
class Beside:
    """A finished release beside the curves.

    Attributes:
        name: Its name (hostile text).
        point: The point of its mean error.
        tables: The points of its tables, from `curves.release_tables`.
    """

    name: str
    point: curves.Beside
    tables: Zoned[pd.DataFrame]


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
            judged = open_runs.judged(opened)
            headline = publishable(judged, "a release beside a sweep").headline
            why_not = wrong_view or curves.obstacle(stored.sweep, opened.release, headline)
            if why_not:
                st.caption(f":orange[:material/block:] {literal(names[run.id], 120)} is not drawn: {why_not}.")
            else:
                tables = curves.release_tables(names[run.id], opened.release, combine(lambda quality: quality.table, judged))
                points.append(Beside(names[run.id], curves.release_point(names[run.id], opened.release, headline), tables))
    return tuple(points)
