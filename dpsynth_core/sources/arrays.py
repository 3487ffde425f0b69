"""Arrow arrays as texts, and what their types are."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def texts(values: pa.Array) -> pa.Array:
    """Trimmed text of each value, null where it is null or not a number (nan)."""
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    if is_binary(values.type):
        return pa.array([None if v is None else v.decode("utf-8", "replace").strip() for v in values.to_pylist()], pa.string())
    try:
        text = values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        text = pa.array([None if v is None else str(v) for v in values.to_pylist()], pa.string())
    if pa.types.is_timestamp(values.type):
        return pc.replace_substring_regex(text, r"\.0+$", "")  # of the unit alone, which says nothing
    return pc.utf8_trim_whitespace(text)


def is_plain_number(kind: pa.DataType) -> bool:
    """Whether the values of this Arrow type are numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def is_binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)
