"""More rows of a finished release, or rows of a group, from its model, fitted again from what was released. Released values only."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import document as releases
from dpsynth_core.release import sampling, synthesis
from dpsynth_core.release.sampling import Refitted, Sample
from dpsynth_core.web.results.open_runs import KEY, OpenRun
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import file_stem, literal, one_line

_MOST_ROWS = 100_000
"""That are held for a browser; the command line writes as many as there may be."""
_SAMPLE = "sampled"
"""In the session: what was asked for and what came of it."""


@st.cache_resource(max_entries=2, show_spinner="Fitting the model again, which takes about as long as the run took …", **KEY)
def _fitted(opened: OpenRun) -> Refitted:
    return sampling.refit(opened.release, synthesis.feasible(Plan.of(opened.run.spec)))


def more_rows(opened: OpenRun) -> None:
    if opened.release.row_seed is None or opened.release.plan.link is not None:  # of two linked tables no more rows are drawn yet
        return
    domain = opened.release.domain
    with st.expander("More rows, or rows of a group", icon=":material/playlist_add:", key="more_rows"):
        st.caption("From what was released, at no cost: nothing is charged, and no record is read.")
        left, middle, right = st.columns([1, 1, 2])
        rows = int(left.number_input("Rows", 1, _MOST_ROWS, 1000, key="sampled_rows"))
        look = {"format_func": lambda name: one_line(name) or "everybody", "key": "sampled_column"}
        column = middle.selectbox("Of whom", ["", *domain.names], **look)
        where: dict[str, tuple[str, ...]] = {}
        if column:
            values = {"format_func": one_line, "key": f"sampled_values_{column}", "placeholder": "Choose values"}
            where = {column: tuple(right.multiselect("With", domain[column].cell_labels(), **values))}
        if st.button("Draw these rows", key="draw_rows", icon=":material/casino:", disabled=bool(column) and not where[column]):
            try:
                drawn = sampling.sample(_fitted(opened), rows, where)
            except InputError as error:
                frame.refused(error)
                return
            st.session_state[_SAMPLE] = (opened.run.id, rows, where), drawn, partial(_csv, drawn)
        asked, drawn, made = st.session_state.get(_SAMPLE, (None, None, None))
        if asked == (opened.run.id, rows, where):
            st.write(literal(drawn.errors, 1000))
            name = f"{file_stem(opened.release.spec.name)}-more.csv"
            st.download_button(f"Download {rows:,} rows as CSV", made, name, "text/csv", icon=":material/download:")


def _csv(drawn: Sample) -> bytes:
    return releases.content_of(drawn.rows, releases.write_csv)
