"""Suggestions of how a text's numbers and dates are spelled, from its first records: for the curator, who states it; never published.

10,584 is ten and a half or ten thousand. Only values that can be read in a single way decide (170,3; 2.784,95; 0,584; 1,234,567); without
these, or where columns contradict each other, nothing is suggested and the curator is asked. No question repeats a value of the table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.sources.characters import plain
from dpsynth_core.sources.detect_signs import bare, detect_signs
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.spelling import DATE_FORMATS, DECIMALS, WORDY_FORMATS, date_pattern, example, number_pattern
from dpsynth_core.vocabulary.kinds.dates import day_number
from dpsynth_core.vocabulary.names import column_field

Marks = tuple[str, str]
"""The decimal mark, and the mark between thousands."""
MARKS: tuple[Marks, ...] = ((".", ""), (".", ","), (".", " "), (".", "'"), (",", ""), (",", "."), (",", " "), (",", "'"))
"""All marks that can be stated. The first is suggested among marks that read equally many numbers."""

_ALMOST_ALL = 0.95
_MOSTLY_NUMBERS = 0.5
_LONGEST = 40
"""Characters of a number."""
_SIGNS = re.compile("[.,' \u2019\u00a0\u2009\u202f]")
_CODE = re.compile("[+-]?0[0-9]")
_LATER_DIGIT = re.compile("(?<=[0-9])0|[1-9]")
_TIMES = {
    "hhmm": re.compile("([01][0-9]|2[0-3])[0-5][0-9]$"),
    "hh.mm": re.compile("([01][0-9]|2[0-3])[.][0-5][0-9]$"),
    "hhhmm": re.compile("[0-9]{1,2} ?[hH] ?[0-5][0-9]$"),
}
_DIGITS = ("yyyymmdd", "ddmmyyyy")
_SHORT = ("dd.mm.yy", "dd/mm/yy", "mm/dd/yy", "dd-mm-yy", "dd-mmm-yy", "yy/mm/dd", "yy-mm-dd")
_FROM = " from 1930"
_EAST_ASIAN = ("yyyy\u5e74mm\u6708dd\u65e5", "yyyy\ub144 mm\uc6d4 dd\uc77c")
_MONTHS = (*WORDY_FORMATS, "dd-mmmm-yyyy", "dd/mmm/yyyy", "yyyy-mmm-dd", "mmm dd yyyy", *_EAST_ASIAN)
_RARE = ("dddd, dd. mmmm yyyy", "dddd, dd de mmmm de yyyy", "yyyy.mm.dd", "dd. mm. yyyy", "yyyy. mm. dd.", "ddmmyyyy")
_ALL = (*DATE_FORMATS[1:], *_MONTHS, *_RARE, *(short + _FROM for short in _SHORT))
_SHORTEST_DATE = len("1/1/24")
_STATED_DATES = {form: re.compile(str(date_pattern(form))) for form in _ALL}
_PLAUSIBLE = tuple(day_number(date(year, 1, 1)) for year in (1850, 2101))
"""Days that eight digits may mean: other numbers of eight digits are hardly ever all such days."""
_MONTH_SECOND, _MONTH_FIRST = "dd/mm/yyyy", "mm/dd/yyyy"


@dataclass(frozen=True)
class Doubt:
    """A question that the first records raise about the format of their table, for the curator.

    Attributes:
        question: The text of the question, with invented examples.
        answers: Two pairs: the words of an answer, and the fields of `TableFormat` that it states.
        is_suggestion: Whether the first answer is suggested by the records, and the second one
            keeps the default.
    """

    question: str
    answers: tuple[tuple[str, Mapping[str, Any]], ...]
    is_suggestion: bool = False

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields that the answers state."""
        return frozenset(field for _, stated in self.answers for field in stated)


@dataclass(frozen=True)
class DetectedNotation:
    """The notation that the first records suggest.

    Attributes:
        stated: The suggested fields of `TableFormat` with their values.
        doubts: Questions that only the curator can answer; their fields are not in `stated`.
    """

    stated: Mapping[str, Any]
    doubts: tuple[Doubt, ...] = ()


