"""The wall on the Results page: every column as a small picture.

A click on a picture opens its column in the view of columns; clicks with Shift on two pictures
open both columns in the view of pairs.
"""

from __future__ import annotations

import streamlit as st

from dpsynth_core import charts
from dpsynth_core.foundation.zones import publishable
from dpsynth_core.web.results.open_runs import COLUMN, FIRST, SECOND, VIEW, OpenRun, column_bars, standings
from dpsynth_core.web.shell.figures import specification

_WALL, _PAGE = "results_wall", "results_wall_page"
_SHOWN = 60
"""Columns of a page; more would take seconds to draw."""


def draw(opened: OpenRun) -> None:
    """Draw the wall: a small picture of every column, those that stand out first, 60 at a time.

    A click on a picture opens its column in the view of columns; clicks with Shift on two pictures open the view
    of pairs.
    """
    every = publishable(standings(opened), "the standing of columns")
    pages = [every[start : start + _SHOWN] for start in range(0, len(every), _SHOWN)]
    chosen = 0
    if len(pages) > 1:
        names = [f"{1 + _SHOWN * page:,} to {_SHOWN * page + len(shown):,}" for page, shown in enumerate(pages)]
        look = {"format_func": names.__getitem__, "default": 0, "required": True, "label_visibility": "collapsed"}
        chosen = int(st.segmented_control("Columns", range(len(pages)), key=_PAGE, **look))
    shown = pages[chosen]
    spec = specification(charts.wall, column_bars(opened, tuple(one.column for one in shown)), every, shown)
    modes = [charts.OPENED, charts.PAIRED]
    st.vega_lite_chart(spec, on_select=_open, selection_mode=modes, key=f"{_WALL}_{chosen}")


def _open() -> None:
    picked = st.session_state[f"{_WALL}_{st.session_state.get(_PAGE) or 0}"]["selection"]
    one, two = ([row["column"] for row in picked.get(name, [])] for name in (charts.OPENED, charts.PAIRED))
    if len(two) > 1:
        st.session_state[VIEW], st.session_state[FIRST], st.session_state[SECOND] = "pairs", *two[:2]
    elif one and not two:
        st.session_state[VIEW], st.session_state[COLUMN] = "columns", one[0]
