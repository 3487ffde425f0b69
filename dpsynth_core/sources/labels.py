"""A domain from what a file says of itself: labels, types, declared missing values. No record is read.

Labels are a questionnaire's: public before anybody answered. What a file does not say of itself, such as bounds, stays open, and whoever
knows the table fills it in (`vocabulary.declared`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import feather_file, files, parquet_file, statistical_file
from dpsynth_core.sources.formats import TableFormat, table_files
from dpsynth_core.vocabulary.declared import Declared, domain_json
from dpsynth_core.vocabulary.domain import LABELS

_LABELLED = ("spss", "stata", "sas")


def declared_domain(path: Path, form: TableFormat) -> dict[str, Any]:
    """The JSON of a domain with all columns in file order. Raises InputError."""
    if form.kind == "jsonl":
        raise InputError("data", "JSON lines say nothing of themselves but in their records", "write the domain by hand")
    return domain_json(_columns(path, form), LABELS if form.kind in _LABELLED else "")


def _columns(path: Path, form: TableFormat) -> list[Declared]:
    first = table_files(path)[0]
    with files.reading():
        if form.kind in _LABELLED:
            return list(statistical_file.described(first, form))
        if form.kind == "parquet":
            schema = parquet_file.schema(table_files(path), path if path.is_dir() else None)
        elif form.kind == "feather":
            schema = feather_file.schema(first)
        else:
            return [Declared(name) for name in files.column_names(path, form)]
    return [Declared(field.name, _kind(field.type)) for field in schema]


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    tests = {"date": pa.types.is_date, "timestamp": pa.types.is_timestamp, "time": pa.types.is_time, "duration": pa.types.is_duration}
    return next((name for name, test in tests.items() if test(kind)), "text")
