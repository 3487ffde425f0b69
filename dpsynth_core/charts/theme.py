"""What all charts of the app share: sizes, quiet colours that read on light and dark, the zone in the caption, the watermark.

A chart is drawn only from a zone-tagged frame. Series colours are left to the palette of the app's theme (`range: category` and
`range: ramp`), so that light and dark each get their own; what that theme does not colour (text, rules, captions) is drawn in
one grey with a contrast above 3.5:1 on both backgrounds. Cells and column names are hostile text: they enter a chart as data values
or as literal strings, never as field names or expressions.
"""

from __future__ import annotations

import altair as alt
import pandas as pd

from dpsynth_core.zones import Zone, Zoned

INK = "#747e8c"
ALERT = "#d55e00"
LABEL_LIMIT = 170

ZONE_CAPTION = {
    Zone.PUBLIC: "Public: known without the private table.",
    Zone.RELEASED: "Released: differentially private, may be published.",
    Zone.CURATOR: "CURATOR-ONLY: exact private values. Do not publish, save or share.",
}


def literal(text: object) -> str:
    """Text from a column name or a cell as one line that is drawn and nothing else, shortened to what fits a title."""
    line = " ".join(str(text).split())
    return line if len(line) <= 60 else line[:57] + "…"


def finish(
    chart: alt.Chart | alt.LayerChart, zoned: Zoned[pd.DataFrame], title: str, caption: str = "", *, height: int | alt.Step = 260
) -> alt.Chart | alt.LayerChart:
    """Title (a question or an answer), caption with the zone, watermark when the values are curator-only.

    The caption and the watermark are part of the chart, so that a picture saved from its menu carries them.
    """
    if zoned.zone is Zone.CURATOR:
        chart = alt.layer(chart, *_watermark())
    lines = [line for line in (caption, ZONE_CAPTION[zoned.zone]) if line]
    colour = ALERT if zoned.zone is Zone.CURATOR else INK
    heading = alt.TitleParams(
        text=literal(title),
        subtitle=lines,
        subtitleColor=colour,
        subtitleFontSize=12,
        subtitlePadding=6,
        offset=14,
        fontSize=15,
        fontWeight=600,
    )
    axes = {"labelLimit": LABEL_LIMIT, "titleFontSize": 12, "labelFontSize": 12, "titlePadding": 8, "labelPadding": 6}
    return (
        chart.properties(title=heading, height=height, description=f"{title}. {' '.join(lines)}")
        .configure_axis(**axes)
        .configure_legend(orient="top", direction="horizontal", title=None, labelFontSize=12, labelLimit=320, offset=4, padding=0)
        .configure_view(strokeWidth=0)
    )


def _watermark() -> list[alt.Chart]:
    """The words across the plotting area, twice, in the alert colour and translucent."""
    words = alt.Chart(pd.DataFrame({"words": ["CURATOR-ONLY · NOT PRIVATE"]}))
    style = {"fontSize": 22, "fontWeight": 700, "color": ALERT, "opacity": 0.3, "angle": 340, "tooltip": None}
    return [
        words.mark_text(**style).encode(
            text="words:N", x=alt.value(alt.ExprRef("width / 2")), y=alt.value(alt.ExprRef(f"height * {share}"))
        )
        for share in (0.3, 0.75)
    ]
