"""Finished runs side by side: different settings, error bounds, the more accurate run per table, and the favourite.

The page shows released values, unless the curator asks for true errors on this screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dpsynth_core import charts, report
from dpsynth_core.evaluation import quality, side_by_side
from dpsynth_core.evaluation.comparison import Truth
from dpsynth_core.evaluation.measures import LARGEST, MEAN
from dpsynth_core.foundation.zones import Zone, Zoned, combine
from dpsynth_core.mechanisms import registry
from dpsynth_core.report import change, percent
from dpsynth_core.store import approvals, projects, runs
from dpsynth_core.store.runs import Run
from dpsynth_core.web.results import open_runs
from dpsynth_core.web.results.open_runs import OpenRun
from dpsynth_core.web.shell import document, frame, plan_words, refusals, session
from dpsynth_core.web.shell.figures import show
from dpsynth_core.web.shell.numbers import short
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import WHOLE, capital, literal, one_line

MAX_RUNS = 4
FAVOURITE = "favourite"
"""The note of a project that names the run the curator likes best."""

_LETTERS = "ABCD"
_PICKED, _MEASURE = "compare_runs", "compare_measure"
_UNIT = "% of all"
_HELP = f"**{MEAN.title}**: {MEAN.help} **{LARGEST.title}**: {LARGEST.help} A release states it for its tables together."


def pick(project: Current, finished: Sequence[Run]) -> list[Run]:
    """Draw the choice of runs to compare, and return the chosen runs, at most four, in the order of choice.

    At first two are chosen: the project's favourite, if it has one, and the newest others. A
    project without runs begins with the newest runs of other projects. [] if nothing is chosen.

    Args:
        project: The open project.
        finished: The visitor's finished runs, the newest first.
    """
    names = run_names(project, finished)
    own = [run.id for run in finished if run.project == project.id]
    first = sorted(own or list(names), key=lambda run: run != favourite(project))[:2]
    chosen = picked("Runs", _PICKED, names, first, max_selections=MAX_RUNS, placeholder="Choose two to four")
    return [next(run for run in finished if run.id == one) for one in chosen]


def picked(label: str, key: str, names: Mapping[str, str], first: list[str], **look: Any) -> list[str]:
    """Draw a choice of several runs, and return the ids of the chosen runs, in the order of choice; [] if none is chosen.

    Args:
        label: The label.
        key: The widget's session key.
        names: The names of the runs by id.
        first: The ids chosen at first, and again if a chosen run no longer exists.
        **look: Further arguments of the widget.
    """
    if not set(st.session_state.setdefault(key, first)) <= set(names):
        st.session_state[key] = first
    return st.multiselect(label, list(names), format_func=names.get, key=key, **look)


def favourite(project: Current) -> str:
    """Return the id of the project's favourite run; "" without one."""
    return str(document.wizard(project.draft).get(FAVOURITE) or "")


def run_names(project: Current, finished: Sequence[Run]) -> dict[str, str]:
    """Return a name for each run by its id, in the order of `finished`.

    Runs of other projects are named with their project; the favourite's name begins with a star. Names are
    hostile text.
    """
    titles = {other.id: other.name for other in projects.list(project.owner)}
    pinned = favourite(project)
    places = {run.id: "" if run.project == project.id else f"{one_line(titles.get(run.project, ''), 30)} · " for run in finished}
    return {run.id: ("★ " if run.id == pinned else "") + places[run.id] + run_name(run) for run in finished}


def run_name(run: Run) -> str:
    """Return the name of a run: mechanism, epsilon, time (UTC) and the first 8 digits of the plan's SHA-256.

    The time is the run's end; of a run that has not ended, when it was made.

    Raises:
        InputError: The run's mechanism is not known here.
    """
    made = (run.finished or run.created)[:16].replace("T", " ")
    plan = run.spec.mechanism
    linked = run.spec.members is not None
    title = registry.title(plan.name) if linked else registry.configured(registry.get(plan.name), plan.settings).card.title
    return f"{title} · ε {short(run.spec.budget.epsilon)} · {made} UTC · {run.digest[:8]}"


