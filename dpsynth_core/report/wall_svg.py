"""The columns of a release as small pictures for the report: one SVG for each, laid out by the page's style, without a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpsynth_core.evaluation.standing import GOOD, ODD, POOR, UNKNOWN, Standing
from dpsynth_core.foundation.visible import shortened
from dpsynth_core.report.svg import escape
from dpsynth_core.statistics.distances import percent

if TYPE_CHECKING:
    import pandas as pd

MOST_DRAWN = 60
"""Pictures that a report has room for; a kilobyte each."""
_WIDTH, _TOP, _FLOOR, _HEIGHT = 150, 24, 96, 122
_INSIDE, _LETTERS = 128, 16
_STYLES = {GOOD: "good", POOR: "odd", ODD: "odd", UNKNOWN: "open"}


def wall(bars: pd.DataFrame, standings: Sequence[Standing]) -> str:
    """Return the pictures of columns as HTML, in the order of their standings.

    Args:
        bars: The frame of `evaluation.wall.bars` for these columns.
        standings: The standing of each.
    """
    of_column = dict(list(bars.groupby("column", sort=False)))
    return f'<div class="wall">{"".join(_picture(one, of_column.get(one.column)) for one in standings)}</div>'


def _picture(standing: Standing, bars: pd.DataFrame | None) -> str:
    limit = "error not known" if standing.limit != standing.limit else f"at most {percent(standing.limit)} in the wrong group"
    label = escape(f"{standing.column}: {standing.why or standing.kind}, {limit}")
    parts = [f'<rect class="edge" width="4" height="{_HEIGHT}"/><text x="12" y="16">{escape(shortened(standing.column, _LETTERS))}</text>']
    if bars is not None:
        for outside, style in ((False, "bars"), (True, "rest")):
            boxes = bars[bars["outside"].astype(bool) == outside]
            path = "".join(map(_box, boxes["left"], boxes["right"], boxes["height"]))
            parts.append(f'<path class="{style}" d="{path}"/>' if path else "")
        noisy = bars[bars["high"].notna()]
        lines = "".join(map(_line, (noisy["left"] + noisy["right"]) / 2, noisy["low"], noisy["high"]))
        parts.append(f'<path class="noise" d="{lines}"/>' if lines else "")
    parts.append(f'<text class="told" x="12" y="{_HEIGHT - 8}">{escape(standing.caption)}</text>')
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" class="{_STYLES[standing.kind]}"'
    return f'<svg {size} role="img" aria-label="{label}"><title>{label}</title>{"".join(parts)}</svg>'


def _box(left: float, right: float, height: float) -> str:
    """Return the path of a bar from shares of the picture, at least one unit wide; "" for a bar without a height."""
    x, up = 12 + _INSIDE * left, (_FLOOR - _TOP) * height
    wide = max(1.0, _INSIDE * (right - left))
    return f"M{x:.1f} {_FLOOR}v{-up:.1f}h{wide:.1f}v{up:.1f}z" if up >= 0.05 else ""


def _line(middle: float, low: float, high: float) -> str:
    x, first, last = 12 + _INSIDE * middle, _FLOOR - (_FLOOR - _TOP) * low, _FLOOR - (_FLOOR - _TOP) * high
    return f"M{x:.1f} {first:.1f}V{last:.1f}"
