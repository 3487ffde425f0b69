"""Charts of a plan before it is run: what an attacker could learn, which pairs are covered, how the budget is split."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import FAINT, INK, STRONG, Drawing, finish, hover, limit, square
from dpsynth_core.foundation.zones import Zoned


def tradeoff(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """Draw the power of the best attacker who tests whether one person is in the data.

    Args:
        zoned: Columns false_positive and true_positive (rates from 0 to 1, increasing), and curve
            (text) if several curves are compared.
    """
    frame = zoned.value if "curve" in zoned.value else zoned.value.assign(curve="Best possible attacker")
    percent = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    unit = alt.Scale(domain=[0, 1])
    x = alt.X("false_positive:Q", title="Non-members wrongly accused", axis=percent, scale=unit)
    y = alt.Y("true_positive:Q", title="Members found", axis=percent, scale=unit)
    area = alt.Chart(frame).mark_area(opacity=0.16, line=False, tooltip=None).encode(x=x, y=y, color=alt.Color("curve:N", legend=None))
    colour = alt.Color("curve:N", legend=alt.Legend() if frame["curve"].nunique() > 1 else None)
    tooltip = hover(false_positive=("Wrongly accused", ".1%"), true_positive=("Found", ".1%"))
    line = alt.Chart(frame).mark_line(strokeWidth=2.5).encode(x=x, y=y, color=colour, tooltip=tooltip)
    ends = pd.DataFrame({"false_positive": [0.0, 1.0], "true_positive": [0.0, 1.0]})
    chance = alt.Chart(ends).mark_line(strokeDash=[5, 4], color=INK, strokeWidth=1.5, tooltip=None).encode(x=x, y=y)
    place = pd.DataFrame({"false_positive": [0.8], "true_positive": [0.72], "words": ["guessing"]})
    label = alt.Chart(place).mark_text(color=INK, fontSize=12).encode(x=x, y=y, text="words:N")
    chart = alt.layer(area, line, chance, label)
    return finish(chart, zoned, "Could an attacker tell who is in the data?", "The closer to the dashed line, the closer to guessing.")


def bought(zoned: Zoned[pd.DataFrame], now: float, wanted: float) -> Drawing:
    """Draw the expected error against epsilon; below each epsilon stands how often a guess about one person is right at most.

    Args:
        zoned: Columns epsilon, guess (0.5 to 1), and error, low and high (shares of people), from
            `planning.epsilon_curve.curve`.
        now: Epsilon of the plan, which is one of the frame's.
        wanted: The largest mean error that is good enough, as a share of people.
    """
    frame = zoned.value
    shares = ", ".join(f"'{epsilon:g}': '{guess:.0%}'" for epsilon, guess in zip(frame["epsilon"], frame["guess"], strict=True))
    second = f"[format(datum.value, '~g'), {{{shares}}}[format(datum.value, '~g')] || '']"
    axis = alt.Axis(format="~g", values=frame["epsilon"].tolist(), labelOverlap=True, labelExpr=second, grid=False)
    x = alt.X("epsilon:Q", title=None, scale=alt.Scale(type="log", nice=False, padding=14), axis=axis)
    scale, shown = alt.Scale(domain=[0, max(1.3 * wanted, float(frame["high"].max()))]), alt.Axis(format="~%", tickCount=2)
    y = alt.Y("error:Q", title=None, scale=scale, axis=shown)
    told = hover(epsilon=("ε", "~g"), error=("Expected error", ".1%"), guess=("Right guesses, at most", ".0%"))
    ends = {"y": alt.Y("low:Q", title=None, scale=scale), "y2": "high:Q"}
    band = alt.Chart(frame).mark_area(opacity=0.18, color=STRONG, tooltip=None).encode(x=x, **ends)
    line = alt.Chart(frame).mark_line(strokeWidth=2.5, color=STRONG, tooltip=None).encode(x=x, y=y)
    points = alt.Chart(frame).mark_circle(size=40, opacity=1, color=STRONG).encode(x=x, y=y, tooltip=told)
    here = frame[frame["epsilon"] == now]
    rule = alt.Chart(here).mark_rule(color=INK, strokeWidth=1, tooltip=None).encode(x=x)
    mark = alt.Chart(here).mark_circle(size=180, opacity=1, color=STRONG, stroke="white", strokeWidth=2).encode(x=x, y=y, tooltip=told)
    dashed = limit(wanted).encode(y=alt.Y("limit:Q", title=None, scale=scale))
    caption = "Dashed line: good enough. Numbers below ε: right guesses."
    return finish(alt.layer(band, dashed, rule, line, points, mark), zoned, "How large is the error at each ε?", caption, height=120)


def coverage(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """Draw a map of the pairs of columns that the workload covers.

    Args:
        zoned: Columns row and column (attribute names; both orders of each pair, and the diagonal),
            and marginals (number of workload marginals that contain the pair; 0 if it is not
            covered).
    """
    order = list(dict.fromkeys(zoned.value["row"]))
    frame = zoned.value.assign(state=["covered" if n > 0 else "not covered" for n in zoned.value["marginals"]])
    x, y = square(order)
    colour = alt.Color("state:N", scale=alt.Scale(domain=["covered", "not covered"], range=[STRONG, FAINT]), legend=alt.Legend())
    tooltip = hover(row="Column", column="With", marginals=("Marginals that contain both", "d"))
    rects = alt.Chart(frame).mark_rect(cornerRadius=2).encode(x=x, y=y, color=colour, tooltip=tooltip)
    pairs = frame[frame["row"] != frame["column"]]
    covered = int((pairs["marginals"] > 0).sum()) // 2
    caption = f"{covered:,} of {len(pairs) // 2:,} pairs are covered."
    height = alt.Step(max(14, min(34, 360 // max(1, len(order)))))
    return finish(rects, zoned, "Which pairs of columns are asked for?", caption, height=height)


def split(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """Draw how the budget is split between stages.

    Args:
        zoned: Columns stage (text, in order), share (of rho; the shares add up to 1) and rho.
    """
    frame = zoned.value.assign(end=zoned.value["share"].cumsum())
    frame = frame.assign(start=frame["end"] - frame["share"])
    order = frame["stage"].tolist()
    x = alt.X("start:Q", title=None, axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]), scale=alt.Scale(domain=[0, 1]))
    colour = alt.Color("stage:N", sort=order, scale=alt.Scale(domain=order))
    tooltip = hover(stage="Stage", share=("Share", ".1%"), rho=("ρ", ".4g"))
    bars = alt.Chart(frame).mark_bar(height=32).encode(x=x, x2="end:Q", color=colour, tooltip=tooltip)
    return finish(bars, zoned, "Where does the budget go?", height=44)


_MEASUREMENT = hover(step=("Measurement", "d"), marginal="Table", sigma=("± per cell", ",.1f"), share_used=("Budget used", ".1%"))
_STEPS = {"interpolate": "step-after", "strokeWidth": 2, "point": {"size": 28}}


def budget_used(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """Draw the share of the budget that is used after each measurement.

    Args:
        zoned: Columns step (number of the measurement, from 1), marginal (label), share_used (of
            rho, this measurement included) and sigma (standard deviation of a cell, in people or
            households).
    """
    x = alt.X("step:Q", title="Measurement", axis=alt.Axis(tickMinStep=1, format="d", tickCount=6))
    y = alt.Y("share_used:Q", title="Budget used", axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domain=[0, 1]))
    area = alt.Chart(zoned.value).mark_area(interpolate="step-after", opacity=0.2, tooltip=None).encode(x=x, y=y)
    line = alt.Chart(zoned.value).mark_line(**_STEPS).encode(x=x, y=y, tooltip=_MEASUREMENT)
    return finish(alt.layer(area, line), zoned, "How much of the budget is used?", height=200)


def noise_level(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """Draw the noise of each measurement on a logarithmic scale.

    Args:
        zoned: Columns step (number of the measurement, from 1), marginal (label), share_used (of
            rho) and sigma (standard deviation of a cell, above 0), as for `budget_used`.
    """
    x = alt.X("step:Q", title="Measurement", axis=alt.Axis(tickMinStep=1, format="d", tickCount=6))
    axis = alt.Axis(format="~s", tickCount=5)
    y = alt.Y("sigma:Q", title="± per cell", scale=alt.Scale(type="log", nice=True), axis=axis)
    points = alt.Chart(zoned.value).mark_line(**_STEPS).encode(x=x, y=y, tooltip=_MEASUREMENT)
    return finish(points, zoned, "How noisy is each measurement?", height=200)
