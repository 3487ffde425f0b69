"""Columns of a domain in short notation: a dict by name, or a domain document of this or another program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

from dpsynth_core.foundation.documents import read_document
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.interface.given_values import plain
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.python_values import is_missing

Said: TypeAlias = "tuple[Any, Any] | Sequence[Any] | range | Mapping[str, Any] | int"
"""Of a column: (lowest, highest); its categories; a range; a column of a domain in JSON, in which "values" may be one of the former:
``{"values": (0, 99), "missing": False, "other": False}``. Of all columns: how many codes each has."""
Columns: TypeAlias = "Mapping[str, Said] | Mapping[str, Any] | Domain | str | os.PathLike[str]"


def discover(kind: str = "categorical", *, most: int | None = None, **further: Any) -> dict[str, Any]:
    """Return a column whose values are not listed: they are learnt with noise, for a share of the budget.

    Nothing is checked and no record is read: `plan` refuses fields that do not fit.

    Args:
        kind: Type of the column, such as ``"categorical"``, ``"integer"`` or ``"date"``.
        most: Maximal number of cells of the column; 32 if it is not given.
        further: Other fields of the column, as in a domain in JSON.

    Returns:
        The column for `plan`, as in a domain in JSON but without its name.

    Examples:
        >>> import dpsynth_core as dps
        >>> dps.discover(most=40)
        {'kind': 'categorical', 'discover': True, 'most': 40}
    """
    return {"kind": kind, "discover": True, **({} if most is None else {"most": most}), **further}


def read_domain(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Convert a domain document of google/dpsynth, SmartNoise (YAML) or SDV (JSON) into a domain in JSON. No record is read.

    Facts that the document lacks, such as the bounds of a number, are listed under ``"to_do"`` of their column; fill them in
    before you plan. Columns that the document calls identifiers are left out, without a message.

    Args:
        path: Path of the document.

    Returns:
        A domain in JSON, which `plan` takes as its columns.

    Raises:
        InputError: If the file cannot be read, is not a domain document of these programs, or describes several tables.

    Examples:
        >>> import json, pathlib
        >>> import dpsynth_core as dps
        >>> written = pathlib.Path("metadata.json").write_text(json.dumps(dps.write_domain({"age": (0, 99)}, "sdv")))
        >>> [(column["name"], column["kind"]) for column in dps.read_domain("metadata.json")["attributes"]]
        [('age', 'integer')]
    """
    from dpsynth_core.vocabulary import foreign_domains  # loaded for documents of other programs alone

    return foreign_domains.read(read_document(Path(path), "domain"))[0]


def write_domain(columns: Columns, program: str) -> dict[str, Any]:
    """Return a domain as a document for ``"google"`` (google/dpsynth), ``"smartnoise"`` or ``"sdv"``, ready to save as YAML or JSON.

    Nothing is written to disk.

    Args:
        columns: What each column may contain, as for `plan`.
        program: One of the three names.

    Raises:
        InputError: If the columns are invalid, the program is unknown, or it lacks a kind of column that the domain has.

    Examples:
        >>> import dpsynth_core as dps
        >>> dps.write_domain({"age": (0, 99)}, "sdv")["tables"]["table"]["columns"]
        {'age': {'sdtype': 'numerical', 'computer_representation': 'Int64'}}
    """
    from dpsynth_core.vocabulary import foreign_domains  # loaded for documents of other programs alone

    return foreign_domains.write(domain(columns), program)


def domain(columns: Columns) -> Domain:
    """Return the domain that `columns` describes.

    Args:
        columns: A domain, which is returned unchanged; the path of a file (JSON, or a codebook in CSV or
            DDI); a domain in JSON, parsed; a mapping from each column to its number of codes; or a
            mapping from each column to what it may contain, in short notation.

    Raises:
        InputError: The description is invalid or the file cannot be read; the error names the column or
            field.
    """
    if isinstance(columns, Domain):
        return columns
    if isinstance(columns, str | os.PathLike):
        from dpsynth_core.vocabulary.codebook import load_domain  # loaded where the domain is a file

        return load_domain(os.fspath(columns))
    if not isinstance(columns, Mapping):
        raise InputError("columns", f"a {type(columns).__name__} does not say what they may contain", "give a dict, a domain or its file")
    if ("attributes" in columns and "version" in columns) or all(type(said) is int for said in columns.values()):
        return Domain.stated(dict(columns))
    return Domain.stated({"version": 1, "attributes": [_column(str(name), said) for name, said in columns.items()]})


def _column(name: str, said: Any) -> dict[str, Any]:
    if isinstance(said, Mapping):
        short = _column(name, said["values"]) if "values" in said else {"name": name}
        return short | {field: stated for field, stated in plain(said).items() if field != "values"}
    if isinstance(said, range) and said.step == 1 and said:
        return {"name": name, "kind": "integer", "lower": said[0], "upper": said[-1]}
    if isinstance(said, tuple) and len(said) == 2 and all(isinstance(end, Real | date) and not isinstance(end, bool) for end in said):
        return {"name": name, **_between(*(end.item() if hasattr(end, "item") else end for end in said))}  # a number of NumPy
    if isinstance(said, set | frozenset):
        raise InputError(column_field(name), "a set has its values in no order", "write a list, such as sorted(...) gives")
    if (listed := _listed(said)) and not any(one is None or is_missing(one) for one in listed["categories"]):
        return {"name": name, **listed, "categories": list(map(_value, listed["categories"]))}
    problem = f"{shown(said)} does not say what it may contain"
    raise InputError(column_field(name), problem, 'write (0, 99), ["f", "m"], discover(), or a column of a domain in JSON')


def _listed(said: Any) -> dict[str, Any] | None:
    """Return the fields `kind` and `categories` of a column whose values are listed.

    A pandas categorical gives the values of its dtype; it is ordinal if the dtype is ordered.

    Args:
        said: A list, a tuple, an array, an index, a series or a categorical dtype.

    Returns:
        The two fields; None for an empty list and for any other type.
    """
    if isinstance(said, list | tuple):
        return {"kind": "categorical", "categories": list(said)} if said else None
    dtype = getattr(said, "dtype", said)
    if getattr(dtype, "categories", None) is not None:
        return {"kind": "ordinal" if getattr(dtype, "ordered", False) else "categorical", "categories": list(dtype.categories)}
    to_list = getattr(said, "tolist", None) or getattr(said, "to_list", None)
    values = to_list() if callable(to_list) and not isinstance(said, type) else None
    return {"kind": "categorical", "categories": values} if isinstance(values, list) and values else None


def _value(category: Any) -> Any:
    """Return a category as JSON stores it: a boolean or a number unchanged, anything else as text."""
    value = plain(category)
    return value if isinstance(value, bool | int | float) else str(category)


def _between(low: Any, high: Any) -> dict[str, Any]:
    if isinstance(low, date) or isinstance(high, date):
        kind = "timestamp" if isinstance(low, datetime) else "date"
        return {"kind": kind, **({"precision": "second"} if kind == "timestamp" else {}), "lower": str(low), "upper": str(high)}
    whole = isinstance(low, int) and isinstance(high, int)
    return {"kind": "integer" if whole else "numeric", "lower": low, "upper": high}
