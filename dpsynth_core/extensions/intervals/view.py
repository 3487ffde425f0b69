"""Standard errors on pages: an analysis of the open run or of a received bundle, with its intervals, and sets of rows to take away."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dpsynth_core.extensions.intervals import analysing, of_bundles
from dpsynth_core.extensions.intervals.allowed import check
from dpsynth_core.extensions.intervals.analysing import Analysed, Result
from dpsynth_core.extensions.intervals.noise import Informed
from dpsynth_core.extensions.intervals.pooling import POPULATION, TABLE
from dpsynth_core.extensions.intervals.rowfiles import PROGRAM, name, program
from dpsynth_core.extensions.intervals.sets import USUAL, Sets
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.content import in_memory
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.release.document import content_of, write_csv
from dpsynth_core.web.results.open_runs import KEY, OpenRun
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import WHOLE, file_stem, literal

MOST_CELLS = 100_000_000
"""Cells of all sets together that a browser's server draws; the command line writes more."""
TOO_LARGE = ":material/block: These are too many rows for this page. The command line writes sets of them: `--plausible 20`."
_FOUND, _SETS = "analysed", "sets_of_rows"
"""Session keys of the last analysis and of the last sets, each with the run or bundle."""
_OF = {POPULATION: "people like these", TABLE: "this table"}
_STANDING = {"holds": "holds", "doubtful": "doubtful", "refused": "no interval"}
TITLE = "Standard errors of analyses"
READING = "Standard errors of the rows alone leave out the noise. These intervals count it. Nothing is charged, and no record is read."
HELP = (
    'Examples: mean(income), share(health == "bad" | age >= 61), difference(income, sex == "male"), quantile(income, 0.9), '
    'correlation(age, income), income ~ age + sex, health == "bad" ~ age + sex. Text values stand in quotes.'
)


def on_downloads(opened: OpenRun) -> None:
    """Draw the form for an analysis, its results, and the download of sets of rows.

    One button computes the analysis. Another one makes 20 sets of rows; a sentence replaces it if these have more
    than 100 million cells (`MOST_CELLS`). Results and sets are kept in the session; no budget is charged.

    Nothing is drawn for a release without rows. Where intervals are not known to hold, the reason
    is drawn.

    Args:
        opened: The open run.
    """
    release = opened.release
    if release.row_seed is None:
        return
    with st.expander(TITLE, icon=":material/straighten:", key="intervals"):
        st.caption(READING)
        try:
            check(release)
        except InputError as error:
            st.caption(f":material/block: {literal(error.problem, WHOLE)}. To have intervals: {literal(error.remedy, WHOLE)}.")
            return
        _analysis(opened.run.id, partial(_of_run, opened))
        if len(release.domain) * release.rows * USUAL > MOST_CELLS:
            st.caption(TOO_LARGE)
        else:
            _take_away(opened)


def on_verify(subject: tuple[bytes, str]) -> None:
    """Draw the form for an analysis of a bundle that was received, and its results. It is computed in a process with limits.

    Args:
        subject: The bundle's bytes and their SHA-256.
    """
    bundle, sha256 = subject
    with st.expander(TITLE, icon=":material/straighten:", key="intervals_of_bundle"):
        st.caption(READING)
        _analysis(sha256, partial(of_bundles.analyse, bundle))


def table_of(results: Sequence[Result]) -> pd.DataFrame:
    """Return the results as the page shows them, one row each; an interval that does not exist is empty.

    The columns are result, estimate, from, to, R2 and interval (holds, doubtful, or no interval).
    """
    rows = [(one.name, one.value, one.low, one.high, one.r2, _STANDING[one.state]) for one in results]
    table = pd.DataFrame(rows, columns=["result", "estimate", "from", "to", "R2", "interval"])
    return table.astype({"from": "Float64", "to": "Float64"})


def zipped(sets: Sets, m: int) -> bytes:
    """Return a ZIP of the first m sets as CSV files, with pool.R and what belongs beside each file (`extension.beside`)."""
    stream, domain, about = io.BytesIO(), sets.released.plan.row_domain, sets.released.about
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, one in enumerate(sets.first(m), start=1):
            content = content_of(one.rows, write_csv)
            archive.writestr(name(number), content)
            for beside, text in extension.beside(name(number), in_memory(content).digest, domain, about).items():
                archive.writestr(beside, text)
        archive.writestr(PROGRAM, program(m))
    return stream.getvalue()


@st.cache_resource(max_entries=2, show_spinner="Reading the noisy tables …", **KEY)
def informed_of(opened: OpenRun) -> Informed:
    """Return what a run's release says of its noise; it is cached.

    Raises:
        InputError: Nothing is known of intervals for this kind of release.
    """
    return Informed.of(opened.release)


def _of_run(opened: OpenRun, text: str, of: str) -> Analysed:
    analysing.check(opened.release.domain, text, of)
    return analysing.analyse(informed_of(opened), text, of)


def _analysis(release: str, analyse: Callable[[str, str], Analysed]) -> None:
    """Draw the fields of an analysis, and its results once the button was clicked.

    Args:
        release: The identifier of the release.
        analyse: Computes an analysis from its text and "population" or "table". Its InputError is drawn.
    """
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    text = left.text_input("Analysis", key="analysis", placeholder="income ~ age + sex", help=HELP)
    look: dict[str, Any] = {"format_func": _OF.__getitem__, "key": "analysis_of", "help": "Of people like these, sampling counts as well."}
    of = right.selectbox("Of", list(_OF), **look)
    if st.button("Analyse", icon=":material/calculate:", key="analyse") and text:
        try:
            with st.spinner("Computing …"):
                found = analyse(text, of)
        except InputError as error:
            frame.refused(error)
            return
        st.session_state[_FOUND] = (release, text, of), found
    asked, found_before = st.session_state.get(_FOUND, (None, None))
    if asked == (release, text, of) and found_before is not None:
        _show(found_before)


def _show(found: Analysed) -> None:
    """Draw the results, the relations that no table holds, and the notes."""
    st.dataframe(table_of(found.results), hide_index=True, placeholder="")
    if found.refused:
        st.warning("Where there is no interval, the rows show no relation, whether there is one or not.", icon=":material/block:")
    for note in found.notes:
        st.caption(literal(note, WHOLE))


def _take_away(opened: OpenRun) -> None:
    said = f"{USUAL} sets of rows, whose spread is about the noise, and {PROGRAM}, which combines results."
    st.caption(f"For R, Stata and other programs: {said}")
    if st.button("Draw sets of rows", icon=":material/dynamic_feed:", key="draw_sets"):
        with st.spinner("Drawing sets of rows …"):
            st.session_state[_SETS] = opened.run.id, zipped(Sets.of(opened.release), USUAL)
    run, content = st.session_state.get(_SETS, ("", b""))
    if run == opened.run.id:
        file = f"{file_stem(opened.release.spec.name)}-sets.zip"
        look: dict[str, Any] = {"icon": ":material/download:", "on_click": "ignore", "key": "download_sets"}
        st.download_button(f"Download {USUAL} sets of rows", content, file, "application/zip", **look)
