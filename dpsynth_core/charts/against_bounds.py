"""Charts of the error of every table beside AIM's confidence bounds and baselines, on one scale from 0.

Frames come from `evaluation.quality.marginal_table`. Errors are shares of people in a wrong cell. Marks differ in shape and in filling,
so that readers need no colour vision. Unknown values are not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import ALERT, INK, MIDDLE, STRONG, Drawing, finish, hover, limit, names_limit
from dpsynth_core.evaluation.against_bounds import AGAINST, SERIES, SHARPENED, against, known, reach
from dpsynth_core.evaluation.quality import GAUSSIAN, GUESS, INFERRED, MEASURED, RESIDUALS, TRUE
from dpsynth_core.foundation.zones import Zoned

ORDERS = {
    "error": "Error, best estimate",
    "limit": "How far off at most",
    "true": TRUE,
    "bound": "AIM's bound",
    "paper": "AIM's bound as printed",
    "independent": "Columns alone",
    "gaussian": GAUSSIAN,
    "residuals": RESIDUALS,
    "cells": "Number of cells",
}
"""Columns by which tables can be sorted, with their titles."""


@dataclass(frozen=True)
class _Mark:
    shape: str
    sign: str
    stroke: str = INK
    filled: bool = False


_SALTIRE = "M-0.8,-0.8L0.8,0.8M0.8,-0.8L-0.8,0.8"
_MARKS = {
    "error": _Mark("circle", "●", STRONG, True),
    "bound": _Mark("triangle-left", "◀", STRONG, True),
    "paper": _Mark("triangle-left", "◁", STRONG),
    "gaussian": _Mark("square", "□"),
    "residuals": _Mark("square", "■", INK, True),
    "independent": _Mark(_SALTIRE, "×"),
    "true": _Mark("diamond", "◆", ALERT, True),
}
"""Mark of each column of `SERIES`, and the sign that stands for it beyond the right end of the scale."""
_SUPPORT = {MEASURED: _MARKS["error"], INFERRED: _Mark("triangle-up", "△"), GUESS: _MARKS["independent"]}
_LANES = {"bound": -7, "paper": -7, "gaussian": 7, "residuals": 7, "independent": 7}
"""Vertical offset of each series in pixels: bounds above the error, baselines below it, so that no mark hides another."""
_SHARE = "People in the wrong group"
_NEAR = "How near are AIM's bounds to the errors?"
_BETTER = "Do AIM's bounds promise less than noisy answers err?", "Shaded: better than these, with 95% confidence."
_QUESTIONS = {
    "true": (_NEAR, "Shaded: bounds below the true error."),
    "error": (_NEAR, "Shaded: bounds below the best estimate."),
    "residuals": _BETTER,
    "gaussian": _BETTER,
}
_WHISKERS = "\nLines: at least to at most (95% each)."
_SIGN_WIDTH = 42
_MOST_WHISKERS = 200


def sortable(frame: pd.DataFrame) -> list[str]:
    """Return the keys of `ORDERS` by which the tables can be sorted: those with a value for any table, in the order of `ORDERS`."""
    return [name for name in ORDERS if known(frame, name)]


def against_bounds(zoned: Zoned[pd.DataFrame], threshold: float, order: str = "limit", *, show: int = 20, skip: int = 0) -> Drawing:
    """Draw the error of each table together with AIM's bounds and the errors of the baselines.

    Baselines, and AIM's bound as printed, are written as numbers at the right edge where they exceed the scale.

    Args:
        zoned: One row per table, from `evaluation.quality.marginal_table`.
        threshold: Largest acceptable error, as a share of people.
        order: Key of `ORDERS` to sort by, largest first; one of `sortable`. Tables without a value come last.
        show: Number of tables drawn.
        skip: Number of tables before the first that is drawn.

    Returns:
        A chart with one line per table.
    """
    frame = zoned.value.sort_values([order, "cells"], ascending=False, na_position="last", kind="stable")
    frame = frame.iloc[skip : skip + show]
    names = [name for name in _MARKS if known(frame, name)]
    end = reach(zoned.value, threshold)
    marks = _melted(frame, names)
    near, beyond = marks[marks["share"] <= end], _beyond(marks[marks["share"] > end])
    room = _SIGN_WIDTH * int(beyond["number"].max()) if len(beyond) else 0
    scale = alt.Scale(domain=[0, end], range=[0, alt.ExprRef(f"max(60, width - {room})")], nice=False, zero=True)
    x = alt.X("share:Q", title=_SHARE, scale=scale, axis=alt.Axis(format="~%", orient="top", tickCount=5, titleAnchor="start"))
    y = alt.Y("marginal:N", sort=frame["marginal"].tolist(), title=None, axis=alt.Axis(labelLimit=names_limit(250), labelOverlap=False))
    spans = frame[frame["limit"].notna()].assign(share=frame["low"].fillna(0.0))
    bars = alt.Chart(spans).mark_bar(height=8, opacity=0.4, cornerRadius=2, color=MIDDLE, tooltip=None)
    layers: list[Drawing] = [bars.encode(y=y, x=x, x2="limit:Q"), limit(threshold).encode(x=alt.X("limit:Q", scale=scale))]
    layers += [_doubt(frame, end).encode(x=x, x2="high:Q", y=y)] if "independent" in names else []
    layers += [points.encode(x=x, y=y) for points in _points(near, names)]
    if len(beyond):
        signs = alt.Chart(beyond).mark_text(align="right", color=INK, fontSize=11, tooltip=None)
        layers.append(signs.encode(x=alt.value(alt.ExprRef("width")), y=y, text="told:N"))
    caption = _caption(zoned.value, frame, order, bool(len(beyond)), skip)
    bounds = "AIM's bounds and " if "bound" in names else ""
    return finish(alt.layer(*layers), zoned, f"How far off is each table, beside {bounds}simpler ways?", caption, height=alt.Step(32))


def bound_against_error(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """Draw AIM's bound against the error, one point per table (AIM paper, Figure 4c).

    The error is the true one if the frame has it, otherwise the best estimate, otherwise the
    expected error of noisy answers. Best estimates of at most 200 tables are drawn with their
    interval. Tables without a bound or without an error are left out.

    Args:
        zoned: One row per table, from `evaluation.quality.marginal_table`, with at least one bound.

    Returns:
        A scatter chart. The shaded area marks bounds below the error.
    """
    other = against(zoned.value) or "error"
    frame = zoned.value[zoned.value[other].notna() & zoned.value["bound"].notna()]
    frame = frame.assign(share=frame[other], told=_told(frame[other]), most=_told(frame["bound"]), printed=_told(frame["paper"]))
    doubtful = other == "error" and len(frame) <= _MOST_WHISKERS
    right = max(0.01, 1.05 * float(frame[["share", "limit"] if doubtful else ["share"]].max().max()))
    across = alt.Scale(domain=[0, right], nice=False)
    up = alt.Scale(domain=[0, max(right, 1.05 * float(frame["bound"].max()))], nice=False)
    x = alt.X("share:Q", title=AGAINST[other], scale=across, axis=alt.Axis(format="~%", tickCount=5))
    y = alt.Y("bound:Q", title=SHARPENED, scale=up, axis=alt.Axis(format="~%", tickCount=6))
    alike = alt.Chart(pd.DataFrame({"share": [0.0, right], "bound": [0.0, right]}))
    layers: list[Drawing] = [alike.mark_area(color=INK, opacity=0.14, tooltip=None).encode(x=x, y=y)]
    layers.append(alike.mark_line(strokeDash=[5, 4], strokeWidth=1.5, color=INK, tooltip=None).encode(x=x, y=y))
    if doubtful:
        whiskers = alt.Chart(frame).mark_rule(color=MIDDLE, opacity=0.6, tooltip=None)
        layers.append(whiskers.encode(x=alt.X("low:Q", scale=across), x2="limit:Q", y=y))
    told = hover(marginal="Table", support="How known", told=AGAINST[other], most=SHARPENED, printed=SERIES["paper"])
    legend = alt.Legend(values=[name for name in _SUPPORT if name in set(frame["support"])], symbolStrokeWidth=1.6)
    points = alt.Chart(frame).mark_point(size=50, opacity=1, strokeWidth=1.6)
    layers.append(points.encode(x=x, y=y, tooltip=told, **_told_apart("support:N", _SUPPORT, legend)))
    question, caption = _QUESTIONS[other]
    return finish(alt.layer(*layers), zoned, question, f"{caption}{_WHISKERS if doubtful else ''}", height=300)


def _told(shares: pd.Series) -> list[str]:
    return [f"{share:.2%}" if share == share else "–" for share in shares]


def _melted(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return one row per mark, with the columns marginal, series, sign, share and told (text).

    The text of the independent baseline includes its uncertainty: the error bound (`limit`) of the
    table from which it is computed.

    Args:
        frame: One row per table.
        names: The columns that become marks.
    """
    parts = []
    for name in reversed(names):  # what is hollow lies on what is filled
        doubt = [f" ± {most:.2%}" if most == most else "" for most in frame["limit"]] if name == "independent" else [""] * len(frame)
        told = [share + more for share, more in zip(_told(frame[name]), doubt, strict=True)]
        parts.append(frame[["marginal"]].assign(series=SERIES[name], sign=_MARKS[name].sign, share=frame[name], told=told))
    marks = pd.concat(parts) if parts else frame[["marginal"]].head(0).assign(series="", sign="", share=0.0, told="")
    return marks[marks["share"].notna()]


