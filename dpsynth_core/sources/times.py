"""Timestamps, times of day and durations from columns of any type, as microseconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.foundation.arrow_times import DAY_MICROS, NO_TIME, Micros, micros
from dpsynth_core.sources.arrays import is_plain_number, texts
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.spelling import DIGITS


def _moments(values: pa.Array, notation: Notation, _unit: int) -> Micros:
    """Return microseconds since 1970-01-01 00:00 of dates and timestamps in any type of column.

    Other values are `NO_TIME`.
    """
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        return micros(values)
    if is_plain_number(values.type) and notation.dates_are_digits:
        return _unmarked(notation.digit_dates(texts(values)), notation, notation.moments)
    return _none(values) if _is_no_text(values.type) else _unmarked(texts(values), notation, notation.moments)


def _times_of_day(values: pa.Array, notation: Notation, _unit: int) -> Micros:
    """Return microseconds since midnight of times of day in any type of column.

    The date of a timestamp is dropped. Durations of less than a day are times of day, too. Other
    values are `NO_TIME`.
    """
    if pa.types.is_time(values.type):
        return micros(values)
    if pa.types.is_duration(values.type):
        lasting = micros(values)
        return np.where((lasting >= 0) & (lasting < DAY_MICROS), lasting, NO_TIME)
    if pa.types.is_timestamp(values.type):
        moments = micros(values)
        return np.where(moments == NO_TIME, NO_TIME, moments % DAY_MICROS)
    if is_plain_number(values.type) and notation.time_format == DIGITS:
        return _unmarked(texts(values), notation, notation.clocks)
    return _none(values) if _is_no_text(values.type) else _unmarked(texts(values), notation, notation.clocks)


def _durations(values: pa.Array, notation: Notation, unit: int) -> Micros:
    """Return the microseconds of durations in any type of column; `NO_TIME` for other values.

    Args:
        values: The column.
        notation: The stated notation.
        unit: The number of microseconds that a plain number 1 means.
    """
    if pa.types.is_duration(values.type) or pa.types.is_time(values.type):
        return micros(values)
    if pa.types.is_temporal(values.type) or pa.types.is_boolean(values.type):
        return _none(values)
    return _unmarked(texts(values), notation, lambda text: notation.durations(text, unit))


READERS: Mapping[str, Callable[[pa.Array, Notation, int], Micros]] = {
    "timestamp": _moments,
    "time": _times_of_day,
    "duration": _durations,
}
"""Functions, by the type of the released column, that return the microseconds of values of any type, `NO_TIME` for other values.

The last argument is the number of microseconds in a unit of plain numbers.
"""


def _unmarked(text: pa.Array, notation: Notation, read: Callable[[pa.Array], Micros]) -> Micros:
    """Return the times that `read` finds in texts, given null for missing markers."""
    return read(pc.if_else(pc.fill_null(notation.absent(text), True), None, text))


def _is_no_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type holds numbers, truth values, dates, times or durations."""
    return is_plain_number(kind) or pa.types.is_boolean(kind) or pa.types.is_temporal(kind)


def _none(values: pa.Array) -> Micros:
    """Return `NO_TIME` for each value."""
    return np.full(len(values), NO_TIME)
