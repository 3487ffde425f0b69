"""A look at the first records of a table: which columns have values outside the domain, and which statement would bring them in.

The result is for the curator only, before the charge. A column whose values are spelled differently from its list, or written in another
notation, counts as "other" or missing from end to end, and a run would spend its budget on nothing. Nothing here changes how a record is
read: the curator states it. The first `FIRST` records are read, for a table of any size, and once more for columns to learn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.foundation.errors import shown
from dpsynth_core.foundation.zones import Zoned, combine
from dpsynth_core.sources import opening, outside
from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.characters import CASE, LOOK, fold
from dpsynth_core.sources.codec import numbers_of
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.look_alikes import groups, listed_as
from dpsynth_core.sources.notation import TRUTHS, Notation
from dpsynth_core.sources.opening import TableSource
from dpsynth_core.sources.outside import ColumnFit
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from dpsynth_core.vocabulary.names import column_field

FIRST = 1_000
"""Records that are looked at."""
SOME = 0.2
"""Share of a column's values from which on a note is made of values that are not understood."""
_MOST_OF_THEM = 0.5
"""Share of those values that a remedy has to reach."""
_NUMBERS = ("int64", "float64")
_DECIMAL_CODE = re.compile(r"[0-9]+\.0+")


@dataclass(frozen=True)
class Remark:
    """A note for the curator about a column, usually one with many values that were not understood.

    Attributes:
        column: The name of the column, which is untrusted text.
        share: The share, from 0 to 1, of the column's values that were not understood, among values
            that are not missing; 1 where all values are missing.
        found: The finding, a sentence without values.
        advice: A possible remedy, in sentences with private values; "" where no remedy is known.
    """

    column: str
    share: float
    found: str
    advice: str = ""

    @property
    def sentence(self) -> str:
        """The finding and the advice in one text; it may hold private values and is for the curator only."""
        return f"{self.found} {self.advice}".rstrip()

    @property
    def is_nothing(self) -> bool:
        """True if no examined value of the column is in its domain; missing values are not in it either.

        The first `FIRST` records are examined. A value is not in the domain if it cannot be read, is not in
        the list, or is outside the bounds.
        """
        return self.share == 1


def look(domain: Domain, source: TableSource, form: TableFormat) -> Zoned[tuple[Remark, ...]]:
    """Return remarks for the curator from the first `FIRST` (1,000) records of a table; () if nothing is remarkable.

    A column gets a remark if at least a share `SOME` (20%) of its values that are not missing is outside the domain; if
    all its values are missing; if it is of whole numbers and at least a share `SOME` of its values has
    decimals; or if some values look like a listed value and would count as different. If the values of a listed column
    are to be learnt, a remark also says that some of them look like each other. The result is curator-only.

    Args:
        domain: The declared columns.
        source: The table.
        form: The format of the table.

    Raises:
        InputError: The table cannot be read or lacks a column of the domain.
    """
    fits = outside.fit(domain, source, form, FIRST)
    learnt = [one.name for one in domain if one.most and one.is_listed]
    spellings = tuple(_spellings(learnt, source, form)) if learnt else ()
    return combine(lambda every: (*_remarks(domain, every, form.notation), *spellings), fits)


def _spellings(columns: Sequence[str], source: TableSource, form: TableFormat) -> Iterator[Remark]:
    """Yield a remark for each column whose values are to be learnt and have several spellings.

    Several spellings are distinct texts that look the same or differ in letter case only.
    """
    parts = {column: list[pa.Array]() for column in columns}
    rows = 0
    for batch in opening.opened(source, form).batches(columns):
        for column in columns:
            first = batch.column(column).slice(0, FIRST - rows)
            parts[column].append(pc.unique(texts(first.dictionary_decode() if pa.types.is_dictionary(first.type) else first)))
        if (rows := rows + batch.num_rows) >= FIRST:
            break
    for column, distinct in parts.items():
        every = dict.fromkeys(text for part in distinct for text in part.to_pylist() if text)
        written = [fold(text, form.same_text) for text in every]
        same, alike = next(((one, alike) for one in (LOOK, CASE) if (alike := groups(dict.fromkeys(written), one))), ("", []))
        if alike:
            found = f"{column_field(column)}: some of its values {'look the same' if same == LOOK else 'differ in letter case alone'}."
            told = f"{len(alike[0])} spellings of {shown(alike[0][0])} would be learnt as different values"
            yield Remark(column, 0.0, found, f'{told}: state same_text "{same}" if they are one.')


