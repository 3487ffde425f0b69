"""Bounds and bin edges of number columns: how the curator's input is checked and completed.

Integers and dates use half-open bins [edge, next edge) whose last edge is upper + 1, so a bin holds whole values; numeric bins are
half-open too, but the last one includes the upper bound. Date edges are days since 1970-01-01.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from dpsynth_core.foundation.errors import InputError

MAX_CELLS = 1_000_000
ONE_BIN_PER_VALUE_UP_TO = 100
DEFAULT_BINS = 32
LARGEST_EXACT = 2**53  # beyond it float64 no longer holds every whole number
_EPOCH = date(1970, 1, 1)


def column_field(name: str) -> str:
    """How an error names a column: quoted, on one line, at most 80 characters of it."""
    printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    return f"column '{printable if len(printable) <= 80 else printable[:79] + '…'}'"


def day_number(day: date) -> int:
    """Days since 1970-01-01."""
    return (day - _EPOCH).days


def day_of(number: float) -> date:
    """The inverse of `day_number`."""
    return _EPOCH + timedelta(days=int(number))


def equal_edges(name: str, kind: str, lower: Any, upper: Any, bins: int | None) -> tuple[float, ...]:
    """Edges of `bins` equal bins between the bounds; None picks the default number. InputError if they cannot be made."""
    if bins is not None and (not is_whole(bins) or not 1 <= bins <= MAX_CELLS):
        raise InputError(column_field(name), "the number of bins is not usable", f"give a whole number from 1 to {MAX_CELLS:,}")
    if kind == "numeric":
        count = DEFAULT_BINS if bins is None else int(bins)
        inner = tuple(lower + (upper - lower) * (i / count) for i in range(1, count))
        return (lower, *inner, upper)
    first, last = _whole_bounds(lower, upper)
    span = last - first + 1
    count = (span if span <= ONE_BIN_PER_VALUE_UP_TO else DEFAULT_BINS) if bins is None else int(bins)
    if count > span:
        raise InputError(column_field(name), "there are more bins than values between the bounds", f"use at most {span} bins")
    return tuple(first + i * span // count for i in range(count + 1))


def explicit_edges(name: str, kind: str, upper: Any, edges: Sequence[Any]) -> tuple[float, ...]:
    """The given edges; for whole values a last edge at the upper bound is read as including it."""
    if not all(is_number(e) for e in edges):
        raise InputError(column_field(name), "an edge is not a number", "give the bin edges as rising numbers")
    if kind == "numeric":
        return tuple(float(e) for e in edges)
    if not all(is_whole(e) for e in edges):
        raise InputError(column_field(name), "an edge is not a whole number", "bins of whole numbers start at whole numbers")
    cuts = [int(e) for e in edges]
    last = _whole_bounds(upper, upper)[1]
    if len(cuts) > 1 and cuts[-1] == last:
        cuts[-1] = last + 1
    return tuple(cuts)


def check_edges(name: str, kind: str, lower: Any, upper: Any, edges: Sequence[float]) -> None:
    """InputError unless the edges rise and span the bounds."""
    first, last = (lower, upper) if kind == "numeric" else _whole_bounds(lower, upper)
    if kind != "numeric":
        last += 1
    if len(edges) < 2 or any(not a < b for a, b in pairwise(edges)):
        raise InputError(column_field(name), "the bin edges do not rise", "give at least two edges, each larger than the one before")
    if edges[0] != first or edges[-1] != last:
        raise InputError(column_field(name), "the bin edges do not span the bounds", "start at the lower and end at the upper bound")


def checked_bounds(name: str, kind: str, lower: Any, upper: Any) -> tuple[Any, Any]:
    """Both bounds in the type of the kind. InputError if they are not of it, not finite, or reversed."""
    if kind == "date":
        usable = isinstance(lower, date) and isinstance(upper, date)
    elif kind == "integer":
        usable = is_whole(lower) and is_whole(upper) and max(abs(lower), abs(upper)) < LARGEST_EXACT
        lower, upper = (int(lower), int(upper)) if usable else (lower, upper)
    else:
        usable = is_number(lower) and is_number(upper) and math.isfinite(float(upper) - float(lower))
        lower, upper = (float(lower), float(upper)) if usable else (lower, upper)
    if not usable:
        wanted = {"date": "dates such as 2024-12-31", "integer": "whole numbers"}.get(kind, "finite numbers")
        raise InputError(column_field(name), f"lower and upper bound are not both {wanted}", "give both bounds")
    if lower > upper:
        raise InputError(column_field(name), f"upper bound {upper} is below lower bound {lower}", "swap them or correct one")
    if kind == "numeric" and lower == upper:
        raise InputError(column_field(name), "lower and upper bound are equal", "widen them, or drop the column")
    return lower, upper


def _whole_bounds(lower: Any, upper: Any) -> tuple[int, int]:
    if isinstance(lower, date) and isinstance(upper, date):
        return day_number(lower), day_number(upper)
    return int(lower), int(upper)


def parse_day(name: str, value: object) -> date:
    """A date from ISO text or a date."""
    if isinstance(value, date):
        return date(value.year, value.month, value.day)  # a datetime is cut to its day
    try:
        return date.fromisoformat(str(value).strip())
    except ValueError:
        raise InputError(column_field(name), "a date is not written as year-month-day", "write it like 2024-12-31") from None


def is_number(value: Any) -> bool:
    """A finite number. Booleans do not count as numbers."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) < 1e300  # false for infinities and nan, and never overflows


def is_whole(value: Any) -> bool:
    """A number without a fraction."""
    return is_number(value) and float(value).is_integer()
