"""The shape of a column of numbers or dates as a histogram: where each group of cells lies, and how high its bar is.

A bar is as high as the number of people in a unit of width, so that its area shows their number although groups differ in width. A group
that is too narrow for a bar, such as the single value 0, is a stick: it is as high as its number of people. So are the cells of other and
missing values, which lie beside the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.inside import Inside

_NARROW = 1 / 300
"""A group narrower than this share of the axis is a stick."""
_MILLISECOND, _HOUR, _DAY = 1000, 3_600_000_000, 86_400_000_000
"""In microseconds."""
_UNITS = {"moment": _MILLISECOND, "clock": _MILLISECOND, "length": _HOUR}
"""By axis of a scale, the unit of a histogram's axis in microseconds; other scales keep their numbers."""

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Histogram:
    """The places of groups of cells on an axis.

    Attributes:
        start, end: Ends of each group on the axis, shape (groups,): numbers; milliseconds since 1970 or midnight for dates and times; hours
            for durations. NaN for other and missing values. A whole number n lies between n - 0.5 and n + 0.5.
        stick: Whether each group is drawn as a stick, shape (groups,); not for other and missing values.
        per: The unit of width that heights refer to, on the axis; 0 if every group is a stick or beside the axis.
        unit: The unit of width in words, such as "10" or "30 days"; "" if all bars have it, so that a height is a number of people.
    """

    start: Float
    end: Float
    stick: NDArray[np.bool_]
    per: float
    unit: str

    @property
    def factor(self) -> Float:
        """The height of a group of one person, shape (groups,)."""
        flat = self.stick | np.isnan(self.start)
        return np.divide(self.per, self.end - self.start, out=np.ones_like(self.start), where=~flat)


def histogram(attribute: Attribute, cells: Sequence[NDArray[np.intp]]) -> Histogram:
    """Return the shape of a column with bins.

    Args:
        attribute: The column.
        cells: The codes of each group: neighbouring bins, or one cell of other or missing values.
    """
    edges, scale = np.asarray(attribute.edges, dtype=np.float64), attribute.scale
    inside = np.array([codes[-1] < attribute.values for codes in cells], dtype=bool)
    start, end = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
    start[inside] = [edges[codes[0]] for codes in cells if codes[-1] < attribute.values]
    end[inside] = [edges[codes[-1] + 1] for codes in cells if codes[-1] < attribute.values]
    micros = _UNITS.get(scale.axis)
    if micros is not None:
        start, end = start * scale.span / micros, end * scale.span / micros
    elif scale.whole:
        start, end = start - 0.5, end - 0.5
    widths = end - start
    stick = inside & (widths < _NARROW * np.nansum(widths)) if inside.any() else inside
    per = _usual(widths[inside & ~stick])
    alike = np.allclose(widths[inside & ~stick], per, rtol=0.15)
    return Histogram(start, end, stick, per, "" if alike else _words(per, scale.axis))


def _usual(widths: Float) -> float:
    """Return the width that most groups have, of several such the nearest to the median; 0 without groups."""
    if not len(widths):
        return 0.0
    kinds, groups = np.unique([float(f"{width:.6g}") for width in widths], return_counts=True)
    most = kinds[groups == groups.max()]
    return float(most[np.abs(most - np.median(widths)).argmin()])


def _words(per: float, axis: str) -> str:
    if axis == "length":
        return f"{per:g} hours"
    if axis in ("moment", "clock"):
        hours = per * _MILLISECOND / _HOUR
        return f"{hours / 24:.3g} days" if hours >= 48 else f"{hours:.3g} hours"
    return f"{per:,g}"


def plain_labels(attribute: Attribute) -> tuple[str, ...]:
    """Return the label of each cell in plain words, such as "-20 to -10", in code order.

    Whole numbers, dates and listed values keep their labels (`Attribute.cell_labels`), and so do decimal numbers
    if plain labels of two cells would be equal. Of decimal numbers the upper end belongs to the next cell.
    """
    labels = attribute.cell_labels()
    if not attribute.is_number or attribute.most or attribute.scale.whole:
        return labels
    edges, beyond = attribute.edges, attribute.scale.beyond
    fine, texts = 1e-4 * (edges[-1] - edges[0]), []
    for code in range(attribute.values):
        low, high = edges[code], edges[code + 1]
        after = code > 0 and low == beyond(edges[code - 1])
        first = edges[code - 1] if after else low
        if high == beyond(low):
            texts.append(_number(low))
        elif high - low < fine:
            texts.append(f"about {_number(first)}")
        else:
            texts.append(f"{'above ' if after else ''}{_number(first)} to {_number(high)}")
    return (*(texts if len(set(texts)) == len(texts) else labels[: attribute.values]), *labels[attribute.values :])


def _number(edge: float) -> str:
    return f"{edge:,.6g}"


def quantiles(attribute: Attribute, counts: Float, shares: Sequence[float], inside: Inside | None = None) -> tuple[float, ...]:
    """Return the quantiles of a column of bins at given shares, in their order, on the column's scale.

    Values are spread evenly in a cell, or in each of its parts where these are known. On a scale of whole numbers
    the quantiles are rounded down. The result is () if no cell has a count above 0.

    Args:
        attribute: The column.
        counts: Released counts or shares by cell; negative ones count as 0, and cells of other and missing
            values are left out.
        shares: The shares, from 0 to 1.
        inside: The released distribution of numbers inside the cells; None for an even spread.
    """
    edges, people = np.asarray(attribute.edges, dtype=np.float64), np.maximum(0, counts[: attribute.values])
    if inside is not None:
        parts = inside.of(attribute)
        edges, people = parts.edges, people[parts.cell] * parts.shares
    reached = np.concatenate([[0.0], np.cumsum(people)])
    if reached[-1] <= 0:
        return ()
    wanted = np.asarray(shares) * reached[-1]
    cells = np.minimum(np.searchsorted(reached[1:], wanted, side="left"), np.flatnonzero(people)[-1])
    places = edges[cells] + (wanted - reached[cells]) / people[cells] * (edges[cells + 1] - edges[cells])
    if attribute.scale.whole:
        places = np.floor(places)
    return tuple(float(place) for place in np.clip(places, edges[0], edges[-1] - attribute.scale.whole))