def compare(project: Current, chosen: Sequence[Run]) -> None:
    """Draw the settings of the chosen runs and, table by table, their errors as shares of all people.

    Errors are drawn for tables that all runs have in common. A sentence stands in place of the chart if there
    are no such tables, if no run states the error, or if largest errors are asked for and the runs have
    different tables or thresholds, so that these are not maxima over the same counts. Bounds have 95 %
    confidence. True errors, curator-only, are drawn if the curator switched them on: this reads the private
    table and is recorded. For exactly two runs, changes between them are drawn too. A button makes a run the
    favourite of the open project, in its draft.

    Args:
        project: The open project.
        chosen: The runs, at least one and at most four.
    """
    opened = dict(zip(_LETTERS, map(open_runs.open_run, chosen), strict=False))
    _pins(project, opened)
    _settings(opened)
    _changes(opened)
    labels = side_by_side.shared([o.release.domain for o in opened.values()], [o.cliques for o in opened.values()])
    with frame.card("How far may each be off?", Zone.RELEASED, "The bounds follow from what each run released, with 95% confidence."):
        if not labels:
            st.info("These runs have no table in common: other columns, other cells, or other workloads.", icon=":material/info:")
            return
        with open_runs.beside_toggle():
            titles = [MEAN.title, LARGEST.title]
            measure = st.segmented_control("Measure", titles, key=_MEASURE, default=MEAN.title, required=True, help=_HELP)
            with_truth = open_runs.curator_toggle()
        largest = measure == LARGEST.title
        thresholds = {one.release.plan.workload.threshold for one in opened.values()}
        if largest and (len(thresholds) > 1 or any(len(one.cliques) != len(labels) for one in opened.values())):
            st.info("These runs were asked for different tables: their largest errors are not of the same counts.", icon=":material/info:")
            return
        truths = {letter: open_runs.truth_for(one, one.cliques) if with_truth else None for letter, one in opened.items()}
        tables = {letter: _judged(one, truths[letter], largest) for letter, one in opened.items()}
        exact = all("true" in table.value for table in tables.values())
        all_together = [quality.all_tables(opened["A"].release.plan.workload.threshold)]
        both = side_by_side.side_by_side(tables, all_together if largest and not exact else labels)
        if both.value.empty or both.value[["limit", *(["true"] if exact else [])]].isna().all(axis=None):
            st.info("No run states this error: without a certificate, nothing bounds it.", icon=":material/info:")
            return
        # noise averages out, so the bound on the mean error that Results states is below the mean of the tables' bounds
        limits = {name: quality.mean_limit(report.statements(run.release), labels).value for name, run in opened.items()}
        _wins(both, {} if exact else limits, largest=largest)
        show(charts.contest, both, measure, _UNIT, name="contest")
        if both.zone is not Zone.CURATOR:
            wide = both.value.pivot(index=["place", "marginal"], columns="run", values="limit").reset_index().drop(columns="place")
            config = {run: st.column_config.NumberColumn(f"{run}, at most", format="percent") for run in wide.columns if run != "marginal"}
            config["marginal"] = st.column_config.TextColumn("Table")
            st.dataframe(wide, hide_index=True, height=min(320, 40 + 35 * len(wide)), column_config=config)


def _judged(one: OpenRun, truth: Truth | None, largest: bool) -> Zoned[pd.DataFrame]:
    """Return the errors of each table of a run: bounds, and true errors if `truth` is given.

    Args:
        one: The run.
        truth: The exact marginals; None unless the curator asked for them and they could be read.
        largest: Whether to return the largest error of a single count instead: one released bound
            for all tables together, and true errors per table.
    """
    if largest:
        return quality.largest_table(report.statements(one.release), truth)
    if truth is None:
        return combine(lambda judged: judged.table, open_runs.judged(one))
    return quality.marginal_table(report.statements(one.release), truth)


def _pins(project: Current, opened: Mapping[str, OpenRun]) -> None:
    for place, (letter, one) in zip(st.columns(len(opened)), opened.items(), strict=True):
        with place.container(border=True, height="stretch", key=f"compare_{letter}"):
            pinned = favourite(project) == one.run.id
            st.markdown(f"**{letter}** · {literal(run_name(one.run), 120)}")
            if one.run.project != project.id:
                st.caption("This run is of another project.")
            else:
                label, icon = ("Favourite", ":material/star:") if pinned else ("Make it the favourite", ":material/star_outline:")
                help = "The favourite comes first on the Results page."
                pin = partial(session.note, **{FAVOURITE: "" if pinned else one.run.id})
                st.button(label, icon=icon, key=f"pin_{letter}", on_click=pin, help=help)


