"""What a file or a codebook says of a column, and the JSON of the domain that follows from it.

What is not said, such as bounds, stays open: every open column says so under "to_do", and the JSON is refused as a domain until that is
settled by somebody who knows the table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.bins import MAX_CELLS
from dpsynth_core.vocabulary.kinds.numbers import plain_number
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.usual import Role, UsualList, UsualRange

_BOUNDS = "give the smallest and the largest value that can occur"
_VALUES = "list the values that can occur, or drop the column"
_UNKNOWN = "say its kind and which values can occur, or drop the column"
KINDS_LINE = f"kinds: {', '.join(KINDS)}"
"""What `_UNKNOWN` leaves to be said once for all columns."""


@dataclass(frozen=True)
class Declared:
    """A column. kind: "number", "integer", "text", "date", "timestamp", "time", "duration" or "bool"; "" where nothing says.

    label: "" for none. labels: of its values, which are numbers or texts, as far as they are not declared to be missing.
    missing: whether values are declared to be missing. decimals: that its format shows, None where it does not say.
    ordered: whether the labelled values have an order. bounds: of a number, both of them valid.
    """

    name: str
    kind: str = ""
    label: str = ""
    labels: Mapping[float | str, str] = field(default_factory=dict)
    missing: bool = False
    decimals: int | None = None
    ordered: bool = False
    bounds: tuple[float, float] | None = None


def domain_json(columns: Iterable[Declared], origin: str = "") -> dict[str, Any]:
    """The JSON of a domain with these columns in this order. origin: of what is said; left out where somebody has to add something."""
    entries = [_entry(column) for column in columns]
    complete = not any("to_do" in entry for entry in entries)
    return {"version": 1, "attributes": entries} | ({"origin": origin} if origin and complete else {})


def guessed(made: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The JSON of a domain, in which names of columns, which are public, fill what nothing else says; and the columns that are left out,
    because their names promise identifiers or free text."""
    entries, left_out = [], []
    for entry in made["attributes"]:
        if "to_do" not in entry:
            entries.append(entry)
        elif usual.role(entry["name"]) in (Role.IDENTIFIER, Role.TEXT):
            left_out.append(entry["name"])
        else:
            entries.append(_from_name(entry))
    return {**made, "attributes": entries}, left_out


def _from_name(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An open entry with usual bounds, or with the kind that its name suggests."""
    suggestion, unknown = usual.suggested(entry["name"]), entry["kind"] == "categorical"
    plain = {key: value for key, value in entry.items() if key not in ("categories", "to_do")}
    if isinstance(suggestion, UsualRange) and (unknown or entry["kind"] == suggestion.kind):
        return plain | usual.entry(suggestion)
    if unknown and isinstance(suggestion, UsualList):
        return {**entry, "kind": suggestion.kind, "to_do": f"{_VALUES}; often {', '.join(suggestion.writings[0].values[:3])}"}
    if unknown and usual.role(entry["name"]) is Role.DATE:
        return plain | {"kind": "date", "lower": None, "upper": None, "to_do": _BOUNDS}
    return dict(entry)


def _entry(column: Declared) -> dict[str, Any]:
    label = {"label": column.label} if column.label else {}
    cells = {"other": True, "missing": True}
    if column.kind == "bool":
        return {"name": column.name, "kind": "categorical", "dtype": "bool", "categories": ["false", "true"]} | cells | label
    if column.labels:
        return {"name": column.name, **_labelled(column), **cells, **label}
    if column.kind == "time":  # every time of day is known
        day = {"lower": "00:00:00", "upper": "23:59:59", "precision": "second", "width": "hour"}
        return {"name": column.name, "kind": "time"} | day | cells | label
    if column.kind in ("integer", "number", "date", "timestamp", "duration"):
        whole = column.kind == "integer" or (column.kind == "number" and column.decimals == 0)
        kind = "integer" if whole else "numeric" if column.kind == "number" else column.kind
        decimals = {"decimals": column.decimals} if kind == "numeric" and column.decimals else {}
        fields = {"name": column.name, "kind": kind, **_bounds(column, whole), "missing": True, **decimals, **label}
        return fields if column.bounds else fields | {"to_do": _BOUNDS}
    to_do = _VALUES if column.kind == "text" else _UNKNOWN
    return {"name": column.name, "kind": "categorical", "categories": [], **cells, **label, "to_do": to_do}


def _bounds(column: Declared, whole: bool) -> dict[str, float | None]:
    if column.bounds is None:
        return {"lower": None, "upper": None}
    lower, upper = column.bounds
    return {"lower": math.ceil(lower), "upper": math.floor(upper)} if whole else {"lower": lower, "upper": upper}


def _labelled(column: Declared) -> dict[str, Any]:
    """Values in their order; equal labels are told apart by the values. InputError for more than a column may have."""
    if len(column.labels) > MAX_CELLS:
        raise InputError(column_field(column.name), "it has too many values", f"list at most {MAX_CELLS:,}, or drop the column")
    values = [value.strip() if isinstance(value, str) else plain_number(value) for value in column.labels]
    labels = [label.strip() or value for label, value in zip(column.labels.values(), values, strict=True)]
    times = Counter(labels)
    labels = [f"{label} ({value})" if times[label] > 1 else label for label, value in zip(labels, values, strict=True)]
    numbers = [value for value in column.labels if isinstance(value, float)]
    dtype = "string" if not numbers else "int64" if all(value.is_integer() for value in numbers) else "float64"
    return {"kind": "ordinal" if column.ordered else "categorical", "dtype": dtype, "categories": values, "labels": labels}
