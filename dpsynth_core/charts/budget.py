"""Charts of a plan, before anything is spent: what an attacker could do, which pairs are covered, how the budget is split."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import FAINT, INK, STRONG, Drawing, finish, square
from dpsynth_core.foundation.zones import Zoned


def tradeoff(zoned: Zoned[pd.DataFrame]) -> Drawing:
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
        chart, zoned, "Could an attacker tell who is in the data?", "The closer to the dashed line, the closer to guessing."
    )


def coverage(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """Which pairs of columns does the workload cover?

    Columns: row, column (attribute names, in domain order of first appearance; both orders of a pair and the diagonal present),
    marginals (int: workload marginals that contain the pair; 0 means not covered).
    """
    order = list(dict.fromkeys(zoned.value["row"]))
    frame = zoned.value.assign(state=["covered" if n > 0 else "not covered" for n in zoned.value["marginals"]])
    x, y = square(order)
    rects = (
        alt.Chart(frame)
        .mark_rect(cornerRadius=2)
        .encode(
            x=x,
            y=y,
            color=alt.Color("state:N", scale=alt.Scale(domain=["covered", "not covered"], range=[STRONG, FAINT]), legend=alt.Legend()),
            tooltip=[
                alt.Tooltip("row:N", title="Column"),
                alt.Tooltip("column:N", title="With"),
                alt.Tooltip("marginals:Q", title="Marginals that contain both"),
            ],
        )
    )
    pairs = frame[frame["row"] != frame["column"]]
    covered = int((pairs["marginals"] > 0).sum()) // 2
    caption = f"{covered:,} of {len(pairs) // 2:,} pairs are covered."
    return finish(
        rects, zoned, "Which pairs of columns are asked for?", caption, height=alt.Step(max(14, min(34, 360 // max(1, len(order)))))
    )


def split(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """Where does the budget go?

    Columns: stage (text, in order), share (fraction of rho, adds up to 1), rho.
    """
    frame = zoned.value.assign(end=zoned.value["share"].cumsum())
    frame = frame.assign(start=frame["end"] - frame["share"])
    order = frame["stage"].tolist()
    bars = (
        alt.Chart(frame)
        .mark_bar(height=32)
        .encode(
            x=alt.X("start:Q", title=None, axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]), scale=alt.Scale(domain=[0, 1])),
            x2="end:Q",
            color=alt.Color("stage:N", sort=order, scale=alt.Scale(domain=order)),
            tooltip=[
                alt.Tooltip("stage:N", title="Stage"),
                alt.Tooltip("share:Q", title="Share", format=".1%"),
                alt.Tooltip("rho:Q", title="ρ", format=".4g"),
            ],
        )
    )
    return finish(bars, zoned, "Where does the budget go?", height=44)