def detect_notation(
    columns: Sequence[Sequence[str]],
    notation: Notation,
    names: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
    comma_separates: bool = True,
) -> DetectedNotation:
    """Return fields of a notation that fit almost all texts (95%) of columns of numbers, dates or times, and questions.

    There is a question about a field if the texts can be read in two ways. Fields in the default way of writing may be
    left out. The result follows from private texts and is for the curator only.

    Args:
        columns: The texts of each column in the first records.
        notation: The notation whose missing markers are left out.
        names: The names of the columns, for questions.
        given: Fields that the curator stated, which are taken unchanged; None without such fields.
        comma_separates: False if the fields are separated by semicolons, as is usual where numbers
            have decimal commas.
    """
    given = given or {}
    columns = [[text for cell in cells if (text := cell.strip()) and text not in notation.missing_markers] for cells in columns]
    signs = {**detect_signs(columns), **{name: given[name] for name in ("units", "negative") if name in given}}
    marks, dates = detect_marks(bare(columns, signs), names, given, comma_separates), _dates(columns)
    asked = () if "date_format" in given else dates.doubts
    return DetectedNotation({**marks.stated, **dates.stated, **_times(columns), **signs, **given}, (*marks.doubts, *asked))


def detect_marks(
    columns: Iterable[Sequence[str]], names: Sequence[str] = (), given: Mapping[str, str] | None = None, comma_separates: bool = True
) -> DetectedNotation:
    """Return the decimal and thousands marks that the columns suggest, or one question about them.

    Without numbers that have a mark, a decimal point without thousands marks is suggested. If the stated decimal mark
    does not fit all columns, there is no question: the marks with it that read most numbers are suggested.

    Args:
        columns: The texts of each column, trimmed and without missing markers.
        names: The names of the columns, for questions.
        given: Marks that the curator stated, by field ("decimal", "thousands"); None without such marks.
        comma_separates: Whether a comma separates the fields.
    """
    given = given or {}
    shapes = {place: found for place, cells in enumerate(columns) if (found := _shapes(cells))}
    offered = [one for one in MARKS if given.get("decimal", one[0]) == one[0] and given.get("thousands", one[1]) == one[1]]
    fitting = {place: _fitting(found, offered) for place, found in shapes.items()}
    possible = [one for one in offered if all(one in marks for marks in fitting.values())]
    if not possible:
        if "decimal" in given:
            return DetectedNotation(_stated(_best(offered, shapes.values())) if offered else {})
        return DetectedNotation({}, (_contradiction(fitting, shapes, names),))
    open_ones = [shape for found in shapes.values() for shape in found if _is_open(shape)]
    if open_ones and not comma_separates and not any("." in shape for shape in open_ones):
        commas = [one for one in possible if one[0] == ","]
        clear = (shape for found in shapes.values() for shape in found if not _is_open(shape))
        if not commas and not any("," in shape for shape in clear):  # the separator says one thing, other columns another
            return DetectedNotation({}, (_open_question(open_ones, offered, shapes.values()),))
        possible = commas or possible
    if open_ones and len({decimal for decimal, _ in possible}) > 1:
        return DetectedNotation({}, (_open_question(open_ones, possible, shapes.values()),))
    return DetectedNotation(_stated(_best(possible, shapes.values())))


def other_marks(values: Sequence[tuple[str, int]], lower: float, upper: float, notation: Notation) -> Marks | None:
    """Return other marks with which most of these values would be numbers between the bounds.

    The result is (decimal mark, thousands mark). It is None if the marks of `notation` are the best ones, or
    if the best ones fit at most half of the records.

    Args:
        values: The values, each with its number of records.
        lower: The lower bound, inclusive.
        upper: The upper bound, inclusive.
        notation: The stated notation.
    """
    texts, counts = pa.array([text.strip() for text, _ in values], pa.string()), np.array([count for _, count in values])

    def inside(marks: Marks) -> float:
        numbers = replace(notation, decimal=marks[0], thousands=marks[1]).numbers(texts)
        read = pc.fill_null(numbers, np.nan).to_numpy(zero_copy_only=False)
        return float(counts[(read >= lower) & (read <= upper)].sum() / max(1, counts.sum()))

    best = max(MARKS, key=inside)
    return best if inside(best) > _MOSTLY_NUMBERS and best != (notation.decimal, notation.thousands) else None


