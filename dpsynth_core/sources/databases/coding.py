"""One expression for each column: the code of the cell that each of its values is in, exactly as `sources.codec` says it.

Where a database's type could not give exactly the same cell, the column is refused before anything is charged.
"""

from __future__ import annotations

from typing import Any

import ibis

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.clocks import COLON
from dpsynth_core.sources.databases import texts, typed
from dpsynth_core.sources.databases.catalogue import Column
from dpsynth_core.sources.databases.cells import check_size
from dpsynth_core.sources.databases.texts import Keep
from dpsynth_core.sources.databases.words import Words, storage
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.names import column_field

TYPES = {
    "text": "string",
    "integer": "int64",
    "float": "float64",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "time": "time",
    "uuid": "uuid",
    "any": "string",
    "": "string",
}
"""What Ibis takes the values of each kind of column for."""
_UNTYPED = ("text", "any", "integer", "float")


def ibis_type(column: Column) -> str:
    return column.kind if column.kind.startswith("decimal") else TYPES[column.kind]


def is_quick(column: Column, attribute: Attribute) -> bool:
    """Whether its code costs no more than a few comparisons, so that it may be asked for again and again."""
    is_plain_list = attribute.is_listed and attribute.hierarchy is None and attribute.dtype == "string"
    return column.kind not in ("text", "any", "uuid") or (column.kind != "any" and is_plain_list)


def code(words: Words, attribute: Attribute, column: Column, values: Any, notation: Notation, keep: Keep) -> Any:
    """int32. keep: see `texts.Keep`. Raises InputError for a column of a type that is not counted."""
    if attribute.most:
        raise ValueError("the cells of this column are not known yet")
    check_size(attribute)
    if notation.time_format != COLON and attribute.dtype in ("time", "timestamp") and column.kind in _UNTYPED:
        remedy = "leave the form of times unstated, and cast such columns to time or timestamp in a view or query"
        raise InputError(column_field(attribute.name), "times without a colon are not read in a database", remedy)
    if column.kind == "":
        _refuse(attribute, column)
    if column.kind == "any":
        made = _any_code(words, attribute, values, notation, keep)
    elif column.kind in ("text", "uuid"):
        made = texts.code(words, attribute, values.cast("string") if column.kind == "uuid" else values, notation, keep)
    else:
        made = typed.code(words, attribute, keep(values), column.kind, notation)
    return made.cast("int32")


def person(words: Words, name: str, column: Column, values: Any, notation: Notation) -> Any:
    """Whom a record names, NULL for nobody: trimmed text, or a whole number, whose text is unique."""
    if column.kind == "integer":
        nobody = [int(marker) for marker in notation.missing_markers if marker.lstrip("-").isdecimal() and str(int(marker)) == marker]
        return ibis.cases((values.isin(nobody), None), else_=values) if nobody else values
    if column.kind not in ("text", "uuid", "any"):
        remedy = "cast it to text in a view or query, as people are named in it"
        raise InputError("unit.person_column", f"{column_field(name)} is of the type {_type(column)}", remedy)
    text = words.plain(values.cast("string"))
    return ibis.cases((text.isin(sorted({*notation.missing_markers, ""})), None), else_=text)


def _any_code(words: Words, attribute: Attribute, values: Any, notation: Notation, keep: Keep) -> Any:
    """Each value by its own type, as SQLite has it; what is neither number nor text cannot be read."""
    kind, kept = keep(storage(values)), keep(values)
    return ibis.cases(
        (kind == "null", attribute.code_for_missing),
        (kind == "integer", _numbers_code(words, attribute, kept.cast("int64"), "integer", notation)),
        (kind == "real", _numbers_code(words, attribute, kept.cast("float64"), "float", notation)),
        (kind == "text", texts.code(words, attribute, values, notation, keep)),
        else_=attribute.code_for_unlisted,
    )


def _numbers_code(words: Words, attribute: Attribute, values: Any, kind: str, notation: Notation) -> Any:
    if attribute.hierarchy is not None:
        if kind == "integer":
            return texts.code(words, attribute, values.cast("string"), notation, lambda made: made)
        return ibis.literal(attribute.code_for_unlisted)
    return typed.code(words, attribute, values, kind, notation)


def _refuse(attribute: Attribute, column: Column) -> None:
    if "zone" in column.type.lower() or column.type.upper().endswith("TZ"):
        remedy = "say which clock counts in a view or query: column AT TIME ZONE 'Europe/Berlin'"
        raise InputError(column_field(attribute.name), "its times have a time zone, and no clock of their own", remedy)
    remedy = "cast it to text, double precision, date or timestamp in a view or query"
    raise InputError(column_field(attribute.name), f"its type {_type(column)} is not counted in a database", remedy)


def _type(column: Column) -> str:
    """The name of its type without what stands in brackets: the values of an enumeration may be those of records."""
    return column.type.partition("(")[0]
