"""The charts of the report as SVG: drawn here, because the report has to work offline, without scripts, on paper and in ten years.

Released values only, as plain frames. Texts are escaped. Colours come from the page's style, so that dark screens and paper work.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.visible import shortened, visible
from dpsynth_core.statistics.distances import percent

if TYPE_CHECKING:
    import pandas as pd

_SHADES = 5
"""Steps of the map's colours; each has its own text in the legend, so that colour is never the only sign."""


def escape(text: str) -> str:
    """Escape a text for HTML, with a space for each invisible character: some reverse the direction of later text."""
    return html.escape(visible(text))


def tradeoff(fpr: NDArray[np.float64], tpr: NDArray[np.float64], marks: Sequence[tuple[float, float]]) -> str:
    """Draw the attacker's trade-off curve over the diagonal of guessing, as SVG.

    Args:
        fpr: False positive rates of the curve, ascending.
        tpr: The true positive rate for each.
        marks: Points (false positive rate, true positive rate) to mark and state in words.
    """
    left, top, side = 60, 14, 240

    def at(x: float, y: float) -> str:
        return f"{left + side * x:.1f},{top + side * (1 - y):.1f}"

    line = " ".join(at(float(x), float(y)) for x, y in zip(fpr, tpr, strict=True))
    parts = [f'<polygon class="area" points="{at(1, 0)} {at(0, 0)} {line}"/>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = left + side * share, top + side * (1 - share)
        parts += [
            f'<line class="grid" x1="{left}" x2="{left + side}" y1="{y}" y2="{y}"/>',
            written(left - 6, y + 4, f"{share:.0%}", "end"),
            written(x, top + side + 16, f"{share:.0%}", "middle"),
        ]
    (x1, y1), (x2, y2) = (at(share, share).split(",") for share in (0, 1))
    parts.append(f'<line class="chance" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')
    parts.append(f'<polyline class="curve" points="{line}"/>')
    for number, (x, y) in enumerate(marks):
        cx, cy = at(x, y).split(",")
        parts.append(f'<circle class="mark" cx="{cx}" cy="{cy}" r="4"/>')
        parts.append(written(left + side + 14, top + 20 + 20 * number, f"at {x:.0%}: finds at most {y:.1%}"))
    parts.append(written(left + side + 14, top + 20 + 20 * len(marks), "dashed: guessing"))
    parts.append(written(left + side / 2, top + side + 34, "others wrongly accused", "middle"))
    parts.append(f'<text transform="translate(14 {top + side / 2}) rotate(-90)" text-anchor="middle">members found</text>')
    points = ", ".join(f"at {x:.0%} wrongly accused at most {y:.1%} found" for x, y in marks)
    return drawn(left + side + 190, top + side + 42, f"The best possible attacker: {points}.", parts)


def pair_map(pairs: pd.DataFrame) -> str:
    """Draw the upper bounds of two-way errors as a map of column pairs, as SVG.

    The diagonal has the single columns.

    Args:
        pairs: The frame of `quality.pair_map`; bounds are shares of people, NaN if unknown.
    """
    names = list(dict.fromkeys(pairs["row"]))
    side = max(9, min(26, 520 // max(1, len(names))))
    left, top = 150, 96
    finite = pairs["limit"].dropna()  # upper ends of the shades: quantiles of what occurs, at readable numbers
    ends = (np.ceil(1000 * finite.quantile((i + 1) / _SHADES)) / 1000 for i in range(_SHADES if len(finite) else 0))
    steps = sorted(set(map(float, ends)))
    parts = []
    for i, name in enumerate(names):
        middle = side * (i + 0.5)
        parts.append(written(left - 6, top + middle + 4, shortened(name, 20), "end"))
        parts.append(f'<text transform="translate({left + middle + 4:.1f} {top - 6}) rotate(-60)">{escape(shortened(name, 16))}</text>')
    position = {name: i for i, name in enumerate(names)}
    cell: Any
    for cell in pairs.itertuples():
        x, y = left + side * position[cell.column], top + side * position[cell.row]
        reading = "not known" if math.isnan(cell.limit) else f"at most {percent(cell.limit)}"
        shade = next((f"shade{i}" for i, end in enumerate(steps) if cell.limit <= end + 1e-12), "unknown")
        parts.append(
            f'<rect class="{shade}" x="{x}" y="{y}" width="{side - 1}" height="{side - 1}">'
            f"<title>{escape(str(cell.row))} × {escape(str(cell.column))}: {reading} ({escape(cell.basis)})</title></rect>"
        )
    x = left + side * len(names) + 24
    legend = [*((f"shade{i}", f"≤ {percent(end)}") for i, end in enumerate(steps)), ("unknown", "not known")]
    for number, (shade, words) in enumerate(legend):
        parts.append(f'<rect class="{shade}" x="{x}" y="{top + 22 * number}" width="14" height="14"/>')
        parts.append(written(x + 20, top + 22 * number + 11, words))
    height = top + max(side * len(names), 22 * len(legend)) + 8
    return drawn(x + 170, height, "How far off each pair of columns may be; the stronger the colour, the closer.", parts)


def written(x: float, y: float, words: str, anchor: str = "start") -> str:
    """Return an SVG text element.

    Args:
        x: Position of the text's anchor from the left, in pixels.
        y: Position of its base line from the top, in pixels.
        words: The text, which is escaped here.
        anchor: The part of the text at the point: start, middle or end.
    """
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def drawn(width: float, height: float, label: str, parts: Iterable[str]) -> str:
    """Return the complete SVG element.

    Args:
        width: Width in pixels.
        height: Height in pixels.
        label: The description for readers who cannot see the picture; it is escaped here.
        parts: The elements of the picture, as SVG text that needs no escaping.
    """
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
    return f'<svg {size} role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
