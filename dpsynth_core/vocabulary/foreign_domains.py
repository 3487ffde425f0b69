"""Domains of other programs, converted to and from ours: google/dpsynth, SmartNoise, SDV.

Facts that a document lacks, such as the bounds of a number in SDV, stay open (`declared`). Its treatment of missing values and of values
outside is not copied where it would change them silently: they get cells of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpsynth_core.foundation.causes import explained_imports
from dpsynth_core.foundation.documents import parse_json
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import declared, domain_json
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.names import column_field

SUFFIXES = (".json", ".yaml", ".yml")
_FIELD = "domain"
_NEAREST = "nearest"


@dataclass(frozen=True)
class Peer:
    """Another program's format of domains.

    Attributes:
        title: Name of the program.
        of: Returns whether a parsed document has its format.
        columns: Yields the name of each column with its declaration, None for an identifier.
        written: Returns a domain as such a document; raises InputError for a column that the format cannot describe.
    """

    title: str
    of: Callable[[Mapping[str, Any]], bool]
    columns: Callable[[Mapping[str, Any]], Iterator[tuple[str, Column | None]]]
    written: Callable[[Domain], dict[str, Any]]


def read(text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the JSON of a domain from another program's document in JSON or YAML.

    Columns that the document does not describe fully are marked "to_do".

    Returns:
        The JSON, and the names of the columns that it leaves out as identifiers, in order.

    Raises:
        InputError: The text is not a document of a known program, is incomplete, or describes several tables.
    """
    return _columns(_parsed(text))


def _parsed(text: str) -> Any:
    return parse_json(text, _FIELD) if text.lstrip()[:1] in ("{", "[") else _yaml(text)


def _columns(obj: Any) -> tuple[dict[str, Any], list[str]]:
    peer = next((peer for peer in PEERS.values() if isinstance(obj, Mapping) and peer.of(obj)), None)
    if peer is None:
        titles = ", ".join(peer.title for peer in PEERS.values())
        raise InputError(_FIELD, "it is of no program that is known here", f"give one of {titles}")
    try:
        found = list(peer.columns(obj))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(_FIELD, f"the document is not a complete one of {peer.title}", "let that program write it anew") from None
    return domain_json([column for _, column in found if column is not None]), [name for name, column in found if column is None]


@dataclass(frozen=True)
class LinkedTables:
    """Two linked tables in another program's document: the first has one row per key, the second any number.

    Attributes:
        first: JSON of the first table's domain, without the key.
        second: JSON of the second table's domain, without the key.
        key: Name of the column that links both tables.
        most: Number of rows of the second that count per key; None if the document does not state it.
    """

    first: dict[str, Any]
    second: dict[str, Any]
    key: str
    most: int | None


def read_linked(text: str) -> LinkedTables | None:
    """Return two linked tables from a document of SDV (`relationships`) or google/dpsynth (`foreign_keys`).

    None is returned if the document has no link. The key and other identifiers are left out of both domains.

    Raises:
        InputError: The document is neither JSON nor YAML or is of no known program, it has not exactly two tables and
            one link, or the key has another name in each table.
    """
    obj = _parsed(text)
    links = (obj.get("relationships") or obj.get("foreign_keys")) if isinstance(obj, Mapping) and "tables" in obj else None
    if not links:
        return None
    try:
        (link,), tables = links, obj["tables"]
        names = [link.get(f"{side}_table_name") or link[f"{side}_table"] for side in ("parent", "child")]
        keys, sections = (link["parent_primary_key"], link["child_foreign_key"]), [dict(tables[name]) for name in names]
        most = link.get("max_children_per_parent")
        if len(tables) != 2 or not (most is None or type(most) is int):
            raise ValueError
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(_FIELD, "it is not about two tables with one link between them", "leave two tables and one link in it") from None
    if keys[0] != keys[1]:
        raise InputError(_FIELD, f"the key is called {keys[0]!r} in one table and {keys[1]!r} in the other", "give it one name in both")
    first, second = (_columns(_without(section, keys[0]))[0] for section in sections)
    return LinkedTables(first, second, keys[0], most)


