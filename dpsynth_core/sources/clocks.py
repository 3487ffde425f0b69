"""The meaning of the parts of a written time of day or duration, in microseconds. Their spelling is in `spelling`.

A time zone behind a time is ignored: the clock counts as written.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.foundation.arrow_times import NO_TIME, Micros


def with_zeros(text: pa.Array) -> pa.Array:
    """Return texts of 1 to 6 digits padded with the leading zeros that numbers lose.

    Up to four digits are hours and minutes: 830 becomes 0830, and 5 becomes 0005. Longer ones have
    seconds: 83000 becomes 083000. Other texts stay as they are.
    """
    length = pc.utf8_length(text)
    padded = pc.if_else(pc.less_equal(length, 4), pc.utf8_lpad(text, 4, "0"), pc.utf8_lpad(text, 6, "0"))
    return pc.if_else(pc.match_substring_regex(text, "^[0-9]{1,6}$"), padded, text)


def time_of_day(parts: pa.StructArray) -> Micros:
    """Return the microseconds since midnight, int64; `NO_TIME` (the smallest int64) for a time that does not exist (25:00).

    Args:
        parts: The matched groups of each text: `hour`, `minute`, `second`, `fraction` and `half`
            (am or pm), as far as its pattern has them. Absent ones count as 0, so a date without a
            time is midnight.
    """
    hours, half = _whole(parts, "hour"), pc.replace_substring_regex(pc.utf8_lower(_written(parts, "half")), "[. ]", "")
    is_half = pc.not_equal(half, "").to_numpy(zero_copy_only=False)
    is_afternoon = pc.equal(half, "pm").to_numpy(zero_copy_only=False)
    exists = np.where(is_half, (hours >= 1) & (hours <= 12), hours < 24)
    return np.where(exists, _micros(parts, np.where(is_half, hours % 12 + 12 * is_afternoon, hours)), NO_TIME)


def lasting(parts: pa.StructArray) -> Micros:
    """Return the microseconds of durations, int64, with any number of hours and either sign.

    Args:
        parts: The matched groups of each text: `sign`, `hour`, `minute`, `second` and `fraction`; absent ones
            count as 0. Digits of the fraction after the sixth are cut off.
    """
    is_negative = pc.equal(_written(parts, "sign"), "-").to_numpy(zero_copy_only=False)
    return np.where(is_negative, -1, 1) * _micros(parts, _whole(parts, "hour"))


def _micros(parts: pa.StructArray, hours: NDArray[np.int64]) -> Micros:
    """Return hours and the matched minutes, seconds and fraction as whole microseconds.

    Digits of the fraction after the sixth are cut off.
    """
    seconds = (hours * 60 + _whole(parts, "minute")) * 60 + _whole(parts, "second")
    digits = pc.utf8_slice_codeunits(_written(parts, "fraction"), 0, 6)
    fraction = pc.utf8_rpad(digits, 6, "0").cast(pa.int64()).to_numpy(zero_copy_only=False)
    return np.asarray(seconds * 1_000_000 + fraction)


def _whole(parts: pa.StructArray, name: str) -> NDArray[np.int64]:
    """Return the matched group `name` as int64; 0 where it is absent."""
    text = _written(parts, name)
    return np.asarray(pc.if_else(pc.equal(text, ""), "0", text).cast(pa.int64()).to_numpy(zero_copy_only=False))


def _written(parts: pa.StructArray, name: str) -> pa.Array:
    """Return the matched group `name` as text; "" where it is absent."""
    if parts.type.get_field_index(name) < 0:
        return pa.repeat("", len(parts))
    return pc.fill_null(pc.struct_field(parts, name), "")
