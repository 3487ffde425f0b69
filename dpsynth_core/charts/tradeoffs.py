"""Charts of a sweep: error against epsilon, error against the number of tables, and the error of each table.

Colour and shape of points tell mechanisms apart. Both axes are logarithmic, so that a power law is a straight line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import ALERT, INK, STRONG, Drawing, finish, hover, limit, names_limit
from dpsynth_core.foundation.zones import Zone, Zoned, combine
from dpsynth_core.tradeoffs.curves import Metric, Setting

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
        """The errors that the error axis must include: the limit, and the intervals of the releases."""
        measured = [] if self.beside is None else [*self.beside.value["low"], *self.beside.value["high"]]
        return measured if self.limit is None else [*measured, self.limit]


_LEGEND = alt.Legend(symbolOpacity=1)
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "triangle-right"]


def by_epsilon(
    zoned: Zoned[pd.DataFrame], metric: Metric, tables: int, chosen: Setting | None = None, marks: Marks | None = None
) -> Drawing:
    """Draw the error against epsilon, one curve per mechanism.

    Args:
        zoned: Columns as in `tradeoffs.curves.bands`.
        metric: The measure of error.
        tables: Number of tables asked for; rows with other numbers are left out.
        chosen: The setting whose points are drawn larger.
        marks: Reference values.
    """
    frame = _with_chosen(zoned.value[zoned.value["tables"] == tables], chosen)
    epsilons, stated = sorted(set(frame["epsilon"])), marks or Marks()
    axis = alt.Axis(format="~g", values=epsilons, labelOverlap=True)
    if stated.guesses:  # a second line for the share of right guesses: numbers alone enter the expression
        shares = ", ".join(f"'{epsilon:g}': '{guess:.1%}'" for epsilon, guess in stated.guesses.items())
        axis.labelExpr = f"[format(datum.value, '~g'), {{{shares}}}[format(datum.value, '~g')] || '']"
    x = alt.X("epsilon:Q", title="ε", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)
    lines, curves, words = [], _curves(frame, zoned, metric, x, stated.in_sight), []
    if stated.limit is not None:
        lines.append(limit(stated.limit).encode(y=_error("limit", metric, zoned.value, stated.in_sight)))
        words.append("Dashed: your limit.")
    if stated.planned is not None and epsilons and epsilons[0] <= stated.planned <= epsilons[-1]:
        planned = alt.Chart(pd.DataFrame({"epsilon": [stated.planned]})).mark_rule(strokeWidth=1, color=INK, tooltip=None)
        lines.append(planned.encode(x=x))
        words.append("Upright: your plan.")
    words += [] if zoned.zone is Zone.CURATOR else ["Click a point to see its tables."]
    captions = [" ".join(words), *_band_words(frame)]
    if stated.beside is not None:
        curves += _releases(stated.beside.value, metric, x, _error("low", metric, zoned.value, stated.in_sight))
        zoned = combine(lambda tried, _: tried, zoned, stated.beside)
        captions.append("Diamond with a name: a finished release, as measured on its own people; bar: 95%.")
    captions += ["Below each ε: how often a guess about one person is right, at most."] if stated.guesses else []
    return finish(alt.layer(*lines, *curves), zoned, "How does the error fall with epsilon?", "\n".join(filter(None, captions)), height=270)


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
        return [f"Band: from weakly to strongly related columns{f', {of_repeats}' if of_repeats else ''}; line: in the middle."]
    return [f"Band: {of_repeats}."] if of_repeats else []


def by_tables(zoned: Zoned[pd.DataFrame], metric: Metric, epsilon: float, chosen: Setting | None = None) -> Drawing:
    """Draw the error against the number of tables asked for, one curve per mechanism.

    Args:
        zoned: Columns as in `tradeoffs.curves.bands`.
        metric: The measure of error.
        epsilon: The epsilon drawn; rows with other values are left out.
        chosen: The setting whose points are drawn larger.
    """
    frame = _with_chosen(zoned.value[zoned.value["epsilon"] == epsilon], chosen)
    axis = alt.Axis(format=",d", values=sorted(set(frame["tables"])), labelOverlap=True)
    x = alt.X("tables:Q", title="Tables asked for (number)", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)
    title = "What does it cost to ask for more tables?"
    return finish(alt.layer(*_curves(frame, zoned, metric, x)), zoned, title, f"At ε = {epsilon:g}.", height=240)


def tables_of(zoned: Zoned[pd.DataFrame], metric: Metric, *, show: int = 12) -> Drawing:
    """Draw the tables with the largest errors at one setting.

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