def _without(section: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the section of a table without the column that is the key."""
    if isinstance(columns := section.get("columns"), Mapping) and _is_sdv(section):
        return {"columns": {name: said for name, said in columns.items() if name != key}}
    return {name: said for name, said in section.items() if name != key}


def write(domain: Domain, peer: str) -> dict[str, Any]:
    """Return a domain as a document of another program, to be written as JSON or YAML.

    Facts that the program's format cannot state are left out without an error, such as bounds of
    numbers for SDV and filled columns for google/dpsynth.

    Args:
        domain: The domain.
        peer: Name of the program in `PEERS`.

    Raises:
        InputError: The program is unknown, or its format has no columns of a column's kind.
    """
    if peer not in PEERS:
        raise InputError("peer", "it is not known", f"use one of {', '.join(PEERS)}")
    return PEERS[peer].written(domain)


def _yaml(text: str) -> Any:
    with explained_imports():
        import yaml
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        raise InputError(_FIELD, "the document is neither JSON nor YAML", "save it anew") from None


# google/dpsynth: the attributes by their names


def _is_google(obj: Mapping[str, Any]) -> bool:
    known = ("possible_values", "min_value", "max_tokens", "default_value")
    return bool(obj) and all(isinstance(one, Mapping) and ("type" in one or any(key in one for key in known)) for one in obj.values())


def _google(obj: Mapping[str, Any]) -> Iterator[tuple[str, Column | None]]:
    for name, said in ((str(name), dict(said)) for name, said in obj.items()):
        label = said.get("description") or ""
        if "possible_values" in said:
            yield name, _listed(name, said["possible_values"], label)
        elif "min_value" in said:
            kind, bounds = "integer" if said.get("dtype") == "int" else "number", (float(said["min_value"]), float(said["max_value"]))
            column = declared(name, kind, label=label, bounds=bounds)
            yield name, Column(**column.to_json() | ({"other": _NEAREST} if said.get("clip_to_range", True) else {"other": True}))
        elif "max_tokens" in said:
            yield name, declared(name, "text", label=label)
        else:
            yield name, Column(name=name, kind="categorical", discover=True, label=label)


def _to_google(domain: Domain) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for one in domain.attributes:
        about = {"description": one.label} if one.label else {}
        if one.most:
            written[one.name] = {"type": "OpenSetCategoricalAttribute", "default_value": "<OOD>"} | about
        elif one.is_listed:
            values, beyond = list(one.categories), one.other_code is not None
            listed = {"possible_values": [*([one.other_text] if beyond else []), *values], "out_of_domain_index": 0}
            written[one.name] = {"type": "CategoricalAttribute"} | listed | about
        elif one.kind in ("integer", "numeric"):
            bounds = {"min_value": float(one.lower), "max_value": float(one.upper), "dtype": "int" if one.kind == "integer" else "float"}
            written[one.name] = {"type": "NumericalAttribute"} | bounds | {"clip_to_range": one.other_code is None} | about
        else:
            raise _unsaid(one.name, one.kind, "google/dpsynth")
    return written


# SmartNoise: collection, schema, table, then columns by their names among settings of the table


def _is_smartnoise(obj: Mapping[str, Any]) -> bool:
    return any("type" in said for _, said in _smartnoise_columns(obj))


def _smartnoise_columns(obj: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the name and the entry of each column of the only table; settings are left out.

    Raises:
        InputError: There are several tables.
    """
    tables = [obj]
    for _ in range(3):
        tables = [below for one in tables for below in one.values() if isinstance(below, Mapping)]
    if len(tables) > 1:
        raise InputError(_FIELD, f"it describes {len(tables):,} tables", "leave one in it")
    return [(str(name), said) for table in tables for name, said in table.items() if isinstance(said, Mapping)]


def _smartnoise(obj: Mapping[str, Any]) -> Iterator[tuple[str, Column | None]]:
    kinds = {"int": "integer", "float": "number", "boolean": "bool", "datetime": "timestamp", "string": "text"}
    for name, said in _smartnoise_columns(obj):
        if said.get("private_id"):
            yield name, None
            continue
        whole = "lower" in said and "upper" in said
        column = declared(name, kinds[said["type"]], bounds=(float(said["lower"]), float(said["upper"])) if whole else None)
        yield name, Column(**column.to_json() | ({"missing": False} if said.get("nullable") is False else {}))


def _to_smartnoise(domain: Domain) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for one in domain.attributes:
        if one.kind in ("integer", "numeric"):
            said = {"type": "int" if one.kind == "integer" else "float", "lower": one.lower, "upper": one.upper}
        else:
            time = one.dtype in ("date", "timestamp")
            said = {"type": "datetime" if time else "boolean" if one.dtype == "bool" else "string"}
            said |= {"cardinality": one.size} if said["type"] == "string" and not one.most else {}
        columns[one.name] = said | ({} if one.most or one.missing_code is not None else {"nullable": False})
    return {"": {"": {"table": {"row_privacy": True, **columns}}}}


# SDV: columns with an sdtype each


def _is_sdv(obj: Mapping[str, Any]) -> bool:
    return "METADATA_SPEC_VERSION" in obj or ("columns" in obj and "tables" not in obj)


def _sdv(obj: Mapping[str, Any]) -> Iterator[tuple[str, Column | None]]:
    tables = list(obj["tables"].values()) if "tables" in obj else [obj]
    if len(tables) != 1:
        raise InputError(_FIELD, f"it describes {len(tables):,} tables", "leave one in it")
    for name, said in tables[0]["columns"].items():
        sdtype, label = said["sdtype"], said.get("description") or ""
        if sdtype == "categorical" and said.get("order"):
            yield name, _listed(name, said["order"], label, ordered=True)
        elif sdtype == "numerical":
            whole = str(said.get("computer_representation", "")).startswith(("Int", "UInt"))
            yield name, declared(name, "integer" if whole else "number", label=label)
        elif sdtype == "datetime":
            timed = any(sign in said.get("datetime_format", "") for sign in ("%H", "%I", "%T", "%X", "%c"))
            yield name, declared(name, "timestamp" if timed else "date", label=label)
        elif sdtype in ("categorical", "boolean"):
            yield name, declared(name, "bool" if sdtype == "boolean" else "text", label=label)
        else:  # identifiers, addresses, names, telephone numbers
            yield name, None


def _to_sdv(domain: Domain) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for one in domain.attributes:
        if one.dtype == "bool":
            said: dict[str, Any] = {"sdtype": "boolean"}
        elif one.kind in ("integer", "numeric"):
            said = {"sdtype": "numerical", "computer_representation": "Int64" if one.kind == "integer" else "Float"}
        elif one.dtype in ("date", "timestamp"):
            said = {"sdtype": "datetime", "datetime_format": "%Y-%m-%d" if one.dtype == "date" else "%Y-%m-%d %H:%M:%S"}
        elif one.dtype in ("time", "duration"):
            raise _unsaid(one.name, one.kind, "SDV")
        else:
            said = {"sdtype": "categorical"} | ({"order": list(one.categories)} if one.kind == "ordinal" else {})
        columns[one.name] = said
    columns |= {one.name: {"sdtype": "categorical" if one.is_constant else "id"} for one in domain.filled}
    return {"METADATA_SPEC_VERSION": "V1", "tables": {"table": {"columns": columns}}, "relationships": []}


def _listed(name: str, values: Any, label: str, ordered: bool = False) -> Column:
    if all(isinstance(value, bool) for value in values):
        return declared(name, "bool", label=label)
    numbers = all(isinstance(value, int | float) for value in values)
    return declared(name, label=label, labels={float(v) if numbers else str(v): "" for v in values}, ordered=ordered)


def _unsaid(name: str, kind: str, title: str) -> InputError:
    return InputError(column_field(name), f"{title} has no columns of kind {kind}", "leave the column out, or group its values")


PEERS: Mapping[str, Peer] = {
    "sdv": Peer("SDV", _is_sdv, _sdv, _to_sdv),
    "google": Peer("google/dpsynth", _is_google, _google, _to_google),
    "smartnoise": Peer("SmartNoise", _is_smartnoise, _smartnoise, _to_smartnoise),
}
