"""Checks of which kinds of column the types of a table can hold, by the types alone.

Where no value of a type can be read as the kind of its column, every record would be missing or "other", and the budget would be spent on
nothing. So the column is refused before any record is read. No record takes part in this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.arrays import is_binary, is_plain_number
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.spelling import DIGITS
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.names import column_field

_TYPES: Mapping[str, frozenset[str]] = {
    "null": frozenset({"text", "truth", "number", "date", "timestamp", "time", "duration"}),
    "text": frozenset({"text", "truth", "number", "date", "timestamp", "time", "duration"}),
    "truth": frozenset({"text", "truth", "number"}),
    "number": frozenset({"text", "truth", "number", "duration"}),
    "date": frozenset({"text", "date", "timestamp"}),
    "timestamp": frozenset({"text", "date", "timestamp", "time"}),
    "time": frozenset({"text", "time", "duration"}),
    "duration": frozenset({"text", "time", "duration"}),
    "": frozenset(),
}
"""The kinds that the values of a class of types can be read as. The last class has lists, structures and types of other programs."""
_MEANT = {"text": "text", "truth": "true or false", "number": "a number", "date": "a date"}
_MEANT |= {"timestamp": "a date and time", "time": "a time of day", "duration": "a duration"}
_UNSPENT = "; nothing was spent"
_CONVERT: Mapping[str, str] = {
    "pandas.period": "convert the column to days, as series.dt.to_timestamp() does",
    "pandas.interval": "convert the column to text, as series.astype(str) does",
    "sparse": "convert the column, as series.sparse.to_dense() does",
    "complex": "convert the column to two columns of numbers",
}
"""Remedies for types of pandas, by how their names begin."""


def opaque(name: str) -> pa.DataType:
    """Return an Arrow type that stands for a pandas type `name` that Arrow cannot hold."""
    return pa.opaque(pa.null(), name, "pandas")


def check(domain: Domain, types: pa.Schema, person: str | None, notation: Notation) -> None:
    """Check by the Arrow types of a table that values of each column can be read as its declared kind. No record is read.

    The types of the person column are checked, too.

    Args:
        domain: The declared columns.
        types: The columns of the table with their types. A column has several entries if the files
            of a folder differ in its type.
        person: The column that names persons, if there is one.
        notation: The stated notation of dates and times.

    Raises:
        InputError: No value of a column's type can be read as its kind, or persons cannot be told apart by the
            types of their column.
    """
    for attribute in domain:
        for kind in _of(types, attribute.name):
            if _meaning(attribute) not in _readable(kind, notation):
                problem = f"no value of its type, {_name(kind)[:60]}, can be read as {_MEANT[_meaning(attribute)]}"
                raise InputError(column_field(attribute.name), problem, _remedy(attribute, kind) + _UNSPENT)
    if person is not None:
        _check_person(list(_of(types, person)))


def _of(types: pa.Schema, name: str) -> Iterable[pa.DataType]:
    """Return the types of the column `name`, one for each entry in the schema."""
    return (types.field(place).type for place in types.get_all_field_indices(name))


def _check_person(kinds: list[pa.DataType]) -> None:
    """Raise InputError if values of these types of the person column cannot be read as names.

    It is also raised if the types differ so that one person could have different texts in different
    files.
    """
    if any(not _class(kind) for kind in kinds):
        problem = "its values are lists or structures, or of a type that cannot be read"
        raise InputError("unit.person_column", problem, "choose a column of texts or numbers" + _UNSPENT)
    if len({_spelled(kind) for kind in kinds if not pa.types.is_null(kind)}) > 1:
        problem = "its type differs between the files of the folder, so that a person could have two names"
        raise InputError("unit.person_column", problem, "write it with one type in all files" + _UNSPENT)


def _spelled(kind: pa.DataType) -> str:
    """Return a label for an Arrow type, by which types of the person column are compared.

    Equal values of two types with the same label have equal texts, as 1 has in all types of whole
    numbers.
    """
    if pa.types.is_dictionary(kind):
        return _spelled(kind.value_type)
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_float64(kind):
        return "number"
    return "text" if _class(kind) == "text" else str(kind)


def _meaning(attribute: Attribute) -> str:
    """Return the kind of value that the column is declared to have, a key of `_MEANT`."""
    if attribute.is_listed:
        return {"bool": "truth", "string": "text"}.get(attribute.dtype, "number")
    return attribute.dtype if attribute.dtype in _TYPES else "number"


def _readable(kind: pa.DataType, notation: Notation) -> frozenset[str]:
    """Return the kinds of value that a type can be read as, given the stated notation."""
    found = _class(kind)
    if found != "number":
        return _TYPES[found]
    stated = ({"date", "timestamp"} if notation.dates_are_digits else set()) | ({"time"} if notation.time_format == DIGITS else set())
    return _TYPES[found] | stated


def _class(kind: pa.DataType) -> str:
    """Return the class of an Arrow type, a key of `_TYPES`; "" for nested and unknown types."""
    if isinstance(kind, pa.BaseExtensionType):
        return "text" if _class(kind.storage_type) == "text" and not is_binary(kind.storage_type) else ""
    if pa.types.is_dictionary(kind):
        return _class(kind.value_type)
    tests = {
        "null": pa.types.is_null(kind),
        "text": pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or is_binary(kind),
        "truth": pa.types.is_boolean(kind),
        "number": is_plain_number(kind),
        "date": pa.types.is_date(kind),
        "timestamp": pa.types.is_timestamp(kind),
        "time": pa.types.is_time(kind),
        "duration": pa.types.is_duration(kind),
    }
    return next((name for name, holds in tests.items() if holds), "")


def _name(kind: pa.DataType) -> str:
    """Return the name of an Arrow type for an error message."""
    if pa.types.is_dictionary(kind):
        return _name(kind.value_type)
    if isinstance(kind, pa.OpaqueType):
        return str(kind.type_name)
    return str(kind.extension_name if isinstance(kind, pa.BaseExtensionType) else kind)


def _remedy(attribute: Attribute, kind: pa.DataType) -> str:
    """Return the advice for a column whose type cannot be read as its declared kind."""
    name, wanted = _name(kind), _meaning(attribute)
    if convert := next((remedy for begins, remedy in _CONVERT.items() if name.lower().startswith(begins)), None):
        return convert
    if not _class(kind):
        return "drop the column, or convert it to texts, numbers or dates"
    if _class(kind) == "number" and wanted in ("date", "timestamp"):
        return "state how its digits are written, such as date_format yyyymmdd, or convert the column to dates"
    if _class(kind) == "number" and wanted == "time":
        return "state time_format hhmm if it is written so, or convert the column to times"
    return f"declare the column as {_class(kind)}, or convert it in the table"
