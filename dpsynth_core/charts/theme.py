"""Parts that all charts share: sizes, colours that read on light and dark, the zone in the caption, the watermark.

A chart is drawn from a zone-tagged frame alone. The palette of the app's theme (`range: category` and `range: ramp`) colours the series,
so that light and dark have their own colours. Text, rules and captions, which the theme does not colour, are drawn in one grey with a
contrast above 3.5:1 on both backgrounds. Cells and column names are hostile text: they enter a chart as data values or as literal strings,
never as field names or expressions.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TypeAlias

import altair as alt
import pandas as pd

from dpsynth_core.foundation.zones import Zone, Zoned

Drawing: TypeAlias = "alt.Chart | alt.LayerChart"

INK = "#747e8c"
ALERT = "#d55e00"
STRONG, MIDDLE, FAINT = "#2f7fc4", "#7fb2dc", "#9aa4b238"
"""Colours for yes, partly and no. They differ in lightness alone, on white and on near-black."""
LABEL_LIMIT = 170
TITLE_WIDTH, CAPTION_WIDTH = 38, 52
"""Number of characters of a line that a phone shows uncut."""
WIDE_TITLE_WIDTH, _WIDE = 64, 520
"""Number of characters of a title's line in a chart of at least so many pixels."""
SHORT_TITLE, LONG_TITLE = "title_short", "title_long"
"""Parameters of a chart with the lines of its title. A column's name in it is a value there, and no part of an expression."""

ZONE_CAPTION = {
    Zone.PUBLIC: ("Public: known without the private table.",),
    Zone.RELEASED: ("Released: differentially private.",),
    Zone.CURATOR: ("CURATOR-ONLY: exact private values.", "Do not publish, save or share."),
}


_CONFIG = alt.Config(
    axis=alt.AxisConfig(labelLimit=LABEL_LIMIT, titleFontSize=12, labelFontSize=12, titlePadding=8, labelPadding=6),
    legend=alt.LegendConfig(
        orient="top", direction="horizontal", columns=2, title=None, labelFontSize=12, labelLimit=320, offset=6, padding=0
    ),
    view=alt.ViewConfig(strokeWidth=0),
)


def finish(chart: Drawing, zoned: Zoned[pd.DataFrame], title: str, caption: str = "", *, height: int | alt.Step = 260) -> Drawing:
    """Add title, caption, zone and watermark to a chart.

    Caption and watermark are part of the chart, so that a picture saved from its menu carries them.

    Args:
        chart: The chart to complete; it is changed in place unless a watermark is added.
        zoned: The frame that was drawn; its zone decides about the watermark, which curator-only
            charts get.
        title: A question or an answer.
        caption: Text below the title, of one or more lines; the zone is added to it. Long lines are wrapped.
        height: Height of the chart in pixels; an `alt.Step` is the height per row.

    Returns:
        The completed chart.
    """
    if zoned.zone is Zone.CURATOR:
        chart = alt.layer(chart, *_watermark())
    wrapped = (part for line in caption.splitlines() for part in wrap(line, CAPTION_WIDTH, break_on_hyphens=False))
    lines = [*wrapped, *ZONE_CAPTION[zoned.zone]]
    colour = ALERT if zoned.zone is Zone.CURATOR else INK
    below = {"subtitle": lines, "subtitleColor": colour, "subtitleFontSize": 12, "subtitlePadding": 6}
    short, long = (wrap(title, width, break_on_hyphens=False) for width in (TITLE_WIDTH, WIDE_TITLE_WIDTH))
    shown = short if short == long else alt.ExprRef(f"width < {_WIDE} ? {SHORT_TITLE} : {LONG_TITLE}")
    heading = alt.TitleParams(shown, offset=12, fontSize=15, fontWeight=600, **below)
    top = {
        "title": heading,
        "height": height,
        "autosize": alt.AutoSizeParams(type="fit-x", contains="padding"),
        "description": f"{title} {' '.join(lines)}",
        "usermeta": {"embedOptions": {"renderer": "svg"}},  # also with thousands of marks: the drawing itself can be saved
        "config": _CONFIG,
    }
    if short != long:
        own = [] if chart.params is alt.Undefined else chart.params
        both = ((SHORT_TITLE, short), (LONG_TITLE, long))
        chart.params = [*own, *(alt.VariableParameter(name=name, value=said) for name, said in both)]
    for name, value in top.items():
        chart[name] = value  # Altair's chained calls would copy all layers at each link, which takes most of a chart's time
    return chart


def names_limit(most: int) -> alt.ExprRef:
    """Return the largest width of table names in pixels: `most`, or 140 on a phone.

    Longer names would leave no room for the bars there.
    """
    return alt.ExprRef(f"windowSize()[0] < 500 ? 140 : {most}")


def hover(**told: str | tuple[str, str]) -> list[alt.Tooltip]:
    """Return the tooltips of a mark.

    Args:
        **told: For each column of the chart's frame, a title if its values are texts, or a pair of title and
            format if they are numbers.
    """
    return [
        alt.Tooltip(f"{column}:N", title=words) if isinstance(words, str) else alt.Tooltip(f"{column}:Q", title=words[0], format=words[1])
        for column, words in told.items()
    ]


def square(order: list[str]) -> tuple[alt.X, alt.Y]:
    """Return the axes of a map of pairs of columns, across and down in the same order.

    The frame has the names in its columns `column` and `row`.
    """
    shared = {"sort": order, "title": None, "scale": alt.Scale(paddingInner=0.05)}
    labels = {"labelLimit": 120, "labelOverlap": False}
    return alt.X("column:N", axis=alt.Axis(labelAngle=-45, **labels), **shared), alt.Y("row:N", axis=alt.Axis(**labels), **shared)


def gradient(form: str) -> alt.Legend:
    """Return the legend of a colour scale for numbers.

    Args:
        form: The format of the numbers in the notation of d3-format, such as ",d" or "~%".
    """
    return alt.Legend(type="gradient", gradientLength=160, gradientThickness=8, tickCount=3, format=form)


def limit(value: float) -> alt.Chart:
    """Return a dashed line at `value`, the curator's limit, in a column `limit`; the caller sets the axis."""
    return alt.Chart(pd.DataFrame({"limit": [value]})).mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=INK, tooltip=None)


def _watermark() -> list[alt.Chart]:
    """Return the watermark of curator-only charts: two translucent lines of text across the plot.

    The text is smaller if long labels leave less room.
    """
    words = alt.Chart(pd.DataFrame({"words": ["CURATOR-ONLY · NOT PRIVATE"]}))
    size = alt.ExprRef("clamp(width / 13, 11, 20)")
    style = {"fontSize": size, "fontWeight": 700, "color": ALERT, "opacity": 0.4, "angle": 340, "tooltip": None}
    across, down = alt.value(alt.ExprRef("width / 2")), (alt.value(alt.ExprRef(f"height * {share}")) for share in (0.27, 0.73))
    return [words.mark_text(**style).encode(text="words:N", x=across, y=y) for y in down]
