"""The ways in which a curator may state how numbers, dates and times are written, and the regular expressions for them.

A statement is public, and so are the expressions: each text is matched on its own, and `notation` reads it on its own. A text that breaks
the stated spelling is missing. Three forms are understood in every table, because nothing else looks like them: dates in the form
year-month-day; timestamps in the basic form of ISO 8601 (20240205T103000Z) or in fourteen digits (20240205103000); hours and minutes with a
colon between them, perhaps with seconds, a fraction, am or pm, and a time zone. Times without a colon look like numbers: they are
understood in tables whose curator states how they are written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.month_names import LETTERS

DECIMALS = {".": "point", ",": "comma"}
THOUSANDS = {"": "none", ",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
_GROUPED_BY = {" ": " \u00a0\u2009\u202f", "'": "'\u2019", ",": ",\u066c"}
"""Characters that are written for a mark: spaces that do not break a line, the typographic apostrophe, the Arabic mark."""
SIGN, BRACKETS, BEHIND = NEGATIVES = ("-5", "(5)", "5-")
"""Ways to write a number below zero. A sign before it is understood in every table."""
MAX_UNITS, _LONGEST_UNIT = 20, 20
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"

ISO_DATES = "yyyy-mm-dd"
DATE_FORMATS = (ISO_DATES, "dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy", "dd-mm-yyyy", "yyyy/mm/dd", "yyyymmdd", "ddmmmyyyy", "dd-mmm-yyyy")
WORDY_FORMATS = ("dd mmmm yyyy", "dd. mmmm yyyy", "mmmm dd, yyyy", "dd de mmmm de yyyy", "dddd, dd mmmm yyyy", "dddd, mmmm dd, yyyy")
"""Forms with names of months, in full or shortened, and of days, which are not looked at."""
_ZONE_HOURS = "[+-][0-9]{1,2}(?::?[0-9]{2}){0,2}"
_BEHIND = f"(?:$|[T ,:]|Z$|{_ZONE_HOURS}$)"
"""The text that may follow a date: a time of day, which is cut off, or a time zone."""
_ISO = r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})" + _BEHIND
_DAY_DIGITS = "^(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})"
_BASIC_DAY, _FOURTEEN = f"{_DAY_DIGITS}T", f"{_DAY_DIGITS}[0-9]{{6}}(?:[.,]|Z|[+-]|$)"
"""Days before a time in the basic form of ISO 8601, and in fourteen digits, as HL7 writes both."""
_NAME = f"(?P<month>[{LETTERS}]{{3,12}})[.]?"
_PARTS = {
    "yyyy": "(?P<year>[0-9]{4})",
    "yy": "(?P<short>[0-9]{2})",
    **dict.fromkeys(("mmmm", "mmm"), _NAME),
    **dict.fromkeys(("mm", "m"), "(?P<month>[0-9]{1,2})"),
    **dict.fromkeys(("dd", "d"), "(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"),
    **dict.fromkeys(("dddd", "ddd"), f"[{LETTERS}-]{{2,20}}[.]?"),
}
_FIXED = {"mm": "(?P<month>[0-9]{2})", "dd": "(?P<day>[0-9]{2})", "mmm": "(?P<month>[A-Za-z]{3})"}
_TOKEN = re.compile("(yyyy|yy|m{1,4}|d{1,4}(?!e))")
_BETWEEN = re.compile("[./, -]{0,2}| de |[\u5e74\u6708\u65e5]|[\ub144\uc6d4\uc77c] ?")
"""Between the parts of a date, as East Asian countries write it, too."""
_LAST_SIGNS = ("", ".", "\u65e5", "\uc77c")
_SHORT_YEARS = re.compile(".* from (?P<first>(?:1[5-9]|20)[0-9]{2})")
"""A form with years of two digits says which hundred years they mean."""

COLON, DIGITS = "hh:mm", "hhmm"
TIME_FORMATS = (COLON, DIGITS, "hh.mm", "hhhmm")
"""The last is for 8h30."""
_FRACTION = "(?:[.,](?P<fraction>[0-9]{1,9}))?"
_SECONDS = f"(?::(?P<second>[0-5][0-9]){_FRACTION})?"
_HALF = "(?: ?(?P<half>[AaPp][.]? ?[Mm][.]?))?"
_ZONE = rf"(?: ?(?:Z|[A-Z]{{3,5}}))?(?: ?{_ZONE_HOURS})?(?: ?[A-Z]{{3,5}})?(?: ?\[?[A-Za-z_]+/[A-Za-z_/+-]+\]?| ?Uhr)?$"
"""Written after a time, and not looked at: Z, UTC, +01, +01:00, -0500 EST, [Europe/Berlin]."""
_CLOCK = rf"(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-5][0-9]){_SECONDS}{_HALF}{_ZONE}"
_FULL_CLOCK = rf"(?P<hour>[0-9]{{2}})(?P<minute>[0-5][0-9])(?P<second>[0-5][0-9]){_FRACTION}{_ZONE}"
_BASIC_CLOCK = rf"(?P<hour>[0-9]{{2}}):?(?P<minute>[0-5][0-9])(?::?(?P<second>[0-5][0-9]){_FRACTION})?{_ZONE}"
_WITH_OR_WITHOUT_A_DATE = f"^(?:[0-9{LETTERS}./, -]+[T ])?"
LASTING = rf"^(?P<sign>-?)(?P<hour>[0-9]{{1,7}}):(?P<minute>[0-5][0-9]){_SECONDS}$"
_STATED = {
    DIGITS: "(?P<hour>[0-9]{2})(?P<minute>[0-5][0-9])(?P<second>[0-5][0-9])?$",
    "hh.mm": rf"(?P<hour>[0-9]{{1,2}})\.(?P<minute>[0-5][0-9])(?:\.(?P<second>[0-5][0-9]){_FRACTION})?{_HALF}{_ZONE}",
    "hhhmm": "(?P<hour>[0-9]{1,2}) ?[hH](?: ?(?P<minute>[0-5][0-9]))?$",
}


def check(decimal: str, thousands: str, date_format: str, time_format: str, negative: str, units: Sequence[str]) -> None:
    """Check that the fields of a `Notation` are known and do not contradict each other.

    Raises:
        InputError: A field is unknown or contradicts another. The error names the field.
    """
    if decimal not in DECIMALS:
        raise InputError("data.decimal", "it is not a known decimal mark", "use a point or a comma")
    if thousands not in THOUSANDS:
        raise InputError("data.thousands", "it is not a known mark", "use nothing, a comma, a point, a space or an apostrophe")
    if thousands == decimal:
        raise InputError("data.thousands", "it is the decimal mark, too", "state two different marks")
    if negative not in NEGATIVES:
        raise InputError("data.negative", "it is not a known way to write numbers below zero", f"use {', '.join(NEGATIVES)}")
    if len(units) > MAX_UNITS or any(not _is_unit(unit) for unit in units):
        raise InputError("data.units", "one entry is not a unit", f"give at most {MAX_UNITS} short texts without digits, such as % or EUR")
    if re.search("y", date_format) and not re.search("yyyy", date_format) and not _SHORT_YEARS.fullmatch(date_format):
        problem = "it has years of two digits, and does not state which hundred years they mean"
        raise InputError("data.date_format", problem, f"add the first of these years, such as '{date_format[:40]} from 1930'")
    if date_pattern(date_format) is None:
        raise InputError("data.date_format", "it is not a known way to write dates", f"use {', '.join(DATE_FORMATS[:4])} or the like")
    if time_format not in TIME_FORMATS:
        raise InputError("data.time_format", "it is not a known way to write times", f"use {', '.join(TIME_FORMATS)}")


def _is_unit(unit: str) -> bool:
    """Return whether a text can be stated as a unit: short, and without signs of a number."""
    return 0 < len(unit) <= _LONGEST_UNIT and not re.search(r"[\d+,()-]|^[.\s]*$|^[eE]$", unit)


def example(decimal: str, thousands: str) -> str:
    """Return an example of a number with these decimal and thousands marks, such as 1,234.5."""
    return f"1{thousands}234{decimal}5"


def thousands_marks(thousands: str) -> str:
    """Return all characters that are read as this thousands mark, itself included.

    Args:
        thousands: A key of `THOUSANDS`; "" for no mark, which gives "".
    """
    return _GROUPED_BY.get(thousands, thousands)


def number_pattern(decimal: str, thousands: str) -> str:
    """Return a regular expression for numbers with these decimal and thousands marks.

    Groups have three digits; with commas, groups as in India (1,00,000) are allowed, too.
    """
    point, marks = re.escape(decimal), "".join(re.escape(mark) for mark in thousands_marks(thousands))
    grouped = rf"[1-9][0-9]{{0,2}}([{marks}][0-9]{{3}})+"  # the first group does not begin with 0
    if thousands == ",":
        grouped += rf"|[1-9][0-9]?([{marks}][0-9]{{2}})+[{marks}][0-9]{{3}}"
    whole = f"([0-9]+|{grouped})" if marks else "[0-9]+"
    return rf"^[+-]?({whole}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?$"


def unit_patterns(units: Sequence[str]) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return two pairs of regular expression and replacement that remove a unit from a number.

    The first pair is for a unit before the number, the second for one behind it. The replacements
    keep the sign of the number.

    Args:
        units: The units, at least one.
    """
    named = "|".join(re.escape(unit) for unit in sorted(units, key=len, reverse=True))
    return (rf"^([+-]?) ?(?:{named}) ?", r"\1"), (rf" ?(?:{named})([+-]?)$", r"\1")


