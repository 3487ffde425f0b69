"""Charts of a sweep: how the error falls with epsilon, what it costs in time, how it grows with what is asked for, and table by table.

Mechanisms are told apart by colour and by the shape of their points. Both axes are logarithmic: a straight line is a power law.
"""

from __future__ import annotations

import math

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import ALERT, STRONG, Drawing, finish
from dpsynth_core.foundation.zones import Zone, Zoned
from dpsynth_core.tradeoffs.curves import Metric, Setting

TRIED = "tried"
"""Name of the selection of a setting."""

_LEGEND = alt.Legend(columns=4, symbolOpacity=1)
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "triangle-right"]


def by_epsilon(zoned: Zoned[pd.DataFrame], metric: Metric, tables: int, chosen: Setting | None = None) -> Drawing:
    """How does the error fall with epsilon? Columns as `tradeoffs.curves.bands` gives them; drawn are those with so many `tables`."""
    frame = _with_chosen(zoned.value[zoned.value["tables"] == tables], chosen)
    axis = alt.Axis(format="~g", values=sorted(set(frame["epsilon"])), labelOverlap=True)
    x = alt.X("epsilon:Q", title="ε", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)
    repeats = int(frame["repeats"].max()) if len(frame) else 0
    caption = f"Band: least and most of {repeats} repeats. " if repeats > 1 else ""
    caption += "" if zoned.zone is Zone.CURATOR else "Click a point to see its tables."
    return finish(_curves(frame, zoned, metric, x), zoned, "How does the error fall with epsilon?", caption.strip(), height=270)


def by_seconds(zoned: Zoned[pd.DataFrame], metric: Metric, tables: int, chosen: Setting | None = None) -> Drawing:
    """Is the longer run worth it? Columns as in `by_epsilon`."""
    frame = _with_chosen(zoned.value[zoned.value["tables"] == tables], chosen)
    low, high = max(0.05, float(frame["seconds"].min()) / 1.3), float(frame["seconds"].max()) * 1.3
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    x = alt.X("seconds:Q", title="Time of one release (seconds)", scale=scale, axis=_axis(low, high, "~g"))
    line = alt.Chart(frame).mark_line(strokeWidth=1, opacity=0.5, tooltip=None)
    line = line.encode(x=x, y=_error("error", metric, zoned.value), color=_colour(zoned), order="epsilon:Q")
    return finish(
        alt.layer(line, _points(frame, zoned, metric, x)), zoned, "Is the longer run worth it?", "Lines join values of epsilon.", height=240
    )


def by_tables(zoned: Zoned[pd.DataFrame], metric: Metric, epsilon: float, chosen: Setting | None = None) -> Drawing:
    """What does it cost to ask for more tables? Columns as in `by_epsilon`; drawn are those with this `epsilon`."""
    frame = _with_chosen(zoned.value[zoned.value["epsilon"] == epsilon], chosen)
    axis = alt.Axis(format=",d", values=sorted(set(frame["tables"])), labelOverlap=True)
    x = alt.X("tables:Q", title="Tables asked for (number)", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)
    title = "What does it cost to ask for more tables?"
    return finish(_curves(frame, zoned, metric, x), zoned, title, f"At ε = {epsilon:g}.", height=240)


def tables_of(zoned: Zoned[pd.DataFrame], metric: Metric, *, show: int = 12) -> Drawing:
    """Which tables come out worst at one setting? Columns as `tradeoffs.curves.of_tables` gives them for the metric."""
    frame = zoned.value.head(show)
    order = frame["marginal"].tolist()
    y = alt.Y("marginal:N", sort=order, title=None, axis=alt.Axis(labelLimit=190, labelOverlap=False))
    axis = alt.Axis(format="~%", tickCount=5, orient="top")
    tooltip = [
        alt.Tooltip("marginal:N", title="Table"),
        alt.Tooltip("error:Q", title=metric.title, format=".2%"),
        alt.Tooltip("low:Q", title="Least of the repeats", format=".2%"),
        alt.Tooltip("high:Q", title="Most of the repeats", format=".2%"),
        alt.Tooltip("cells:Q", title="Cells", format=","),
    ]
    colour = ALERT if zoned.zone is Zone.CURATOR else STRONG
    x = alt.X("error:Q", title=metric.axis, axis=axis, scale=alt.Scale(domainMin=0))
    bars = alt.Chart(frame).mark_bar(height=9, cornerRadius=2, color=colour, opacity=0.75).encode(y=y, x=x, tooltip=tooltip)
    spread = alt.Chart(frame).mark_rule(strokeWidth=1.5, color=colour).encode(y=y, x=alt.X("low:Q"), x2="high:Q", tooltip=tooltip)
    more = len(zoned.value) - len(frame)
    caption = f"The worst {len(frame)} of {len(zoned.value):,}." if more > 0 else ""
    return finish(alt.layer(bars, spread), zoned, "Which tables come out worst?", caption, height=alt.Step(20))


