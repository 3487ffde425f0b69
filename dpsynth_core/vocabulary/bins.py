"""Bounds and bin edges of number columns: how the curator's input is checked and completed.

Whole values use half-open bins [edge, next edge) whose last edge is upper + 1, so a bin holds whole values; bins of decimal numbers are
half-open too, but the last one includes the upper bound. Edges are the numbers of values (`kinds.kind`): of dates, days since 1970-01-01.

Bins of one width start at its multiples, as people would choose them: 0 to 9, 10 to 19; months, quarters and years begin on their first
day. The first and the last bin end at the bounds, which may be inside a multiple.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.vocabulary.kinds.kind import Scale, as_number, is_number, is_whole
from dpsynth_core.vocabulary.names import column_field

MAX_CELLS = 100_000
"""Largest number of cells of a column: with a million, noise, bounds and report of that column alone took minutes and 7 GB."""
ONE_BIN_PER_VALUE_UP_TO = 100
DEFAULT_BINS = 32


def equal_edges(name: str, scale: Scale, lower: Any, upper: Any, bins: Any) -> tuple[float, ...]:
    """Return the `bins` + 1 edges of equal bins between the bounds; bins of whole values differ by at most one value.

    Args:
        name: Name of the column in errors.
        scale: The mapping of values to numbers.
        lower: The lower bound, a value of the column.
        upper: The upper bound, a value of the column.
        bins: The number of bins, as a number or a text.

    Raises:
        InputError: `bins` is not a whole number from 1 to MAX_CELLS, or exceeds the number of
            values.
    """
    bins = as_number(bins)
    if not is_whole(bins) or not 1 <= bins <= MAX_CELLS:
        raise InputError(column_field(name), "the number of bins is not usable", f"give a whole number from 1 to {MAX_CELLS:,}")
    if not scale.whole:
        return (lower, *(lower + (upper - lower) * (i / bins) for i in range(1, int(bins))), upper)
    first, end = _span(scale, lower, upper)
    if bins > end - first:
        raise InputError(column_field(name), "there are more bins than values between the bounds", f"use at most {end - first} bins")
    return tuple(first + i * (end - first) // int(bins) for i in range(int(bins) + 1))


def default_edges(name: str, scale: Scale, lower: Any, upper: Any) -> tuple[float, ...]:
    """Return the default edges between the bounds, as numbers of the scale, rising.

    There is one bin per value for up to 100 whole values (`ONE_BIN_PER_VALUE_UP_TO`). Otherwise bins have a round
    width, and there are at most 34 of them, or up to 32 equal ones where the bounds are too narrow for round widths.
    Dates and timestamps more than 320 years apart may have more, of 10 years each.

    Args:
        name: Name of the column in errors.
        scale: The mapping of values to numbers.
        lower: The lower bound, a value of the column.
        upper: The upper bound, a value of the column.

    Raises:
        InputError: The bins would be more than 100,000 (`MAX_CELLS`).
    """
    first, end = _span(scale, lower, upper)
    if scale.whole and end - first <= ONE_BIN_PER_VALUE_UP_TO:
        return tuple(range(first, end + 1))
    return round_edges(name, scale, lower, upper, DEFAULT_BINS)


def round_edges(name: str, scale: Scale, lower: Any, upper: Any, most: int) -> tuple[float, ...]:
    """Return the edges of bins of a round width between the bounds, at most `most` bins and two more.

    The bounds may cut the first and the last bin. Bounds too narrow to be divided give a single bin, or up to
    `most` equal ones. Dates and timestamps have bins of at most 10 years, perhaps more bins than `most` then.

    Args:
        name: Name of the column in errors.
        scale: The mapping of values to numbers.
        lower: The lower bound, a value of the column.
        upper: The upper bound, a value of the column.
        most: About the largest number of bins.

    Raises:
        InputError: The bins would be more than 100,000 (`MAX_CELLS`).
    """
    first, end = _span(scale, lower, upper)
    if (width := scale.default_width((end - first) / most)) is not None:
        return width_edges(name, scale, lower, upper, width)
    if not (least := (scale.number(upper) - first) / most):
        return equal_edges(name, scale, lower, upper, 1)  # too narrow to be divided
    edges = width_edges(name, scale, lower, upper, _round_width(least, whole=scale.whole))
    if all(a < b for a, b in pairwise(edges)):
        return edges
    return tuple(dict.fromkeys(equal_edges(name, scale, lower, upper, most)))  # too narrow for so many numbers of 64 bits


def _round_width(least: float, whole: bool) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    width = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-12))
    return max(1, round(width)) if whole else float(f"{width:.1g}")


def width_edges(name: str, scale: Scale, lower: Any, upper: Any, width: Any) -> tuple[float, ...]:
    """Return the edges of bins of one width: its multiples between the bounds, and the bounds.

    Bins of a named width of dates, such as "month", begin on the first day of such a period instead, and weeks on
    a Monday.

    Args:
        name: Name of the column in errors.
        scale: The mapping of values to numbers.
        lower: The lower bound.
        upper: The upper bound.
        width: A number above 0, also as text, or a name of a width, such as "month" (`Scale.widths`), in any case
            and also with an "s" behind it. "week" is a width of dates, too.

    Raises:
        InputError: The width is unknown, not positive, or makes more than 100,000 bins (`MAX_CELLS`).
    """
    first, end = _span(scale, lower, upper)
    width = _as_said(scale, width)
    named = isinstance(width, str) and bool(scale.widths)
    if named and width not in scale.widths:
        raise InputError(column_field(name), "the width is not known", f"use a whole number, or {', '.join(scale.widths)}")
    if not named and (not is_number(width) or width <= 0 or (scale.whole and not is_whole(width))):
        wanted = "a whole number from 1 up" if scale.whole else "a number above 0"
        raise InputError(column_field(name), "the width of its bins cannot be used", f"give {wanted}")
    if (end - first) / (scale.spacing(width) if named else width) > MAX_CELLS:
        raise InputError(column_field(name), "the width makes too many bins", f"use at most {MAX_CELLS:,} bins")
    inner = scale.named_cuts(width, first, end) if named else _multiples(scale, first, end, width)
    return (first, *(cut for cut in inner if first < cut < end), end)


def _as_said(scale: Scale, width: Any) -> Any:
    """Return a width as people write it in its exact form: "hours" is "hour", a week of days is 7, "10" is a number."""
    name = width.lower() if isinstance(width, str) else ""
    if scale.widths and name.removesuffix("s") == "week" and "week" not in scale.widths:
        return 7
    return next((one for one in (name, name.removesuffix("s")) if one in scale.widths), as_number(width))


def _multiples(scale: Scale, first: float, end: float, width: float) -> list[float]:
    """Return the multiples of a width from `first` to `end`.

    They are exact for whole values, otherwise decimal fractions; weeks start on a Monday.
    """
    if not scale.whole:
        step = Decimal(repr(float(width)))
        low, high = math.floor(first / width), math.ceil(end / width)
        return [float(k * step) for k in range(low, high + 1)]
    start = scale.start(width)
    low = (int(first) - start) // int(width) * int(width) + start
    return list(range(low, int(end) + 1, int(width)))


def is_equal(name: str, scale: Scale, lower: Any, upper: Any, edges: Sequence[float]) -> bool:
    """Return whether equal bins between the bounds have exactly these edges.

    Args:
        name: Name of the column in errors.
        scale: The mapping of values to numbers.
        lower: The lower bound, a value of the column.
        upper: The upper bound, a value of the column.
        edges: The edges, as a tuple of numbers; at least two.
    """
    return edges == equal_edges(name, scale, lower, upper, len(edges) - 1)


def width_of(scale: Scale, lower: Any, upper: Any, edges: Sequence[float]) -> Any:
    """Return a width with which `width_edges` makes these edges, or None if none is found.

    Named widths are tried first, then the distance of the second and the third edge, which takes at least four
    edges; of decimal numbers its first six digits count.

    Args:
        scale: The mapping of values to numbers.
        lower: The lower bound, a value of the column.
        upper: The upper bound, a value of the column.
        edges: The edges, as a tuple of numbers; at least two.

    Returns:
        A name in `Scale.widths`, such as "month", or a number.
    """
    first, end = edges[0], edges[-1]
    possible = (width for width in scale.widths if (end - first) / scale.spacing(width) <= MAX_CELLS)
    named = (width for width in possible if len(edges) == 2 + sum(first < cut < end for cut in scale.named_cuts(width, first, end)))
    gap = edges[2] - edges[1] if len(edges) > 3 else 0.0  # between two edges that are both inside, as a decimal fraction
    gaps = [gap] if gap * MAX_CELLS >= end - first else []
    candidates = (*named, *(int(gap) if scale.whole else float(f"{gap:.6g}") for gap in gaps))
    return next((width for width in candidates if edges == width_edges("", scale, lower, upper, width)), None)


def explicit_edges(name: str, scale: Scale, lower: Any, upper: Any, edges: Sequence[Any]) -> tuple[float, ...]:
    """Return the given edges, and each bound that lies outside them; their order is not checked.

    For whole values, edges are numbers at which bins begin. If the last of several edges is the upper bound, it is
    raised by 1, so that the last bin contains the bound.

    Args:
        name: Name of the column in errors.
        scale: The mapping of values to numbers.
        lower: The lower bound, a value of the column.
        upper: The upper bound, a value of the column.
        edges: The edges, as numbers of the scale.

    Raises:
        InputError: There are no edges, or one is not a number, or not a whole number where values
            are whole.
    """
    if not edges:
        raise InputError(column_field(name), "it has no edges", "give the bin edges as rising numbers, or leave them out")
    if not all(is_number(e) for e in edges):
        raise InputError(column_field(name), "an edge is not a number", "give the bin edges as rising numbers")
    first, end = _span(scale, lower, upper)
    if not scale.whole:
        return _spanned([float(e) for e in edges], first, end)
    if not all(is_whole(e) for e in edges):
        raise InputError(column_field(name), "an edge is not a whole number", "bins of whole numbers start at whole numbers")
    cuts = [int(e) for e in edges]
    if len(cuts) > 1 and cuts[-1] == end - 1:
        cuts[-1] = end
    return _spanned(cuts, first, end)


def _spanned(cuts: list[Any], first: Any, end: Any) -> tuple[float, ...]:
    return (*([first] if cuts[0] > first else []), *cuts, *([end] if cuts[-1] < end else []))


def own_values(name: str, scale: Scale, stated: Any) -> list[float]:
    """Return the numbers of the values that have a cell each, in the order stated, with repeats.

    Args:
        name: The column, for errors.
        scale: Maps its values to numbers.
        stated: A list of values, or a text with spaces between them.

    Raises:
        InputError: `stated` is neither, or one of its values cannot be read or have a cell.
    """
    values = stated.split() if isinstance(stated, str) else stated
    if not isinstance(values, Sequence):
        raise InputError(column_field(name), "the values with a cell of their own are not a list", "write them as [0, 99999]")
    typed = [scale.typed(name, value) for value in values]
    if wrong := [value for value, bound in zip(values, typed, strict=True) if scale.checked(bound) is None]:
        raise InputError(column_field(name), f"{shown(wrong[0])} cannot have a cell of its own", f"give {scale.wanted}")
    return [scale.number(bound) for bound in typed]


def with_own_cells(name: str, scale: Scale, edges: tuple[float, ...], own: Sequence[float]) -> tuple[float, ...]:
    """Return rising edges that also contain a cell for each of these numbers; the edges unchanged for no numbers.

    Args:
        name: Name of the column in errors.
        scale: The mapping of values to numbers.
        edges: The edges, rising.
        own: The numbers.

    Raises:
        InputError: A number is not between the bounds, or is the upper bound of decimal numbers.
    """
    cells = [(value, scale.beyond(value)) for value in own]
    if (outside := next((value for value, end in cells if value < edges[0] or end > edges[-1]), None)) is not None:
        problem = f"{scale.text(outside)} has a cell of its own and is not between the bounds"
        raise InputError(column_field(name), problem, "widen the bounds, or leave it out; the upper bound of decimal numbers has none")
    return tuple(sorted({*edges, *(edge for cell in cells for edge in cell)})) if cells else edges


def check_edges(name: str, scale: Scale, lower: Any, upper: Any, edges: Sequence[float]) -> None:
    """Check that the edges rise, and that the first and the last edge are the bounds.

    Args:
        name: Name of the column in errors.
        scale: The mapping of values to numbers.
        lower: The lower bound, a value of the column.
        upper: The upper bound, a value of the column.
        edges: The edges, as numbers of the scale.

    Raises:
        InputError: There are fewer than two edges, they do not rise, or they do not begin and end at the bounds.
    """
    if len(edges) < 2 or any(not a < b for a, b in pairwise(edges)):
        raise InputError(column_field(name), "the bin edges do not rise", "give at least two edges, each larger than the one before")
    if (edges[0], edges[-1]) != _span(scale, lower, upper):
        raise InputError(column_field(name), "the bin edges do not span the bounds", "start at the lower and end at the upper bound")


def need_bounds(name: str, lower: Any, upper: Any) -> None:
    """Check that both bounds are given: neither is None or "".

    Args:
        name: Name of the column in errors.
        lower: The lower bound.
        upper: The upper bound.

    Raises:
        InputError: A bound is missing.
    """
    if None in (lower, upper) or "" in (lower, upper):
        raise InputError(column_field(name), "its bounds are not set yet", "give both bounds: the lowest and the highest value that count")


def checked_bounds(name: str, scale: Scale, lower: Any, upper: Any) -> tuple[Any, Any]:
    """Return (lower, upper): the bounds of a column, converted to the type of its kind of values.

    Args:
        name: Name of the column in errors.
        scale: The mapping of values to numbers.
        lower: The lower bound.
        upper: The upper bound.

    Raises:
        InputError: A bound is missing, of another type or infinite, the upper bound is below the lower one, or the
            bounds of decimal numbers are equal.
    """
    need_bounds(name, lower, upper)
    low, high = scale.checked(lower), scale.checked(upper)
    if low is None or high is None:
        raise InputError(column_field(name), f"lower and upper bound are not both {scale.wanted}", "give both bounds")
    if low > high:
        raise InputError(column_field(name), f"upper bound {high} is below lower bound {low}", "swap them or correct one")
    if not scale.whole and low == high:
        raise InputError(column_field(name), "lower and upper bound are equal", "widen them, or drop the column")
    return low, high


def _span(scale: Scale, lower: Any, upper: Any) -> tuple[Any, Any]:
    return scale.number(lower), scale.number(upper) + scale.whole
