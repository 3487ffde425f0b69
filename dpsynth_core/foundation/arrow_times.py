"""Timestamps, times of day and durations in Arrow arrays, as microseconds and as text.

A timestamp with a time zone counts by the clock of its zone, which is what its file shows.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Micros = NDArray[np.int64]

NO_TIME = np.int64(np.iinfo(np.int64).min)
"""Value in place of a missing time."""
DAY_MICROS = 86_400_000_000


def holds_times(kind: pa.DataType) -> bool:
    """Return whether the values of this type are timestamps, times of day or durations."""
    return pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind)


def array(values: Micros, kind: pa.DataType, absent: NDArray[np.bool_]) -> pa.Array:
    """Return an Arrow array of timestamps or times from microseconds.

    Args:
        values: Microseconds since the beginning of 1970, or since midnight, int64.
        kind: The type of the array, in microseconds or milliseconds; for milliseconds, finer parts are cut off.
        absent: True where the value is null, shape of `values`.
    """
    counts = pa.array(values if kind.unit == "us" else values // 1000, pa.int64(), mask=absent)
    return (counts.cast(pa.int32()) if kind.bit_width == 32 else counts).cast(kind)


def micros(values: pa.Array) -> Micros:
    """Return timestamps, dates, times of day or durations as microseconds, int64; `NO_TIME` (the smallest int64) for null.

    Timestamps and dates count from the beginning of 1970 by the clock of their zone, times of day from midnight. Parts
    finer than a microsecond are cut off.
    """
    if pa.types.is_timestamp(values.type):
        values = pc.local_timestamp(values) if values.type.tz else values
        target = pa.timestamp("us")
    elif pa.types.is_date(values.type):
        target = pa.timestamp("us")
    else:
        target = pa.duration("us") if pa.types.is_duration(values.type) else pa.time64("us")
    counts = values.cast(target, safe=False).cast(pa.int64())
    return np.asarray(pc.fill_null(counts, int(NO_TIME)).to_numpy(zero_copy_only=False))


def readable(values: pa.Array) -> pa.Array:
    """Return timestamps, times of day and durations as text; null stays null.

    The text has the date, if any, then hours, minutes, seconds, and a fraction if it is not zero. Hours of a duration
    are not reduced to days.
    """
    counts = micros(values)
    if pa.types.is_timestamp(values.type):
        return pc.replace_substring_regex(values.cast(pa.string()), r"\.0+$", "")
    return pa.array([None if count == NO_TIME else clock_text(count) for count in counts.tolist()], pa.string())


def clock_text(micros: int) -> str:
    """Return microseconds as text, such as "01:02:03", "01:02:03.250" or "-36:00:00".

    A fraction has three or six digits, and is left out if it is zero.
    """
    seconds, fraction = divmod(abs(micros), 1_000_000)
    rest = f".{fraction:06d}".rstrip("0") if fraction else ""
    if len(rest) > len(".123"):
        rest = rest.ljust(7, "0")
    elif rest:
        rest = rest.ljust(4, "0")
    return f"{'-' if micros < 0 else ''}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{rest}"
