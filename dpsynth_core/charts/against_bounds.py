"""The error of every table against AIM's confidence bounds and against the baselines, drawn on one scale; and bound against error.

Frames are those of `evaluation.quality.marginal_table` with `good`. Shares of people in a wrong cell. Series are told apart by their
shapes, so that they need no colour vision; what is not known is not drawn.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import ALERT, INK, MIDDLE, STRONG, Drawing, finish, limit, names_limit
from dpsynth_core.evaluation.quality import GUESS, INFERRED, MEASURED, TRUE
from dpsynth_core.foundation.zones import Zoned

ORDERS = {
    "limit": "how far off at most",
    "error": "measured error",
    "bound": "AIM's bound",
    "paper": "AIM's bound as printed",
    "independent": "columns alone",
    "gaussian": "noisy answers",
    "residuals": "best noisy answers",
    "cells": "number of cells",
}
"""By which column tables are sorted, and what it is called."""

_ERROR, _BOUND, _PAPER = "Measured error, and where it is (95%)", "AIM's bound", "The same as its paper prints it"
_MARKS = {
    "error": (_ERROR, "circle"),
    "bound": (_BOUND, "triangle-left"),
    "paper": (_PAPER, "wedge"),
    "independent": ("Columns alone (Independent)", "cross"),
    "gaussian": ("Noisy answers (Gaussian)", "square"),
    "residuals": ("Best noisy answers (ResidualPlanner)", "triangle-up"),
    "true": (TRUE, "diamond"),
}
"""By column: what a mark stands for, and its shape."""
_COLOURS = {"error": STRONG, "bound": STRONG, "paper": MIDDLE, "true": ALERT}
_SHARE = "People in the wrong group"
_LEAST = 1e-4
"""Where the scale of the scatter begins: one person in ten thousand."""


def sortable(frame: pd.DataFrame) -> list[str]:
    """The columns of `ORDERS` that are known of some table."""
    return [name for name in ORDERS if name in frame and frame[name].notna().any()]


def against_bounds(zoned: Zoned[pd.DataFrame], threshold: float, order: str = "limit", *, show: int = 20) -> Drawing:
    """Is each table nearer than its bound, and than simpler ways would be? threshold: share of people up to which a table is good enough.
    order: one of `ORDERS`; the largest come first."""
    frame = zoned.value.sort_values([order, "cells"], ascending=False, na_position="last", kind="stable").head(show)
    names = [name for name in _MARKS if name in frame and frame[name].notna().any()]
    # what a paper's bound reaches would leave no room for the rest: such marks stand at the edge
    near = [name for name in names if name != "paper"] or names
    most = max(0.01, threshold, *(float(frame[name].max()) for name in (*near, "limit") if frame[name].notna().any()))
    scale = alt.Scale(domain=[0, min(1.0, 1.05 * most)], clamp=True, nice=False)
    x = alt.X("share:Q", title=_SHARE, scale=scale, axis=alt.Axis(format="~%", orient="top", tickCount=6))
    y = alt.Y("marginal:N", sort=frame["marginal"].tolist(), title=None, axis=alt.Axis(labelLimit=names_limit(250), labelOverlap=False))
    told = [alt.Tooltip("marginal:N", title="Table"), alt.Tooltip("series:N", title="What"), alt.Tooltip("told:N", title=_SHARE)]
    layers: list[Drawing] = []
    if "error" in names:
        spans = frame[frame["error"].notna()].assign(share=frame["low"])
        bar = alt.Chart(spans).mark_bar(height=8, opacity=0.35, cornerRadius=2, color=STRONG, tooltip=None)
        layers.append(bar.encode(y=y, x=x, x2="limit:Q"))
    legend = alt.Legend(values=[_MARKS[name][0] for name in names], symbolFillColor=INK, symbolStrokeColor=INK, columns=1)
    series = {"domain": [words for words, _ in _MARKS.values()]}
    shape = alt.Shape("series:N", scale=alt.Scale(**series, range=[shape for _, shape in _MARKS.values()]), legend=legend)
    colour = alt.Color("series:N", scale=alt.Scale(**series, range=[_COLOURS.get(name, INK) for name in _MARKS]), legend=None)
    points = alt.Chart(_melted(frame, names)).mark_point(size=70, opacity=1, strokeWidth=1.6)
    layers.append(points.encode(y=y, x=x, shape=shape, color=colour, tooltip=told))
    layers.append(limit(threshold).encode(x=alt.X("limit:Q", scale=scale)))
    beyond = " Marks at the edge lie beyond it." if "paper" in names and float(frame["paper"].max()) > scale.domain[1] else ""
    of = f" {show} of {len(zoned.value):,} tables." if len(zoned.value) > show else ""
    caption = f"Sorted by {ORDERS[order]}. Dashed: your limit.{beyond}{of}"
    return finish(alt.layer(*layers), zoned, "Errors against AIM's bounds and the baselines", caption, height=alt.Step(22))


def bound_against_error(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """How near is the bound to the error? One point a table: measured, inferred (AIM paper, Figure 4c). With true errors, those; without a
    certificate against what the best noisy answers would be expected to err by."""
    against = next(name for name in ("true", "error", "residuals") if name in zoned.value and zoned.value[name].notna().any())
    frame = zoned.value[zoned.value[against].notna() & zoned.value["bound"].notna()]
    frame = frame.assign(x=frame[against].clip(lower=_LEAST), y=frame["bound"].clip(lower=_LEAST))
    frame = frame.assign(told_x=[f"{v:.2%}" for v in frame[against]], told_y=[f"{v:.2%}" for v in frame["bound"]])
    scale = alt.Scale(type="log", domain=[float(frame[["x", "y"]].min().min()) if len(frame) else _LEAST, 1], clamp=True)
    axis = alt.Axis(format="~%", tickCount=4)
    titles = {"true": "True error", "error": "Measured error", "residuals": "Expected of the best noisy answers"}
    x, y = alt.X("x:Q", title=titles[against], scale=scale, axis=axis), alt.Y("y:Q", title=_BOUND, scale=scale, axis=axis)
    known = [name for name in (MEASURED, INFERRED, GUESS) if name in set(frame["support"])]
    by = {"domain": [MEASURED, INFERRED, GUESS]}
    shape = alt.Shape("support:N", scale=alt.Scale(**by, range=["circle", "triangle-up", "cross"]), legend=alt.Legend(values=known))
    colour = alt.Color("support:N", scale=alt.Scale(**by, range=[STRONG, INK, INK]), legend=None)
    told = [
        alt.Tooltip("marginal:N", title="Table"),
        alt.Tooltip("support:N", title="How known"),
        alt.Tooltip("told_x:N", title=titles[against]),
        alt.Tooltip("told_y:N", title=_BOUND),
    ]
    ends = pd.DataFrame({"x": scale.domain, "y": scale.domain})
    diagonal = alt.Chart(ends).mark_line(strokeDash=[5, 4], strokeWidth=1.5, color=INK, tooltip=None).encode(x=x, y=y)
    points = alt.Chart(frame).mark_point(size=45, opacity=0.9).encode(x=x, y=y, shape=shape, color=colour, tooltip=told)
    question = "Is the bound below what noisy answers err?" if against == "residuals" else "How near is the bound to the error?"
    holds = "" if against == "residuals" else " A bound that holds is above it."
    caption = f"Dashed: bound and error alike.{holds} Both scales are logarithms."
    return finish(alt.layer(diagonal, points), zoned, question, caption, height=280)


def _melted(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """One row for each mark: marginal, series, share, told."""
    parts = [frame[["marginal"]].assign(series=_MARKS[name][0], share=frame[name]) for name in names]
    marks = pd.concat(parts) if parts else frame[["marginal"]].head(0).assign(series="", share=0.0)
    marks = marks[marks["share"].notna()]
    return marks.assign(told=[f"{share:.2%}" for share in marks["share"]])
