"""Arrow arrays as texts, and tests of their types."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def texts(values: pa.Array) -> pa.Array:
    """Return the trimmed text of each value; null for null and nan.

    Equal numbers have equal texts in all types: a whole number is written as an integer, other
    numbers without zeros at the end. Equal times have equal texts. Bytes are read as UTF-8, with U+FFFD for
    those that are not. (A fraction in 16 or 32 bits is written with the fewest digits that identify it in that
    width.)
    """
    if pa.types.is_floating(values.type):
        return _float_texts(values)
    if pa.types.is_decimal(values.type):
        return _decimal_texts(values)
    if is_binary(values.type):
        return pa.array([None if v is None else v.decode("utf-8", "replace").strip() for v in values.to_pylist()], pa.string())
    try:
        text = values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        text = pa.array([None if v is None else str(v) for v in values.to_pylist()], pa.string())
    if pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):  # zeros are of the unit alone
        text = pc.replace_substring_regex(text, r"(\.[0-9]*?)0+(Z|[+-][0-9:]+)?$", r"\1\2")
        return pc.replace_substring_regex(text, r"\.(Z|[+-][0-9:]+)?$", r"\1")
    return pc.utf8_trim_whitespace(text)


def _float_texts(values: pa.Array) -> pa.Array:
    """Return each floating-point number as text; null for null and nan.

    Whole numbers are written as integers (1.0 as "1", -0.0 as "0"), others with the fewest digits
    that identify them, and without an exponent if they are large. Infinity is "inf" or "-inf".
    """
    wide = values.cast(pa.float64())
    is_integer = pc.and_(pc.equal(wide, pc.trunc(wide)), pc.less(pc.abs(wide), _INT64_END))
    written = pc.if_else(pc.is_nan(wide), None, values.cast(pa.string()))
    with_exponent = pc.and_(pc.match_substring(written, "e+"), pc.invert(is_integer))
    if pc.any(with_exponent).as_py():  # fractions from 10^10 on, and what no int64 holds
        numbers = zip(written.to_pylist(), wide.to_pylist(), strict=True)
        written = pa.array([_plain(number) if text and "e+" in text else text for text, number in numbers], pa.string())
    return pc.coalesce(pc.if_else(is_integer, wide, None).cast(pa.int64()).cast(pa.string()), written)


def _plain(number: float) -> str:
    """Return the text of a number from 10^10 on, without an exponent."""
    return f"{number:.0f}" if number.is_integer() else repr(number)


def _decimal_texts(values: pa.Array) -> pa.Array:
    """Return the text of each decimal number, without zeros at the end."""
    whole = values if values.type.scale >= 0 else values.cast(pa.decimal256(_MOST_DIGITS, 0))
    text = pc.replace_substring_regex(whole.cast(pa.string()), r"^(-?[0-9]+\.[0-9]*?)0*(E|$)", r"\1\2")  # 1.50E-9, too
    text = pc.replace_substring_regex(text, r"\.(E|$)", r"\1")
    return pc.utf8_lower(pc.replace_substring_regex(text, r"^0E.*", "0"))


_INT64_END = 2.0**63
_MOST_DIGITS = 76


def is_plain_number(kind: pa.DataType) -> bool:
    """Return whether the values of this Arrow type are integers, floating-point numbers or decimals; booleans are not."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def is_binary(kind: pa.DataType) -> bool:
    """Return whether an Arrow type holds bytes (of any width), as opposed to text."""
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)
