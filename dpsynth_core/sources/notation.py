"""The curator's statement of how values are written as text: markers of missing values, and the spelling of numbers and dates.

A text that breaks the stated spelling counts as missing and is never read as another number or date. Dates in the form year-month-day
are understood in every table, because nothing else looks like them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.foundation.arrow_times import DAY_MICROS, NO_TIME
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import characters, clocks, spelling
from dpsynth_core.sources.month_names import MONTHS

DEFAULT_MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null"})

TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), "true"),
    **dict.fromkeys(("false", "f", "no", "n", "0"), "false"),
}
"""The meaning of each spelling of a truth value, in small or capital letters."""

_LARGEST = 2.0**62
_BELOW_ZERO = {spelling.BRACKETS: r"^\((.*)\)$", spelling.BEHIND: "^(.*)-$"}


@dataclass(frozen=True)
class Notation:
    """The way in which values are written as text, as the curator states it.

    Attributes:
        missing_markers: Texts that mean missing, without spaces around them.
        decimal: The decimal mark, "." or ",".
        thousands: The mark between groups of digits, "" for none. Numbers without it are read, too.
        date_format: A format such as dd.mm.yyyy: yyyy or yy, mm or mmmm (a name) and dd, with or
            without signs between them, and perhaps dddd (the name of the day). With yy, it ends
            with "from" and the first of the hundred years that are meant. A time of day after a
            date is cut off.
        time_format: One of `spelling.TIME_FORMATS`. Times with a colon are read, too.
        negative: How negative numbers are written, one of `spelling.NEGATIVES`. Numbers with a sign
            in front are read, too.
        units: Texts that may stand before or behind a number, such as % or EUR, and do not change
            it.
        same_text: The rule by which texts count as the same category, one of
            `characters.SAME_TEXTS`.

    Raises:
        InputError: A field is unknown, or two fields contradict each other.
    """

    missing_markers: frozenset[str] = DEFAULT_MISSING
    decimal: str = "."
    thousands: str = ""
    date_format: str = spelling.ISO_DATES
    time_format: str = spelling.COLON
    negative: str = spelling.SIGN
    units: tuple[str, ...] = ()
    same_text: str = characters.EXACT

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing_markers", frozenset(str(marker).strip() for marker in self.missing_markers))
        object.__setattr__(self, "units", tuple(str(unit).strip() for unit in self.units))
        spelling.check(self.decimal, self.thousands, self.date_format, self.time_format, self.negative, self.units)
        if self.same_text not in characters.SAME_TEXTS:
            raise InputError("data.same_text", "it is not a known way to compare texts", f"use {', '.join(characters.SAME_TEXTS)}")

    @property
    def dates_are_digits(self) -> bool:
        """True if the stated form of dates has digits only, so that a number may be a date."""
        form = spelling.written_part(self.date_format)
        return set(form) <= set("ymd") and "mmm" not in form

    def digit_dates(self, numbers: pa.Array) -> pa.Array:
        """Return texts of whole numbers padded with the leading zeros of the date format.

        A number loses leading zeros: with ddmmyyyy, 5032024 becomes 05032024. Other texts, and null, become
        null.
        """
        length = len(spelling.written_part(self.date_format))
        return pc.if_else(pc.match_substring_regex(numbers, "^[0-9]+$"), pc.utf8_lpad(numbers, length, "0"), None)

    @property
    def without_markers(self) -> Notation:
        """The notation without markers of missing values; an empty text is still missing."""
        return replace(self, missing_markers=frozenset())

    def absent(self, text: pa.Array) -> pa.BooleanArray:
        """Return which of these trimmed texts mean missing (markers and ""); null for null."""
        return pc.is_in(text, pa.array(sorted({*self.missing_markers, ""}), pa.string()))

    def numbers(self, text: pa.Array) -> pa.Array:
        """Return trimmed texts as float64, null where a text is not a number in this notation.

        Missing markers are not treated specially: a marker such as -9 is returned as a number.
        """
        text = self.bare(characters.plain(text, self.decimal))
        if self.decimal != "." or self.thousands:
            text = pc.if_else(pc.match_substring_regex(text, spelling.number_pattern(self.decimal, self.thousands)), text, None)
            for mark in spelling.thousands_marks(self.thousands):
                text = pc.replace_substring(text, mark, "")
            text = pc.replace_substring(text, self.decimal, ".")
        return pc.if_else(pc.match_substring_regex(text, spelling.NUMBER), text, None).cast(pa.float64())

    def bare(self, text: pa.Array) -> pa.Array:
        """Return texts of numbers without their unit, negative ones with a minus sign in front; other texts stay as they are."""
        text = self._without_unit(text)
        if self.negative not in _BELOW_ZERO:
            return text
        is_below = pc.match_substring_regex(text, _BELOW_ZERO[self.negative])
        below = pc.replace_substring_regex(text, _BELOW_ZERO[self.negative], r"-\1")
        return pc.if_else(is_below, self._without_unit(below) if self.negative == spelling.BRACKETS else below, text)

    def _without_unit(self, text: pa.Array) -> pa.Array:
        """Return texts without a unit in front, or without a unit behind if none is in front."""
        if not self.units:
            return text
        (before, rest), (behind, start) = spelling.unit_patterns(self.units)
        without_behind = pc.replace_substring_regex(text, behind, start)
        return pc.if_else(pc.match_substring_regex(text, before), pc.replace_substring_regex(text, before, rest), without_behind)

    @cached_property
    def marked_numbers(self) -> list[float]:
        """The missing markers that are numbers, such as -9, as float64 values; [] without such markers."""
        return self.numbers(pa.array(sorted(self.missing_markers), pa.string())).drop_null().to_pylist()

    def days(self, text: pa.Array) -> NDArray[np.float64]:
        """Return the days since 1970-01-01 of trimmed texts, whole numbers in float64; nan for a text that is not a date.

        A time of day after the date is cut off. Null gives nan.
        """
        text, days = characters.plain(text), np.full(len(text), np.nan)
        for pattern in spelling.date_patterns(self.date_format):
            parts = pc.extract_regex(text, pattern)
            at = np.flatnonzero(pc.is_valid(parts).to_numpy(zero_copy_only=False))
            if len(at):
                days[at] = self._days(parts.drop_null())
        return days

    def moments(self, text: pa.Array) -> NDArray[np.int64]:
        """Return the microseconds since 1970-01-01 00:00 of trimmed texts: dates with or without a time of day.

        A date alone means midnight. Other texts, and null, give `NO_TIME` (the smallest int64). Time zones are ignored:
        the clock counts as written.
        """
        text, moments = characters.plain(text), np.full(len(text), NO_TIME)
        for pattern in spelling.moment_patterns(self.date_format, self.time_format):
            written = pc.extract_regex(text, pattern)
            at, parts = np.flatnonzero(pc.is_valid(written).to_numpy(zero_copy_only=False)), written.drop_null()
            days, micros = self._days(parts), clocks.time_of_day(parts)
            there = np.isfinite(days) & (micros != NO_TIME)
            moments[at] = np.where(there, np.where(there, days, 0).astype(np.int64) * DAY_MICROS + micros, NO_TIME)
        return moments

    def clocks(self, text: pa.Array) -> NDArray[np.int64]:
        """Return the microseconds since midnight of trimmed texts, with or without a date before the time.

        Other texts, and null, give `NO_TIME` (the smallest int64). The date and a time zone are ignored: the clock counts as
        written.
        """
        text = characters.plain(text)
        whole = clocks.with_zeros(text) if self.time_format == spelling.DIGITS else text
        patterns = spelling.time_patterns(self.time_format)
        readings = [_scattered(pc.extract_regex(whole, pattern), clocks.time_of_day) for pattern in patterns]
        return np.maximum.reduce(readings)  # at most one reads a text, and `NO_TIME` is the lowest number

    def durations(self, text: pa.Array, unit: int) -> NDArray[np.int64]:
        """Return the microseconds of durations written as text; `NO_TIME` (the smallest int64) for other texts and null.

        Args:
            text: Trimmed texts, like 26:30:00 or a number.
            unit: The number of microseconds that a plain number 1 means.
        """
        text = characters.plain(text, self.decimal)
        micros = _scattered(pc.extract_regex(text, spelling.LASTING), clocks.lasting)
        counted = pc.fill_null(self.numbers(text), np.nan).to_numpy(zero_copy_only=False) * unit
        usable = np.abs(counted) < _LARGEST
        return np.where(usable, np.where(usable, counted, 0).astype(np.int64), micros)

    def _days(self, parts: pa.StructArray) -> NDArray[np.float64]:
        """Return days since 1970-01-01; nan where the day does not exist.

        Args:
            parts: The matched groups `year` or `short`, `month` and `day` of each text.
        """
        years, months, days = self._years(parts), _months(pc.struct_field(parts, "month")), _whole(pc.struct_field(parts, "day"))
        first = ((years - 1970) * 12 + months - 1).astype("datetime64[M]")
        there = first.astype("datetime64[D]") + (days - 1)
        exists = (years >= 1) & (months >= 1) & (months <= 12) & (days >= 1) & (there.astype("datetime64[M]") == first)
        return np.where(exists, there.astype(np.int64).astype(np.float64), np.nan)

    def _years(self, parts: pa.StructArray) -> NDArray[np.int64]:
        """Return the year of each date; two digits mean a year of the stated hundred years.

        With "from 1930", 40 means 1940 and 20 means 2020.
        """
        if parts.type.get_field_index("short") < 0:
            return _whole(pc.struct_field(parts, "year"))
        first = spelling.first_year(self.date_format)
        return first + (_whole(pc.struct_field(parts, "short")) - first) % 100


def _scattered(written: pa.Array, read: Callable[[pa.StructArray], NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return one value for each text: what `read` returns for matched texts, `NO_TIME` for others.

    Args:
        written: The matched groups of each text, null for a text without a match.
        read: A function from the matched groups to one value each.
    """
    every = np.full(len(written), NO_TIME)
    every[np.flatnonzero(pc.is_valid(written).to_numpy(zero_copy_only=False))] = read(written.drop_null())
    return every


def _months(written: pa.Array) -> NDArray[np.int64]:
    """Return the number of each month, from its digits or its name; 0 for an unknown name."""
    named = pa.array(MONTHS.values(), pa.int32()).take(pc.index_in(pc.utf8_lower(written), pa.array(MONTHS)))
    numbered = pc.if_else(pc.match_substring_regex(written, "^[0-9]+$"), written, None).cast(pa.int32())
    return _whole(pc.coalesce(numbered, named))


def _whole(numbers: pa.Array) -> NDArray[np.int64]:
    """Return numbers as int64, 0 for null."""
    return np.asarray(pc.fill_null(numbers.cast(pa.int64()), 0).to_numpy(zero_copy_only=False))
