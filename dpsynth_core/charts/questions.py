"""A chart of a question broken down by a column: the answer for each value, and what is known of the true number."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import Drawing, finish
from dpsynth_core.foundation.zones import Zoned


def breakdown(zoned: Zoned[pd.DataFrame], column: str, unit: str) -> Drawing:
    """How does the answer differ by the column?

    Columns: cell (label), position (int, order of the cells), value, low, high (NaN where there is none), standing (how the answer is
    known, in words). unit: of the axis.
    """
    frame = zoned.value
    order = alt.EncodingSortField("position", op="min", order="ascending")
    y = alt.Y("cell:N", sort=order, title=None, axis=alt.Axis(labelOverlap=False))
    tooltip = [
        alt.Tooltip("cell:N", title="Value"),
        alt.Tooltip("value:Q", title="Answer", format=",.4~g"),
        alt.Tooltip("low:Q", title="At least", format=",.4~g"),
        alt.Tooltip("high:Q", title="At most", format=",.4~g"),
        alt.Tooltip("standing:N", title="How it is known"),
    ]
    kinds = list(dict.fromkeys(frame["standing"]))
    colour = alt.Color("standing:N", scale=alt.Scale(domain=kinds), legend=alt.Legend(symbolType="circle"))
    scale = alt.Scale(zero=False)
    rules = alt.Chart(frame[frame["low"].notna()]).mark_rule(strokeWidth=3, opacity=0.6)
    rules = rules.encode(y=y, x=alt.X("low:Q", title=unit, scale=scale), x2="high:Q", color=colour, tooltip=tooltip)
    dots = alt.Chart(frame[frame["value"].notna()]).mark_point(filled=True, size=70, opacity=1)
    dots = dots.encode(y=y, x=alt.X("value:Q", title=unit, scale=scale), color=colour, tooltip=tooltip)
    caption = "Dots: what the release says.\nLines: at least to at most (95% each)."
    return finish(alt.layer(rules, dots), zoned, f"How does the answer differ by “{column}”?", caption, height=alt.Step(26))
