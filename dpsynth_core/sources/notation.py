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
    """The way in which values are written as text.

    Attributes:
        missing_markers: Texts that mean missing, without spaces around them.
        decimal: The decimal mark, "." or ",".
        thousands: The mark between groups of digits, "" for none; a number may also be written without it.
        date_format: yyyy or yy, mm or mmmm (a name) and dd with signs, or none, between them, and perhaps dddd (a name); with yy, "from"
            and the first of the hundred years that are meant. A time of day behind a date is cut off.
        time_format: One of `spelling.TIME_FORMATS`; times with a colon are understood beside it.
        negative: One of `spelling.NEGATIVES`; a sign before a number is understood beside it.
        units: Texts that may stand before or behind a number, such as % or EUR, and do not change it.
        same_text: Which texts count as the same category, one of `characters.SAME_TEXTS`.

    Raises:
        InputError: If a field is unknown or two contradict each other.
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
        """Return texts of whole numbers with the zeros at the beginning that numbers lose."""
        length = len(spelling.written_part(self.date_format))
        return pc.if_else(pc.match_substring_regex(numbers, "^[0-9]+$"), pc.utf8_lpad(numbers, length, "0"), None)

    @property
    def without_markers(self) -> Notation:
        """The notation with no markers of missing values."""
        return replace(self, missing_markers=frozenset())

    def absent(self, text: pa.Array) -> pa.BooleanArray:
        """Return which of these trimmed texts are markers of missing values; null where the text is null."""
        return pc.is_in(text, pa.array(sorted({*self.missing_markers, ""}), pa.string()))

    def numbers(self, text: pa.Array) -> pa.Array:
        """Return trimmed texts as float64, null where a text is not a number. Missing markers are not looked for."""
        text = self.bare(characters.plain(text, self.decimal))
        if self.decimal != "." or self.thousands:
            text = pc.if_else(pc.match_substring_regex(text, spelling.number_pattern(self.decimal, self.thousands)), text, None)
            for mark in spelling.thousands_marks(self.thousands):
                text = pc.replace_substring(text, mark, "")
            text = pc.replace_substring(text, self.decimal, ".")
        return pc.if_else(pc.match_substring_regex(text, spelling.NUMBER), text, None).cast(pa.float64())

    def bare(self, text: pa.Array) -> pa.Array:
        """Return numbers without their unit, with the sign of those below zero in front."""
        text = self._without_unit(text)
        if self.negative not in _BELOW_ZERO:
            return text
        is_below = pc.match_substring_regex(text, _BELOW_ZERO[self.negative])
        below = pc.replace_substring_regex(text, _BELOW_ZERO[self.negative], r"-\1")
        return pc.if_else(is_below, self._without_unit(below) if self.negative == spelling.BRACKETS else below, text)

    def _without_unit(self, text: pa.Array) -> pa.Array:
        """Return texts without the unit before them or, without a unit before, the unit behind."""
        if not self.units:
            return text
        (before, rest), (behind, start) = spelling.unit_patterns(self.units)
        without_behind = pc.replace_substring_regex(text, behind, start)
        return pc.if_else(pc.match_substring_regex(text, before), pc.replace_substring_regex(text, before, rest), without_behind)

    @cached_property
    def marked_numbers(self) -> list[float]:
        """The numbers among the markers, such as -9."""
        return self.numbers(pa.array(sorted(self.missing_markers), pa.string())).drop_null().to_pylist()

    def days(self, text: pa.Array) -> NDArray[np.float64]:
        """Return the days since 1970-01-01 of trimmed texts; nan for a text that is not a date."""
        text, days = characters.plain(text), np.full(len(text), np.nan)
        for pattern in spelling.date_patterns(self.date_format):
            parts = pc.extract_regex(text, pattern)
            at = np.flatnonzero(pc.is_valid(parts).to_numpy(zero_copy_only=False))
            if len(at):
                days[at] = self._days(parts.drop_null())
        return days

    def moments(self, text: pa.Array) -> NDArray[np.int64]:
        """Return the microseconds since 1970-01-01 00:00 of trimmed texts: dates with or without a time of day; `NO_TIME` for other texts.

        Time zones are ignored: the clock counts as written.
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
        """Return the microseconds since midnight of trimmed texts, with or without a date before the time; `NO_TIME` for other texts."""
        text = characters.plain(text)
        whole = clocks.with_zeros(text) if self.time_format == spelling.DIGITS else text
        patterns = spelling.time_patterns(self.time_format)
        readings = [_scattered(pc.extract_regex(whole, pattern), clocks.time_of_day) for pattern in patterns]
        return np.maximum.reduce(readings)  # at most one reads a text, and `NO_TIME` is the lowest number

    def durations(self, text: pa.Array, unit: int) -> NDArray[np.int64]:
        """Return the durations that texts state, in microseconds; `NO_TIME` for a text that states none.

        Args:
            text: Texts without spaces at the ends: like 26:30:00, or a number.
            unit: The microseconds that the number 1 stands for.
        """
        text = characters.plain(text, self.decimal)
        micros = _scattered(pc.extract_regex(text, spelling.LASTING), clocks.lasting)
        counted = pc.fill_null(self.numbers(text), np.nan).to_numpy(zero_copy_only=False) * unit
        usable = np.abs(counted) < _LARGEST
        return np.where(usable, np.where(usable, counted, 0).astype(np.int64), micros)

    def _days(self, parts: pa.StructArray) -> NDArray[np.float64]:
        """Return days since 1970-01-01; nan where the day does not exist."""
        years, months, days = self._years(parts), _months(pc.struct_field(parts, "month")), _whole(pc.struct_field(parts, "day"))
        first = ((years - 1970) * 12 + months - 1).astype("datetime64[M]")
        there = first.astype("datetime64[D]") + (days - 1)
        exists = (years >= 1) & (months >= 1) & (months <= 12) & (days >= 1) & (there.astype("datetime64[M]") == first)
        return np.where(exists, there.astype(np.int64).astype(np.float64), np.nan)

    def _years(self, parts: pa.StructArray) -> NDArray[np.int64]:
        """Return years; two digits are the year of the stated hundred that ends so."""
        if parts.type.get_field_index("short") < 0:
            return _whole(pc.struct_field(parts, "year"))
        first = spelling.first_year(self.date_format)
        return first + (_whole(pc.struct_field(parts, "short")) - first) % 100


def _scattered(written: pa.Array, read: Callable[[pa.StructArray], NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the values that `read` finds in the parts of matched texts, at the texts' places; `NO_TIME` for texts without a match."""
    every = np.full(len(written), NO_TIME)
    every[np.flatnonzero(pc.is_valid(written).to_numpy(zero_copy_only=False))] = read(written.drop_null())
    return every


def _months(written: pa.Array) -> NDArray[np.int64]:
    """Return the numbers of months from numbers or names; 0 for an unknown name."""
    named = pa.array(MONTHS.values(), pa.int32()).take(pc.index_in(pc.utf8_lower(written), pa.array(MONTHS)))
    numbered = pc.if_else(pc.match_substring_regex(written, "^[0-9]+$"), written, None).cast(pa.int32())
    return _whole(pc.coalesce(numbered, named))


def _whole(numbers: pa.Array) -> NDArray[np.int64]:
    return np.asarray(pc.fill_null(numbers.cast(pa.int64()), 0).to_numpy(zero_copy_only=False))