def _settings(opened: Mapping[str, OpenRun]) -> None:
    differences = side_by_side.differences({letter: one.release.spec.published() for letter, one in opened.items()})

    def worded(row: pd.Series) -> pd.Series:
        values = row.drop("setting").map(partial(plan_words.valued, row["setting"]))
        return pd.concat([pd.Series({"What": capital(plan_words.named(row["setting"]))}), values])

    with frame.card("What was set differently?", Zone.PUBLIC):
        if differences.empty:
            st.markdown("The settings are the same. Only the noise differs.")
        else:
            st.dataframe(differences.apply(worded, axis=1), hide_index=True)


def _wins(both: Zoned[pd.DataFrame], limits: Mapping[str, float], *, largest: bool) -> None:
    scores = side_by_side.wins(both).value
    exact = "true" in both.value
    bounds = "" if exact else " Without a certificate: the mean of the tables' own bounds, which needs all of them to hold."
    for place, one in zip(st.columns(len(scores)), scores, strict=True):
        with place:
            error = one.most if largest else limits.get(one.run, one.mean)
            of = "the largest" if largest else "on average"
            help = f"{LARGEST.title}, of all people." if largest else f"{MEAN.title}, over the tables that all runs have.{bounds}"
            st.metric(f"{one.run}: {of}" if exact else f"{one.run}: at most, {of}", "–" if math.isnan(error) else percent(error), help=help)
            if one.tables > 1:
                clearly = "." if exact else f"; clearly so in {one.surely:,}."
                st.caption(f"More accurate in {one.best:,} of {one.tables:,} tables{clearly}")
            elif one.surely:
                st.caption("Clearly more accurate.")


_CHANGE_HELP = "This compares the noisy tables that both runs released. It shows which numbers surely differ, not how good a run is."


def _changes(opened: Mapping[str, OpenRun]) -> None:
    """Draw what changed about the people from the earlier to the later of two runs.

    The changes are between noisy tables of both releases, such as last year's and this year's, with
    the noise of both. Nothing is drawn unless there are exactly two runs. Downloads are drawn only
    if neither release is withheld or awaits approval.

    Args:
        opened: The runs by their letter on the page.
    """
    if len(opened) != 2:
        return
    (first, before), (last, after) = sorted(opened.items(), key=lambda pair: (pair[1].run.finished or "", pair[0]))
    with frame.card("What changed about the people?", Zone.RELEASED, _CHANGE_HELP), refusals.explained():
        found = change.changed(before.release, after.release)
        st.caption(f"The changes are from {first}, the earlier run, to {last}.")
        for sentence in change.summary(before.release, after.release, found):
            st.markdown(f"- {literal(sentence, WHOLE)}")
        if found.sure:
            lines = [change.texts(before.release.domain, shift) for shift in found.sure]
            cells = [[one_line(line[0], 120), *line[1:]] for line in lines]
            st.dataframe(pd.DataFrame(cells, columns=list(change.TITLES)), hide_index=True, height=min(320, 40 + 35 * len(lines)))
        if any(one.release.withheld or approvals.awaited(one.run.id, approvals.RELEASE) for one in (before, after)):
            st.info("You can download this once you can download both releases.", icon=":material/how_to_reg:")
            return
        with st.container(horizontal=True):
            for form, mime, write in (("html", "text/html", change.html), ("md", "text/markdown", change.markdown)):
                content = partial(_taken, session.current().owner, before, after, partial(write, before.release, after.release, found))
                look = {"icon": ":material/download:", "on_click": "ignore"}
                st.download_button(f"Download as {form.upper()}", content, f"what-changed.{form}", mime, **look)


def _taken(owner: str, before: OpenRun, after: OpenRun, write: Callable[[], str]) -> str:
    """Return the file of a comparison that `write` makes, and note the download in the ledger for both runs.

    Raises:
        InputError: One of the releases may not be downloaded (`runs.to_take_away`); nothing is
            noted.
    """
    for one in (before, after):
        runs.to_take_away(owner, one.run.id)
    for one in (before, after):
        runs.note_download(owner, one.run.id, "changes")
    return write()
