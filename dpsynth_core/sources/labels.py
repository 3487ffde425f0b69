"""A domain from what a file says of itself: labels, types, declared missing values. No record is read.

Labels are a questionnaire's: public before anybody answered. What a file does not say of itself, such as bounds, stays open, and whoever
knows the table fills it in. The result is the JSON of a domain in which every open column says so under "to_do"; it is refused as a domain
until that is settled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import feather_file, files, parquet_file, statistical_file
from dpsynth_core.sources.formats import TableFormat, table_files
from dpsynth_core.sources.notation import plain_number
from dpsynth_core.sources.statistical_file import Described

_BOUNDS = "give the smallest and the largest value that can occur"
_VALUES = "list the values that can occur, or drop the column"
_UNKNOWN = "say what it holds (categorical, integer, numeric or date) and which values can occur, or drop the column"


def declared_domain(path: Path, form: TableFormat) -> dict[str, Any]:
    """The JSON of a domain with all columns in file order. Raises InputError."""
    if form.kind == "jsonl":
        raise InputError("data", "JSON lines say nothing of themselves but in their records", "write the domain by hand")
    return {"version": 1, "attributes": [_entry(column) for column in _columns(path, form)]}


def _columns(path: Path, form: TableFormat) -> list[Described]:
    first = table_files(path)[0]
    with files.reading():
        if form.kind in ("spss", "stata", "sas"):
            return list(statistical_file.described(first, form))
        if form.kind == "parquet":
            schema = parquet_file.schema(table_files(path), path if path.is_dir() else None)
        elif form.kind == "feather":
            schema = feather_file.schema(first)
        else:
            return [Described(name, "", "", {}, False, None) for name in files.column_names(path, form)]
    return [Described(field.name, _kind(field.type), "", {}, False, None) for field in schema]


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    return "date" if pa.types.is_date(kind) or pa.types.is_timestamp(kind) else "text"


def _entry(column: Described) -> dict[str, Any]:
    label = {"label": column.label} if column.label else {}
    cells = {"other": True, "missing": True}
    if column.kind == "bool":
        return {"name": column.name, "kind": "categorical", "dtype": "bool", "categories": ["false", "true"]} | cells | label
    if column.labels:
        return {"name": column.name, **_labelled(column), **cells, **label}
    if column.kind in ("integer", "number", "date"):
        whole = column.kind == "integer" or (column.kind == "number" and column.decimals == 0)
        kind = "date" if column.kind == "date" else "integer" if whole else "numeric"
        decimals = {"decimals": column.decimals} if kind == "numeric" and column.decimals else {}
        bounds = {"lower": None, "upper": None}
        return {"name": column.name, "kind": kind, **bounds, "missing": True, **decimals, **label, "to_do": _BOUNDS}
    to_do = _VALUES if column.kind in ("text", "time") else _UNKNOWN
    return {"name": column.name, "kind": "categorical", "categories": [], **cells, **label, "to_do": to_do}


def _labelled(column: Described) -> dict[str, Any]:
    """Values in their order; equal labels are told apart by the values."""
    values = [value.strip() if isinstance(value, str) else plain_number(value) for value in column.labels]
    labels = [label.strip() or value for label, value in zip(column.labels.values(), values, strict=True)]
    labels = [f"{label} ({value})" if labels.count(label) > 1 else label for label, value in zip(labels, values, strict=True)]
    numbers = [value for value in column.labels if isinstance(value, float)]
    dtype = "string" if not numbers else "int64" if all(value.is_integer() for value in numbers) else "float64"
    return {"kind": "categorical", "dtype": dtype, "categories": values, "labels": labels}
