"""Suggest from the first records of a text how its numbers and dates are spelled: for the curator, who states it; never published."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from dpsynth_core.sources.notation import DATE_FORMATS, Notation, date_pattern

_ALMOST_ALL = 0.95
_PLAIN = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?$")
_WITH_COMMA = re.compile(r"[+-]?([0-9]+|[0-9]{1,3}(?P<mark>[. '\u2019\u00a0\u202f])[0-9]{3}((?P=mark)[0-9]{3})*),[0-9]+$")
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?P<mark>[,. '\u2019\u00a0\u202f])[0-9]{3}((?P=mark)[0-9]{3})*(?P<rest>[.,][0-9]+)?$")
_SAME = {"\u2019": "'", "\u00a0": " ", "\u202f": " "}
_TIMES = {
    "hhmm": re.compile("([01][0-9]|2[0-3])[0-5][0-9]$"),
    "hh.mm": re.compile("([01][0-9]|2[0-3])[.][0-5][0-9]$"),
    "hhhmm": re.compile("[0-9]{1,2} ?[hH] ?[0-5][0-9]$"),
}
_STATED_DATES = {form: re.compile(str(date_pattern(form))) for form in DATE_FORMATS[1:] if form != "yyyymmdd"}  # those could be numbers


def suggested_notation(records: Sequence[Sequence[str]], notation: Notation) -> dict[str, Any]:
    """What of decimal, thousands, date_format and time_format differs from the usual in almost all values of some column."""
    columns = dict.fromkeys(_present(cells, notation) for cells in zip(*_even(records), strict=True))  # equal ones say the same
    return _marks(columns) | _dates(columns) | _times(columns)


def _marks(columns: Iterable[Sequence[str]]) -> dict[str, str]:
    marks: dict[str, str] = {}
    for cells in columns:
        if not cells or _share(cells, _PLAIN) >= _ALMOST_ALL:
            continue
        if _share(cells, _WITH_COMMA) + _share(cells, re.compile("[0-9]+$")) >= _ALMOST_ALL:
            marks["decimal"] = ","
        elif _share(cells, _GROUPED) + _share(cells, re.compile("[0-9]{1,3}([.][0-9]+)?$")) < _ALMOST_ALL:
            continue
        if groups := [match["mark"] for cell in cells if (match := _GROUPED.match(cell))]:
            marks["thousands"] = _SAME.get(groups[0], groups[0])
    if marks.get("thousands") == ",":
        marks.pop("decimal", None)
    if marks.get("thousands") == ".":
        marks["decimal"] = ","
    return marks


def _dates(columns: Iterable[Sequence[str]]) -> dict[str, str]:
    for cells in columns:
        for form, pattern in _STATED_DATES.items():
            if cells and _share(cells, pattern) >= _ALMOST_ALL and _are_dates(cells, form):
                return {"date_format": form}
    return {}


def _times(columns: Iterable[Sequence[str]]) -> dict[str, str]:
    """Digits, and digits with a point, are suggested only where a zero stands in front, as no number has it."""
    for cells in columns:
        for form, pattern in _TIMES.items():
            shown_as_time = "h" in form[2:-2] or any(cell.startswith("0") for cell in cells)
            if cells and shown_as_time and _share(cells, pattern) >= _ALMOST_ALL:
                return {"time_format": form}
    return {}


def _are_dates(cells: Sequence[str], form: str) -> bool:
    days = Notation(date_format=form).days_of(cells)
    return sum(day == day for day in days) >= _ALMOST_ALL * len(cells)


def _present(cells: Iterable[str], notation: Notation) -> tuple[str, ...]:
    return tuple(text for cell in cells if (text := cell.strip()) and text not in notation.missing_markers)


def _share(cells: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(bool(pattern.match(cell)) for cell in cells) / len(cells)


def _even(records: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The records that have as many fields as most."""
    widths = [len(record) for record in records]
    usual = max(set(widths), key=widths.count) if widths else 0
    return [record for record in records if len(record) == usual]
