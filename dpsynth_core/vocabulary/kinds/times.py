"""Timestamps, times of day and durations, counted in their precision: in minutes, say, where a column is written to the minute.

Timestamps count from 1970-01-01 00:00 and have no time zone: the clock is read as written. Times of day count from midnight.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.kinds import dates
from dpsynth_core.vocabulary.kinds.kind import LARGEST_EXACT, MOST_PARTS, Form, Kind, Option, Scale, is_whole
from dpsynth_core.vocabulary.names import column_field

MICROSECONDS: Mapping[str, int] = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1000, "microsecond": 1}
"""Microseconds of each precision."""
DAY = 86_400_000_000
"""One day in microseconds."""
_WIDTHS = {
    "second": 1_000_000,
    "minute": 60_000_000,
    "5 minutes": 300_000_000,
    "15 minutes": 900_000_000,
    "30 minutes": 1_800_000_000,
    "hour": 3_600_000_000,
    "3 hours": 10_800_000_000,
    "6 hours": 21_600_000_000,
    "12 hours": 43_200_000_000,
    "day": DAY,
    "week": 7 * DAY,
}
"""Widths of bins of constant length, in microseconds."""
_STEPS = (
    *(digit * 10**power for power in range(6) for digit in (1, 2, 5)),
    *(count * 1_000_000 for count in (1, 2, 5, 10, 15, 30)),
    *(count * 60_000_000 for count in (1, 2, 5, 10, 15, 30)),
    *(count * 3_600_000_000 for count in (1, 2, 3, 6, 12)),
    *(digit * 10**power * DAY for power in range(5) for digit in (1, 2, 5)),
)
"""Round lengths of time, rising, in microseconds."""

_CLOCK = re.compile(r"(-?)([0-9]{1,7}):([0-5][0-9])(?::([0-5][0-9])(?:[.,]([0-9]{1,6}))?)?")


@dataclass(frozen=True)
class _Clock(Scale):
    """The common part of the three kinds. `span` is the number of microseconds of the precision."""

    span: int
    zero: ClassVar[Any] = datetime(1970, 1, 1)
    """The time from which the kind counts."""
    example: ClassVar[str]
    looks: ClassVar[tuple[int, ...]]
    """Edges of the first look of learning, in microseconds."""
    longest: ClassVar[int]
    """Longest named width, in microseconds."""
    longest_step: ClassVar[int] = _STEPS[-1]
    """Longest of the round lengths by which learning divides cells."""

    @property
    def widths(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(name for name, length in _WIDTHS.items() if length <= self.longest and length % self.span == 0)

    def typed(self, name: str, entered: Any) -> Any:
        bound = self.read(entered)
        if bound is None:
            raise InputError(column_field(name), f"a {self.noun} cannot be read", f"write it like {self.example}")
        return bound

    @abstractmethod
    def read(self, entered: Any) -> Any:
        """Return a value of the kind from its own type or from text; None if it cannot be read."""

    def number(self, bound: Any) -> Any:
        return (bound - self.zero) // timedelta(microseconds=self.span)

    def value(self, number: float) -> Any:
        return self.zero + timedelta(microseconds=int(number) * self.span)

    def text(self, number: float) -> str:
        return self.clock(int(number) * self.span)

    def first_look(self) -> list[float]:
        numbers = (micros // self.span for micros in self.looks if micros % self.span == 0)
        return [number for number in numbers if abs(number) < LARGEST_EXACT]

    def checked(self, bound: Any) -> Any:
        value = self.read(bound)
        number = None if value is None else self.number(value)
        return None if number is None or abs(number) >= LARGEST_EXACT else self.value(number)

    def stated(self, bound: Any) -> Any:
        return self.text(self.number(bound))

    def stated_edge(self, edge: float) -> Any:
        return self.text(edge)

    def clock(self, micros: int) -> str:
        """Return a time as text, such as "13:45", "13:45:30" or "-02:30".

        It has seconds as far as the precision has them; durations always have them. Hours are not
        reduced to a day: a day and a half begins with "36:00".

        Args:
            micros: The time in microseconds from 0; may be below 0 or more than a day.
        """
        hours, rest = divmod(abs(micros), 3_600_000_000)
        minutes, rest = divmod(rest, 60_000_000)
        sign = "-" if micros < 0 else ""
        return f"{sign}{hours:02d}:{minutes:02d}{self.seconds(rest)}"

    def seconds(self, micros: int) -> str:
        """Return the seconds of a time as ":ss.f", as far as the precision has them.

        Args:
            micros: Microseconds since the last full minute.
        """
        if self.span >= MICROSECONDS["minute"]:
            return ""
        digits = {1_000_000: 0, 1000: 3, 1: 6}[self.span]
        fraction = f".{micros % 1_000_000:06d}"[: digits + 1] if digits else ""
        return f":{micros // 1_000_000:02d}{fraction}"

    def named_cuts(self, width: str, first: float, end: float) -> Iterator[float]:
        step = _WIDTHS[width] // self.span
        start = dates.MONDAY * DAY // self.span if width == "week" else 0
        return iter(range((int(first) - start) // step * step + start, int(end) + 1, step))

    def spacing(self, width: str) -> float:
        return _WIDTHS[width] / self.span

    def default_width(self, least: float) -> Any:
        return next((width for width in self.widths if self.spacing(width) >= least), None)

    def round_cuts(self, low: float, high: float) -> Iterator[list[float]]:
        """Multiples of ever longer round lengths of time."""
        for length in _STEPS:
            step = length // self.span
            if length > self.longest_step or length % self.span or (high - low) / step > MOST_PARTS:
                continue
            yield [cut for cut in range(int(low) // step * step, int(high) + 1, step) if low < cut < high]


@dataclass(frozen=True)
class _Moments(_Clock):
    axis = "moment"
    noun = "timestamp"
    wanted = "timestamps such as 2024-12-31 13:45"
    example = "2024-12-31 13:45"
    longest = 7 * DAY
    longest_step = DAY
    looks = tuple(day * DAY for day in dates.FIRST_LOOK)

    @property
    def widths(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*super().widths, *dates.CALENDAR_WIDTHS)

    def read(self, entered: Any) -> Any:
        if isinstance(entered, datetime):
            return entered.replace(tzinfo=None)
        if isinstance(entered, date):
            return datetime(entered.year, entered.month, entered.day)
        try:
            return datetime.fromisoformat(dates.as_written_by_people(str(entered).strip())).replace(tzinfo=None)
        except ValueError:
            return None

    def typed_upper(self, name: str, entered: Any) -> Any:
        """Return an upper bound from input; a day without a time means its last moment in the precision."""
        bound, is_day = self.typed(name, entered), not isinstance(entered, datetime) and len(str(entered).strip()) <= len("2024-12-31")
        return bound + timedelta(days=1, microseconds=-self.span) if is_day else bound

    def text(self, number: float) -> str:
        days, rest = divmod(int(number) * self.span, DAY)
        return f"{dates.day_of(days)} {self.clock(rest)}"

    def named_cuts(self, width: str, first: float, end: float) -> Iterator[float]:
        if width not in dates.CALENDAR_WIDTHS:
            return super().named_cuts(width, first, end)
        days = dates.calendar_starts(self.value(first).date(), self.value(end - 1).date(), dates.CALENDAR_WIDTHS[width])
        return (day * DAY // self.span for day in days)

    def spacing(self, width: str) -> float:
        return 28 * DAY * dates.CALENDAR_WIDTHS[width] / self.span if width in dates.CALENDAR_WIDTHS else super().spacing(width)

    def default_width(self, least: float) -> Any:
        return super().default_width(least) or "10 years"

    def stated_edge(self, edge: float) -> Any:
        return self.text(min(edge, (dates.LAST_DAY + 1) * DAY // self.span - 1))

    def round_cuts(self, low: float, high: float) -> Iterator[list[float]]:
        """Round times and days, then months, then ever more years."""
        yield from super().round_cuts(low, high)
        for starts in dates.round_starts(self.value(low).date(), self.value(high - 1).date()):
            yield [cut for cut in (day * DAY // self.span for day in starts) if low < cut < high]


@dataclass(frozen=True)
class _TimesOfDay(_Clock):
    axis = "clock"
    noun = "time of day"
    wanted = "times of day such as 13:45"
    example = "13:45"
    longest = 43_200_000_000
    looks = tuple(hour * 3_600_000_000 for hour in range(25))

    def read(self, entered: Any) -> Any:
        if isinstance(entered, time):
            return entered.replace(tzinfo=None)
        micros = clock_micros(str(entered))
        return (self.zero + timedelta(microseconds=micros)).time() if micros is not None and 0 <= micros < DAY else None

    def edge(self, name: str, stated: Any) -> Any:
        return DAY // self.span if stated in ("24:00", "24:00:00") else super().edge(name, stated)

    def number(self, bound: Any) -> Any:
        return super().number(datetime.combine(self.zero, bound))

    def value(self, number: float) -> Any:
        return super().value(number).time()


@dataclass(frozen=True)
class _Durations(_Clock):
    zero = timedelta()
    axis = "length"
    noun = "duration"
    wanted = "durations such as 26:30:00"
    example = "26:30:00, for hours, minutes and seconds"
    longest = 7 * DAY
    looks = (*(-length for length in reversed(_STEPS)), 0, *_STEPS)

    def read(self, entered: Any) -> Any:
        if isinstance(entered, timedelta):
            return entered
        if is_whole(entered):
            return timedelta(microseconds=int(entered) * self.span) if abs(entered * self.span) < LARGEST_EXACT else None
        micros = clock_micros(str(entered))
        return None if micros is None else timedelta(microseconds=micros)

    def seconds(self, micros: int) -> str:
        """Return seconds as text at every precision, so that "01:30:00" is not read as a minute and a half."""
        return super().seconds(micros) or ":00"


def clock_micros(text: str) -> int | None:
    """Return the microseconds of a text hh:mm, hh:mm:ss or hh:mm:ss.f, with up to seven digits of hours and perhaps a minus.

    A fraction has up to six digits, behind a point or a comma. None is returned for any other text.
    """
    if (match := _CLOCK.fullmatch(text.strip())) is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.group(2, 3, 4))
    micros = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + int((match[5] or "0").ljust(6, "0"))
    return -micros if match[1] else micros


_FIELDS = ("lower", "upper", "precision", "width", "bins", "edges", "own_cells", "other", "missing")
_WRITTEN_TO = Option(
    "precision",
    "Written to the",
    "What the values of the rows are written to; finer parts of the table's values are cut off.",
    choices=("second", "minute", "hour", "millisecond", "microsecond"),
    learnt=True,
)


def _kind(name: str, title: str, help: str, scale: type[_Clock], examples: tuple[str, str, str]) -> Kind:
    return Kind(
        name,
        title,
        help,
        Form.BINNED,
        _FIELDS,
        dtype=name,
        learnable=True,
        scale=lambda precision: scale(MICROSECONDS[precision]),
        precisions=tuple(MICROSECONDS),
        examples=examples,
        options=(_WRITTEN_TO,),
    )


TIMESTAMP = _kind(
    "timestamp",
    "Date and time",
    "A day with a time, such as an admission, between two bounds; by hours, days, months where there are many.",
    _Moments,
    ("2023-01-01 00:00", "2023-12-31 23:59", "6 hours"),
)
TIME = _kind(
    "time",
    "Time of day",
    "A time without a day, such as the hour of an accident, between two bounds.",
    _TimesOfDay,
    ("00:00", "23:59", "hour"),
)
DURATION = _kind(
    "duration",
    "Duration",
    "How long something lasts, such as 26:30:00, between two bounds. Plain numbers in the table count its precision: minutes, say.",
    _Durations,
    ("00:00:00", "72:00:00", "30 minutes"),
)
