"""Every column of a release as a small picture: its bars, the noise of what was measured, and its standing.

A picture is a frame of bars whose places are shares of its width and height, so that the page and the report draw the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.evaluation.comparison import group, is_ordered
from dpsynth_core.evaluation.histogram import histogram
from dpsynth_core.foundation.zones import Zoned, combine
from dpsynth_core.statistics.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd

BARS_SHOWN = 24
"""Bars that a small picture has room for."""
_BESIDE, _GAP = 0.07, 0.03
"""Width of the bar of other or missing values beside an axis of numbers, and of the gap before it."""
_SLOTS, _FILLED = 4, 0.85
"""The least number of places of bars without an axis, and the part of a place that a bar fills."""

_PICTURE = ("cell", "count", "left", "right", "height", "low", "high", "outside", "stick")

Float = NDArray[np.float64]


def bars(evidence: Zoned[Evidence], columns: Sequence[str]) -> Zoned[pd.DataFrame]:
    """Return the bars of some columns, from released values.

    A column has at most 24 bars (`BARS_SHOWN`), for which its cells are grouped.

    Args:
        evidence: The released rows and measurements.
        columns: The names of the columns, in the order of their pictures.

    Returns:
        One row per bar: column, place (of the column in `columns`, from 0), cell (label), count (people; of
        the rows, or as measured without rows), left and right (shares of the picture's width),
        height (share of its height), low and high (the 95 % interval of the noisy count on the same
        scale, NaN where it was not measured), outside (of other or missing values), and stick (too
        narrow for a width). The area of a bar of numbers is in proportion to its count, except for
        a stick. A column without any released count has no bars.
    """
    return combine(lambda known: _bars(known, columns), evidence)


def _bars(evidence: Evidence, columns: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    evidence.published([(name,) for name in columns])  # all at once, which counts the rows in one pass
    pictures = [{"column": name, "place": place} | _picture(evidence, name) for place, name in enumerate(columns)]
    return pd.concat([pd.DataFrame(one) for one in pictures], ignore_index=True)


def _picture(evidence: Evidence, name: str) -> dict[str, Any]:
    """Return the bars of a column by name of their column in the frame of `bars`."""
    attribute, clique = evidence.domain[name], (name,)
    rows, measured = evidence.people(clique), evidence.measured(clique)
    drawn = rows if measured is None or rows is not None else measured.values
    if drawn is None:
        return {name: [] for name in _PICTURE}
    groups = group(attribute, drawn, BARS_SHOWN)
    count = np.maximum(0.0, groups.sum(drawn))
    outside, stick, factor = groups.outside, np.zeros(len(count), dtype=bool), np.ones(len(count))
    if attribute.is_number and not attribute.most and not outside.all():
        shape = histogram(attribute, groups.cells)
        stick, factor = shape.stick, shape.factor
        left, right = _on_an_axis(shape.start, shape.end, outside)
    else:
        left, right = _side_by_side(count, outside, is_ordered(attribute))
    low = high = np.full(len(count), np.nan)
    if measured is not None:
        middle, half = groups.sum(measured.values), 1.96 * measured.deviation * np.sqrt(groups.widths)
        low, high = middle - half, middle + half
    most = float((count * factor).max())
    scale = factor / most if most > 0 else 0 * factor
    places = {"left": left, "right": right, "outside": outside, "stick": stick}
    return places | {
        "cell": groups.labels,
        "count": count,
        "height": count * scale,
        "low": np.clip(low * scale, 0, 1),
        "high": np.clip(high * scale, 0, 1),
    }


def _side_by_side(count: Float, outside: NDArray[np.bool_], ordered: bool) -> tuple[Float, Float]:
    """Return (left ends, right ends) of bars of one width, from 0 to 1.

    Bars are in code order if `ordered`, else the largest comes first. Bars of other and missing
    values come last.
    """
    order = np.arange(len(count)) if ordered else np.lexsort((-count, outside))
    slot = 1 / max(_SLOTS, len(count))
    left = np.empty(len(count))
    left[order] = slot * np.arange(len(count))
    return left, left + _FILLED * slot


def _on_an_axis(start: Float, end: Float, outside: NDArray[np.bool_]) -> tuple[Float, Float]:
    """Return (left ends, right ends) of bars on an axis of numbers, from 0 to 1.

    Bars of other and missing values stand to the right of the axis.
    """
    low, high = np.nanmin(start), np.nanmax(end)
    room = 1 - outside.sum() * (_BESIDE + _GAP)
    beside = room + _GAP + (_BESIDE + _GAP) * (np.cumsum(outside) - 1)
    left, right = (np.where(outside, 0.0, room * (ends - low) / (high - low)) for ends in (start, end))
    return np.where(outside, beside, left), np.where(outside, beside + _BESIDE, right)