def _beyond(marks: pd.DataFrame) -> pd.DataFrame:
    """Return one row per table with marks beyond the end of the scale.

    Its columns are marginal, told (a text that lists these marks) and number (of these marks).
    """
    written = marks.assign(told=[f"{sign} {share:.0%}" for sign, share in zip(marks["sign"], marks["share"], strict=True)])
    return written.groupby("marginal", sort=False)["told"].agg(told="  ".join, number="size").reset_index()


def _doubt(frame: pd.DataFrame, end: float) -> alt.Chart:
    """Draw the interval of the independent baseline.

    It is the value plus and minus the error bound (`limit`) of the table from which it is computed.

    Args:
        frame: One row per table.
        end: The largest share on the scale.
    """
    low, high = (frame["independent"] - frame["limit"]).clip(lower=0), (frame["independent"] + frame["limit"]).clip(upper=end)
    doubtful = frame.assign(share=low, high=high)[low < end]
    return alt.Chart(doubtful).mark_rule(color=INK, opacity=0.55, yOffset=_LANES["independent"], tooltip=None)


def _points(marks: pd.DataFrame, names: list[str]) -> list[alt.Chart]:
    """Draw the marks of each lane, with one common legend for shape, outline and filling.

    Args:
        marks: The frame of `_melted`.
        names: The columns that have marks, in the order of the legend.
    """
    columns = alt.ExprRef("width < 420 ? 1 : 2")
    legend = alt.Legend(values=[SERIES[name] for name in names], columns=columns, symbolSize=80, symbolStrokeWidth=1.6)
    apart = _told_apart("series:N", {words: _MARKS[name] for name, words in SERIES.items()}, legend)
    told = hover(marginal="Table", series="What", told=_SHARE)
    look, lanes = {"size": 60, "opacity": 1, "strokeWidth": 1.6}, [_LANES.get(name, 0) for name in SERIES]
    lane = marks["series"].map(dict(zip(SERIES.values(), lanes, strict=True)))
    parts = ((offset, marks[lane == offset]) for offset in sorted(set(lanes), key=abs, reverse=True))  # the error lies on top
    drawn_in = (alt.Chart(part).mark_point(yOffset=offset, **look) for offset, part in parts if len(part))
    return [chart.encode(**apart, tooltip=told) for chart in drawn_in]


