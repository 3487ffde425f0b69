"""The chart of a column of numbers or dates: a histogram whose areas are people, however wide its groups are."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from dpsynth_core.charts.results import SERIES
from dpsynth_core.charts.theme import INK, Drawing, finish, hover
from dpsynth_core.evaluation.comparison import MEASURED, PRIVATE, SYNTHETIC
from dpsynth_core.foundation.zones import Zoned

_BESIDE = "min(72, width / 6)"
"""Width of the place of other or missing values beside the axis, in pixels; less on a phone."""
_UTC = {"moment": {}, "clock": {"format": "%H:%M"}}
"""By axis of a scale whose values are times: how its labels are written."""
_ON_AXIS, _BESIDE_AXIS = 4, 24
"""Widths of sticks on the axis and beside it."""


def histogram(zoned: Zoned[pd.DataFrame], column: str) -> Drawing:
    """Draw the distribution of a column of numbers or dates in each series, with areas in proportion to people.

    A very narrow group is a stick, as high as its people. Other and missing values stand beside the
    axis.

    Args:
        zoned: The frame of `comparison.one_way` for such a column.
        column: The name of the column, for the title.
    """
    frame = zoned.value.assign(middle=(zoned.value["start"] + zoned.value["end"]) / 2)
    heights = {name: frame[of] * frame["factor"] for name, of in (("height", "count"), ("least", "low"), ("most", "high"))}
    frame = frame.assign(**heights)
    beside = sorted(set(frame.loc[frame["outside"], "position"]))
    frame["right"] = [beside.index(place) if place in beside else -1 for place in frame["position"]]
    room, present = f"{len(beside)} * {_BESIDE}", [name for name in SERIES if name in set(frame["series"])]
    colour = alt.Color("series:N", scale=alt.Scale(domain=SERIES), legend=alt.Legend(values=present) if len(present) > 1 else None)
    told = hover(cell="Cell", series="Series", count=("People", ",.0f"))
    right = alt.value(alt.ExprRef(f"width - {room} + {_BESIDE} * (datum.right + 0.5)"))
    inside, outside, layers = frame[~frame["outside"]], frame[frame["outside"]], list[Drawing]()
    if len(inside):
        across = _axis(inside, room)
        bars = inside[(inside["series"] == SYNTHETIC) & ~inside["stick"]]
        ends = {"x": alt.X("start", **across), "x2": "end", "y": _up(frame, "height"), "y2": alt.Y2Datum(0)}
        layers.append(alt.Chart(bars).mark_rect(opacity=0.75).encode(**ends, color=colour, tooltip=told))
        layers += [one.encode(color=colour, tooltip=told) for one in _marks(inside, alt.X("middle", **across), _ON_AXIS)]
    if len(outside):
        layers += [one.encode(color=colour, tooltip=told) for one in _marks(outside.assign(stick=True), right, _BESIDE_AXIS)]
        named = alt.Chart(outside.drop_duplicates("position"))
        words = named.mark_text(baseline="top", color=INK, fontSize=12, limit=alt.ExprRef(_BESIDE), tooltip=None)
        layers.append(words.encode(x=right, y=alt.value(alt.ExprRef("height + 6")), text="cell:N"))
    noise = "Dots: the noisy count.\nLines: where the true one is (95%)." if MEASURED in present else "Not measured."
    sticks = "\nSticks: people with one value, or nearly." if frame["stick"].any() else ""
    return finish(alt.layer(*layers), zoned, f"How many people are there by “{column}”?", noise + sticks, height=300)


def _axis(inside: pd.DataFrame, room: str) -> dict[str, Any]:
    """Return the properties of the horizontal axis, which leaves `room` (an expression in pixels) to its right."""
    kind = str(inside["axis"].iloc[0])
    ends = {"domain": [float(inside["start"].min()), float(inside["end"].max())], "range": [0, alt.ExprRef(f"width - {room}")]}
    look = {"tickCount": 8, "grid": False, "labelOverlap": "greedy"} | _UTC.get(kind, {})
    scale = alt.Scale(nice=False, zero=False, **ends, **({"type": "utc"} if kind in _UTC else {}))
    title = "Hours" if kind == "length" else None
    return {"type": "temporal" if kind in _UTC else "quantitative", "scale": scale, "axis": alt.Axis(**look), "title": title}


def _up(frame: pd.DataFrame, name: str) -> alt.Y:
    """Return the vertical axis for a column of heights."""
    unit = str(frame["unit"].iloc[0])
    scale = alt.Scale(domainMin=0, clamp=True)  # a noisy count may be negative, people are not
    return alt.Y(f"{name}:Q", title=f"People per {unit}" if unit else "People", axis=alt.Axis(format=",d", tickCount=6), scale=scale)


def _marks(frame: pd.DataFrame, x: Any, width: int) -> list[alt.Chart]:
    """Return the sticks of the rows, the noise of what was measured, and the true counts."""
    rows, measured, private = (frame[frame["series"] == name] for name in (SYNTHETIC, MEASURED, PRIVATE))
    sticks, height = rows[rows["stick"]], _up(frame, "height")
    made = [alt.Chart(sticks).mark_rule(strokeWidth=width, opacity=0.75).encode(x=x, y=height, y2=alt.Y2Datum(0))] if len(sticks) else []
    if len(measured):
        made.append(alt.Chart(measured).mark_rule(strokeWidth=1.5).encode(x=x, y=_up(frame, "least"), y2="most:Q"))
        made.append(alt.Chart(measured).mark_point(filled=True, size=30, opacity=1).encode(x=x, y=height))
    if len(private):
        made.append(alt.Chart(private).mark_point(shape="diamond", size=60, strokeWidth=2, opacity=1).encode(x=x, y=height))
    return made
