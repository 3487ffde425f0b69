"""Columns of a domain in the shortest form that `dps.plan` reads as the same columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dpsynth_core.extensions.in_python.literals import Code, literal
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.interface import columns as domains

_VALUES = "values"
_BOUNDS = {"lower", "upper"}


def said(document: Mapping[str, Any]) -> Any:
    """Return a short value for the argument `columns` of `dps.plan` that is read as this domain.

    It is the domain itself where no shorter form says the same.

    Args:
        document: The domain in JSON.
    """
    whole, columns = dict(document), [json.dumps(one) for one in document["attributes"]]
    if whole.keys() - {"version", "attributes"}:  # rules that hold in every row, or where the values came from
        less = {**whole, "attributes": [json.loads(_short(one, False)) for one in columns]}
        return less if _reads_as(less, whole) else whole
    short = {json.loads(one)["name"]: json.loads(_short(one, True), object_hook=_as_given) for one in columns}
    return {name: _written(entry) for name, entry in short.items()} if _reads_as(short, whole) else whole


def _as_given(entry: dict[str, Any]) -> Any:
    """Return a column that was kept as JSON, which has no tuples, as `dps.plan` takes it."""
    bounds = entry.get(_VALUES)
    if isinstance(bounds, dict) and bounds.keys() == {"between"}:
        entry[_VALUES] = tuple(bounds["between"])
    return entry.get(_VALUES) if entry.keys() == {_VALUES} else entry


@lru_cache(maxsize=1024)
def _short(column: str, by_name: bool) -> str:
    """Return the shortest form of a column, both as JSON: fields that follow from the others are left out, one after the other.

    Args:
        column: The column of a domain.
        by_name: Whether it is an entry of columns by name, which may state its values alone.
    """
    stated = json.loads(column)
    named, kind = {"version": 1, "attributes": [stated]}, stated.get("kind")
    entry = _but(stated, {"name"} if by_name else set())
    if by_name and kind in ("integer", "numeric") and entry.keys() >= _BOUNDS and not entry.get("discover"):
        entry = {_VALUES: {"between": [entry["lower"], entry["upper"]]}, **_but(entry, {"kind", *_BOUNDS})}
    elif by_name and kind == "categorical" and entry.get("categories"):
        entry = {_VALUES: entry["categories"], **_but(entry, {"kind", "categories"})}
    for field in [one for one in reversed(entry) if one not in ("name", "kind", _VALUES, "discover")]:
        less = _but(entry, {field})
        given = json.loads(json.dumps(less), object_hook=_as_given)
        if _reads_as({stated["name"]: given} if by_name else {"version": 1, "attributes": [given]}, named):
            entry = less
    return json.dumps(entry)


def _but(entry: Mapping[str, Any], fields: set[str]) -> dict[str, Any]:
    return {field: value for field, value in entry.items() if field not in fields}


def _written(entry: Any) -> Any:
    """Return a column in the form of the script: a call where its values are to be learnt."""
    if not isinstance(entry, dict) or not entry.get("discover"):
        return entry
    kind = [literal(entry["kind"])] * (entry["kind"] != "categorical")
    further = [f"{field}={literal(value)}" for field, value in entry.items() if field not in ("kind", "discover")]
    return Code(f"dps.discover({', '.join([*kind, *further])})")


def _reads_as(given: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Return whether `dps.plan` writes this domain for such columns."""
    try:
        return domains.domain(given).to_json() == document
    except (InputError, TypeError, ValueError):
        return False
