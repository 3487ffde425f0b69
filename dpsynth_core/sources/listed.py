"""The texts of listed values in a column of numbers, truths or days. They follow from the list and the type alone, which are public."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

import pyarrow as pa

from dpsynth_core.sources.arrays import is_plain_number, texts
from dpsynth_core.sources.notation import TRUTHS
from dpsynth_core.vocabulary.kinds.kind import finite

_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]00:00(?::00(?:\.0+)?)?)?")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d(?:\.\d+)?))?")


@lru_cache(maxsize=1024)
def in_type(categories: tuple[str, ...], kind: pa.DataType) -> pa.Array:
    """Return each listed value in the text that `arrays.texts` gives equal values of this type.

    So 1.50 and 001 become 1.5 and 1 in a column of numbers, and a day becomes its midnight in a
    column of timestamps. Among truth values, yes and 1 become true.

    Args:
        categories: The listed values, as text.
        kind: The Arrow type of a column.

    Returns:
        Texts; null for a value that no value of the type equals, and all null for types other than
        numbers, truth values, dates and timestamps.
    """
    if is_plain_number(kind):
        return pa.array(list(map(_number, categories)), pa.string())
    if pa.types.is_boolean(kind):
        return pa.array([TRUTHS.get(category.lower()) for category in categories], pa.string())
    if pa.types.is_date(kind):
        return pa.array([match[1] if (match := _DAY.fullmatch(category)) else None for category in categories], pa.string())
    if pa.types.is_timestamp(kind):
        return pa.array(list(map(_moment, categories)), pa.string())
    return pa.nulls(len(categories), pa.string())


def _number(category: str) -> str | None:
    """Return the text that `arrays.texts` gives the number in a listed text; None without a number."""
    if (number := finite(category)) is None:
        return None
    exact = Decimal(category)
    return str(int(exact)) if exact == exact.to_integral_value() else texts(pa.array([number]))[0].as_py()


def _moment(category: str) -> str | None:
    """Return the text that `arrays.texts` gives the timestamp in a listed text; None without one.

    A day means its midnight.
    """
    if match := _MOMENT.fullmatch(category):
        seconds = (match[3] or "00").rstrip("0").rstrip(".") if "." in (match[3] or "") else match[3] or "00"
        return f"{match[1]} {match[2]}:{seconds}"
    return f"{category} 00:00:00" if _DAY.fullmatch(category) else None