def _with_chosen(frame: pd.DataFrame, chosen: Setting | None) -> pd.DataFrame:
    """With which of the settings is chosen."""
    if chosen is None:
        return frame.assign(chosen=False)
    same = (frame["mechanism"] == chosen.mechanism) & (frame["epsilon"] == chosen.epsilon) & (frame["tables"] == chosen.tables)
    return frame.assign(chosen=same)


def _curves(frame: pd.DataFrame, zoned: Zoned[pd.DataFrame], metric: Metric, x: alt.X) -> alt.LayerChart:
    """Mean of the repeats as line and points, and the band from the least to the most."""
    low, mean, colour = _error("low", metric, zoned.value), _error("error", metric, zoned.value), _colour(zoned)
    band = alt.Chart(frame).mark_area(opacity=0.18, tooltip=None).encode(x=x, y=low, y2="high:Q", color=colour)
    line = alt.Chart(frame).mark_line(strokeWidth=2, tooltip=None).encode(x=x, y=mean, color=colour)
    return alt.layer(band, line, _points(frame, zoned, metric, x))


def _points(frame: pd.DataFrame, zoned: Zoned[pd.DataFrame], metric: Metric, x: alt.X) -> alt.Chart:
    """The settings as points; one can be clicked, unless it is curator-only: those charts are pictures."""
    form = ".2%" if metric.percent else ".3f"
    chart = (
        alt.Chart(frame)
        .mark_point(filled=True, opacity=1, strokeWidth=2.5)
        .encode(
            x=x,
            y=_error("error", metric, zoned.value),
            color=_colour(zoned),
            shape=alt.Shape("mechanism:N", scale=alt.Scale(domain=_mechanisms(zoned), range=_SHAPES), legend=_LEGEND),
            size=alt.condition("datum.chosen", alt.value(190), alt.value(70)),
            tooltip=[
                alt.Tooltip("mechanism:N", title="Mechanism"),
                alt.Tooltip("epsilon:Q", title="ε", format="~g"),
                alt.Tooltip("tables:Q", title="Tables asked for", format=","),
                alt.Tooltip("error:Q", title=metric.title, format=form),
                alt.Tooltip("low:Q", title="Least of the repeats", format=form),
                alt.Tooltip("high:Q", title="Most of the repeats", format=form),
                alt.Tooltip("seconds:Q", title="Seconds", format=",.1f"),
                alt.Tooltip("measured:Q", title="Noisy tables taken", format=",.0f"),
            ],
        )
    )
    if zoned.zone is Zone.CURATOR:
        return chart
    fields = ["mechanism", "epsilon", "tables"]
    return chart.add_params(alt.selection_point(TRIED, fields=fields, on="click", nearest=True, clear=False, empty=True))


def _error(column: str, metric: Metric, frame: pd.DataFrame) -> alt.Y:
    """All charts of a sweep share the range of the errors, so that they can be read together."""
    low, high = float(frame["low"].min()), float(frame["high"].max())
    floor = max(low, 1e-6) * 0.9
    top = max(high, floor) * 1.1
    scale = alt.Scale(type="log", domain=[floor, top], nice=False, clamp=True)
    return alt.Y(f"{column}:Q", title=metric.axis, scale=scale, axis=_axis(floor, top, "~%" if metric.percent else "~g"))


def _axis(low: float, high: float, form: str) -> alt.Axis:
    """A handful of round ticks: an automatic logarithmic axis draws nine lines a decade."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if high / low > 20 else (1, 1.5, 2, 3, 4, 5, 7)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
    return alt.Axis(format=form, values=[tick for tick in ticks if low <= tick <= high], labelOverlap=True)


def _colour(zoned: Zoned[pd.DataFrame]) -> alt.Color:
    return alt.Color("mechanism:N", scale=alt.Scale(domain=_mechanisms(zoned)), legend=_LEGEND)


def _mechanisms(zoned: Zoned[pd.DataFrame]) -> list[str]:
    return list(dict.fromkeys(zoned.value["mechanism"]))
