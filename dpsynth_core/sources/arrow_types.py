"""The Arrow types that Parquet and Feather share: how they are read and declared, and how text that is not UTF-8 is repaired."""

from __future__ import annotations

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.names import column_field, trimmed

NESTED = "drop the column: its values are lists or structures"
"""The remaining task of the curator for a nested column."""


def declared_type(column: pa.Field) -> Column:
    """Return the declaration of a column that follows from its Arrow type only.

    A nested column gets the task `NESTED` for the curator.
    """
    name = trimmed(column.name)
    if pa.types.is_nested(column.type):
        return Column(name=name, kind="categorical", categories=[], to_do=NESTED)
    from dpsynth_core.vocabulary.declared import declared  # loaded for domains of files alone

    return declared(name, kind_of_type(column.type))


def kind_of_type(kind: pa.DataType) -> str:
    """Return the kind of an Arrow type as `vocabulary.declared` names it.

    It is "bool", "integer", "number", "date", "timestamp", "time" or "duration", and "text" for any other type.
    """
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    tests = {"date": pa.types.is_date, "timestamp": pa.types.is_timestamp, "time": pa.types.is_time, "duration": pa.types.is_duration}
    return next((name for name, test in tests.items() if test(kind)), "text")


def check_type(name: str, kind: pa.DataType) -> None:
    """Check that a column's timestamps have no time zone, or one that is known here.

    Raises:
        InputError: The time zone is unknown.
    """
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        try:
            pa.array([0], pa.int64()).cast(kind).cast(pa.date32(), safe=False)
        except pa.ArrowException:
            remedy = "save the column without a time zone, or in UTC"
            raise InputError(column_field(name), "its time zone is not known here", remedy) from None


def repaired(column: pa.Array) -> pa.Array:
    """Return the column with U+FFFD in place of bytes that are not UTF-8; any other column is returned unchanged.

    Views of text and bytes, which Polars writes and few Arrow functions accept, become plain types.
    """
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, repaired(column.dictionary))
    if pa.types.is_binary_view(column.type):
        return column.cast(pa.large_binary())
    kind = pa.large_string() if pa.types.is_string_view(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    raw = column.cast(pa.large_binary())
    try:
        text = raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array([None if value is None else value.decode(errors="replace") for value in raw.to_pylist()], kind)
    return column if column.type == kind else text