def _remarks(domain: Domain, fits: tuple[ColumnFit, ...], notation: Notation) -> Iterator[Remark]:
    """Yield the remarks that follow from comparing columns with their declarations."""
    for one in fits:
        attribute, present = domain[one.column], one.rows - one.missing
        where = f"{column_field(one.column)}: "
        records = f"the first {one.rows:,} records" if one.rows == FIRST else f"the {one.rows:,} records"
        if present and one.rounded >= SOME * present:
            advice = 'If the decimals matter, make it a column of numbers with decimals ("kind": "numeric").'
            found = f"{where}{one.rounded / present:.0%} of the values of {records} have decimals, which are rounded."
            yield Remark(one.column, 0.0, found, advice)
        if not present and one.rows:
            yield Remark(one.column, 1.0, f"{where}all values of {records} are missing.")
        elif present and one.outside >= SOME * present:
            wanted, advice = _wanted(attribute), " ".join(_advice(attribute, one, notation))
            share = one.outside / present
            found = f"no value of {records} {wanted[0]}" if share == 1 else f"{share:.0%} of the values of {records} {wanted[1]}"
            yield Remark(one.column, share, f"{where}{found}.", advice)
        elif attribute.is_listed and attribute.hierarchy is None and (advice := _look_alikes(attribute, one)):
            yield Remark(one.column, one.outside / present, f"{where}some of its values look like listed ones and count as others.", advice)


def _look_alikes(attribute: Attribute, one: ColumnFit) -> str:
    """Return a remedy for values outside that look like a listed value; "" without such values."""
    same, met = listed_as((value for value, _ in one.values), attribute.categories)
    if not met:
        return ""
    text, category = next(iter(met.items()))
    counted = sum(number for value, number in one.values if value in met)
    return f'{counted:,} of them, such as {shown(text)} for {shown(category)}: state same_text "{same}" if they are one.'


def _wanted(attribute: Attribute) -> tuple[str, str]:
    """Return two predicates: one to follow "no value", one to follow "30% of the values"."""
    if attribute.is_listed:
        return "is in its list", "are not in its list"
    noun = attribute.about.title.lower()
    if attribute.most:
        return f"can be read as a {noun}", f"cannot be read as a {noun}"
    return f"can be read as a {noun} within its bounds", f"cannot be read as a {noun} within its bounds"


def _advice(attribute: Attribute, one: ColumnFit, notation: Notation) -> Iterator[str]:
    """Yield sentences with remedies for the values outside of a column, by the probable cause.

    A cause is usually named only if it explains at least half of these values.

    Args:
        attribute: The declared column.
        one: The comparison of the column with its declaration.
        notation: The stated notation of the table.
    """
    counted = Counter(dict(one.values))
    quoted = sum(number for text, number in one.values if len(text) > 1 and text[0] == text[-1] == "'")
    if quoted >= _MOST_OF_THEM * counted.total():
        yield "Most of them stand in single quotes: export the table with double quotes around cells, or without quotes."
    elif one.placeholders and sum(counted[value] for value in one.placeholders) >= _MOST_OF_THEM * counted.total():
        yield f"If {shown(one.placeholders[0])} stands for a missing value, state it as a missing marker."
    elif attribute.is_listed and attribute.hierarchy is None:
        yield from _other_spelling(attribute, counted)
    elif attribute.hierarchy is not None:
        yield from _decimal_codes(attribute.hierarchy, attribute.categories, counted)
    elif attribute.is_number:
        yield from _other_notation(attribute, one, counted, notation)


