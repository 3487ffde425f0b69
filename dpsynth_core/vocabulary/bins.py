"""Bounds and bin edges of number columns: how the curator's input is checked and completed.

Integers and dates use half-open bins [edge, next edge) whose last edge is upper + 1, so a bin holds whole values; numeric bins are
half-open too, but the last one includes the upper bound. Date edges are days since 1970-01-01.

Bins of one width start at its multiples, as people would choose them: 0 to 9, 10 to 19; months, quarters and years begin on their first
day. The first and the last bin end at the bounds, which may be inside a multiple.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from dpsynth_core.foundation.errors import InputError

MAX_CELLS = 100_000
"""Of a column: with a million, noise, bounds and report of that column alone took minutes and 7 GB."""
ONE_BIN_PER_VALUE_UP_TO = 100
DEFAULT_BINS = 32
LARGEST_EXACT = 2**53  # beyond it float64 no longer holds every whole number
CALENDAR_WIDTHS = {"month": 1, "quarter": 3, "year": 12, "5 years": 60, "10 years": 120}
"""Widths of bins of dates, in months."""
_CALENDAR_DAYS = {7: 7, "month": 30, "quarter": 91, "year": 365, "5 years": 1826, "10 years": 3652}
_EPOCH = date(1970, 1, 1)
_MONDAY = 4
"""1970-01-05, in days since 1970-01-01."""


def trimmed(name: str) -> str:
    """The name of a column as tables are read: without spaces and byte order marks around it."""
    while (shorter := name.strip().strip("\ufeff")) != name:
        name = shorter
    return name


def column_field(name: str) -> str:
    """How an error names a column: quoted, on one line, at most 80 characters of it."""
    name = name[:81]
    printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    return f"column '{printable if len(printable) <= 80 else printable[:79] + '…'}'"


def day_number(day: date) -> int:
    """Days since 1970-01-01."""
    return (day - _EPOCH).days


def day_of(number: float) -> date:
    """The inverse of `day_number`."""
    return _EPOCH + timedelta(days=int(number))


def equal_edges(name: str, kind: str, lower: Any, upper: Any, bins: int) -> tuple[float, ...]:
    """Edges of `bins` equal bins between the bounds. InputError if they cannot be made."""
    if not is_whole(bins) or not 1 <= bins <= MAX_CELLS:
        raise InputError(column_field(name), "the number of bins is not usable", f"give a whole number from 1 to {MAX_CELLS:,}")
    if kind == "numeric":
        return (lower, *(lower + (upper - lower) * (i / bins) for i in range(1, int(bins))), upper)
    first, last = _whole_bounds(lower, upper)
    span = last - first + 1
    if bins > span:
        raise InputError(column_field(name), "there are more bins than values between the bounds", f"use at most {span} bins")
    return tuple(first + i * span // int(bins) for i in range(int(bins) + 1))


def default_edges(name: str, kind: str, lower: Any, upper: Any) -> tuple[float, ...]:
    """One bin per value up to ONE_BIN_PER_VALUE_UP_TO whole values, else bins of a round width, at most DEFAULT_BINS and two more."""
    if kind != "numeric":
        first, last = _whole_bounds(lower, upper)
        if last - first + 1 <= ONE_BIN_PER_VALUE_UP_TO:
            return tuple(range(first, last + 2))
        if kind == "date":
            span = (last - first + 1) / DEFAULT_BINS
            width = next((w for w, days in _CALENDAR_DAYS.items() if days >= span), max(_CALENDAR_DAYS, key=_CALENDAR_DAYS.__getitem__))
            return width_edges(name, kind, lower, upper, width)
    if not (least := (upper - lower) / DEFAULT_BINS):
        return equal_edges(name, kind, lower, upper, 1)  # too narrow to be divided
    edges = width_edges(name, kind, lower, upper, round_width(least, whole=kind != "numeric"))
    rising = all(a < b for a, b in pairwise(edges))
    if rising:
        return edges
    return tuple(dict.fromkeys(equal_edges(name, kind, lower, upper, DEFAULT_BINS)))  # too narrow for so many numbers of 64 bits


def round_width(least: float, whole: bool) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    width = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-12))
    return max(1, round(width)) if whole else float(f"{width:.1g}")


def width_edges(name: str, kind: str, lower: Any, upper: Any, width: Any) -> tuple[float, ...]:
    """Edges at the multiples of a width between the bounds, and the bounds. width: a number above 0; for dates a number of days, or one of
    CALENDAR_WIDTHS. InputError if it cannot be used."""
    first, last = (lower, upper) if kind == "numeric" else _whole_bounds(lower, upper)
    end = last if kind == "numeric" else last + 1
    if kind == "date" and isinstance(width, str):
        if width not in CALENDAR_WIDTHS:
            raise InputError(column_field(name), "the width is not known", f"use a number of days, or {', '.join(CALENDAR_WIDTHS)}")
        inner: list[float] = list(_calendar_days(lower, upper, CALENDAR_WIDTHS[width]))
    else:
        if not is_number(width) or width <= 0 or (kind != "numeric" and not is_whole(width)):
            wanted = "a number above 0" if kind == "numeric" else "a whole number from 1 up"
            raise InputError(column_field(name), "the width of its bins cannot be used", f"give {wanted}")
        if (end - first) / width > MAX_CELLS:
            raise InputError(column_field(name), "the width makes too many bins", f"use at most {MAX_CELLS:,} bins")
        inner = _multiples(first, end, width, kind)
    return (first, *(cut for cut in inner if first < cut < end), end)


def _multiples(first: float, end: float, width: float, kind: str) -> list[float]:
    """Multiples of a width from `first` to `end`: exact for whole values, as decimal fractions else; weeks start on a Monday."""
    if kind == "numeric":
        step = Decimal(repr(float(width)))
        low, high = math.floor(first / width), math.ceil(end / width)
        return [float(k * step) for k in range(low, high + 1)]
    start = _MONDAY if kind == "date" and width == 7 else 0
    low = (int(first) - start) // int(width) * int(width) + start
    return list(range(low, int(end) + 1, int(width)))


def _calendar_days(lower: date, upper: date, months: int) -> Iterator[int]:
    """The first days of periods of so many months, counted from January of the year 0."""
    for count in range((lower.year * 12 + lower.month - 1) // months, (upper.year * 12 + upper.month - 1) // months + 1):
        year, month = divmod(count * months, 12)
        if year >= 1:
            yield day_number(date(year, month + 1, 1))


def is_equal(name: str, kind: str, lower: Any, upper: Any, edges: Sequence[float]) -> bool:
    """Whether these are the edges of equal bins."""
    return edges == equal_edges(name, kind, lower, upper, len(edges) - 1)


def width_of(kind: str, lower: Any, upper: Any, edges: Sequence[float]) -> Any:
    """The width with which `width_edges` makes these edges, None where there is none."""
    calendar = [width for width, months in CALENDAR_WIDTHS.items() if kind == "date" and len(edges) == 2 + _periods(lower, upper, months)]
    candidates = (*calendar, *_widths_between(kind, edges))
    return next((width for width in candidates if edges == width_edges("", kind, lower, upper, width)), None)


def _periods(lower: date, upper: date, months: int) -> int:
    """How many periods of so many months begin after the lower bound, up to the upper one."""
    return sum(day_number(lower) < day for day in _calendar_days(lower, upper, months)) if (upper - lower).days < MAX_CELLS else 0


def _widths_between(kind: str, edges: Sequence[float]) -> list[float]:
    """Widths that the edges may have been made with: between two that are both inside, as a decimal fraction."""
    if len(edges) < 4:
        return []
    gap = edges[2] - edges[1]
    return [int(gap)] if kind != "numeric" else [float(f"{gap:.6g}")]


def explicit_edges(name: str, kind: str, lower: Any, upper: Any, edges: Sequence[Any]) -> tuple[float, ...]:
    """The given edges, and the bounds where they are not among them; for whole values a last edge at the upper bound is read as including
    it."""
    if not edges:
        raise InputError(column_field(name), "it has no edges", "give the bin edges as rising numbers, or leave them out")
    if not all(is_number(e) for e in edges):
        raise InputError(column_field(name), "an edge is not a number", "give the bin edges as rising numbers")
    if kind == "numeric":
        return _spanned([float(e) for e in edges], lower, upper)
    if not all(is_whole(e) for e in edges):
        raise InputError(column_field(name), "an edge is not a whole number", "bins of whole numbers start at whole numbers")
    cuts = [int(e) for e in edges]
    first, last = _whole_bounds(lower, upper)
    if len(cuts) > 1 and cuts[-1] == last:
        cuts[-1] = last + 1
    return _spanned(cuts, first, last + 1)


def _spanned(cuts: list[Any], first: Any, end: Any) -> tuple[float, ...]:
    return (*([first] if cuts[0] > first else []), *cuts, *([end] if cuts[-1] < end else []))


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