def _curves(frame: pd.DataFrame, zoned: Zoned[pd.DataFrame], metric: Metric, x: alt.X, in_sight: Sequence[float] = ()) -> list[alt.Chart]:
    """Draw the mean error of each setting as a line with points, and a band from the least to the largest.

    Points can be clicked, except in curator-only charts, which are pictures.

    Args:
        frame: The settings to draw.
        zoned: The whole sweep, whose mechanisms fix the colours.
        metric: The measure of error.
        x: The horizontal axis.
        in_sight: Further errors that the error axis must include.
    """
    mechanisms = list(dict.fromkeys(zoned.value["mechanism"]))
    colour = alt.Color("mechanism:N", scale=alt.Scale(domain=mechanisms), legend=_LEGEND)
    low, mean = (_error(column, metric, zoned.value, in_sight) for column in ("low", "error"))
    band = alt.Chart(frame).mark_area(opacity=0.25, tooltip=None).encode(x=x, y=low, y2="high:Q", color=colour)
    line = alt.Chart(frame).mark_line(strokeWidth=2, tooltip=None).encode(x=x, y=mean, color=colour)
    form = ".2%" if metric.percent else ".3f"
    tooltip = hover(mechanism="Mechanism", epsilon=("ε", "~g"), tables=("Tables asked for", ","), error=(metric.title, form))
    tooltip += hover(low=("Least of the trials", form), high=("Most of the trials", form))
    tooltip += hover(seconds=("Seconds", ",.1f"), measured=("Noisy tables taken", ",.0f"))
    shape = alt.Shape("mechanism:N", scale=alt.Scale(domain=mechanisms, range=_SHAPES), legend=_LEGEND)
    look = {"shape": shape, "size": alt.condition("datum.chosen", alt.value(190), alt.value(70)), "tooltip": tooltip}
    points = alt.Chart(frame).mark_point(filled=True, opacity=1, strokeWidth=2.5).encode(x=x, y=mean, color=colour, **look)
    if zoned.zone is not Zone.CURATOR:
        fields = ["mechanism", "epsilon", "tables"]
        points = points.add_params(alt.selection_point(TRIED, fields=fields, on="click", nearest=True, clear=False, empty=True))
    return [band, line, points]


def _error(column: str, metric: Metric, frame: pd.DataFrame, in_sight: Sequence[float] = ()) -> alt.Y:
    """Return the logarithmic error axis for a column. All charts of a sweep share its range.

    Args:
        column: The column of the frame: "low", "error" or "limit".
        metric: The measure of error.
        frame: The whole sweep.
        in_sight: Further errors that the axis must include.
    """
    errors = [float(frame["low"].min()), float(frame["high"].max()), *in_sight]
    low, high = min(errors), max(errors)
    floor = max(low, 1e-6) * 0.9
    top = max(high, floor) * 1.1
    scale = alt.Scale(type="log", domain=[floor, top], nice=False, clamp=True)
    # a handful of round ticks: an automatic logarithmic axis draws nine lines a decade
    powers = range(math.floor(math.log10(floor)), math.ceil(math.log10(top)) + 1)
    digits = (1, 2, 5) if top / floor > 20 else (1, 1.5, 2, 3, 4, 5, 7)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
    shown = [tick for tick in ticks if floor <= tick <= top]
    axis = alt.Axis(format="~%" if metric.percent else "~g", values=shown, labelOverlap=True)
    return alt.Y(f"{column}:Q", title=metric.axis, scale=scale, axis=axis)
