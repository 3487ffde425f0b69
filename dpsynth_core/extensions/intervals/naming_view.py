"""Analyses named before the run: the form on the page Workload, and a light for each analysis on the page Results."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpsynth_core.extensions.intervals import named, view, widths
from dpsynth_core.extensions.intervals.allowed import check
from dpsynth_core.extensions.intervals.analysing import Analysed, analyse
from dpsynth_core.extensions.intervals.pooling import POPULATION, TABLE
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.results.open_runs import OpenRun
from dpsynth_core.web.shell import document, fields, frame, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import WHOLE, code, literal

_FOUND = "named_analyses"
"""Session key of the results of the named analyses, with their run."""
_PATH = "named_analyses"
_LIGHTS = {"holds": ("passes", "green"), "doubtful": ("does not pass", "orange"), "refused": ("does not pass", "red")}
_HELP = (
    "The tables of these analyses are measured before any others, so that their intervals hold more often. It works with AIM. "
    "Results has a light for each. " + view.HELP
)


def on_workload(project: Current) -> None:
    """Draw a field for the analyses that readers will make, one a line, each with its tables or its error.

    What is entered is stored in the draft, and buttons add examples. Nothing is drawn for two linked tables
    without named analyses.

    Args:
        project: The open project, whose domain is complete.
    """
    stated = named.texts(project.draft.get("extensions", {}))
    if document.is_linked(project.draft) and not stated:
        return
    domain = document.domain(project.draft)
    with st.expander("Analyses", bool(stated), icon=":material/straighten:", key="named_analyses"):
        look = {"help": _HELP, "placeholder": "income ~ age + sex", "height": 120}
        fields.linked(_PATH, "\n".join(stated), _take, st.text_area, "Analyses, one on each line", **look)
        with st.container(horizontal=True, gap="small"):
            for number, (title, texts) in enumerate(named.examples(domain).items()):
                click = {"icon": ":material/add:", "key": f"example_analysis_{number}", "on_click": _add, "args": (texts,)}
                st.button(literal(title), disabled={*texts} <= {*stated}, **click)
        if document.is_linked(project.draft):
            st.caption(":material/block: No intervals were derived for two linked tables. Remove the analyses.")
        elif stated:
            _mechanism(project)
        for text in stated:
            st.markdown(_judged(text, domain))


def _mechanism(project: Current) -> None:
    """Draw why the draft's mechanism cannot have named analyses, if it cannot."""
    try:
        named.check_mechanism(document.mechanism(project.draft))
    except InputError as error:
        st.caption(_said(error))


def _said(error: InputError) -> str:
    return f":material/block: {literal(error.problem, WHOLE)}. To mend it: {literal(error.remedy, WHOLE)}."


def _judged(text: str, domain: Domain) -> str:
    """Return a line about an analysis: the tables to be measured for it, or what is wrong with it."""
    try:
        tables = [" × ".join(clique) for clique in named.rests_on(text, domain)]
    except InputError as error:
        return f"{code(text)} {_said(error)}"
    first = f"needs {literal(', '.join(tables), WHOLE)}" if tables else "needs a single column, which is measured anyway"
    return f":material/check_circle: {code(text)} {first}."


def _take(entered: str) -> None:
    _store(entered.splitlines())


def _add(texts: tuple[str, ...]) -> None:
    _store([*named.texts(session.current().draft.get("extensions", {})), *texts])


@session.edits
def _store(draft: Draft, lines: list[str]) -> None:
    """Store the analyses, each once."""
    document.state_setting(draft, named.SETTING, list(dict.fromkeys(line.strip() for line in lines if line.strip())))


def on_budget(project: Current) -> None:
    """Draw how wide the intervals of named analyses will be with this budget, where the number of people is known.

    Nothing is drawn without named analyses.

    Args:
        project: The open project.
    """
    if not named.texts(project.draft.get("extensions", {})):
        return
    people = document.people(project.draft)
    with st.expander("Expected intervals of named analyses", icon=":material/straighten:", key="expected_intervals"):
        if not people:
            st.caption("State the approximate number of people on the page Data to see how wide these intervals will be.")
            return
        try:
            found = widths.forecast(document.plan(project.draft, project.name), people)
        except InputError as error:
            st.caption(_said(error))
            return
        lines = {
            "analysis": [one.analysis for one in found],
            "width": [f"{one.width:.1f}" for one in found],
            "likely": [f"{one.low:.1f} to {one.high:.1f}" for one in found],
        }
        st.dataframe(lines, hide_index=True, placeholder="", alt="Expected widths of intervals")
        st.caption(
            "Width 1 is an ordinary interval of your table, without noise. The likely range held four of five times in trials. "
            f"There, {widths.PASSED:.0%} of the results of named analyses passed."
        )


def on_results(opened: OpenRun) -> None:
    """Draw a light for each analysis that the plan named, with its results.

    The results are computed here and kept in the session; nothing is charged. Nothing is drawn without named
    analyses, or for a release without rows.

    Args:
        opened: The open run.
    """
    release = opened.release
    texts = named.texts(release.spec.extensions)
    if not texts or release.row_seed is None:
        return
    with frame.card("Analyses named before the run", help="An analysis passes if the measured tables hold 99 % of what moves its results."):
        try:
            check(release)
        except InputError as error:
            frame.refused(error)
            return
        run, found = st.session_state.get(_FOUND, ("", {}))
        if run != opened.run.id:
            with st.spinner("Computing the intervals …"):
                found = _results(opened, texts)
            st.session_state[_FOUND] = opened.run.id, found
        _lights(found)


def _results(opened: OpenRun, texts: list[str]) -> dict[str, Analysed | InputError]:
    informed = view.informed_of(opened)
    of = TABLE if opened.release.plan.unit.max_rows_per_person > 1 else POPULATION
    found: dict[str, Analysed | InputError] = {}
    for text in texts:
        try:
            found[text] = analyse(informed, text, of)
        except InputError as error:
            found[text] = error
    return found


def _lights(found: dict[str, Analysed | InputError]) -> None:
    notes: dict[str, None] = {}
    for text, one in found.items():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            label, color = ("does not pass", "red") if isinstance(one, InputError) else _LIGHTS[_worst(one)]
            st.badge(label, color=color, icon=":material/check:" if color == "green" else ":material/block:")
            st.markdown(code(text))
        if isinstance(one, InputError):
            st.caption(_said(one))
            continue
        notes |= dict.fromkeys(one.notes)
    tables = [view.table_of(one.results).assign(analysis=text) for text, one in found.items() if isinstance(one, Analysed)]
    if tables:
        every = pd.concat(tables, ignore_index=True)
        st.dataframe(every[["analysis", *every.columns[:-1]]], hide_index=True, placeholder="", alt="Results of the named analyses")
    for note in notes:
        st.caption(literal(note, WHOLE))


def _worst(found: Analysed) -> str:
    """Return the standing of the result of an analysis that rests least on measured tables."""
    states = {one.state for one in found.results}
    return next(state for state in reversed(_LIGHTS) if state in states)
