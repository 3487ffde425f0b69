"""The encoding of records: every value goes to a cell of its attribute.

Encoding never fails on a value and never reports one; the rules are given by `recoding.outside_rule`. Spaces around text are trimmed first.
A listed category is never taken for a missing marker. A record's codes follow from that record and from public facts alone: the attribute
and the notation, in which no record takes part. Work is done once per distinct value wherever Arrow can list the distinct values, so
millions of rows cost little.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.foundation.arrow_times import NO_TIME
from dpsynth_core.sources import times
from dpsynth_core.sources.arrays import is_plain_number, texts
from dpsynth_core.sources.characters import folded
from dpsynth_core.sources.listed import in_type
from dpsynth_core.sources.notation import TRUTHS, Notation
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS

_ZONE = "(Z|[+-][0-9]{4})$"
"""The time zone behind the text of a timestamp, which is ignored: the clock counts as written."""
_PLAIN = ("int64", "float64")
"""Types of attributes whose columns of numbers are read without a dictionary of distinct values."""


def encode(domain: Domain, batch: pa.RecordBatch | pa.Table, notation: Notation) -> dict[str, NDArray[np.int32]]:
    """Return by column the code of each record, int32 of shape (rows,), for every column of the domain.

    Codes are counted from 0. Other columns of the batch are ignored.

    Args:
        domain: The domain.
        batch: Records with every column of the domain.
        notation: How values are written as text.

    Raises:
        ValueError: The values of a column are still to be learnt, or its edges do not rise.
    """
    return {a.name: encode_column(a, batch.column(batch.schema.get_field_index(a.name)), notation) for a in domain}


def encode_column(attribute: Attribute, column: pa.Array | pa.ChunkedArray, notation: Notation) -> NDArray[np.int32]:
    """Return the code of each value of a column, int32 of shape (rows,).

    A code is always a valid cell, from 0 to `attribute.size - 1`, even where the attribute
    contradicts itself. No value raises an error.

    Args:
        attribute: The declared column.
        column: Its values, of any Arrow type.
        notation: How values are written as text.

    Raises:
        ValueError: The values of the attribute are still to be learnt, or its edges do not rise.
    """
    return np.clip(_encoded(attribute, column, notation), 0, attribute.size - 1)


def _encoded(attribute: Attribute, column: pa.Array | pa.ChunkedArray, notation: Notation) -> NDArray[np.int32]:
    """Return the code of each value of a column; a code may lie outside the attribute's cells.

    Each distinct value is encoded once where Arrow can list the distinct values.

    Raises:
        ValueError: The values of the column are still to be learnt.
    """
    if attribute.most:
        raise ValueError("the cells of this column are not known yet")
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_null(array.type) or pa.types.is_nested(array.type):
            return np.full(len(array), attribute.code_for_missing, dtype=np.int32)
        if is_plain_number(array.type) and attribute.about.dtype in _PLAIN:
            return _codes(attribute, array, notation)
        array = dictionary(array)
    table = _codes(attribute, array.dictionary, notation)
    table = np.append(table, np.int32(attribute.code_for_missing))  # what a null points to
    return table[pc.fill_null(array.indices.cast(pa.int64()), len(table) - 1).to_numpy(zero_copy_only=False)]


def dictionary(array: pa.Array) -> pa.DictionaryArray:
    """Return the array in Arrow's dictionary encoding: distinct values, and an index for each.

    Arrays of type null, lists and structures are not allowed.
    """
    if pa.types.is_dictionary(array.type):
        return array
    try:
        return array.dictionary_encode()
    except pa.ArrowNotImplementedError:  # string views, half floats and the like
        return texts(array).dictionary_encode()


def _codes(attribute: Attribute, values: pa.Array, notation: Notation) -> NDArray[np.int32]:
    """Return the code of each value of an array without dictionary encoding."""
    return _ENCODERS[attribute.about.form](attribute, values, notation)


def _plain_codes(attribute: Attribute, values: pa.Array, notation: Notation) -> NDArray[np.int32]:
    """Return the codes that the table holds; those out of range count as the nearest code.

    Values that are not numbers count as code 0.
    """
    numbers = floats(values, notation)
    return np.clip(np.where(np.isnan(numbers), 0.0, numbers), 0, attribute.values - 1).astype(np.int32)


def _bin_codes(attribute: Attribute, values: pa.Array, notation: Notation) -> NDArray[np.int32]:
    """Return for each number, date or time the code of the bin that contains it, int32.

    A number beyond the bounds gets the cell for such numbers, or the nearest bin. A missing or
    unreadable value gets the cell for such values.

    Raises:
        ValueError: The edges do not rise.
    """
    numbers = numbers_of(attribute, values, notation)
    edges = np.asarray(attribute.edges, dtype=np.float64)
    if not (np.diff(edges) > 0).all():
        raise ValueError("edges do not rise: where a number is found could depend on the numbers before it")
    codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, attribute.values - 1).astype(np.int32)
    if (elsewhere := attribute.code_for_beyond) is not None:
        above = numbers >= edges[-1] if attribute.scale.whole else numbers > edges[-1]  # whole values end one below their last edge
        codes[(numbers < edges[0]) | above] = elsewhere
    absent = np.isnan(numbers)
    if absent.any():
        codes[absent] = np.where(_written(attribute, values, notation)[absent], attribute.code_for_unlisted, attribute.code_for_missing)
    return codes


def numbers_of(attribute: Attribute, values: pa.Array, notation: Notation) -> NDArray[np.float64]:
    """Return values as numbers on the scale of the attribute's edges, float64; nan for missing and unreadable ones.

    Dates are days since 1970-01-01, and times are in units of the attribute's precision. In a
    column of whole numbers a value with decimals is rounded to the nearest one, to an even one half way.

    Args:
        attribute: A column of numbers, dates or times.
        values: The values, without dictionary encoding.
        notation: How values are written as text.
    """
    if attribute.dtype == "date":
        return day_numbers(values, notation)
    if attribute.dtype not in times.READERS:
        numbers = floats(values, notation)
        return np.rint(numbers) if attribute.dtype == "int64" else numbers
    unit = MICROSECONDS[attribute.precision]
    counts = times.READERS[attribute.dtype](values, notation, unit)
    return np.where(counts == NO_TIME, np.nan, counts // unit)


def _written(attribute: Attribute, values: pa.Array, notation: Notation) -> NDArray[np.bool_]:
    """Return which values are written, that is, neither null nor a missing marker."""
    if is_plain_number(values.type) and attribute.dtype not in times.READERS:
        return np.zeros(len(values), dtype=bool)  # what is not a number there is null, nan or a marker
    text = texts(values)
    written = pc.and_(pc.is_valid(text), pc.invert(notation.absent(text)))
    return np.asarray(pc.fill_null(written, False).to_numpy(zero_copy_only=False))


def _category_codes(attribute: Attribute, values: pa.Array, notation: Notation) -> NDArray[np.int32]:
    """Return for each value the code of the listed value that it equals.

    A value that equals none gets the cell for unlisted values, and a missing one the cell for
    missing values. In a column of codes in groups, the group of the value is compared.
    """
    text = texts(values)
    absent = pc.or_kleene(pc.is_null(text), notation.absent(text))
    if attribute.hierarchy is not None:
        places = _group_places(attribute, text, absent, notation)
    elif attribute.dtype in ("int64", "float64"):
        categories = pa.array([float(c) for c in attribute.categories], pa.float64())
        places = pc.index_in(pa.array(floats(values, notation.without_markers), from_pandas=True), categories, skip_nulls=True)
    else:
        wanted, listed = _truths(text, absent) if attribute.dtype == "bool" else text, pa.array(attribute.categories, pa.string())
        places = pc.index_in(folded(wanted, notation.same_text), folded(listed, notation.same_text), skip_nulls=True)
        if attribute.dtype == "string":  # equal values of the column's type are written alike
            local = pc.replace_substring_regex(text, _ZONE, "") if pa.types.is_timestamp(values.type) else text
            places = pc.coalesce(places, pc.index_in(local, in_type(attribute.categories, values.type), skip_nulls=True))
    elsewhere = pc.if_else(absent, attribute.code_for_missing, attribute.code_for_unlisted)
    return pc.coalesce(places.cast(pa.int64()), elsewhere).to_numpy(zero_copy_only=False).astype(np.int32)


def _group_places(attribute: Attribute, text: pa.Array, absent: pa.Array, notation: Notation) -> pa.Array:
    """Return the index of each code's group among the categories; null for other groups.

    A code that is a missing marker has a group only if the marker itself is a category.
    """
    assert attribute.hierarchy is not None
    codes = zip(text.to_pylist(), absent.to_pylist(), strict=True)
    groups = pa.array([code if gone else attribute.hierarchy.group(code) for code, gone in codes], pa.string())
    listed = pa.array(attribute.categories, pa.string())
    return pc.index_in(folded(groups, notation.same_text), folded(listed, notation.same_text), skip_nulls=True)


_ENCODERS = {Form.LISTED: _category_codes, Form.BINNED: _bin_codes, Form.CODED: _plain_codes}


def _truths(text: pa.Array, absent: pa.Array) -> pa.Array:
    """Return "true" or "false" for each known spelling, null for other texts.

    A missing marker is not a spelling, even one such as N; it is returned in lower case.
    """
    small = pc.utf8_lower(text)
    meant = pa.array(TRUTHS.values(), pa.string()).take(pc.index_in(small, pa.array(TRUTHS, pa.string())))
    return pc.if_else(absent, small, meant)


def floats(values: pa.Array, notation: Notation) -> NDArray[np.float64]:
    """Return values as float64; nan for null, unreadable texts and missing markers (like -9). True is 1, False is 0."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    plain = values if is_plain_number(values.type) else notation.numbers(texts(values))
    numbers = pc.fill_null(plain.cast(pa.float64(), safe=False), np.nan).to_numpy(zero_copy_only=False)
    marked = notation.marked_numbers
    return np.where(np.isin(numbers, marked), np.nan, numbers) if marked else numbers


def day_numbers(values: pa.Array, notation: Notation) -> NDArray[np.float64]:
    """Return values as whole days since 1970-01-01, float64; nan for null and values that are not dates.

    The time of day of a timestamp is cut off; with a time zone, the day is the local one. Numbers are dates only if
    the notation's dates consist of digits.
    """
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):  # with a time zone: the local day
        days = values.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.float64())
        return pc.fill_null(days, np.nan).to_numpy(zero_copy_only=False)
    if is_plain_number(values.type) and notation.dates_are_digits:
        return notation.days(notation.digit_dates(texts(values)))
    if is_plain_number(values.type) or pa.types.is_boolean(values.type):
        return np.full(len(values), np.nan)
    return notation.days(texts(values))
