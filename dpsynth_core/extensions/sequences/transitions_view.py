"""The view of transitions on the page Results. It draws the report's heat maps, one at a time, and its sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpsynth_core import charts
from dpsynth_core.extensions.sequences.sections import transitions
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.report.section import HeatMap
from dpsynth_core.web.results.open_runs import OpenRun
from dpsynth_core.web.shell.figures import show
from dpsynth_core.web.shell.text import literal, one_line


def on_results(opened: OpenRun) -> None:
    """Draw what the report says of a row and the row before it; nothing for a release without such tables.

    Args:
        opened: The open run.
    """
    for section in transitions(opened.release):
        with st.container(border=True):
            st.subheader(section.title, anchor=False)
            st.caption(literal(section.reading, 1000))
            _map(section.maps)
            with st.expander("In words", icon=":material/notes:", key="transitions_in_words"):
                st.markdown("\n".join(f"- {literal(line, 600)}" for line in section.lines))


def _map(maps: Sequence[HeatMap]) -> None:
    if not maps:
        return
    titles = {place: one_line(one.title) for place, one in enumerate(maps)}
    place = st.selectbox("From one row to the next", list(titles), format_func=titles.get, key="transitions_of")
    title = f"{one_line(maps[place].title)}: what follows what?"
    show(charts.shares_of_lines, squares(maps[place]), title, maps[place].caption)


def squares(one: HeatMap) -> Zoned[pd.DataFrame]:
    """Return a heat map as a frame with a line for each square: labels (row, column), their positions, and the share (count)."""
    lines = [
        (down, place, across, other, share)
        for place, (down, shares) in enumerate(zip(one.down, one.shares, strict=True))
        for other, (across, share) in enumerate(zip(one.across, shares, strict=True))
    ]
    return released(pd.DataFrame(lines, columns=["row", "row_position", "column", "column_position", "count"]))
