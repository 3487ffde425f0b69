"""How a curator may state that numbers, dates and times are written, and the regular expressions that follow from that.

A statement is public, and so are these: whatever they say, a text fits by itself, and `notation` reads it by itself. A text that breaks the
stated spelling is missing. Dates in the form year-month-day are understood in every table, because nothing else looks like them, and so are
hours and minutes with a colon between them, and perhaps seconds, a fraction of them, and am or pm. Times without a colon look like numbers:
they are understood in tables whose curator states how they are written.
"""

from __future__ import annotations

import re

from dpsynth_core.foundation.errors import InputError

DECIMALS = {".": "point", ",": "comma"}
THOUSANDS = {"": "none", ",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
_GROUPED_BY = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}
"""Characters that look like the mark and are written for it: spaces that do not break a line, the typographic apostrophe."""
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"

ISO_DATES = "yyyy-mm-dd"
DATE_FORMATS = (ISO_DATES, "dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy", "dd-mm-yyyy", "yyyy/mm/dd", "yyyymmdd", "ddmmmyyyy", "dd-mmm-yyyy")
_BEHIND = "(?:$|[T ])"
"""What may follow a date: a time of day, which is cut off."""
_ISO = r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})" + _BEHIND
_PARTS = {"yyyy": "(?P<year>[0-9]{4})", "mmm": "(?P<month>[A-Za-z]{3})", "mm": "(?P<month>[0-9]{1,2})", "dd": "(?P<day>[0-9]{1,2})"}
_FIXED = {"mm": "(?P<month>[0-9]{2})", "dd": "(?P<day>[0-9]{2})"}

COLON, DIGITS = "hh:mm", "hhmm"
TIME_FORMATS = (COLON, DIGITS, "hh.mm", "hhhmm")
"""The last is for 8h30."""
_SECONDS = r"(?::(?P<second>[0-5][0-9])(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
_CLOCK = rf"(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-5][0-9]){_SECONDS} ?(?P<half>[AaPp][Mm])?(?:Z| ?[+-][0-9]{{2}}:?[0-9]{{2}})?$"
_WITH_OR_WITHOUT_A_DATE = "^(?:[0-9A-Za-z./-]+[T ])?"
LASTING = rf"^(?P<sign>-?)(?P<hour>[0-9]{{1,7}}):(?P<minute>[0-5][0-9]){_SECONDS}$"
_STATED = {
    DIGITS: "(?P<hour>[0-9]{2})(?P<minute>[0-5][0-9])(?P<second>[0-5][0-9])?$",
    "hh.mm": r"(?P<hour>[0-9]{1,2})\.(?P<minute>[0-5][0-9])(?:\.(?P<second>[0-5][0-9]))?$",
    "hhhmm": "(?P<hour>[0-9]{1,2}) ?[hH](?: ?(?P<minute>[0-5][0-9]))?$",
}


def check(decimal: str, thousands: str, date_format: str, time_format: str) -> None:
    """Raises InputError for what is unknown or contradicts itself."""
    if decimal not in DECIMALS:
        raise InputError("data.decimal", "it is not a known decimal mark", "use a point or a comma")
    if thousands not in THOUSANDS:
        raise InputError("data.thousands", "it is not a known mark", "use nothing, a comma, a point, a space or an apostrophe")
    if thousands == decimal:
        raise InputError("data.thousands", "it is the decimal mark, too", "state two different marks")
    if date_pattern(date_format) is None:
        raise InputError("data.date_format", "it is not a known way to write dates", f"use {', '.join(DATE_FORMATS[:4])} or the like")
    if time_format not in TIME_FORMATS:
        raise InputError("data.time_format", "it is not a known way to write times", f"use {', '.join(TIME_FORMATS)}")


def example(decimal: str, thousands: str) -> str:
    """A number that shows both marks."""
    return f"1{thousands}234{decimal}5"


def thousands_marks(thousands: str) -> str:
    """The mark, and the characters that are written for it."""
    return _GROUPED_BY.get(thousands, thousands)


def number_pattern(decimal: str, thousands: str) -> str:
    """Of a number with these marks."""
    point, marks = re.escape(decimal), "".join(re.escape(mark) for mark in thousands_marks(thousands))
    whole = f"([0-9]+|[1-9][0-9]{{0,2}}([{marks}][0-9]{{3}})+)" if marks else "[0-9]+"  # no group of thousands begins with 0
    return rf"^[+-]?({whole}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?$"


def date_pattern(written: str) -> str | None:
    """Of a stated form; None for what is none."""
    match = re.fullmatch(r"(yyyy|mmm|mm|dd)([./ -]?)(yyyy|mmm|mm|dd)([./ -]?)(yyyy|mmm|mm|dd)", written)
    if match is None or match[2] != match[4] or {part[0] for part in (match[1], match[3], match[5])} != {"y", "m", "d"}:
        return None
    parts = _PARTS if match[2] or "mmm" in written else _PARTS | _FIXED
    return "^" + re.escape(match[2]).join(parts[part] for part in (match[1], match[3], match[5])) + _BEHIND


def date_patterns(date_format: str) -> list[str]:
    """Of yyyy-mm-dd, and of the stated form if that is another one."""
    return [_ISO] if date_format == ISO_DATES else [_ISO, str(date_pattern(date_format))]


def time_patterns(time_format: str) -> list[str]:
    """Of times with or without a date before them, where such times are stated."""
    return [f"{_WITH_OR_WITHOUT_A_DATE}{clock}" for clock in (_CLOCK, *_further(time_format))]


def moment_patterns(date_format: str, time_format: str) -> list[str]:
    """Of dates with a time of day, or without one."""
    clocks = [f"(?:$|[T :]+{_CLOCK})", *(f"[T ]+{clock}" for clock in _further(time_format))]
    return [day.removesuffix(_BEHIND) + clock for day in date_patterns(date_format) for clock in clocks]


def _further(time_format: str) -> list[str]:
    return [_STATED[time_format]] if time_format in _STATED else []
