"""Columns as files and codebooks declare them, and the JSON of the domain that follows.

What they do not say, such as bounds, stays open: an open column says so under "to_do", and the JSON is refused as a domain until somebody
who knows the table has settled that.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.bins import MAX_CELLS
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.kinds.numbers import plain_number
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.usual import Role

_BOUNDS = "give the smallest and the largest value that can occur"
_VALUES = "list the values that can occur, or drop the column"
_UNKNOWN = "say its kind and which values can occur, or drop the column"
KINDS_LINE = f"kinds: {', '.join(KINDS)}"
"""The kinds of columns, stated once for all columns with `_UNKNOWN`."""
_DAY: dict[str, Any] = {"lower": "00:00:00", "upper": "23:59:59", "precision": "second", "width": "hour"}
_OWN_CELLS: dict[str, Any] = {"other": True, "missing": True}


def declared(
    name: str,
    kind: str = "",
    *,
    label: str = "",
    labels: Mapping[float | str, str] | None = None,
    ordered: bool = False,
    decimals: int | None = None,
    bounds: tuple[float, float] | None = None,
) -> Column:
    """Return the column for a declaration; what it does not say stays open under "to_do".

    With labels, the labelled values are all values of the column, whatever its kind ("bool" excepted: its values are
    false and true). A time of day has the whole day as bounds. Missing and undeclared values get a cell each.

    Args:
        name: Name of the column.
        kind: "number", "integer", "text", "date", "timestamp", "time", "duration" or "bool"; "" if
            unknown.
        label: Description of the column; "" without one.
        labels: Labels of its values, numbers or texts, without values that mean missing. A value with a blank label is
            its own label; a label that several values share gets the value behind it.
        ordered: Whether the labels have an order.
        decimals: Number of digits after the point that its format shows; a "number" with 0 is a whole number.
            None if unknown.
        bounds: The smallest and the largest valid number, both inclusive; those of whole numbers are rounded inwards.
            None if unknown.

    Raises:
        InputError: There are more than 100,000 labels, the most values that a column may have.
    """
    fields: dict[str, Any]
    if kind == "bool":
        fields = {"kind": "categorical", "categories": ["false", "true"], "dtype": "bool"} | _OWN_CELLS
    elif labels:
        fields = {"kind": "ordinal" if ordered else "categorical"} | _labelled(name, labels) | _OWN_CELLS
    elif kind == "time":  # every time of day is known
        fields = {"kind": "time"} | _DAY | _OWN_CELLS
    elif kind in ("integer", "number", "date", "timestamp", "duration"):
        fields = _bounded(("integer" if decimals == 0 else "numeric") if kind == "number" else kind, bounds)
        fields |= {"decimals": decimals} if decimals and fields["kind"] == "numeric" else {}
    else:
        fields = {"kind": "categorical", "categories": [], "to_do": _VALUES if kind == "text" else _UNKNOWN} | _OWN_CELLS
    return Column(name=name, **fields | ({"label": label} if label else {}))


def domain_json(columns: Iterable[Column], origin: str = "") -> dict[str, Any]:
    """Return the JSON of a domain with these columns, in this order.

    Args:
        columns: The columns.
        origin: Origin of the domain (`domain.ORIGINS`), or ""; it is left out while a column is
            open ("to_do").
    """
    every = list(columns)
    complete = not any(column.to_do for column in every)
    return {"version": 1, "attributes": [one.to_json() for one in every]} | ({"origin": origin} if origin and complete else {})


def guessed(made: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the JSON of a domain with gaps filled from the names of its columns, which are public.

    Args:
        made: The JSON of a domain (`domain_json`).

    Returns:
        The JSON, in which columns may still be open ("to_do"); and the names of the columns that it leaves out: open
        columns whose names suggest identifiers or free text.

    Raises:
        InputError: An entry does not describe a column.
    """
    columns = [Column.from_json(entry) for entry in made["attributes"]]
    left_out = [one.name for one in columns if one.to_do and usual.role(one.name) in (Role.IDENTIFIER, Role.TEXT)]
    kept = [from_name(one) for one in columns if one.name not in left_out]
    return {**made, "attributes": [one.to_json() for one in kept]}, left_out


def from_name(column: Column) -> Column:
    """Return an open column (one with a "to_do") with the bounds or the kind that its name suggests.

    Bounds settle the column ("to_do" is left out); a kind alone does not. The column is returned unchanged if it is not
    open, if it has a list, or if its name suggests nothing.
    """
    suggestion, unknown = usual.suggested(column.name), column.kind == "categorical"
    if not column.to_do or column.categories:
        return column
    plain = {field: value for field, value in column.to_json().items() if field not in ("categories", "to_do")}
    if suggestion and not suggestion.is_list and (unknown or column.kind == suggestion.first["kind"]):
        return Column(**{**plain, **suggestion.first})
    if unknown and suggestion and suggestion.is_list:
        often = ", ".join(suggestion.first["categories"][:3])
        return Column(**plain | {"kind": suggestion.first["kind"], "categories": [], "to_do": f"{_VALUES}; often {often}"})
    if unknown and usual.role(column.name) is Role.DATE:
        return Column(**plain | {"kind": "date", "lower": None, "upper": None, "to_do": _BOUNDS})
    return column


def _bounded(kind: str, bounds: tuple[float, float] | None) -> dict[str, Any]:
    """Return the fields of a column of numbers or times; without bounds it stays open under "to_do".

    Bounds of whole numbers are rounded inwards to whole numbers.
    """
    if bounds is None:
        return {"kind": kind, "lower": None, "upper": None, "missing": True, "to_do": _BOUNDS}
    lower, upper = (math.ceil(bounds[0]), math.floor(bounds[1])) if kind == "integer" else bounds
    return {"kind": kind, "lower": lower, "upper": upper, "missing": True}


def value_text(value: float | str) -> str:
    """Return a labelled value as a domain lists it: a text without spaces around it, or a number as short as possible.

    Whole numbers below 10^15 have no fraction: 2.0 becomes "2", and 0.50 becomes "0.5". A text stays as it is otherwise.
    """
    return value.strip() if isinstance(value, str) else plain_number(value)


def _labelled(name: str, named: Mapping[float | str, str]) -> dict[str, Any]:
    """Return the fields of a column of labelled values, in their order.

    A label that several values share gets the value added, so that labels differ; an empty label
    becomes the value.

    Args:
        name: Name of the column, for errors.
        named: The label of each value, by value.

    Returns:
        The fields "dtype", "categories" (the values) and "labels".

    Raises:
        InputError: There are more values than a column may have.
    """
    if len(named) > MAX_CELLS:
        raise InputError(column_field(name), "it has too many values", f"list at most {MAX_CELLS:,}, or drop the column")
    values = list(map(value_text, named))
    labels = [label.strip() or value for label, value in zip(named.values(), values, strict=True)]
    times = Counter(labels)
    labels = [f"{label} ({value})" if times[label] > 1 else label for label, value in zip(labels, values, strict=True)]
    numbers = [value for value in named if isinstance(value, float)]
    dtype = "string" if not numbers else "int64" if all(value.is_integer() for value in numbers) else "float64"
    return {"dtype": dtype, "categories": values, "labels": labels}