def _folds(notation: Notation) -> Mapping[str, Callable[[str], str]]:
    """Return text normalisations under which two texts may be one value, the narrowest first.

    Returns:
        By the remedy that the curator would apply, a function that rewrites a text; two texts with
        the same result are one value.
    """

    def number(text: str) -> str:
        found = notation.without_markers.numbers(pa.array([text]))[0].as_py()
        return text if found is None else repr(float(found))

    return {
        "list whole numbers, or state the list's dtype": number,
        **{f'list the values as the table writes them, or state same_text "{same}"': partial(fold, same=same) for same in (LOOK, CASE)},
        "list true and false, or state dtype bool": lambda text: TRUTHS.get(text.lower(), text),
    }


def _other_spelling(attribute: Attribute, counted: Counter[str]) -> Iterator[str]:
    """Yield the first remedy of `_folds` under which most values outside become listed values.

    Args:
        attribute: The declared column.
        counted: The number of records by value outside.
    """
    for remedy, rewritten in _folds(Notation()).items():
        listed = {rewritten(category): category for category in attribute.categories}
        met = [value for value in counted if rewritten(value) in listed]
        if sum(counted[value] for value in met) >= _MOST_OF_THEM * counted.total():
            yield f"The table writes {shown(met[0])} where the list has {shown(listed[rewritten(met[0])])}: {remedy}."
            return


def _decimal_codes(hierarchy: Hierarchy, groups: Sequence[str], counted: Counter[str]) -> Iterator[str]:
    """Yield a remedy if most values outside are codes of listed groups with ".0" at the end.

    Programs export a column of whole numbers with empty cells in this way.

    Args:
        hierarchy: The rule that gives the group of a code.
        groups: The listed groups.
        counted: The number of records by value outside.
    """
    codes = {value: value.rstrip("0").removesuffix(".") for value in counted if _DECIMAL_CODE.fullmatch(value)}
    met = [value for value, code in codes.items() if hierarchy.group(code) in groups]
    if met and sum(counted[value] for value in met) >= _MOST_OF_THEM * counted.total():
        yield f"The table writes whole numbers as decimals, such as {shown(met[0])}: export the column as whole numbers or as text."


def _other_notation(attribute: Attribute, one: ColumnFit, counted: Counter[str], notation: Notation) -> Iterator[str]:
    """Yield sentences on why numbers, dates or times are outside: bounds or notation.

    Args:
        attribute: The declared column, which has bins or values to be learnt.
        one: The comparison of the column with its declaration.
        counted: The number of records by value outside.
        notation: The stated notation of the table.
    """
    texts, numbers = pa.array([value for value, _ in one.values], pa.string()), np.array([number for _, number in one.values])

    def are_read(form: Mapping[str, Any]) -> bool:
        there = np.isfinite(numbers_of(attribute, texts, replace(notation, **form)))
        return bool(numbers[there].sum() >= _MOST_OF_THEM * numbers.sum())

    if are_read({}):
        if not attribute.most:
            yield "Most of them lie beyond its bounds."
        return
    from dpsynth_core.sources.detect_notation import detect_notation, other_marks  # loaded where values are not understood

    is_bounded = attribute.dtype in _NUMBERS and not attribute.most
    if is_bounded and (marks := other_marks(one.values, attribute.lower, attribute.upper, notation)):
        form: Mapping[str, Any] = {"decimal": marks[0], "thousands": marks[1]}
    else:
        found = detect_notation([list(counted)], notation)
        form = {name: text for name, text in found.stated.items() if text != getattr(notation, name)}
        for doubt in found.doubts:
            yield f"{doubt.question}: state {' or '.join(_stated(answer) for _, answer in doubt.answers)}."
    if form and are_read(form):
        yield f"They would be read with {_stated(form)}."


def _stated(form: Mapping[str, Any]) -> str:
    """Return the fields of a notation as a text, such as `decimal "," and thousands "."`."""
    return " and ".join(f'{name} "{", ".join(value) if isinstance(value, tuple) else value}"' for name, value in form.items())
