"""Dates, as days since 1970-01-01."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from typing_extensions import override

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.kinds.kind import MOST_PARTS, Form, Kind, Scale
from dpsynth_core.vocabulary.names import column_field

CALENDAR_WIDTHS = {"month": 1, "quarter": 3, "year": 12, "5 years": 60, "10 years": 120}
"""Widths of bins, in months."""
_LONGEST_DAYS = {7: 7, "month": 30, "quarter": 91, "year": 365, "5 years": 1826, "10 years": 3652}
_EPOCH = date(1970, 1, 1)
_BY_PEOPLE = re.compile(r"(?P<first>[0-9]{1,2})(?P<mark>[./])(?P<second>[0-9]{1,2})(?P=mark)(?P<year>[0-9]{4})(?![0-9])")
LAST_DAY = 2_932_896
"""9999-12-31."""
MONDAY = 4
"""1970-01-05, in days since 1970-01-01."""


def day_number(day: date) -> int:
    """Return the number of days from 1970-01-01 to a day; below 0 for earlier days."""
    return (day - _EPOCH).days


_STANDING_IN = [date(1, 1, 1), date(1900, 1, 1), date(1970, 1, 1), date(2999, 12, 31), date.max]
"""Days that programs write for "unknown" or "for ever"."""
_YEARS = (1, 1000, 1500, 1600, 1700, 1750, *range(1800, 1900, 10), *range(1900, 2101), 2200, 2500, 9999)
FIRST_LOOK = tuple(
    sorted(
        {
            *(day_number(date(year, 1, 1)) for year in _YEARS),
            *(day_number(day) + further for day in _STANDING_IN for further in (0, 1)),
        }
    )
)
"""Edges, in days, of the first look at dates; a day that stands in for something else has a cell of its own."""


def day_of(number: float) -> date:
    """Return the day that is `number` days after 1970-01-01, the inverse of `day_number`; a fraction is cut off.

    Raises:
        OverflowError: The day is before the year 1 or after the year 9999.
    """
    return _EPOCH + timedelta(days=int(number))


def as_written_by_people(text: str) -> str:
    """Return a text in which a day in common notation at its beginning is replaced by the ISO day.

    The notations are 31.12.2024, and days with slashes if the month is certain: 12/31/2024, 31/12/2024, 5/5/2024. Any other
    text is returned unchanged: 03/04/2024 does not determine its month. Whether the day exists is not checked.
    """
    match = _BY_PEOPLE.match(text)
    if match is None:
        return text
    first, second = int(match["first"]), int(match["second"])
    if match["mark"] == "/" and first <= 12 and second <= 12 and first != second:
        return text
    day, month = (second, first) if match["mark"] == "/" and second > 12 else (first, second)
    return f"{match['year']}-{month:02}-{day:02}{text[match.end() :]}"


def calendar_starts(lower: date, upper: date, months: int) -> Iterator[int]:
    """Yield the first days of calendar periods around two days, in days since 1970-01-01, rising.

    They are the first days of the period of `lower`, of the period of `upper`, and of all between. A period that
    would begin before the year 1 is left out.

    Args:
        lower: A day in the first period.
        upper: A day in the last period.
        months: Length of a period in months; periods are counted from January of the year 0.
    """
    for count in range((lower.year * 12 + lower.month - 1) // months, (upper.year * 12 + upper.month - 1) // months + 1):
        year, month = divmod(count * months, 12)
        if year >= 1:
            yield day_number(date(year, month + 1, 1))


def round_starts(first: date, last: date) -> Iterator[Iterator[int]]:
    """Yield cuts between two days, from fine to coarse; each item yields the first days of periods of one length.

    The lengths are a month, then 1, 2, 5, ..., 500 years. Months are left out if the years of the two days are
    `MOST_PARTS` (32) or more apart. Cuts are days since 1970-01-01, rising; the first may be before `first`.
    """
    if last.year - first.year < MOST_PARTS:
        yield calendar_starts(first, last, 1)
    for years in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        yield calendar_starts(first, last, 12 * years)


class Days(Scale):
    """The scale of dates: days since 1970-01-01."""

    noun = "date"
    wanted = "dates such as 2024-12-31"
    widths = tuple(CALENDAR_WIDTHS)
    axis, span = "moment", 86_400_000_000

    @override
    def typed(self, name: str, entered: Any) -> Any:
        """Return the date of a text such as 2024-12-31, 31.12.2024 or 12/31/2024 (`as_written_by_people`), or of a date.

        A time of day is cut off a datetime.

        Raises:
            InputError: The text cannot be read as a date.
        """
        if isinstance(entered, date):
            return date(entered.year, entered.month, entered.day)  # a datetime is cut to its day
        try:
            return date.fromisoformat(as_written_by_people(str(entered).strip()))
        except ValueError:
            raise InputError(column_field(name), "a date is not written as year-month-day", "write it like 2024-12-31") from None

    @override
    def checked(self, bound: Any) -> Any:
        """Return the bound if it is a date; else None."""
        return bound if isinstance(bound, date) else None

    @override
    def number(self, bound: Any) -> Any:
        """Return the number of days from 1970-01-01 to a date."""
        return day_number(bound)

    @override
    def value(self, number: float) -> Any:
        """Return the date that is `number` days after 1970-01-01; a fraction is cut off.

        Raises:
            OverflowError: It is outside the years 1 to 9999.
        """
        return day_of(number)

    @override
    def stated(self, bound: Any) -> Any:
        """Return the date as ISO text, such as "2024-12-31"."""
        return bound.isoformat()

    def stated_edge(self, edge: float) -> Any:
        """Return an edge as ISO text, such as "2024-12-31", in the form of a domain.

        An edge after 9999-12-31, the last day of the calendar, is stated as that day, which then belongs to the last
        bin.

        Args:
            edge: The edge in days since 1970-01-01.
        """
        return day_of(min(edge, LAST_DAY)).isoformat()

    @override
    def start(self, width: float) -> int:
        """Return the number of days from 1970-01-01 at which a bin begins: a Monday for a width of 7 days, else 0."""
        return MONDAY if width == 7 else 0

    @override
    def named_cuts(self, width: str, first: float, end: float) -> Iterator[float]:
        """Yield the first days of calendar periods that touch the days from `first` to before `end`.

        They are days since 1970-01-01, rising; the first cut may be before `first`.

        Args:
            width: "month", "quarter", "year", "5 years" or "10 years".
            first: The first day, as its number.
            end: The day after the last day, as its number.
        """
        return calendar_starts(day_of(first), day_of(end - 1), CALENDAR_WIDTHS[width])

    @override
    def spacing(self, width: str) -> float:
        """Return a lower bound on the days of a period: 28 for each month of the width."""
        return 28.0 * CALENDAR_WIDTHS[width]

    @override
    def default_width(self, least: float) -> Any:
        """Return the smallest of 7 days, a month, quarter, year, 5 and 10 years that has at least `least` days.

        A month counts as 30 days and a quarter as 91. It is 10 years if all are shorter.

        Args:
            least: The smallest width wanted, in days.

        Returns:
            A name in `widths`, or the number 7 for a week.
        """
        return next((width for width, days in _LONGEST_DAYS.items() if days >= least), max(_LONGEST_DAYS, key=_LONGEST_DAYS.__getitem__))

    @override
    def first_look(self) -> list[float]:
        """Return the edges with which learning first counts a column of dates: days since 1970-01-01, rising, the same always."""
        return [*FIRST_LOOK]

    @override
    def round_cuts(self, low: float, high: float) -> Iterator[list[float]]:
        """Yield lists of days at which learning may divide a cell, each coarser than the one before; the edges are not in them.

        The first has single days if there are at most 32 (`MOST_PARTS`); then come first days of months, if the years
        are fewer than 32 apart, and of 1 to 500 years.

        Args:
            low: The lower edge, in days since 1970-01-01.
            high: The upper edge.
        """
        if high - low <= MOST_PARTS:
            yield [low + i for i in range(1, int(high - low))]
        for starts in round_starts(day_of(low), day_of(high - 1)):
            yield [day for day in starts if low < day < high]


DATE = Kind(
    "date",
    "Date",
    "Days, such as a date of birth, between two bounds; by week, month, quarter or year where there are many.",
    Form.BINNED,
    ("lower", "upper", "width", "bins", "edges", "own_cells", "other", "missing"),
    dtype="date",
    learnable=True,
    scale=lambda _: Days(),
    examples=("2023-01-01", "2023-12-31", "month"),
)