def written_part(form: str) -> str:
    """Return a date format without an ending like " from 1930" (see `first_year`)."""
    return form.partition(" from ")[0]


def first_year(written: str) -> int:
    """Return the year after " from " in a date format: the first of the hundred that "yy" means.

    The result is 0 if the format states none, as formats with "yyyy" do. The format itself is not
    checked.

    Args:
        written: The date format, such as "dd.mm.yy from 1930", which gives 1930.
    """
    match = _SHORT_YEARS.fullmatch(written)
    return int(match["first"]) if match else 0


def date_pattern(written: str) -> str | None:
    """Return a regular expression for dates in this format; None if it is unknown.

    Its named groups are `day`, `month` and `year`, or `short` for a year of two digits.

    Args:
        written: The format, such as "dd.mm.yyyy". With "yy" it must state the first of the hundred
            years that are meant, as "dd.mm.yy from 1930" does; else it is unknown.
    """
    short = _SHORT_YEARS.fullmatch(written)
    begin, *rest = _TOKEN.split(written_part(written))
    parts, signs = rest[::2], rest[1::2]
    if begin or not _is_whole(parts, short is not None) or not all(map(_BETWEEN.fullmatch, signs[:-1])) or signs[-1] not in _LAST_SIGNS:
        return None
    is_divided = all(signs[:-1])
    if not is_divided and not {*parts} <= {"yyyy", "yy", *_FIXED}:
        return None
    known = _PARTS if is_divided else _PARTS | _FIXED
    return "^" + "".join(known[part] + _sign_pattern(sign) for part, sign in zip(parts, signs, strict=True)) + _BEHIND


