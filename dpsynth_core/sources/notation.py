"""How values are written as text: what stands for missing, how numbers and dates are spelled. A statement of the table's curator.

A text that breaks the stated spelling is no number or no date, and so missing: it is never read as another number. Dates in the form
year-month-day are understood in every table, because nothing else looks like them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.foundation.arrow_times import DAY_MICROS, NO_TIME
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import clocks

DEFAULT_MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null"})
DECIMALS = {".": "point", ",": "comma"}
THOUSANDS = {"": "none", ",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
ISO_DATES = "yyyy-mm-dd"
DATE_FORMATS = (ISO_DATES, "dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy", "dd-mm-yyyy", "yyyy/mm/dd", "yyyymmdd", "ddmmmyyyy", "dd-mmm-yyyy")

TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), "true"),
    **dict.fromkeys(("false", "f", "no", "n", "0"), "false"),
}
"""How the values of a column of yes or no may be written, in small or capital letters, and what they mean."""

_LARGEST = 2.0**62
BEHIND = "(?:$|[T ])"
"""What may follow a date: a time of day, which is cut off."""
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
ISO = r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})" + BEHIND
_GROUPED_BY = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}
"""Characters that look like the mark and are written for it: spaces that do not break a line, the typographic apostrophe."""
_PARTS = {"yyyy": "(?P<year>[0-9]{4})", "mmm": "(?P<month>[A-Za-z]{3})", "mm": "(?P<month>[0-9]{1,2})", "dd": "(?P<day>[0-9]{1,2})"}
_FIXED = {"mm": "(?P<month>[0-9]{2})", "dd": "(?P<day>[0-9]{2})"}
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


@dataclass(frozen=True)
class Notation:
    """missing_markers: texts that mean missing, without spaces around them. decimal: "." or ",".

    thousands: the mark between groups of three digits, "" for none; a number may also be written without it.
    date_format: of dd, mm (or mmm: jan, feb, ...) and yyyy with one sign, or none, between them. A time of day behind a date is cut off.
    time_format: one of `clocks.TIME_FORMATS`; times with a colon are understood beside it.
    Raises InputError for what contradicts itself.
    """

    missing_markers: frozenset[str] = DEFAULT_MISSING
    decimal: str = "."
    thousands: str = ""
    date_format: str = ISO_DATES
    time_format: str = clocks.COLON

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing_markers", frozenset(str(marker).strip() for marker in self.missing_markers))
        if self.decimal not in DECIMALS:
            raise InputError("data.decimal", "it is not a known decimal mark", "use a point or a comma")
        if self.thousands not in THOUSANDS:
            raise InputError("data.thousands", "it is not a known mark", "use nothing, a comma, a point, a space or an apostrophe")
        if self.thousands == self.decimal:
            raise InputError("data.thousands", "it is the decimal mark, too", "state two different marks")
        if date_pattern(self.date_format) is None:
            raise InputError("data.date_format", "it is not a known way to write dates", f"use {', '.join(DATE_FORMATS[:4])} or the like")
        if self.time_format not in clocks.TIME_FORMATS:
            raise InputError("data.time_format", "it is not a known way to write times", f"use {', '.join(clocks.TIME_FORMATS)}")

    @property
    def without_markers(self) -> Notation:
        return replace(self, missing_markers=frozenset())

    def absent(self, text: pa.Array) -> pa.BooleanArray:
        """Which of these trimmed texts mean missing; null where the text is null."""
        return pc.is_in(text, pa.array(sorted({*self.missing_markers, ""}), pa.string()))

    def numbers(self, text: pa.Array) -> pa.Array:
        """float64 of trimmed texts, null for what is no number. Markers are not looked at."""
        if not self._is_plain:
            text = pc.if_else(pc.match_substring_regex(text, self.number_pattern), text, None)
            for mark in thousands_marks(self.thousands):
                text = pc.replace_substring(text, mark, "")
            text = pc.replace_substring(text, self.decimal, ".")
        return pc.if_else(pc.match_substring_regex(text, f"^{NUMBER}$"), text, None).cast(pa.float64())

    @cached_property
    def marked_numbers(self) -> list[float]:
        """The numbers among the markers, such as -9."""
        return self.numbers(pa.array(sorted(self.missing_markers), pa.string())).drop_null().to_pylist()

    @property
    def date_patterns(self) -> tuple[str, ...]:
        """Of yyyy-mm-dd, and of the stated form if that is another one."""
        return (ISO,) if self.date_format == ISO_DATES else (ISO, str(date_pattern(self.date_format)))

    def days(self, text: pa.Array) -> NDArray[np.float64]:
        """Days since 1970-01-01 of trimmed texts; nan for what is no date."""
        days = np.full(len(text), np.nan)
        for pattern in self.date_patterns:
            parts = pc.extract_regex(text, pattern)
            at = np.flatnonzero(pc.is_valid(parts).to_numpy(zero_copy_only=False))
            days[at] = _days(*(pc.struct_field(parts.drop_null(), name) for name in ("year", "month", "day")))
        return days

    def moments(self, text: pa.Array) -> NDArray[np.int64]:
        """Microseconds since 1970-01-01 00:00 of trimmed texts; `NO_TIME` for what is no date with or without a time of day. A time zone is
        not looked at: the clock counts as it is written."""
        moments = np.full(len(text), NO_TIME)
        for day, clock in product(self.date_patterns, clocks.patterns_behind_a_date(self.time_format)):
            written = pc.extract_regex(text, day.removesuffix(BEHIND) + clock)
            at, parts = np.flatnonzero(pc.is_valid(written).to_numpy(zero_copy_only=False)), written.drop_null()
            days = _days(*(pc.struct_field(parts, name) for name in ("year", "month", "day")))
            micros = clocks.time_of_day(parts)
            there = np.isfinite(days) & (micros != NO_TIME)
            moments[at] = np.where(there, np.where(there, days, 0).astype(np.int64) * DAY_MICROS + micros, NO_TIME)
        return moments

    def clocks(self, text: pa.Array) -> NDArray[np.int64]:
        """Microseconds since midnight of trimmed texts, with or without a date before the time; `NO_TIME` for what is no time of day."""
        whole = clocks.with_zeros(text) if self.time_format == clocks.DIGITS else text
        readings = [_scattered(pc.extract_regex(whole, pattern), clocks.time_of_day) for pattern in clocks.patterns(self.time_format)]
        return np.maximum.reduce(readings)  # at most one reads a text, and `NO_TIME` is the lowest number

    def durations(self, text: pa.Array, unit: int) -> NDArray[np.int64]:
        """Microseconds of trimmed texts such as 26:30:00, or of numbers of so many microseconds; `NO_TIME` for what is no duration."""
        micros = _scattered(pc.extract_regex(text, clocks.LASTING), clocks.lasting)
        counted = pc.fill_null(self.numbers(text), np.nan).to_numpy(zero_copy_only=False) * unit
        usable = np.abs(counted) < _LARGEST
        return np.where(usable, np.where(usable, counted, 0).astype(np.int64), micros)

    def days_of(self, texts: Sequence[str]) -> list[float]:
        """The same of a list."""
        return cast(list[float], self.days(pa.array(texts, pa.string())).tolist())

    @property
    def _is_plain(self) -> bool:
        return self.decimal == "." and not self.thousands

    @cached_property
    def number_pattern(self) -> str:
        """The regular expression of a number with the stated marks."""
        point, marks = re.escape(self.decimal), "".join(re.escape(mark) for mark in thousands_marks(self.thousands))
        whole = f"([0-9]+|[1-9][0-9]{{0,2}}([{marks}][0-9]{{3}})+)" if marks else "[0-9]+"  # no group of thousands begins with 0
        return rf"^[+-]?({whole}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?$"


def spelling(decimal: str, thousands: str) -> str:
    """A number that shows both marks."""
    return f"1{thousands}234{decimal}5"


def thousands_marks(thousands: str) -> str:
    """The mark, and the characters that are written for it."""
    return _GROUPED_BY.get(thousands, thousands)


def date_pattern(written: str) -> str | None:
    """The regular expression of a stated form; None for what is none."""
    match = re.fullmatch(r"(yyyy|mmm|mm|dd)([./ -]?)(yyyy|mmm|mm|dd)([./ -]?)(yyyy|mmm|mm|dd)", written)
    if match is None or match[2] != match[4] or {part[0] for part in (match[1], match[3], match[5])} != {"y", "m", "d"}:
        return None
    parts = _PARTS if match[2] or "mmm" in written else _PARTS | _FIXED
    return "^" + re.escape(match[2]).join(parts[part] for part in (match[1], match[3], match[5])) + BEHIND


def _scattered(written: pa.Array, read: Callable[[pa.StructArray], NDArray[np.int64]]) -> NDArray[np.int64]:
    """What the parts of texts that a pattern fits mean, at their places; `NO_TIME` at the others."""
    every = np.full(len(written), NO_TIME)
    every[np.flatnonzero(pc.is_valid(written).to_numpy(zero_copy_only=False))] = read(written.drop_null())
    return every


def _days(year: pa.Array, month: pa.Array, day: pa.Array) -> NDArray[np.float64]:
    """Days since 1970-01-01; nan where there is no such day."""
    names = pc.index_in(pc.utf8_lower(month), pa.array(MONTHS))
    known = pc.if_else(pc.match_substring_regex(month, "^[0-9]+$"), month, None).cast(pa.int32())
    years, months, days = (
        pc.fill_null(part, 0).to_numpy(zero_copy_only=False).astype(np.int64)
        for part in (year.cast(pa.int32()), pc.coalesce(known, pc.add(names, 1)), day.cast(pa.int32()))
    )
    first = ((years - 1970) * 12 + months - 1).astype("datetime64[M]")
    there = first.astype("datetime64[D]") + (days - 1)
    exists = (years >= 1) & (months >= 1) & (months <= 12) & (days >= 1) & (there.astype("datetime64[M]") == first)
    return np.where(exists, there.astype(np.int64).astype(np.float64), np.nan)
