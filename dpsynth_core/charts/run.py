"""Charts of a run while it goes, from released events only."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import Drawing, finish
from dpsynth_core.foundation.zones import Zoned


def budget_used(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """How much of the budget has been used, step by step?

    Columns: step (int, from 1), marginal (label), share_used (fraction of rho used up to and with this step), sigma.
    """
    x = alt.X("step:Q", title="Measurement", axis=alt.Axis(tickMinStep=1, format="d", tickCount=6))
    y = alt.Y("share_used:Q", title="Budget used", axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domain=[0, 1]))
    area = alt.Chart(zoned.value).mark_area(interpolate="step-after", opacity=0.2, tooltip=None).encode(x=x, y=y)
    line = (
        alt.Chart(zoned.value).mark_line(interpolate="step-after", strokeWidth=2, point={"size": 28}).encode(x=x, y=y, tooltip=_tooltip())
    )
    return finish(alt.layer(area, line), zoned, "How much of the budget is used?", height=200)


def noise_level(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """How noisy was each measurement? Columns as in `budget_used`; sigma is the standard deviation per cell, in people."""
    points = (
        alt.Chart(zoned.value)
        .mark_line(strokeWidth=2, interpolate="step-after", point={"size": 28})
        .encode(
            x=alt.X("step:Q", title="Measurement", axis=alt.Axis(tickMinStep=1, format="d", tickCount=6)),
            y=alt.Y("sigma:Q", title="± people per cell", scale=alt.Scale(type="log", nice=True), axis=alt.Axis(format="~s", tickCount=5)),
            tooltip=_tooltip(),
        )
    )
    return finish(points, zoned, "How noisy is each measurement?", height=200)


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("step:Q", title="Measurement"),
        alt.Tooltip("marginal:N", title="Table"),
        alt.Tooltip("sigma:Q", title="± people per cell", format=",.1f"),
        alt.Tooltip("share_used:Q", title="Budget used", format=".1%"),
    ]