def _shapes(cells: Sequence[str]) -> Counter[str]:
    """Return the shapes of a column's numbers that have a mark, with their counts.

    A shape is a number with 9 in place of each digit, except for a zero at the beginning of a group
    of digits. Empty if fewer than half of the values are numbers, or if they are codes with leading
    zeros.
    """
    every = Counter(_LATER_DIGIT.sub("9", cell) if len(cell) <= _LONGEST else "" for cell in cells)
    if sum(count for shape, count in every.items() if _CODE.match(shape)) > (1 - _ALMOST_ALL) * len(cells):
        return Counter()
    numbers = Counter({shape: count for shape, count in every.items() if _readings(shape)})
    if numbers.total() < _MOSTLY_NUMBERS * len(cells):
        return Counter()
    return Counter({shape: count for shape, count in numbers.items() if _SIGNS.search(shape)})


@lru_cache(maxsize=4096)
def _readings(shape: str) -> frozenset[Marks]:
    """Return the pairs of marks with which a shape can be read as a number."""
    exponent = "e" in shape.lower()
    patterns = {one: number_pattern(one[0], "" if exponent else one[1]) for one in MARKS}
    return frozenset(one for one, pattern in patterns.items() if re.match(pattern, shape))


def _is_open(shape: str) -> bool:
    """Return whether a shape can be read with a decimal point and also with a decimal comma."""
    return ("," in shape or "." in shape) and len({decimal for decimal, _ in _readings(shape)}) > 1


def _fitting(found: Counter[str], offered: Iterable[Marks]) -> list[Marks]:
    """Return the marks that can read almost all numbers of a column, also of the unambiguous ones.

    Args:
        found: The number of values of each shape.
        offered: The marks to try.
    """
    clear = Counter({shape: count for shape, count in found.items() if not _is_open(shape)})
    return [one for one in offered if all(_share(part, one) >= _ALMOST_ALL for part in (found, clear) if part)]


def _share(found: Counter[str], marks: Marks) -> float:
    """Return the share, from 0 to 1, of a column's numbers that can be read with these marks."""
    return sum(count for shape, count in found.items() if marks in _readings(shape)) / found.total()


def _best(offered: Sequence[Marks], columns: Collection[Counter[str]]) -> Marks:
    """Return the marks that read the largest share of numbers, summed over columns.

    The first ones are taken among equals.

    Args:
        offered: The marks to choose from, the most usual ones first.
        columns: For each column, the number of values of each shape.
    """
    return max(offered, key=lambda one: sum(_share(found, one) for found in columns))


def _stated(marks: Marks) -> dict[str, str]:
    """Return the marks as {"decimal": ..., "thousands": ...}, the fields of a notation.

    If thousands are not marked, "thousands" is "".
    """
    return {"decimal": marks[0], "thousands": marks[1]}


def _open_question(open_ones: Sequence[str], possible: Sequence[Marks], columns: Collection[Counter[str]]) -> Doubt:
    """Return the question whether a number like 10,584 is ten and a half or ten thousand.

    Args:
        open_ones: Shapes of the table that can be read in both ways.
        possible: The marks to choose from.
        columns: For each column, the number of values of each shape.
    """
    sign = "," if any("," in shape for shape in open_ones) else "."
    halves = _best([one for one in possible if one[0] == sign], columns)
    thousands = _best([one for one in possible if one[0] != sign], columns)
    answers = (("Ten and a half", _stated(halves)), ("Ten thousand", _stated(thousands)))
    return Doubt(f"Is 10{sign}584 ten and a half, or ten thousand? The numbers of this table can be read either way", answers)


def _contradiction(fitting: Mapping[int, Sequence[Marks]], shapes: Mapping[int, Counter[str]], names: Sequence[str]) -> Doubt:
    """Return the question about marks that contradict each other in two columns, or in one.

    Args:
        fitting: By column index, the marks that can read the column.
        shapes: By column index, the number of values of each shape.
        names: The names of the columns.
    """
    places = list(fitting)
    mixed = next((place for place in places if not fitting[place]), None)
    if mixed is None:
        usual = {place: _best(fitting[place], [shapes[place]]) for place in places}
        apart = ((a, b) for a in places for b in places if not set(fitting[a]) & set(fitting[b]))
        a, b = next(apart, (places[0], next((b for b in places if usual[b] != usual[places[0]]), places[-1])))
        spelled, first, second = [usual[a], usual[b]], f"{_named(a, names)} has numbers", f"and {_named(b, names)}"
    else:
        spelled = [_best([one for one in MARKS if one[0] == decimal], [shapes[mixed]]) for decimal in DECIMALS]
        first, second = f"{_named(mixed, names)} has numbers", "and others"
    question = f"{first} like {example(*spelled[0])} {second} like {example(*spelled[1])}"
    answers = tuple((f"Like {example(*marks)}", _stated(marks)) for marks in spelled)
    return Doubt(f"{question}; only one of both can be read, and the others are missing", answers)