def _caption(whole: pd.DataFrame, frame: pd.DataFrame, order: str, beyond: bool, skip: int) -> str:
    bar = "Bar: at least to at most (95% each).\n" if known(frame, "low") else "Bar: at most, with 95% confidence.\n"
    edge = " Right edge: beyond the scale." if beyond else ""
    alone = "\nThin line: columns alone are as unsure as the rows." if known(frame, "independent") else ""
    first = f"{skip + 1:,} to {skip + len(frame):,} of {len(whole):,} by" if len(whole) > len(frame) else "By"
    return f"{bar}Dashed: your limit.{edge}{alone}\n{first}: {ORDERS[order][0].lower()}{ORDERS[order][1:]}."


def _told_apart(field: str, marks: Mapping[str, _Mark], legend: alt.Legend) -> dict[str, alt.Shape | alt.Stroke | alt.Fill]:
    """Return the shape, stroke and fill channels that give each value of a column its mark.

    Args:
        field: The column, with its type, such as "series:N".
        marks: The mark of each value.
        legend: The common legend.
    """
    domain, fills = list(marks), [mark.stroke if mark.filled else "transparent" for mark in marks.values()]
    shapes, strokes = [mark.shape for mark in marks.values()], [mark.stroke for mark in marks.values()]
    return {
        "shape": alt.Shape(field, scale=alt.Scale(domain=domain, range=shapes), legend=legend),
        "stroke": alt.Stroke(field, scale=alt.Scale(domain=domain, range=strokes), legend=legend),
        "fill": alt.Fill(field, scale=alt.Scale(domain=domain, range=fills), legend=legend),
    }
