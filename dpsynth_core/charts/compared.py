"""A chart of several releases table by table."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import INK, Drawing, finish, names_limit
from dpsynth_core.foundation.zones import Zoned

_SHAPES = ["circle", "square", "triangle-up", "diamond"]


def contest(zoned: Zoned[pd.DataFrame], measure: str, unit: str, *, show: int = 18) -> Drawing:
    """Where does one release win? Columns as `evaluation.contest.side_by_side` gives them; the `show` tables with the largest error.

    measure: what the errors are, for people; unit: of which share.
    """
    frame = zoned.value[zoned.value["place"] < show]
    exact = "true" in frame
    frame = frame.assign(shown=frame["true"] if exact else frame["error"].fillna(frame["limit"]), low=frame["low"].fillna(0.0))
    order, runs = list(dict.fromkeys(frame["marginal"])), list(dict.fromkeys(zoned.value["run"]))
    y = alt.Y("marginal:N", sort=order, title=None, axis=alt.Axis(labelLimit=names_limit(250), labelOverlap=False))
    offset = alt.YOffset("run:N", scale=alt.Scale(domain=runs))
    axis = alt.Axis(format="~%", tickCount=6, orient="top", titleAnchor="end")
    colour = alt.Color("run:N", scale=alt.Scale(domain=runs), legend=alt.Legend(symbolType="circle"))
    tooltip = [
        alt.Tooltip("marginal:N", title="Table"),
        alt.Tooltip("run:N", title="Run"),
        alt.Tooltip("shown:Q", title=measure, format=".2%"),
        alt.Tooltip("limit:Q", title="At most (95%)", format=".2%"),
    ]
    shape = alt.Shape("run:N", scale=alt.Scale(domain=runs, range=_SHAPES[: len(runs)]), legend=None)
    x = alt.X("shown:Q", title=f"{measure} ({unit})", axis=axis)
    dots = alt.Chart(frame).mark_point(filled=True, opacity=1, size=60)
    dots = dots.encode(y=y, yOffset=offset, x=x, color=colour, shape=shape, tooltip=tooltip)
    layers: list[Drawing] = [dots]
    if not exact:
        rules = alt.Chart(frame).mark_rule(strokeWidth=2, opacity=0.6, color=INK)
        layers.insert(0, rules.encode(y=y, yOffset=offset, x=alt.X("low:Q"), x2="limit:Q", color=colour, tooltip=tooltip))
    hidden = zoned.value["place"].nunique() - len(order)
    measured = "Dots: measured, or bounds. Lines: 95% confidence."
    caption = "True errors." if exact else measured
    caption += f" The worst {len(order)} of {len(order) + hidden:,} tables." if hidden > 0 else ""
    return finish(alt.layer(*layers), zoned, "Where does one win?", caption, height=alt.Step(8 * len(runs) + 6, **{"for": "position"}))
