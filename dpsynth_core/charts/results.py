"""Charts of what a finished release says: columns, and pairs of columns.

"Noisy measurement" is what the mechanism saw, "Synthetic rows" is what is published; "Private data" appears only in frames that are
curator-only, and then the whole chart is watermarked.
"""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import Drawing, finish, gradient
from dpsynth_core.evaluation.comparison import MEASURED, PRIVATE, SYNTHETIC
from dpsynth_core.foundation.zones import Zoned

_LEVEL_LETTERS = 36
"""So many letters fit below a heat map on half a page."""
SERIES = [SYNTHETIC, PRIVATE, MEASURED]
"""Order fixes the colours: the first three of the theme's categorical palette (blue, vermilion, green)."""


def one_way(zoned: Zoned[pd.DataFrame], column: str, *, ordered: bool) -> Drawing:
    """Do the synthetic rows have the right distribution of one column?

    Columns: cell (label), position (int, order of the cells), series (one of SERIES), count, low, high (95 % interval of a noisy
    count; equal to count for the other series). ordered: True draws upright columns in code order, False bars, largest first.
    """
    frame = zoned.value
    present = [name for name in SERIES if name in set(frame["series"])]
    colour = alt.Color("series:N", scale=alt.Scale(domain=SERIES), legend=alt.Legend(values=present) if len(present) > 1 else None)
    position = alt.EncodingSortField("position", op="min", order="ascending")
    label_axis = alt.Axis(labelOverlap="greedy" if ordered else False, labelAngle=_tilt(frame["cell"]) if ordered else 0, labelLimit=150)
    cells = (alt.X if ordered else alt.Y)("cell:N", sort=position, title=None, axis=label_axis)
    counts = (alt.Y if ordered else alt.X)("count:Q", title="People", axis=alt.Axis(format=",d", tickCount=6))
    low, high = (alt.Y, alt.Y2) if ordered else (alt.X, alt.X2)
    tooltip = [
        alt.Tooltip("cell:N", title="Cell"),
        alt.Tooltip("series:N", title="Series"),
        alt.Tooltip("count:Q", title="People", format=",.0f"),
    ]
    along = {"x": cells, "y": counts} if ordered else {"y": cells, "x": counts}
    bars = alt.Chart(frame[frame["series"] == SYNTHETIC]).mark_bar(opacity=0.75).encode(**along, color=colour, tooltip=tooltip)
    layers = [bars]
    measured = frame[frame["series"] == MEASURED]
    if len(measured):
        span = {"y" if ordered else "x": low("low:Q", title="People"), "y2" if ordered else "x2": high("high:Q")}
        layers.append(alt.Chart(measured).mark_rule(strokeWidth=1.5).encode(**{**along, **span}, color=colour, tooltip=tooltip))
        layers.append(alt.Chart(measured).mark_point(filled=True, size=38, opacity=1).encode(**along, color=colour, tooltip=tooltip))
    private = frame[frame["series"] == PRIVATE]
    if len(private):
        layers.append(
            alt.Chart(private).mark_point(shape="diamond", size=60, strokeWidth=2, opacity=1).encode(**along, color=colour, tooltip=tooltip)
        )
    caption = "Dots: the noisy count.\nLines: where the true one is (95%)." if len(measured) else "Not measured."
    cell_count = frame["cell"].nunique()
    height = 300 if ordered else alt.Step(max(18, min(30, 320 // max(1, cell_count))))
    return finish(alt.layer(*layers), zoned, f"How many people are there by “{column}”?", caption, height=height)


def two_way(zoned: Zoned[pd.DataFrame], title: str, *, limit: float) -> Drawing:
    """One heat map of a pair of columns, in people.

    Columns: row, column (labels), row_position, column_position (int), count. limit: the largest count of the colour scale; give
    panels that are compared the same one.
    """
    colour = alt.Color("count:Q", scale=alt.Scale(domain=[0, limit], clamp=True), legend=gradient(",d"))
    return finish(_heat(zoned.value, colour, ",.0f"), zoned, title, height=300)


def two_way_difference(zoned: Zoned[pd.DataFrame], title: str, *, limit: float) -> Drawing:
    """Where do two tables of a pair of columns differ? Same columns as `two_way`, `count` being the signed difference."""
    scale = alt.Scale(domain=[-limit, 0, limit], clamp=True, range="diverging")
    return finish(_heat(zoned.value, alt.Color("count:Q", scale=scale, legend=gradient("+,d")), "+,.0f"), zoned, title, height=300)


def _heat(frame: pd.DataFrame, colour: alt.Color, form: str) -> alt.Chart:
    axis = {"labelOverlap": "greedy", "labelLimit": 90}
    return (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=alt.X(
                "column:N",
                sort=alt.EncodingSortField("column_position", op="min"),
                title=None,
                axis=alt.Axis(labelAngle=_tilt(frame["column"]), **axis),
            ),
            y=alt.Y("row:N", sort=alt.EncodingSortField("row_position", op="min"), title=None, axis=alt.Axis(**axis)),
            color=colour,
            tooltip=[
                alt.Tooltip("row:N", title="Row"),
                alt.Tooltip("column:N", title="Column"),
                alt.Tooltip("count:Q", title="People", format=form),
            ],
        )
    )


def _tilt(labels: Iterable[str]) -> int:
    """Labels below columns stand level where a few short ones have room, and slanted otherwise. Degrees."""
    return 0 if sum(len(label) + 2 for label in set(labels)) <= _LEVEL_LETTERS else -40
