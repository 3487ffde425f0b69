"""Arguments as Python programs write them, as plain values: numbers of NumPy, arrays, Series and Index for numbers and lists.

Values of columns have rules of their own (`vocabulary.python_values`), and so have tables (`frames`, `labelled`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from dpsynth_core.foundation.errors import InputError, shown


def plain(value: Any) -> Any:
    """Return an argument as a JSON value (text, number, boolean, list or object).

    NumPy numbers, arrays, Series, Index, dates and paths are converted. A tuple that is the key of
    a dict and a value without a JSON form are kept unchanged.
    """
    if isinstance(value, Mapping):
        return {name if isinstance(name, tuple) else plain(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if _is_pandas_list(value):
        return plain(value.to_list())
    if isinstance(value, date):
        return str(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def names(value: Any) -> Any:
    """Return a list, tuple, array, Index or Series of names as a list, and any other value unchanged."""
    if isinstance(value, list | tuple | np.ndarray) or _is_pandas_list(value):
        return list(value)
    return value


def cells(value: Any) -> Any:
    """Return a Series as a dict from its index (columns) to its values, and any other value unchanged."""
    return dict(value.items()) if _is_pandas_list(value) and hasattr(value, "index") else value


def whole_number(value: Any, field: str, what: str, lowest: int, highest: int) -> int:
    """Return a whole number of any library, such as NumPy, as an int.

    Args:
        value: The argument.
        field: The name of the argument in errors.
        what: A description of the argument for errors, such as "a number of rows".
        lowest: The smallest value allowed.
        highest: The largest value allowed.

    Raises:
        InputError: `value` is not a whole number, or not in this range.
    """
    number = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(number, bool) or not issubclass(type(number), Integral) or not lowest <= number <= highest:
        raise InputError(field, f"{shown(number)} is not {what}", f"give a whole number from {lowest:,} to {highest:,}")
    return int(number)


def path_of(value: Any, field: str) -> Path:
    """Return a text or path object as a Path. The file need not exist.

    Args:
        value: The argument.
        field: The name of the argument in errors.

    Raises:
        InputError: `value` is neither a text nor a path object.
    """
    if isinstance(value, str | os.PathLike) and isinstance(place := os.fspath(value), str):
        return Path(place)
    raise InputError(field, f"a {type(value).__name__} is not a path", "give the path of a file as a text")


def _is_pandas_list(value: Any) -> bool:
    """Return whether a value is a Series or an Index of pandas or Polars."""
    return callable(getattr(value, "to_list", None)) and not isinstance(value, type)
