"""Charts of a sweep: error against epsilon, time, memory, a setting and the number of tables, and the error of each table.

Colour and shape of points tell mechanisms apart, and values of epsilon in charts against a setting. Axes are logarithmic, so that a power
law is a straight line. The page says below the widest chart what its bands and lines mean (`reading`), because a line there can be long.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import ALERT, INK, STRONG, Drawing, finish, hover, limit, names_limit
from dpsynth_core.extensions.tradeoffs.curves import MEMORY, Cost, Metric, Setting
from dpsynth_core.foundation.zones import Zone, Zoned, combine

TRIED = "tried"
"""Name of the selection of a setting."""


@dataclass(frozen=True)
class Marks:
    """The reference values with which a curve is compared.

    Attributes:
        limit: Largest acceptable error, as a share of people.
        planned: Epsilon of the plan.
        guesses: For each epsilon, how often a guess about one person is right at most (0.5 to 1).
        beside: Finished releases, from `tradeoffs.curves.release_points`.
    """

    limit: float | None = None
    planned: float | None = None
    guesses: Mapping[float, float] | None = None
    beside: Zoned[pd.DataFrame] | None = None

    @property
    def in_sight(self) -> list[float]:
        """The errors, as shares, that the error axis must include: the limit, and the intervals of the releases; [] without any."""
        measured = [] if self.beside is None else [*self.beside.value["low"], *self.beside.value["high"]]
        return measured if self.limit is None else [*measured, self.limit]


_LEGEND = alt.Legend(symbolOpacity=1)
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "triangle-right"]


def by_epsilon(
    zoned: Zoned[pd.DataFrame], metric: Metric, tables: int, chosen: Setting | None = None, marks: Marks | None = None
) -> Drawing:
    """Draw the error against epsilon, one curve per mechanism, and return the chart.

    Args:
        zoned: Columns as in `tradeoffs.curves.bands`.
        metric: The measure of error.
        tables: Number of tables asked for; rows with other numbers are left out.
        chosen: The setting whose points are drawn larger; None for none.
        marks: Reference values; None for none.
    """
    frame = _with_chosen(zoned.value[zoned.value["tables"] == tables], chosen)
    epsilons, stated = sorted(set(frame["epsilon"])), marks or Marks()
    axis = alt.Axis(format="~g", values=epsilons, labelOverlap=True)
    if stated.guesses:  # a second line for the share of right guesses: numbers alone enter the expression
        shares = ", ".join(f"'{epsilon:g}': '{guess:.1%}'" for epsilon, guess in stated.guesses.items())
        axis.labelExpr = f"[format(datum.value, '~g'), {{{shares}}}[format(datum.value, '~g')] || '']"
    x = alt.X("epsilon:Q", title="ε", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)
    lines, curves = [], _curves(frame, zoned, metric, x, stated.in_sight)
    if stated.limit is not None:
        lines.append(limit(stated.limit).encode(y=_error("limit", metric, zoned.value, stated.in_sight)))
    if _shows_plan(stated, epsilons):
        planned = alt.Chart(pd.DataFrame({"epsilon": [stated.planned]})).mark_rule(strokeWidth=1, color=INK, tooltip=None)
        lines.append(planned.encode(x=x))
    if stated.beside is not None:
        curves += _releases(stated.beside.value, metric, x, _error("low", metric, zoned.value, stated.in_sight))
        zoned = combine(lambda tried, _: tried, zoned, stated.beside)
    return finish(alt.layer(*lines, *curves), zoned, "How does the error fall with epsilon?", height=270)


def _shows_plan(marks: Marks, epsilons: Sequence[float]) -> bool:
    return marks.planned is not None and bool(epsilons) and min(epsilons) <= marks.planned <= max(epsilons)


def reading(zoned: Zoned[pd.DataFrame], tables: int, marks: Marks) -> str:
    """Return sentences on how to read the lines and bands of `by_epsilon`; they may be "" for a sweep on the private table.

    Args:
        zoned: Columns as in `tradeoffs.curves.bands`.
        tables: Number of tables asked for.
        marks: The reference values that are drawn.
    """
    frame = zoned.value[zoned.value["tables"] == tables]
    words = ["Dashed: limit."] if marks.limit is not None else []
    words += ["Upright: plan."] if _shows_plan(marks, sorted(set(frame["epsilon"]))) else []
    words += _band_words(frame)
    words += ["Diamond with a name: a finished release, as measured on its own people; bar: 95%."] if marks.beside is not None else []
    words += ["Below ε: right guesses about one person, at most."] if marks.guesses else []
    return " ".join(words if zoned.zone is Zone.CURATOR else [*words, "Click a point for its tables."])


def by_cost(
    zoned: Zoned[pd.DataFrame], metric: Metric, cost: Cost, tables: int, chosen: Setting | None = None, marks: Marks | None = None
) -> Drawing:
    """Draw the error against what a trial needs, one point for each epsilon, one line per mechanism, and return the chart.

    Args:
        zoned: Columns as in `tradeoffs.curves.bands`.
        metric: The measure of error.
        cost: What a trial needs (time or memory); settings where it is unknown are left out.
        tables: Number of tables asked for; rows with other numbers are left out.
        chosen: The setting whose points are drawn larger; None for none.
        marks: Reference values, of which the limit is drawn; None for none.
    """
    frame = _with_chosen(zoned.value[zoned.value["tables"] == tables], chosen)
    frame = frame[frame[cost.column].notna()]
    in_sight = [] if marks is None or marks.limit is None else [marks.limit]
    frame = frame.assign(needs=frame[cost.column].clip(lower=_LEAST_COST), told=[f"{epsilon:g}" for epsilon in frame["epsilon"]])
    x = alt.X("needs:Q", **_needs(cost, frame["needs"]))
    layers: list[alt.Chart] = [] if not in_sight else [limit(in_sight[0]).encode(y=_error("limit", metric, zoned.value, in_sight))]
    layers += _curves(frame, zoned, metric, x, in_sight, along="epsilon")
    words = alt.Chart(frame).mark_text(align="left", dx=6, dy=-8, fontSize=11, color=INK, tooltip=None)
    layers.append(words.encode(x=x, y=_error("error", metric, zoned.value, in_sight), text="told:N"))
    return finish(alt.layer(*layers), zoned, f"What does less error cost in {cost.title.lower()}?", height=270)


_LEAST_COST, _LEAST_FACTOR = 1e-3, 10
"""Smallest time or memory that is drawn, and the smallest ratio of the ends of an axis of time."""


def by_setting(zoned: Zoned[pd.DataFrame], measure: Metric | Cost, tables: int, chosen: Setting | None = None) -> Drawing:
    """Draw the error, the time or the memory against the values of the swept setting, one curve per epsilon, and return the chart.

    Rows without a value of this setting are left out.

    Args:
        zoned: Columns as in `tradeoffs.curves.bands`, with a swept setting.
        measure: The measure of error, or what a trial needs.
        tables: Number of tables asked for, which at least one row has; rows with other numbers are left out.
        chosen: The setting whose points are drawn larger; None for none.
    """
    every = zoned.value[zoned.value["value"].notna()]
    frame = _with_chosen(every[every["tables"] == tables], chosen)
    frame = frame.assign(series=[f"ε {epsilon:g}" for epsilon in frame["epsilon"]])
    series = [f"ε {epsilon:g}" for epsilon in sorted(set(every["epsilon"]))]
    values, name = sorted(set(frame["value"])), str(frame["setting"].iloc[0])
    scale = alt.Scale(type="log", nice=False, padding=12) if values[0] > 0 else alt.Scale(nice=False, padding=12)
    x = alt.X("value:Q", title=name, scale=scale, axis=alt.Axis(format="~g", values=values, labelOverlap=True))
    if isinstance(measure, Metric):
        y, question = _error("error", measure, every), f"What does {name} do to the error?"
    else:
        frame = frame.assign(needs=frame[measure.column].clip(lower=_LEAST_COST))
        y = alt.Y("needs:Q", **_needs(measure, frame["needs"]))
        question = f"What does {name} cost in {measure.title.lower()}?"
    colour = alt.Color("series:N", scale=alt.Scale(domain=series), legend=_LEGEND)
    shape = alt.Shape("series:N", scale=alt.Scale(domain=series, range=_SHAPES), legend=_LEGEND)
    layers = [alt.Chart(frame).mark_line(strokeWidth=2, tooltip=None).encode(x=x, y=y, color=colour)]
    if isinstance(measure, Metric):
        band = alt.Chart(frame).mark_area(opacity=0.2, tooltip=None)
        layers.insert(0, band.encode(x=x, y=_error("low", measure, every), y2="high:Q", color=colour))
    layers.append(_points(frame, zoned, measure if isinstance(measure, Metric) else None, x, y, colour, shape))
    return finish(alt.layer(*layers), zoned, question, height=240)


def _needs(cost: Cost, values: pd.Series) -> dict[str, Any]:
    """Return the title, scale and axis for the time or the memory that trials need.

    The axis of memory begins at 0, because a part of the memory is the program's own. Time is
    logarithmic, and its axis spans a factor of `_LEAST_FACTOR` or more, so that times that differ
    by chance alone lie close together.

    Args:
        cost: What trials need.
        values: The values; all are known and above 0.
    """
    title = f"{cost.title} ({cost.unit})"
    if cost == MEMORY:
        return {"title": title, "scale": alt.Scale(domainMin=0, padding=16), "axis": alt.Axis(format=",.0f", tickCount=6)}
    low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 1.0)
    wider = max(1.2, math.sqrt(_LEAST_FACTOR * low / high))
    low, high = low / wider, high * wider
    axis = alt.Axis(format=",~g", values=_ticks(low, high), labelOverlap=True)
    return {"title": title, "scale": alt.Scale(type="log", domain=[low, high], nice=False), "axis": axis}


def one_table(
    zoned: Zoned[pd.DataFrame],
    metric: Metric,
    bounded: str = "",
    threshold: float | None = None,
    beside: Zoned[pd.DataFrame] | None = None,
    in_sight: Sequence[float] = (),
) -> Drawing:
    """Draw the error of one table against epsilon, with a thin line for each mechanism, and return the chart.

    For the mechanism `bounded`, the area between its line and AIM's bound is shaded.

    Args:
        zoned: Rows of one table, from `tradeoffs.curves.of_every_setting`, at least one.
        metric: The measure of error (`tradeoffs.curves.of_each`).
        bounded: Title of the mechanism whose bound is shaded; "" for none.
        threshold: Largest acceptable error, as a share of people; None for none.
        beside: Rows of the same table, from `tradeoffs.curves.release_tables`; None for none.
        in_sight: Further errors that the error axis must include, for example of other tables.
    """
    frame = zoned.value
    order, label = list(dict.fromkeys(frame["mechanism"])), str(frame["marginal"].iloc[0])
    epsilons = sorted(set(frame["epsilon"]))
    ends = [epsilons[0], *(epsilon for epsilon in epsilons if epsilon == 1.0), epsilons[-1]]
    axis = alt.Axis(format="~g", values=ends, labelOverlap=True, labelFontSize=11)
    x = alt.X("epsilon:Q", title=None, scale=alt.Scale(type="log", nice=False, padding=8), axis=axis)
    shaded = frame[(frame["mechanism"] == bounded) & frame["bound"].notna()]
    seen = [*in_sight, *shaded["bound"], *([] if threshold is None else [threshold])]
    seen += [] if beside is None else [*beside.value["low"], *beside.value["high"]]

    def y(column: str) -> alt.Y:
        return _error(column, metric, frame, seen, title=None, few=True)

    colour = alt.Color("mechanism:N", scale=alt.Scale(domain=order), legend=None)
    layers = [alt.Chart(shaded).mark_area(opacity=0.18, tooltip=None).encode(x=x, y=y("error"), y2="bound:Q", color=colour)]
    layers += [] if threshold is None else [limit(threshold).encode(y=y("limit"))]
    layers.append(alt.Chart(frame).mark_line(strokeWidth=1.2, tooltip=None).encode(x=x, y=y("error"), color=colour))
    tooltip = hover(mechanism="Mechanism", epsilon=("ε", "~g"), error=(metric.title, ".2%"), low=("Least of the trials", ".2%"))
    tooltip += hover(high=("Most of the trials", ".2%"), bound=("AIM's bound, 95%", ".2%"))
    points = alt.Chart(frame).mark_point(filled=True, opacity=1, size=16)
    layers.append(points.encode(x=x, y=y("error"), color=colour, tooltip=tooltip))
    if beside is not None:
        told = hover(name="Release", epsilon=("ε", "~g"), error=(metric.title, ".2%"), low=("At least", ".2%"), high=("At most", ".2%"))
        dots = alt.Chart(beside.value)
        layers.append(dots.mark_rule(strokeWidth=2, color=INK, tooltip=None).encode(x=x, y=y("low"), y2="high:Q"))
        layers.append(dots.mark_point(filled=True, opacity=1, size=60, color=INK).encode(x=x, y=y("error"), tooltip=told))
        zoned = combine(lambda tried, _: tried, zoned, beside)
    cells = f"{int(frame['cells'].iloc[0]):,} cells."
    drawing = finish(alt.layer(*layers), zoned, f"{label}: how far off?", cells, height=130)
    drawing.title.fontSize, drawing.title.offset = 13, 8
    return drawing


def _releases(frame: pd.DataFrame, metric: Metric, x: alt.X, low: alt.Y) -> list[alt.Chart]:
    """Draw finished releases with their intervals and names, which are hostile text and enter as data.

    Args:
        frame: The frame of `tradeoffs.curves.release_points`.
        metric: The measure of error.
        x: The axis of epsilon.
        low: The error axis, for the lower ends of intervals.
    """
    tooltip = hover(name="Release", epsilon=("ε", "~g"), error=(metric.title, ".2%"), low=("At least", ".2%"), high=("At most", ".2%"))
    base = alt.Chart(frame)
    bars = base.mark_rule(strokeWidth=3, color=INK).encode(x=x, y=low, y2="high:Q", tooltip=tooltip)
    words = base.mark_text(align="left", dx=10, color=INK, fontSize=12, limit=190, tooltip=None)
    points = base.mark_point(shape="diamond", filled=True, opacity=1, size=130, color=INK).encode(x=x, y=alt.Y("error:Q"), tooltip=tooltip)
    return [bars, points, words.encode(x=x, y=alt.Y("error:Q"), text="name:N")]


def _band_words(frame: pd.DataFrame) -> list[str]:
    repeats = int(frame["repeats"].max()) if len(frame) else 0
    of_repeats = f"least and most of {repeats} repeats" if repeats > 1 else ""
    if len(frame) and frame["weakest"].min() < frame["strongest"].max():
        return [f"Band: weakly to strongly related columns{f', {of_repeats}' if of_repeats else ''}."]
    return [f"Band: {of_repeats}."] if of_repeats else []


def by_tables(zoned: Zoned[pd.DataFrame], metric: Metric, epsilon: float, chosen: Setting | None = None) -> Drawing:
    """Draw the error against the number of tables asked for, one curve per mechanism, and return the chart.

    Args:
        zoned: Columns as in `tradeoffs.curves.bands`.
        metric: The measure of error.
        epsilon: The epsilon drawn; rows with other values are left out.
        chosen: The setting whose points are drawn larger; None for none.
    """
    frame = _with_chosen(zoned.value[zoned.value["epsilon"] == epsilon], chosen)
    axis = alt.Axis(format=",d", values=sorted(set(frame["tables"])), labelOverlap=True)
    x = alt.X("tables:Q", title="Tables asked for (number)", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)
    title = "What does it cost to ask for more tables?"
    return finish(alt.layer(*_curves(frame, zoned, metric, x)), zoned, title, f"At ε = {epsilon:g}.", height=240)


def tables_of(zoned: Zoned[pd.DataFrame], metric: Metric, *, show: int = 12) -> Drawing:
    """Draw the tables with the largest errors at one setting, the largest on top, and return the chart.

    Args:
        zoned: Columns as in `tradeoffs.curves.of_tables`, for the same metric.
        metric: The measure of error.
        show: Number of tables drawn.
    """
    frame = zoned.value.head(show)
    order = frame["marginal"].tolist()
    y = alt.Y("marginal:N", sort=order, title=None, axis=alt.Axis(labelLimit=names_limit(190), labelOverlap=False))
    axis = alt.Axis(format="~%", tickCount=5, orient="top")
    tooltip = hover(marginal="Table", error=(metric.title, ".2%"))
    tooltip += hover(low=("Least of the trials", ".2%"), high=("Most of the trials", ".2%"), cells=("Cells", ","))
    colour = ALERT if zoned.zone is Zone.CURATOR else STRONG
    x = alt.X("error:Q", title=metric.axis, axis=axis, scale=alt.Scale(domainMin=0))
    bars = alt.Chart(frame).mark_bar(height=9, cornerRadius=2, color=colour, opacity=0.75).encode(y=y, x=x, tooltip=tooltip)
    spread = alt.Chart(frame).mark_rule(strokeWidth=1.5, color=colour).encode(y=y, x=alt.X("low:Q"), x2="high:Q", tooltip=tooltip)
    more = len(zoned.value) - len(frame)
    caption = f"The worst {len(frame)} of {len(zoned.value):,}." if more > 0 else ""
    return finish(alt.layer(bars, spread), zoned, "Which tables come out worst?", caption, height=alt.Step(20))


def _with_chosen(frame: pd.DataFrame, chosen: Setting | None) -> pd.DataFrame:
    if chosen is None:
        return frame.assign(chosen=False)
    same = (frame["mechanism"] == chosen.mechanism) & (frame["epsilon"] == chosen.epsilon) & (frame["tables"] == chosen.tables)
    return frame.assign(chosen=same)


def _curves(
    frame: pd.DataFrame, zoned: Zoned[pd.DataFrame], metric: Metric, x: alt.X, in_sight: Sequence[float] = (), along: str = ""
) -> list[alt.Chart]:
    """Draw each setting's mean error as a line with points, and a band from least to largest error.

    Args:
        frame: The settings to draw.
        zoned: The whole sweep, whose mechanisms fix the colours.
        metric: The measure of error.
        x: The horizontal axis.
        in_sight: Further errors that the error axis must include.
        along: Column in whose order a line joins its points; "" for the order of the horizontal
            axis. With another order there is an upright line for each point instead of a band.
    """
    mechanisms = list(dict.fromkeys(zoned.value["mechanism"]))
    colour = alt.Color("mechanism:N", scale=alt.Scale(domain=mechanisms), legend=_LEGEND)
    shape = alt.Shape("mechanism:N", scale=alt.Scale(domain=mechanisms, range=_SHAPES), legend=_LEGEND)
    low, mean = (_error(column, metric, zoned.value, in_sight) for column in ("low", "error"))
    base = alt.Chart(frame)
    spread = base.mark_rule(opacity=0.5, tooltip=None) if along else base.mark_area(opacity=0.25, tooltip=None)
    band, line = spread.encode(x=x, y=low, y2="high:Q", color=colour), base.mark_line(strokeWidth=2, tooltip=None)
    line = line.encode(x=x, y=mean, color=colour, **({"order": alt.Order(f"{along}:Q")} if along else {}))
    return [band, line, _points(frame, zoned, metric, x, mean, colour, shape)]


def _points(
    frame: pd.DataFrame, zoned: Zoned[pd.DataFrame], metric: Metric | None, x: alt.X, y: alt.Y, colour: alt.Color, shape: alt.Shape
) -> alt.Chart:
    """Draw the points of settings, which can be clicked, except in curator-only charts, which are pictures.

    Args:
        frame: The settings to draw.
        zoned: The whole sweep.
        metric: The measure of error that tooltips state; None for none.
        x: The horizontal axis.
        y: The vertical axis.
        colour: The colours.
        shape: The shapes.
    """
    tooltip = hover(mechanism="Mechanism", epsilon=("ε", "~g"), tables=("Tables asked for", ","))
    if metric is not None:
        form = ".2%" if metric.percent else ".3f"
        tooltip += hover(error=(metric.title, form), low=("Least of the trials", form), high=("Most of the trials", form))
    tooltip += hover(cpu_seconds=("Processor seconds", ",.2f"), memory_mb=("Memory (MB)", ",.0f"), measured=("Noisy tables taken", ",.0f"))
    size = alt.condition("datum.chosen", alt.value(190), alt.value(70))
    points = alt.Chart(frame).mark_point(filled=True, opacity=1, strokeWidth=2.5)
    points = points.encode(x=x, y=y, color=colour, shape=shape, size=size, tooltip=tooltip)
    if zoned.zone is not Zone.CURATOR:
        fields = ["mechanism", "epsilon", "tables"]
        points = points.add_params(alt.selection_point(TRIED, fields=fields, on="click", nearest=True, clear=False, empty=True))
    return points


_AXIS_TITLE = "of the metric"


def _error(
    column: str, metric: Metric, frame: pd.DataFrame, in_sight: Sequence[float] = (), title: str | None = _AXIS_TITLE, few: bool = False
) -> alt.Y:
    """Return the logarithmic error axis for a column. All charts of a sweep share its range.

    Args:
        column: The column of the frame: "low", "error" or "limit".
        metric: The measure of error.
        frame: The whole sweep.
        in_sight: Further errors that the axis must include.
        title: The title; None for none.
        few: Whether the axis has room for a few ticks only.
    """
    errors = [float(frame["low"].min()), float(frame["high"].max()), *in_sight]
    low, high = min(errors), max(errors)
    floor = max(low, 1e-6) * 0.9
    top = max(high, floor) * 1.1
    scale = alt.Scale(type="log", domain=[floor, top], nice=False, clamp=True)
    ticks = _ticks(floor, top, (1,) if few and top / floor > 20 else (1, 3) if few else ())
    axis = alt.Axis(format="~%" if metric.percent else "~g", values=ticks, labelOverlap=True)
    return alt.Y(f"{column}:Q", title=metric.axis if title == _AXIS_TITLE else title, scale=scale, axis=axis)


def _ticks(low: float, high: float, digits: Sequence[float] = ()) -> list[float]:
    """Return round numbers from `low` to `high`, a handful: an automatic logarithmic axis draws nine lines a decade.

    Args:
        low: The lower end, above 0.
        high: The upper end.
        digits: First digits of the numbers; empty for as many as there is room for.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    chosen = digits or ((1, 2, 5) if high / low > 20 else (1, 1.5, 2, 3, 4, 5, 7))
    ticks = [float(f"{digit}e{power}") for power in powers for digit in chosen]
    return [tick for tick in ticks if low <= tick <= high]
