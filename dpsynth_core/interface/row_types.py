"""Rows with the types of the columns that came in. What is restored follows from types and from the domain, never from a record."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.vocabulary.attribute import TYPED, Attribute
from dpsynth_core.vocabulary.domain import Domain


def restorable(columns: pa.Schema) -> pa.Schema:
    """Return the columns with the types that `restored` uses, and with the null type for all others.

    Plans and releases are pickled with the result. Metadata of fields, and of nested or extension
    types, is therefore left out: it may hold values of records, as metadata of Polars' Enum columns
    does.
    """
    return pa.schema([(column.name, _restorable(column.type)) for column in columns])


def _restorable(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return pa.dictionary(pa.int32(), pa.string(), ordered=kind.ordered)
    return kind if pa.types.is_integer(kind) or pa.types.is_timestamp(kind) else pa.null()


def restored(rows: pa.Table, types: pa.Schema, domain: Domain) -> pa.Table:
    """Return synthetic rows whose columns have the types of the table that was given, where they fit.

    Listed values become categories again, in the order of the domain, where the column was
    categorical; integers get their width back if the bounds of the domain fit into it; timestamps
    get their time zone. Categories come from the domain, not from the given table, whose categories
    would disclose which values occur.

    Args:
        rows: The rows of a release.
        types: The column types of the given table, from `restorable`.
        domain: The domain of the rows.
    """
    for place, name in enumerate(rows.column_names):
        if name in domain.names and len(found := types.get_all_field_indices(name)) == 1:
            column = _restored(rows.column(name).combine_chunks(), types.field(found[0]).type, domain[name])
            rows = rows.set_column(place, name, column)
    return rows


def _restored(column: pa.Array, kind: pa.DataType, attribute: Attribute) -> pa.Array:
    if pa.types.is_dictionary(kind):
        if not attribute.is_listed:
            return column
        others = [attribute.other_text] if attribute.other and attribute.dtype == "string" else []
        values = pa.array([*map(TYPED[attribute.dtype], attribute.categories), *others], column.type)
        return pa.DictionaryArray.from_arrays(pc.index_in(column, values, skip_nulls=True), values, ordered=kind.ordered)
    if pa.types.is_integer(kind) and pa.types.is_integer(column.type) and _fits(attribute, kind):
        return column.cast(kind)
    if pa.types.is_timestamp(kind) and kind.tz is not None and pa.types.is_timestamp(column.type):
        return pc.assume_timezone(column, kind.tz, ambiguous="earliest", nonexistent="latest")  # a clock that is set forward skips an hour
    return column


def _fits(attribute: Attribute, kind: pa.DataType) -> bool:
    ends: list[Any] = list(map(TYPED["int64"], attribute.categories)) if attribute.is_listed else [attribute.lower, attribute.upper]
    try:
        pa.array(ends, pa.int64()).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True
