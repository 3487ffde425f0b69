"""Codes of columns of text: listed values, codes in groups, and numbers, dates and times in the notation that the curator states.

Dates and times become texts whose order is theirs, such as 2024-12-31 13:45:00.000000, and are compared with edges written the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ibis

from dpsynth_core.sources import clocks
from dpsynth_core.sources.databases.cells import bins, listed
from dpsynth_core.sources.databases.typed import counted, numbers
from dpsynth_core.sources.databases.words import Words
from dpsynth_core.sources.notation import BEHIND, ISO, MONTHS, NUMBER, TRUTHS, Notation, thousands_marks
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.kinds.dates import day_of
from dpsynth_core.vocabulary.kinds.hierarchies import Hierarchy
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS

_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_LONG, _SHORT = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])", "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
_IS_DAY = f"^(?:[0-9]{{4}}-(?:{_LONG}|{_SHORT}|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
"""How a day that exists begins, whatever is behind it; the year 0 is asked for apart."""


Keep = Callable[[Any], Any]
"""Names what is worked out once and used often."""


def code(words: Words, attribute: Attribute, values: Any, notation: Notation, keep: Keep) -> Any:
    """The code of each text."""
    plain = words.plain(values)
    text = keep(plain)
    absent = text.isin(sorted({*notation.missing_markers, ""}))
    if attribute.about.form is Form.LISTED:
        return _listed_code(words, attribute, plain, text, absent, notation, keep)
    unread = ibis.cases((text.isnull() | absent, attribute.code_for_missing), else_=attribute.code_for_unlisted)
    if attribute.is_coded:
        unread = ibis.literal(0).cast("int32")
    return _READERS[attribute.dtype](words, attribute, plain, absent, unread, notation, keep)


def _listed_code(
    words: Words, attribute: Attribute, plain: Any, text: Any, absent: Any, notation: Notation, keep: Keep
) -> Any:
    otherwise = ibis.cases((text.isnull() | absent, attribute.code_for_missing), else_=attribute.code_for_unlisted)
    codes = {category: place for place, category in enumerate(attribute.categories)}
    if attribute.hierarchy is not None:
        return _group_code(words, attribute.hierarchy, codes, text, absent, otherwise)
    if attribute.dtype in ("int64", "float64"):
        number = keep(_number(words, plain, notation))
        pairs = [(words.double(float(category)), place) for category, place in codes.items()]
        return listed(number.isin, pairs, otherwise)
    if attribute.dtype == "bool":
        small = text.lower()
        spelled = [(spelling, codes[meant]) for spelling, meant in TRUTHS.items() if meant in codes]
        itself = listed(small.isin, list(codes.items()), otherwise)
        return ibis.cases((absent, itself), else_=listed(small.isin, spelled, otherwise))
    return listed(text.isin, list(codes.items()), otherwise)


def _group_code(words: Words, hierarchy: Hierarchy, codes: dict[str, int], text: Any, absent: Any, otherwise: Any) -> Any:
    """See `Hierarchy.group`. A missing marker is in no group, but where it is one itself."""
    whole = text
    if hierarchy.digits:
        short = words.matches(text, "^[0-9]+$") & (text.length() < hierarchy.digits)
        whole = ibis.cases((short, text.lpad(hierarchy.digits, "0")), else_=text)
    known = listed(text.isin, [(name, codes[name]) for name in hierarchy.names if name in codes], None) if hierarchy.groups else None
    if hierarchy.groups:
        grouped = _by_beginning(hierarchy, codes, whole, otherwise)
        is_name = text.isin(list(hierarchy.names))
        named = otherwise if known is None else ibis.coalesce(known, otherwise)
        return ibis.cases((text.isnull(), otherwise), (is_name, named), (absent, otherwise), else_=grouped)
    itself = listed(text.isin, list(codes.items()), otherwise)
    full = {name: place for name, place in codes.items() if sum(map(str.isalnum, name)) == hierarchy.level and name[-1].isalnum()}
    shorter = {name: place for name, place in codes.items() if name not in full}
    grouped = listed(whole.isin, list(shorter.items()), otherwise)
    for length in sorted({len(name) for name in full}):
        pairs = [(name, place) for name, place in full.items() if len(name) == length]
        grouped = listed(whole.substr(0, length).isin, pairs, grouped)
    is_group = text.length() == hierarchy.level
    return ibis.cases((text.isnull(), otherwise), (absent | is_group, itself), else_=grouped)


def _by_beginning(hierarchy: Hierarchy, codes: dict[str, int], whole: Any, otherwise: Any) -> Any:
    chosen = otherwise
    groups = dict(hierarchy.groups)
    for length in sorted({len(beginning) for beginning in groups}):
        pairs = [(beginning, codes.get(group, -1)) for beginning, group in groups.items() if len(beginning) == length]
        without_cell = [beginning for beginning, place in pairs if place < 0]
        start = whole.substr(0, length)
        longer = listed(start.isin, [(beginning, place) for beginning, place in pairs if place >= 0], chosen)
        chosen = ibis.cases((start.isin(without_cell), otherwise), else_=longer) if without_cell else longer
    return chosen


def _number(words: Words, text: Any, notation: Notation) -> Any:
    """The number that a text is in the stated notation, NULL where it is none."""
    if notation.decimal == "." and not notation.thousands:
        return ibis.cases((words.matches(text, f"^{NUMBER}$"), words.number(text)), else_=None)
    plain = text
    pattern = notation.number_pattern
    for mark in thousands_marks(notation.thousands)[1:]:
        plain, pattern = plain.replace(mark, notation.thousands), pattern.replace(re.escape(mark), "")
    without = plain.replace(notation.thousands, "") if notation.thousands else plain
    number = words.number(without.replace(notation.decimal, ".") if notation.decimal != "." else without)
    return ibis.cases((words.matches(plain, pattern), number), else_=None)


def _number_code(
    words: Words, attribute: Attribute, plain: Any, _absent: Any, unread: Any, notation: Notation, keep: Keep
) -> Any:
    return numbers(words, attribute, keep(_number(words, plain, notation)), unread, notation)


def _part(text: Any, pattern: str, name: str) -> Any:
    """A named part of a text that the pattern fits; "" where it is not written."""
    place = re.compile(pattern).groupindex[name]
    return ibis.coalesce(text.re_extract(_unnamed(pattern), place), "")


def _unnamed(pattern: str) -> str:
    return re.sub(r"\?P<[a-z]+>", "", pattern)


def _day(text: Any, pattern: str) -> Any:
    """A text that fits, as yyyy-mm-dd."""
    if pattern.startswith(ISO.removesuffix(BEHIND)):
        return text.substr(0, 10)
    year, month, day = (_part(text, pattern, name) for name in ("year", "month", "day"))
    number = ibis.cases(*((month.lower() == name, f"{place:02d}") for place, name in enumerate(MONTHS, 1)), else_=month.lpad(2, "0"))
    return year.concat("-").concat(number).concat("-").concat(day.lpad(2, "0"))


def _is_day(words: Words, day: Any) -> Any:
    return words.matches(day, _IS_DAY) & ~day.startswith("0000")


def _clock(text: Any, pattern: str) -> tuple[Any, Any]:
    """Whether there is such a time of day; it as hh:mm:ss.ffffff, midnight where none is written."""
    hour, half = _part(text, pattern, "hour"), _part(text, pattern, "half").lower()
    number = ibis.cases((hour == "", 0), else_=hour.nullif("").cast("int32"))
    whole = ibis.cases(
        (half == "", number), (number == 12, ibis.cases((half == "pm", 12), else_=0)), (half == "pm", number + 12), else_=number
    )
    exists = ibis.cases((half == "", number < 24), else_=(number >= 1) & (number <= 12))
    return exists, _two(whole).concat(":").concat(_minutes(text, pattern))


def _two(number: Any) -> Any:
    return number.cast("string").lpad(2, "0")


def _minutes(text: Any, pattern: str) -> Any:
    minute, second, fraction = (_part(text, pattern, name) for name in ("minute", "second", "fraction"))
    parts = (ibis.cases((minute == "", "00"), else_=minute), ":", ibis.cases((second == "", "00"), else_=second), ".")
    joined = parts[0]
    for part in (*parts[1:], fraction.substr(0, 6).rpad(6, "0")):
        joined = joined.concat(part)
    return joined


def _date_code(words: Words, attribute: Attribute, plain: Any, _absent: Any, unread: Any, notation: Notation, keep: Keep) -> Any:
    days = []
    for pattern in notation.date_patterns:
        day = _day(plain, pattern)
        days.append(ibis.cases((words.matches(plain, _unnamed(pattern)), ibis.cases((_is_day(words, day), day), else_=None)), else_=None))
    return _in_order(attribute, keep(_first(days)), _day_text, unread)


def _moment_code(words: Words, attribute: Attribute, plain: Any, absent: Any, unread: Any, notation: Notation, keep: Keep) -> Any:
    moments = []
    for pattern in notation.date_patterns:
        longer = pattern.removesuffix(BEHIND) + clocks.BEHIND_A_DATE
        day, (exists, clock) = _day(plain, longer), _clock(plain, longer)
        moment = ibis.cases((_is_day(words, day) & exists, day.concat(" ").concat(clock)), else_=None)
        moments.append(ibis.cases((words.matches(plain, _unnamed(longer)), moment), else_=None))
    own = _in_order(attribute, keep(_first(moments)), _moment_text(MICROSECONDS[attribute.precision]), unread)
    return ibis.cases((absent, unread), else_=own)


def _clock_code(words: Words, attribute: Attribute, plain: Any, absent: Any, unread: Any, _notation: Notation, keep: Keep) -> Any:
    pattern = clocks.WITH_OR_WITHOUT_A_DATE
    exists, clock = _clock(plain, pattern)
    fits = words.matches(plain, _unnamed(pattern))
    kept = keep(ibis.cases((fits, ibis.cases((exists, clock), else_=None)), else_=None))
    own = _in_order(attribute, kept, lambda edge: _clock_text(int(edge) * MICROSECONDS[attribute.precision]), unread)
    return ibis.cases((absent, unread), else_=own)


def _lasting_code(words: Words, attribute: Attribute, plain: Any, absent: Any, unread: Any, notation: Notation, keep: Keep) -> Any:
    unit, pattern = MICROSECONDS[attribute.precision], clocks.LASTING
    hour, minute, second = (
        ibis.coalesce(_part(plain, pattern, name).nullif("").cast("int64"), 0) for name in ("hour", "minute", "second")
    )
    fraction = _part(plain, pattern, "fraction").substr(0, 6).rpad(6, "0").cast("int64")
    size = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction
    written = ibis.cases((_part(plain, pattern, "sign") == "-", -size), else_=size)
    clock = keep(ibis.cases((words.matches(plain, _unnamed(pattern)), written), else_=None))
    number = keep(_number(words, plain, notation))
    own = bins(attribute, lambda edge: clock >= int(edge) * unit, lambda edge: clock > int(edge) * unit)
    return ibis.cases(
        (absent, unread), (number.notnull(), counted(words, attribute, number, unread)), (clock.notnull(), own), else_=unread
    )


def _first(values: list[Any]) -> Any:
    """The first that is not NULL."""
    return ibis.coalesce(*values) if len(values) > 1 else values[0]


def _in_order(attribute: Attribute, text: Any, written: Callable[[float], str], unread: Any) -> Any:
    own = bins(attribute, lambda edge: text >= written(edge), lambda edge: text > written(edge))
    return ibis.cases((text.isnull(), unread), else_=own)


def _day_text(edge: float) -> str:
    try:
        return day_of(edge).isoformat()
    except OverflowError:
        return ":"  # behind all digits


def _moment_text(unit: int) -> Callable[[float], str]:
    def written(edge: float) -> str:
        days, micros = divmod(int(edge) * unit, 86_400_000_000)
        return f"{_day_text(days)} {_clock_text(micros)}"

    return written


def _clock_text(micros: int) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:06d}"


_READERS: dict[str, Callable[..., Any]] = {
    "int64": _number_code,
    "float64": _number_code,
    "date": _date_code,
    "timestamp": _moment_code,
    "time": _clock_code,
    "duration": _lasting_code,
}
