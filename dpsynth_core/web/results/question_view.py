"""Ask a question on the Results page: a form, and the answer that the core gives, with its interval. Released values only."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpsynth_core import charts
from dpsynth_core.evaluation.questions import answer as answers
from dpsynth_core.evaluation.questions import breakdown
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.evaluation.questions.light import CLOSELY, ROUGHLY, UNKNOWN, light
from dpsynth_core.evaluation.questions.question import (
    COUNT,
    DIFFERENCE,
    MEAN,
    MEDIAN,
    MOST_COLUMNS,
    SHARE,
    TABLE,
    Question,
    cell_values,
)
from dpsynth_core.evaluation.questions.worst import worst
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import released
from dpsynth_core.report import can_answer
from dpsynth_core.report.answers import PHRASES, breakdown_sentences, line_texts, line_titles, sentences, subgroup_texts, worst_sentences
from dpsynth_core.report.facts import counted
from dpsynth_core.statistics.naming import LIMIT
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.results.open_runs import OpenRun, knowledge
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.figures import show
from dpsynth_core.web.shell.text import literal, one_line

_WORST = "worst"
_TITLES = {
    COUNT: "How many people?",
    SHARE: "What share of a group?",
    MEAN: "The mean of a column",
    MEDIAN: "The median of a column",
    DIFFERENCE: "The difference between two groups",
    TABLE: "A table of columns",
    _WORST: "The worst subgroups",
}
_ENDS, _KNOWN = ("At least", "At most"), "How it is known"
_COLOURS = {CLOSELY: "green", ROUGHLY: "orange", UNKNOWN: "red"}
_ICONS = {CLOSELY: ":material/check_circle:", ROUGHLY: ":material/contrast:", UNKNOWN: ":material/help:"}
_CLOSELY = f"Closely: the whole interval is within {LIMIT:.0%} of the answer. Roughly: it is wider. Not known: nothing bounds the answer."
_MOST_PICKED = 1000
"""Cells that a list can be picked from."""
_OF_MEANS, _OF_SHARES = "Means of a column", "Shares"


def questions(opened: OpenRun) -> None:
    if opened.release.plan.link is not None:
        st.info("Questions about two linked tables are not answered yet. Columns and Pairs show what is known.", icon=":material/info:")
        return
    if not can_answer(opened.release):
        st.info("This release has neither rows nor noisy tables that could be asked.", icon=":material/info:")
        return
    domain, known = opened.release.domain, knowledge(opened)
    possible = [one for one in _TITLES if one not in (MEAN, MEDIAN) or _usable(domain, one)]
    statistic = st.selectbox("What do you want to know?", possible, format_func=_TITLES.__getitem__, key="question_statistic", width=360)
    if statistic == _WORST:
        subgroups = worst(known)
        _say(worst_sentences(domain, subgroups))
        if subgroups:
            texts = [[one_line(text, 200) for text in subgroup_texts(domain, one)] for one in subgroups]
            titles = ["Subgroup", "People" if known.codes is None else "In the rows", *_ENDS, "Off for sure", "Off at most", _KNOWN]
            st.dataframe(pd.DataFrame(texts, columns=titles), hide_index=True)
    elif (question := _asked(domain, statistic)) is None:
        return
    else:
        names, by = ["", *domain.names], ""
        if statistic in breakdown.STATISTICS:
            by = st.selectbox("Broken down by", names, format_func=lambda name: one_line(name) or "nothing", key="question_by", width=360)
        try:
            if by:
                _breakdown(domain, known, question, by)
            else:
                answer = answers.answer(known, question)
                if question.statistic != TABLE:
                    closely = light(known, question, answer.stated)
                    st.badge(PHRASES[f"{closely} light"], icon=_ICONS[closely], color=_COLOURS[closely], help=_CLOSELY)
                _say(sentences(domain, question, answer))
                if question.statistic == TABLE:
                    st.dataframe(_table(domain, question, answer), hide_index=True)
        except InputError as error:
            frame.refused(error)
            return
    if note := counted(opened.release.spec):
        st.caption(note)
    st.caption("The bundle holds a page that answers the same questions without this program: explore.html.")


def _breakdown(domain: Domain, known: Known, question: Question, by: str) -> None:
    lines = breakdown.breakdown(known, question, by)
    _say(breakdown_sentences(domain, question, by))
    texts = [[one_line(text) for text in line_texts(domain, question, by, line)] for line in lines]
    stated = {end: [getattr(line.answer.stated, end) for line in lines] for end in ("value", "low", "high")}
    columns = {"cell": [text[0] for text in texts], "position": range(len(lines)), **stated, "standing": [text[-1] for text in texts]}
    frame_of_lines = pd.DataFrame(columns).astype(dict.fromkeys(stated, float))
    if question.statistic != MEDIAN:  # whose answers are cells and no numbers
        unit = {COUNT: "people", SHARE: "share of the group"}.get(question.statistic, one_line(question.column))
        show(charts.breakdown, released(frame_of_lines), one_line(by, 40), unit, name="breakdown")
    st.dataframe(pd.DataFrame(texts, columns=list(map(one_line, line_titles(by, known.codes is not None)))), hide_index=True)


def _say(lines: list[str]) -> None:
    first, *others = lines
    st.subheader(literal(first, 1000), anchor=False)
    for sentence in others:
        st.write(literal(sentence, 1000))


def _asked(domain: Domain, statistic: str) -> Question | None:
    """What the form asks; None, with a word on screen, while something is missing."""
    means = statistic == DIFFERENCE and bool(_usable(domain, MEAN))
    means = means and st.radio("Difference of", [_OF_MEANS, _OF_SHARES], key="question_of", horizontal=True) == _OF_MEANS
    column, columns, cells = "", list[str](), dict[str, tuple[int, ...]]()
    if statistic in (MEAN, MEDIAN) or means:
        usable = _usable(domain, MEDIAN if statistic == MEDIAN else MEAN)
        column = st.selectbox("Column", usable, format_func=one_line, key=f"question_column_{statistic}", width=360)
    if statistic == TABLE:
        look = {"format_func": literal, "key": "question_columns", "max_selections": MOST_COLUMNS}
        columns = st.multiselect("Columns of the table", domain.names, **look)
    if statistic == SHARE or (statistic == DIFFERENCE and not means):
        cells = _conditions(domain, "Share of people with", "cells")
    among = _conditions(domain, "In which group? Without a condition: everybody", "among")
    versus = _conditions(domain, "Compared with which group?", "versus") if statistic == DIFFERENCE else {}
    question = Question(statistic, among, cells, versus, column, tuple(columns))
    if lacking := _lacking(question):
        st.info(lacking, icon=":material/help:")
    return None if lacking else question


def _usable(domain: Domain, statistic: str) -> list[str]:
    """The columns that have a mean, or a median."""
    return [one.name for one in domain if (one.ordered if statistic == MEDIAN else cell_values(one) is not None)]


def _conditions(domain: Domain, title: str, key: str) -> dict[str, tuple[int, ...]]:
    """Columns, and the cells of each that count. A column without cells is no condition yet."""
    chosen = st.multiselect(title, domain.names, format_func=literal, key=f"question_{key}", placeholder="Choose columns")
    return {name: codes for name in chosen if (codes := _cells(domain[name], f"question_{key}_{name}"))}


def _cells(attribute: Attribute, key: str) -> tuple[int, ...]:
    labels = attribute.cell_labels()
    if attribute.size > _MOST_PICKED:
        st.caption(f"{literal(attribute.name, 60)} has too many values to pick from.")
        return ()
    look = {"format_func": lambda code: literal(labels[code]), "key": key, "placeholder": "Choose values"}
    return tuple(st.multiselect(f"Values of {literal(attribute.name, 60)}", list(range(attribute.size)), **look))


def _lacking(question: Question) -> str:
    if question.statistic == TABLE and not question.columns:
        return "Choose one to four columns."
    if question.statistic == SHARE and not question.cells:
        return "Choose the values whose share you want to know."
    if question.statistic == DIFFERENCE:
        if not question.among or not question.versus:
            return "Choose values for both groups."
        if not question.column and not question.cells:
            return "Choose the values whose share you want to know."
    return ""


def _table(domain: Domain, question: Question, answer: answers.Answer) -> pd.DataFrame:
    """The cells of a cross table, one line each, in percent of the group."""
    labels = [[one_line(label) for label in domain[name].cell_labels()] for name in question.columns]
    lines = pd.MultiIndex.from_product(labels).to_frame(index=False)
    lines.columns = pd.Index([one_line(name) for name in question.columns])
    rows = () if answer.rows is None else (("in the rows", "rows"),)
    for title, end in (("% of the group", "value"), ("at least", "low"), ("at most", "high"), *rows):
        shares = [getattr(stated, end) for stated in answer.cells]
        percents = [None if share is None else round(100 * share, 1) for share in shares]
        lines.insert(len(lines.columns), title, percents, allow_duplicates=True)
    return lines
