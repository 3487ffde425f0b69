"""The proposal of a domain from the values of a table.

On the private table this is reading the data: the result is curator-only, and a release made with it is branded until the curator states
why that is harmless. On a public table of the same columns it is free.

One pass over the first rows keeps only the distinct values of each column with their counts, up to a limit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.foundation.arrow_times import DAY_MICROS, NO_TIME, Micros, holds_times
from dpsynth_core.foundation.zones import Zoned, curator_only, public
from dpsynth_core.sources import look_alikes
from dpsynth_core.sources.arrays import is_plain_number, texts
from dpsynth_core.sources.arrow_types import kind_of_type
from dpsynth_core.sources.characters import CASE, LOOK, fold
from dpsynth_core.sources.codec import day_numbers, floats
from dpsynth_core.sources.detect_notation import detect_notation
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import TableSource, opened
from dpsynth_core.sources.spelling import COLON
from dpsynth_core.sources.times import READERS
from dpsynth_core.vocabulary.attribute import Attribute, scale_of
from dpsynth_core.vocabulary.bins import DEFAULT_BINS, ONE_BIN_PER_VALUE_UP_TO
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from dpsynth_core.vocabulary.kinds.dates import day_number, day_of
from dpsynth_core.vocabulary.kinds.hierarchies import HIERARCHICAL
from dpsynth_core.vocabulary.kinds.numbers import plain_number
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS

SAMPLE_ROWS = 200_000
MOST_DISTINCT = 50_000
MOST_CATEGORIES = 1_000
MANY_CATEGORIES = 100
FEW_CODES = 20
ZERO_INFLATED = 0.3
NEAR_UNIQUE = 0.9
LONG_TEXT, MANY_WORDS, FREE_TEXT = 25, 5, 0.2
"""A column in which more than this share of the different texts are longer, or have more words, holds free text: never kept by itself."""
OWN_CELLS: dict[str, Any] = {"other": True, "missing": True}
"""Every column has cells for values outside and for missing ones: that there are none is for the curator to say."""

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+$")
_CODE = re.compile(r"[A-Z]{0,3}[0-9][0-9A-Z]{0,6}([.-][0-9A-Z]{1,4}){0,2}$")
_ZERO_FIRST, _EXPONENT, _TRUE_EXPONENT = "^[+-]?0[0-9]", "^[0-9]+[eE][0-9]+$", "[.][0-9]*[eE]|[eE][+-]"
"""Codes such as 007 and 1E5, which a number would lose; and exponents as programs write them, with a point or a sign."""
_SENTINEL = re.compile("-?(9+|8+|7+)$")
_FIRST_DIGITS, _LAST_DIGITS = 18_500_101, 21_001_231
"""Days of 1850 to 2100 as eight digits."""
_FAR, _MOST_SENTINELS = 5, 5
"""Times the largest other number, from which on a number of the same digits is taken for a code; and the number of codes below zero."""
_IDENTIFIER = re.compile(r"(^|[_\W])(id|key|uuid|guid|nr|no|number|index|row)$", re.IGNORECASE)


@dataclass(frozen=True)
class Guess:
    """A proposed declaration of a column, for the curator to confirm or change.

    Attributes:
        name: The column's name.
        attribute: The proposed attribute; None if no proposal is sensible.
        advice: A caution for the curator, or "".
        drop: Whether leaving the column out is advised.
        identifies: Whether nearly every row has its own value, so that invented identifiers could
            replace the column.
    """

    name: str
    attribute: Attribute | None
    advice: str = ""
    drop: bool = False
    identifies: bool = False


def propose(
    table: TableSource, form: TableFormat, sample_rows: int = SAMPLE_ROWS, *, is_public: bool = False, only: Sequence[str] = ()
) -> Zoned[tuple[Guess, ...]]:
    """Return a guess for each column from the values in the first records of a table, in the order of the columns.

    At most 50,000 different values of a column (`MOST_DISTINCT`) are kept. A column gets no attribute if all its values
    are missing; if it has more than 1,000 different texts (`MOST_CATEGORIES`) that are no codes to be grouped; if it has
    more than 20 different texts, and more than half as many as values; or if it could be numbers or dates in another
    notation. The result is curator-only unless the table is public.

    Args:
        table: The table.
        form: The format of the table.
        sample_rows: The largest number of records to read, 200,000 by default.
        is_public: Whether the table is public.
        only: The columns to guess, in the order of the guesses; empty for all columns.

    Raises:
        InputError: The table cannot be read, or lacks a column in `only`.
    """
    source = opened(table, form)
    names = tuple(only) or source.column_names()
    collected: dict[str, _DistinctValues] = {name: _DistinctValues() for name in names}
    rows = 0
    for batch in source.batches(names):
        batch = batch.slice(0, sample_rows - rows)
        rows += batch.num_rows
        for name in names:
            collected[name].add(batch.column(name))
        if rows >= sample_rows:
            break
    summaries = (collected[name].summary(name, rows, form.notation) for name in names)
    guesses = tuple(_with_notes(summary, _guess(summary, form.notation.without_markers), form.notation) for summary in summaries)
    return public(guesses) if is_public else curator_only(guesses)


def _with_notes(summary: _Summary, guess: Guess, notation: Notation) -> Guess:
    """Return the guess with notes for the curator added to its advice.

    The notes name texts that count as missing, and listed texts that look the same.
    """
    marked = sorted(summary.marked - {""})
    notes = [f"{_quoted(marked)} counts as missing; if it is a value, list it." if len(marked) == 1 else ""]
    notes += [f"{_quoted(marked)} count as missing; list those that are values." if len(marked) > 1 else ""]
    if summary.is_text and guess.attribute is not None and guess.attribute.is_listed and guess.attribute.dtype == "string":
        texts = [fold(text, notation.same_text) for text in guess.attribute.categories]
        same = next((one for one in (LOOK, CASE) if look_alikes.groups(texts, one)), None)
        if same is not None:
            first, *others = look_alikes.groups(texts, same)
            alike = "look the same" if same == LOOK else "differ in capital letters alone"
            more = f", and {len(others)} more values have such spellings" if others else ""
            told = f"{len(first)} spellings of {_quoted(first[:1])} {alike}{more}: treat them as the same, if they are (texts: {same})."
            notes.append(told)
    return replace(guess, advice=" ".join(filter(None, (guess.advice, *notes))))


def _quoted(texts: Sequence[str]) -> str:
    """Return at most four texts in quotation marks, shortened, separated by commas."""
    return ", ".join(f"“{text[:40]}”" for text in texts[:4])


def _guess(summary: _Summary, notation: Notation) -> Guess:
    """Return the proposed declaration of a column from its distinct values, without notes."""
    if not len(summary.values):
        return Guess(summary.name, None, "Leave it out.", drop=True)
    if pa.types.is_boolean(summary.values.type):
        return _categories(summary, ["false", "true"], "bool")
    if (guess := _times(summary, notation)) is not None:
        return guess
    if pa.types.is_temporal(summary.values.type) or summary.is_text or notation.dates_are_digits:
        days = day_numbers(summary.values, notation)
        if np.isfinite(days).mean() > 0.95:
            dates = np.clip(days[np.isfinite(days)], day_number(date.min), day_number(date.max))
            attribute = Attribute.day(summary.name, day_of(dates.min()), day_of(dates.max()), **OWN_CELLS)
            return Guess(summary.name, attribute, "Replace the bounds by dates that are known without the data.")
    numbers = floats(summary.values, notation)
    finite = np.isfinite(numbers)
    if _are_codes(summary) or finite.mean() < 0.95:
        return _text(summary, notation)
    numbers, counts = numbers[finite], summary.counts[finite]
    may_be_days = numbers.min() >= _FIRST_DIGITS and numbers.max() <= _LAST_DIGITS
    if may_be_days and (stated := _other_notation(texts(summary.values).to_pylist(), notation)):
        return Guess(summary.name, None, f"State how its days are written ({stated}), or choose the kind “Whole number”.", drop=True)
    codes = _sentinels(numbers)
    if not codes:
        return _numbers(summary, numbers, counts)
    kept = ~np.isin(numbers, codes)
    guess = _numbers(replace(summary, present=int(counts[kept].sum())), numbers[kept], counts[kept])
    listed = ", ".join(plain_number(code) for code in codes)
    told = f"{listed} may stand for a missing value: say so on the Data page, or widen the bounds."
    return replace(guess, advice=f"{told} {guess.advice}".strip())


def _are_codes(summary: _Summary) -> bool:
    """Return whether texts like 007 are codes, which would change if they were read as numbers."""

    def any_like(pattern: str) -> bool:
        return bool(pc.any(pc.match_substring_regex(summary.values, pattern)).as_py())

    return summary.is_text and (any_like(_ZERO_FIRST) or (any_like(_EXPONENT) and not any_like(_TRUE_EXPONENT)))


def _sentinels(numbers: NDArray[np.float64]) -> list[float]:
    """Return the numbers of a column that probably mean "missing", such as -99 or 99999999999.

    They consist of the digit 9, 8 or 7 only. Negative numbers are among them if all negative
    numbers are of this form and few. So is the largest number if it is above `_FAR` times the next
    smaller one.
    """
    values = sorted({*numbers.tolist()})
    negative = [value for value in values if value < 0]
    below = negative if len(negative) <= _MOST_SENTINELS and all(_SENTINEL.match(plain_number(value)) for value in negative) else []
    *others, high = values[len(below) :] or [0.0]
    is_far = bool(others) and high >= 99 and high > _FAR * max(1.0, others[-1]) and _SENTINEL.match(plain_number(high)) is not None
    codes = [*below, *([high] if is_far else [])]
    return codes if len(values) > len(codes) + 1 else []


def _other_notation(categories: Sequence[str], notation: Notation) -> str:
    """Return in words another notation in which nearly all texts are numbers or dates.

    "" if no other notation fits.

    Args:
        categories: The distinct texts of a column.
        notation: The stated notation.
    """
    found = detect_notation([categories], notation)
    stated = {name: value for name, value in found.stated.items() if value != getattr(notation, name)}
    texts = pa.array(categories, pa.string())
    read = replace(notation, **stated)
    share = max(np.isfinite(floats(texts, read)).mean(), np.isfinite(day_numbers(texts, read)).mean())
    said = (f"{_WORDS[name]} {', '.join(value) if isinstance(value, tuple) else value}" for name, value in stated.items() if name in _WORDS)
    return ", ".join(said) if share > 0.95 else ""


_WORDS = {"units": "units", "negative": "below zero", "date_format": "dates", "thousands": "thousands"}


def _text(summary: _Summary, notation: Notation) -> Guess:
    """Return a guess for texts: a list of values, groups of codes, or advice to leave the column out.

    The column is left out if the texts point at people, as names do, or if another notation would
    read them as numbers or dates.
    """
    categories = sorted(set(texts(summary.values).to_pylist()))  # alphabetical: the order of frequency would say more about the data
    own = len(categories) > 20 and len(categories) > 0.5 * summary.present
    if sum(bool(_DECIMAL_COMMA.match(category)) for category in categories) > 0.95 * len(categories):
        return Guess(summary.name, None, "State on the Data page that the decimal mark is a comma, or leave it out.", drop=True)
    if summary.is_text and (stated := _other_notation(categories, notation)):
        return Guess(summary.name, None, f"State on the Data page how it is written ({stated}), or leave it out.", drop=True)
    if not own and summary.complete and len(categories) > MANY_CATEGORIES and (guess := _code_groups(summary.name, categories)) is not None:
        return guess
    if own or not summary.complete or len(categories) > MOST_CATEGORIES:
        return Guess(summary.name, None, _POINTS_AT_PEOPLE, drop=True, identifies=own)
    guess = _categories(summary, categories, "string")
    if sum(len(category) > LONG_TEXT or len(category.split()) > MANY_WORDS for category in categories) > FREE_TEXT * len(categories):
        advice = "Texts that people wrote point at them; use it only if a codebook lists them."
        return replace(guess, advice=advice, drop=True)
    return guess


def _code_groups(name: str, texts: Sequence[str]) -> Guess | None:
    """Return a guess for codes of a classification, grouped by their first characters.

    The level is the finest one, of 4 characters at most, with no more than `MANY_CATEGORIES`
    groups. None for texts that do not look like codes, or if every level has more groups.
    """
    if sum(bool(_CODE.match(text)) for text in texts) < 0.95 * len(texts):
        return None
    for level in range(4, 0, -1):
        how = Hierarchy(level=level)
        groups = sorted({how.group(text) for text in texts if _CODE.match(text)})
        if len(groups) <= MANY_CATEGORIES:
            attribute = Attribute.listed(name, HIERARCHICAL.name, groups, hierarchy=how, **OWN_CELLS)
            return Guess(name, attribute, "Choose the level that you need.")
    return None


def _categories(summary: _Summary, categories: Sequence[str], dtype: str) -> Guess:
    """Return a guess that lists these values."""
    attribute = Attribute.categorical(summary.name, categories, dtype=dtype, **OWN_CELLS)
    if len(categories) == 1:
        return Guess(summary.name, attribute, _TELLS_NOTHING, drop=True)
    return Guess(summary.name, attribute, _MANY if len(categories) > MANY_CATEGORIES else "")


def _times(summary: _Summary, notation: Notation) -> Guess | None:
    """Return a guess if nearly all values are timestamps, times of day or durations; else None.

    Timestamps that are all at midnight are days and not times, so they give None.
    """
    values, is_time = summary.values, holds_times(summary.values.type)
    if not is_time:
        if not summary.is_text:
            return None
        values = pc.if_else(pc.match_substring(texts(values), ":"), texts(values), None)  # nothing else in a number or a date is one
    for kind in ("time", "duration", "timestamp"):
        if is_time and kind != kind_of_type(values.type):
            continue
        if kind == "time" and notation.time_format != COLON and not is_time:
            stated = READERS[kind](texts(summary.values), notation, 1)
            if (stated != NO_TIME).mean() > 0.95:
                return _timed(summary.name, kind, stated[stated != NO_TIME])
        counts = READERS[kind](values, notation, 1)
        there = counts[counts != NO_TIME]
        has_day = kind == "time" and not is_time and (READERS["timestamp"](values, notation, 1) != NO_TIME).any()
        if len(there) > 0.95 * len(counts) and not has_day and (kind != "timestamp" or (there % DAY_MICROS).any()):
            return _timed(summary.name, kind, there)
    return None


def _timed(name: str, kind: str, micros: Micros) -> Guess:
    """Return a guess for a column of times, whose bounds are its smallest and largest value.

    Args:
        name: The column's name.
        kind: "timestamp", "time" or "duration".
        micros: The values in microseconds.
    """
    precision = next(precision for precision, unit in MICROSECONDS.items() if not (micros % unit).any())
    scale = scale_of(name, kind, precision)
    lower, upper = (scale.value(int(end) // MICROSECONDS[precision]) for end in (micros.min(), micros.max()))
    attribute = Attribute.binned(name, kind, lower, upper, precision=precision, **OWN_CELLS)
    return Guess(name, attribute, "Replace the bounds by times that are known without the data.")


def _numbers(summary: _Summary, numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> Guess:
    """Return a guess for numbers: a list for few scattered whole numbers, else bins.

    Args:
        summary: The distinct values of the column.
        numbers: The distinct numbers.
        counts: The number of rows of each number.
    """
    whole = bool((numbers == np.floor(numbers)).all())
    lower, upper = float(numbers.min()), float(numbers.max())
    distinct = len(np.unique(numbers))
    if whole and max(abs(lower), abs(upper)) < 2**53:
        scattered = distinct <= FEW_CODES and upper - lower >= 5 * distinct and summary.present >= 10 * distinct
        if distinct <= 2 or scattered:
            return _categories(summary, [str(int(n)) for n in np.unique(numbers)], "int64")
        return _integers(summary, numbers, counts, distinct)
    if distinct == 1:
        return _categories(summary, [repr(lower)], "float64")
    # digits after the point that all values can be written with, up to 4
    decimals = next((d for d in range(1, 5) if np.allclose(numbers, np.round(numbers, d), rtol=0, atol=1e-9)), None)
    low, high = _round_out(lower, upper)
    edges = _zero_edges(numbers, counts, high, 1.0 if decimals is None else 10.0**-decimals)
    attribute = Attribute.numeric(summary.name, 0.0 if edges else low, high, edges=edges, decimals=decimals, **OWN_CELLS)
    return Guess(summary.name, attribute, _BOUNDS_ADVICE)


_POINTS_AT_PEOPLE = "Leave it out: names, addresses and ids point at people. The kind “Identifier” writes new ids."
_TELLS_NOTHING = "It tells nothing: leave it out, or choose the kind “One value”."
_NUMBERS_ROWS = "If it is an id or row number, leave it out, or choose the kind “Identifier” for new ones."
_MANY = "It has many categories; keep those that a codebook names, and let the rest go to 'other'."
_BOUNDS_ADVICE = "Replace the bounds by numbers that are known without the data."


def _integers(summary: _Summary, numbers: NDArray[np.float64], counts: NDArray[np.int64], distinct: int) -> Guess:
    """Return a guess for whole numbers, with a bin for each value or bins between rounded bounds.

    Args:
        summary: The distinct values of the column.
        numbers: The distinct numbers.
        counts: The number of rows of each number.
        distinct: The number of distinct numbers.
    """
    lower, upper = int(numbers.min()), int(numbers.max())
    if upper - lower < ONE_BIN_PER_VALUE_UP_TO:
        attribute = Attribute.integer(summary.name, lower, upper, **OWN_CELLS)
        return Guess(summary.name, attribute, _BOUNDS_ADVICE)
    low, high = (int(bound) for bound in _round_out(lower, upper))
    edges = _zero_edges(numbers, counts, high, 1.0)
    attribute = Attribute.integer(summary.name, 0 if edges else low, high, edges=edges, **OWN_CELLS)
    share = distinct / summary.present
    counted = lower in (0, 1) and distinct >= 0.99 * (upper - lower + 1) and share > 0.5  # 0, 1, 2, ... as row numbers are
    if counted or share == 1 or (share > NEAR_UNIQUE and _IDENTIFIER.search(summary.name)):
        return Guess(summary.name, attribute, _NUMBERS_ROWS, drop=True, identifies=True)
    return Guess(summary.name, attribute, _BOUNDS_ADVICE)


def _zero_edges(numbers: NDArray[np.float64], counts: NDArray[np.int64], upper: float, unit: float) -> list[float] | None:
    """Return bin edges with a bin for zero alone, if many numbers are zero; else None.

    No number may be negative. The other edges are equally spaced, or in equal ratios if the numbers
    are skewed.

    Args:
        numbers: The distinct numbers.
        counts: The number of rows of each number.
        upper: The upper bound of the column.
        unit: The smallest step between values, which is the upper edge of the bin for zero.
    """
    share = counts[numbers == 0].sum() / counts.sum()
    if numbers.min() < 0 or share < ZERO_INFLATED or upper <= 4 * unit:
        return None
    order = np.argsort(numbers)
    rising, weight = numbers[order], np.where(numbers[order] > 0, counts[order], 0).cumsum()
    start, middle = (rising[np.searchsorted(weight, q * weight[-1])] for q in (0.01, 0.5))
    skewed = middle < upper / 5
    cuts = np.geomspace(max(start, unit), upper, DEFAULT_BINS - 1) if skewed else np.linspace(unit, upper, DEFAULT_BINS)
    inner = {round(float(f"{cut:.2g}"), max(0, round(-np.log10(unit)))) for cut in cuts}  # two digits
    return [0.0, unit, *sorted(cut for cut in inner if unit < cut < upper), upper]


def _round_out(lower: float, upper: float) -> tuple[float, float]:
    """Return the bounds, widened to two significant digits of the range, without crossing zero."""
    step = 10.0 ** (np.floor(np.log10(upper - lower)) - 1)
    digits = max(0, int(-np.log10(step)) + 1)
    return round(float(np.floor(lower / step) * step), digits), round(float(np.ceil(upper / step) * step), digits)


@dataclass(frozen=True)
class _Summary:
    """The distinct values of a column in the records that were read.

    Attributes:
        name: The name of the column.
        values: The distinct values, an Arrow array without nulls and missing markers.
        counts: The number of rows of each value.
        present: The number of rows with a value that is not missing.
        complete: Whether all distinct values were kept, so that none was dropped at the limit
            `MOST_DISTINCT`.
        marked: Texts of the column that count as missing.
    """

    name: str
    values: pa.Array
    counts: NDArray[np.int64]
    present: int
    complete: bool
    marked: frozenset[str] = frozenset()

    @property
    def is_text(self) -> bool:
        """True if the values are texts."""
        return pa.types.is_string(self.values.type)


class _DistinctValues:
    """A collector of a column's distinct values with their counts, at most `MOST_DISTINCT`."""

    def __init__(self) -> None:
        self._parts: list[pa.Table] = []
        self._complete = True

    def add(self, column: pa.Array) -> None:
        """Add the values of one batch; lists and structures count as null."""
        if pa.types.is_nested(column.type):
            column = pa.nulls(len(column))
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        self._parts.append(_counted(pa.table({"value": plain, "count": pa.array(np.ones(len(plain), dtype=np.int64))})))
        merged = _counted(pa.concat_tables(self._parts, promote_options="permissive"))
        if merged.num_rows > MOST_DISTINCT:
            self._complete = False
            merged = merged.slice(0, MOST_DISTINCT)
        self._parts = [merged]

    def summary(self, name: str, rows: int, notation: Notation) -> _Summary:
        """Return the distinct values without missing ones.

        Args:
            name: The name of the column.
            rows: The number of rows that were added.
            notation: The stated notation, which has the missing markers.
        """
        if not self._parts:
            return _Summary(name, pa.nulls(0, pa.string()), np.zeros(0, np.int64), 0, True)
        values, marked = self._parts[0].column("value").combine_chunks(), frozenset[str]()
        counts = self._parts[0].column("count").to_numpy()
        if not (is_plain_number(values.type) or pa.types.is_boolean(values.type) or pa.types.is_temporal(values.type)):
            values = texts(values)
            marked = frozenset(values.filter(pc.fill_null(notation.absent(values), False)).to_pylist())
            values = pc.if_else(notation.absent(values), None, values)
        elif pa.types.is_floating(values.type):
            values = pc.if_else(pc.is_nan(values), None, values)
        absent = pc.is_null(values).to_numpy(zero_copy_only=False)
        present = rows - int(counts[absent].sum())
        return _Summary(name, values.filter(pa.array(~absent)), counts[~absent], present, self._complete, marked)


def _counted(table: pa.Table) -> pa.Table:
    """Return the table with one row for each distinct `value`, and the sum of its `count`."""
    grouped = table.group_by("value", use_threads=False).aggregate([("count", "sum")])
    return grouped.rename_columns(["value" if name == "value" else "count" for name in grouped.column_names])