def _named(place: int, names: Sequence[str]) -> str:
    """Return the words for a column in a question: "column 'age'", or "column 3" without a name.

    Args:
        place: The column's index, from 0; the number in the words is larger by one.
        names: The names; they may be too few or blank.
    """
    return column_field(names[place].strip()) if place < len(names) and names[place].strip() else f"column {place + 1}"


def _dates(columns: Iterable[Sequence[str]]) -> DetectedNotation:
    """Return the date format of a table, or a question about it; empty if no column needs a format.

    The format fits all columns of dates, else the first such column. Columns without dates, or with
    dates that are read without a format, do not count. If it is open whether day or month comes
    first, or in which century years of two digits are, the result has a question and no format. If
    both are open, the question is about day and month.

    Args:
        columns: The texts of each column of the table, trimmed and without missing markers.
    """
    found = [forms for cells in columns if (forms := _date_forms(cells))]
    if not found:
        return DetectedNotation({})
    common = [form for form in found[0] if all(form in forms for forms in found)] or found[0]
    short = _FROM if common[0].endswith(_FROM) else ""
    orders = [form for form in common if form.startswith(("dd/", "mm/"))]
    if len(orders) < 2 and short:
        plain = common[0].removesuffix(_FROM)
        years = (("1940", {"date_format": f"{plain}{_FROM}"}), ("2040", {"date_format": f"{plain} from 2000"}))
        return DetectedNotation({}, (Doubt("Is a year that is written 40 the year 1940, or 2040? Dates have years of two digits", years),))
    if len(orders) < 2:
        return DetectedNotation({"date_format": common[0]})
    second, first = (form[:-2] + short if short else form for form in (_MONTH_SECOND, _MONTH_FIRST))
    answers = (("Of April", {"date_format": second}), ("Of March", {"date_format": first}))
    question = "Is 03/04/2023 a day of April, or of March? The dates of this table can be read either way"
    return DetectedNotation({}, (Doubt(question, answers),))


def _date_forms(cells: Sequence[str]) -> list[str]:
    """Return the date formats that can read almost all texts of a column.

    Empty for a column without dates, or with dates that are read in every table.
    """
    if sum(len(cell) >= _SHORTEST_DATE for cell in cells) < _ALMOST_ALL * len(cells):
        return []
    written = plain(pa.array(cells, pa.string()))
    if np.isfinite(Notation().days(written)).sum() >= _ALMOST_ALL * len(cells):
        return []  # understood in every table
    fitting = (form for form, pattern in _STATED_DATES.items() if cells and _fit(written.to_pylist(), pattern) >= _ALMOST_ALL)
    days = {form: Notation(date_format=form).days(written) for form in fitting}
    first, last = _PLAUSIBLE
    there = {form: ((found >= first) & (found < last)) if form in _DIGITS else np.isfinite(found) for form, found in days.items()}
    return [form for form, found in there.items() if found.sum() >= _ALMOST_ALL * len(cells)]


def _times(columns: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the suggested field `time_format`; empty if the default fits.

    Digits, with or without a point, are suggested only if some have leading zeros, which numbers do
    not have.

    Args:
        columns: The texts of each column, trimmed and without missing markers.
    """
    for cells in columns:
        for form, pattern in _TIMES.items():
            shown_as_time = "h" in form[2:-2] or any(cell.startswith("0") for cell in cells)
            if cells and shown_as_time and _fit(cells, pattern) >= _ALMOST_ALL:
                return {"time_format": form}
    return {}


def _fit(cells: Sequence[str], pattern: re.Pattern[str]) -> float:
    """Return the share, from 0 to 1, of texts that begin with a match of the pattern."""
    return sum(bool(pattern.match(cell)) for cell in cells) / len(cells)
