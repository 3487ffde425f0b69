"""Values of a column as Python programs write them: NumPy's and pandas' scalars, sequences of values, ranges.

One door for `ask`, `sample` and all that names values of columns: what comes out is texts, numbers, truth values, dates, times and
`ranges.Between`, which `zeros` finds the cells of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.ranges import Between


def named_values(attribute: Attribute, said: Any) -> list[Any]:
    """Return the values of a column that a program names, as a flat list of Python values.

    A range becomes one `Between`; None, the label of the column's cell for missing values. Whether
    the column has the values is not checked.

    Args:
        attribute: The column.
        said: A value, or None for missing values; a tuple of exactly two ends, both included, or a
            `pandas.Interval`, for a range; or any other list, tuple, set, array, Series, Index or
            `range` of all these. In a tuple, an end that is None or infinite is open.

    Raises:
        InputError: A value is NaN, NA or NaT, or of a type that no column has; a range has no end;
            `said` is a dict or a slice; or it has None, and the column has no cell for missing
            values.
    """
    if isinstance(said, tuple) and len(said) == 2:
        low, high = (None if end is None else _finite(_scalar(attribute, end)) for end in said)
        if low is None and high is None:
            raise _error(attribute, "a range has no end", "give a lowest value, a highest value, or leave the column out")
        return [Between(low, high)]
    if isinstance(said, slice):
        raise _error(attribute, "a slice does not say whether its end belongs to it", "write (lowest, highest), both in the range")
    if all(hasattr(said, name) for name in ("left", "right", "closed")) and isinstance(said.closed, str):
        low, high = _scalar(attribute, said.left), _scalar(attribute, said.right)
        return [Between(low, high, said.closed not in ("left", "both"), said.closed not in ("right", "both"))]
    if isinstance(said, Mapping):
        raise _error(attribute, "a dict is not a list of values", "write a value, a list of values, or (lowest, highest)")
    if isinstance(said, Iterable) and not isinstance(said, str | bytes) and not _is_scalar(said):
        return [one for value in said for one in named_values(attribute, value)]
    return [_missing(attribute) if said is None else _scalar(attribute, said)]


def is_missing(value: Any) -> bool:
    """Return whether a value is NaN, NaT or NA of Python, NumPy or pandas; False for None."""
    may_be = isinstance(value, float | np.floating | np.datetime64 | np.timedelta64)
    return type(value).__name__ in ("NAType", "NaTType") or (may_be and bool(value != value))


def _is_scalar(said: Any) -> bool:
    return isinstance(said, np.generic) or (isinstance(said, np.ndarray) and said.ndim == 0)


def _missing(attribute: Attribute) -> str:
    if (code := attribute.missing_code) is None:
        raise _error(attribute, "it has no cell for missing values", "leave None out")
    return attribute.cell_labels()[code]


def _scalar(attribute: Attribute, value: Any) -> Any:
    """Return a value as a text, number, truth value, date or time of Python's own.

    Raises:
        InputError: The value is missing (NaN, NaT, NA), or of a type that no column has.
    """
    if is_missing(value):
        raise _error(attribute, f"{value} is not a value", "write None for what is missing, and leave it out of lists and ranges otherwise")
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    if isinstance(value, np.timedelta64):
        return value.astype("timedelta64[us]").item()
    if isinstance(value, datetime) and hasattr(value, "to_pydatetime"):
        return value.to_pydatetime(warn=False)
    if isinstance(value, timedelta) and hasattr(value, "to_pytimedelta"):
        return value.to_pytimedelta()
    if _is_scalar(value):
        value = value.item()
    if isinstance(value, str | int | float | date | time | timedelta):
        return value
    if hasattr(value, "as_integer_ratio"):  # a Decimal or a Fraction
        return float(value)
    raise _error(attribute, f"{shown(value)} is not a value", "write a text, a number, a date or a time")


def _finite(end: Any) -> Any:
    """Return the end of a range, or None for an infinite end, which does not limit the range."""
    return None if isinstance(end, float) and end in (np.inf, -np.inf) else end


def _error(attribute: Attribute, problem: str, remedy: str) -> InputError:
    return InputError(column_field(attribute.name), problem, remedy)