def _is_whole(parts: Sequence[str], has_first_year: bool) -> bool:
    """Return whether a date format has one day, month and year, and at most one day name.

    Args:
        parts: The parts, such as dd, mmmm and yyyy.
        has_first_year: Whether the format states the first of a hundred years. Then, and only then,
            the year has two digits.
    """
    kinds = sorted("name" if part in ("ddd", "dddd") else part[0] for part in parts)
    return kinds in (["d", "m", "y"], ["d", "m", "name", "y"]) and ("yy" in parts) == has_first_year


def _sign_pattern(sign: str) -> str:
    """Return a regular expression for the text between two parts of a date.

    A space alone matches several spaces, and a space beside another sign may be left out.
    """
    return re.escape(sign).replace(r"\ ", " *" if sign.strip() else " +")


def date_patterns(date_format: str) -> list[str]:
    """Return regular expressions for dates in yyyy-mm-dd, in digits before a time, and as stated.

    Digits before a time are 20240205T103000 or 20240205103000.
    """
    return [_ISO, _BASIC_DAY, _FOURTEEN, *([] if date_format == ISO_DATES else [str(date_pattern(date_format))])]


def time_patterns(time_format: str) -> list[str]:
    """Return regular expressions for times, with a colon or as stated, perhaps after a date.

    The first one is for times with a colon, a second one for the stated form if that has no colon. Named groups are
    `hour`, `minute`, `second`, `fraction` and `half` (am or pm), as far as the form has them.
    """
    return [f"{_WITH_OR_WITHOUT_A_DATE}{clock}" for clock in (_CLOCK, *_further(time_format))]


def moment_patterns(date_format: str, time_format: str) -> list[str]:
    """Return regular expressions for dates with or without a time of day, in all known forms.

    Their named groups are those of `date_pattern` (day, month, year or short) and of `time_patterns` (hour, minute,
    second, fraction, half), as far as a form has them.

    Args:
        date_format: The stated format of dates.
        time_format: The stated format of times, one of `TIME_FORMATS`.
    """
    clocks = [f"(?:$|Z$|{_ZONE_HOURS}$|[T :,]+{_CLOCK})", *(f"[T ,]+{clock}" for clock in _further(time_format))]
    days = [day.removesuffix(_BEHIND) for day in date_patterns(date_format) if day not in (_BASIC_DAY, _FOURTEEN)]
    return [f"{_BASIC_DAY}{_BASIC_CLOCK}", f"{_DAY_DIGITS}{_FULL_CLOCK}", *(day + clock for day in days for clock in clocks)]


def _further(time_format: str) -> list[str]:
    """Return a list with the expression of the stated time format; empty for hh:mm."""
    return [_STATED[time_format]] if time_format in _STATED else []
