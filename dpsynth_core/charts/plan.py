"""Charts of a plan, before anything is spent: what an attacker could do, which pairs are covered, how the budget is split."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import INK, finish
from dpsynth_core.zones import Zoned


def tradeoff(zoned: Zoned[pd.DataFrame]) -> alt.LayerChart:
    """How well could the best attacker tell whether one person is in the data?

    Columns: false_positive, true_positive (fractions in [0, 1], increasing); optional `curve` (text) when several are compared.
    """
    frame = zoned.value if "curve" in zoned.value else zoned.value.assign(curve="Best possible attacker")
    percent = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    unit = alt.Scale(domain=[0, 1])
    x = alt.X("false_positive:Q", title="Non-members wrongly accused", axis=percent, scale=unit)
    y = alt.Y("true_positive:Q", title="Members found", axis=percent, scale=unit)
    area = alt.Chart(frame).mark_area(opacity=0.16, line=False, tooltip=None).encode(x=x, y=y, color=alt.Color("curve:N", legend=None))
    line = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=x,
            y=y,
            color=alt.Color("curve:N", legend=alt.Legend() if frame["curve"].nunique() > 1 else None),
            tooltip=[
                alt.Tooltip("false_positive:Q", title="Wrongly accused", format=".1%"),
                alt.Tooltip("true_positive:Q", title="Found", format=".1%"),
            ],
        )
    )
    ends = pd.DataFrame({"false_positive": [0.0, 1.0], "true_positive": [0.0, 1.0]})
    chance = alt.Chart(ends).mark_line(strokeDash=[5, 4], color=INK, strokeWidth=1.5, tooltip=None).encode(x=x, y=y)
    label = alt.Chart(pd.DataFrame({"false_positive": [0.8], "true_positive": [0.72], "words": ["guessing"]})).mark_text(
        color=INK, fontSize=12
    )
    chart = alt.layer(area, line, chance, label.encode(x=x, y=y, text="words:N"))
    return finish(
        chart, zoned, "How well could an attacker tell who is in the data?", "The closer to the dashed line, the closer to guessing."
    )


def coverage(zoned: Zoned[pd.DataFrame]) -> alt.LayerChart:
    """Which pairs of columns does the workload cover?

    Columns: row, column (attribute names, in domain order of first appearance; both orders of a pair and the diagonal present),
    marginals (int: workload marginals that contain the pair; 0 means not covered).
    """
    order = list(dict.fromkeys(zoned.value["row"]))
    frame = zoned.value.assign(state=[_covered(n) for n in zoned.value["marginals"]])
    axis = alt.Axis(labelAngle=-45, labelLimit=120, labelOverlap=False)
    rects = (
        alt.Chart(frame)
        .mark_rect(cornerRadius=2, stroke="white", strokeOpacity=0.25)
        .encode(
            x=alt.X("column:N", sort=order, title=None, axis=axis),
            y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelLimit=120, labelOverlap=False)),
            color=alt.Color("state:N", scale=alt.Scale(domain=["covered", "not covered"]), legend=alt.Legend()),
            opacity=alt.condition("datum.marginals > 0", alt.value(0.9), alt.value(0.18)),
            tooltip=[
                alt.Tooltip("row:N", title="Column"),
                alt.Tooltip("column:N", title="With"),
                alt.Tooltip("marginals:Q", title="Marginals that contain both"),
            ],
        )
    )
    covered = int((zoned.value["marginals"] > 0).sum())
    caption = "Every pair is covered." if covered == len(frame) else f"{covered:,} of {len(frame):,} squares covered."
    return finish(rects, zoned, "Which pairs of columns are asked for?", caption, height=alt.Step(max(16, 340 // max(1, len(order)))))


def split(zoned: Zoned[pd.DataFrame]) -> alt.LayerChart:
    """Where does the budget go?

    Columns: stage (text, in order), share (fraction of rho, adds up to 1), rho.
    """
    frame = zoned.value.assign(end=zoned.value["share"].cumsum())
    frame = frame.assign(start=frame["end"] - frame["share"], middle=frame["end"] - frame["share"] / 2)
    order = frame["stage"].tolist()
    x = alt.X("start:Q", title=None, axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]), scale=alt.Scale(domain=[0, 1]))
    bars = (
        alt.Chart(frame)
        .mark_bar(height=34, stroke="white", strokeWidth=1)
        .encode(
            x=x,
            x2="end:Q",
            color=alt.Color("stage:N", sort=order, scale=alt.Scale(domain=order), legend=alt.Legend()),
            tooltip=[
                alt.Tooltip("stage:N", title="Stage"),
                alt.Tooltip("share:Q", title="Share", format=".1%"),
                alt.Tooltip("rho:Q", title="ρ", format=".4g"),
            ],
        )
    )
    return finish(bars, zoned, "Where does the budget go?", height=60)


def _covered(marginals: int) -> str:
    return "covered" if marginals > 0 else "not covered"
