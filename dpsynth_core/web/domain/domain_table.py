"""The domain as the table that the curator edits: one row per column of the file, texts as typed, complete or not.

A row is a dict of JSON values:

    column    name in the file;  use: False drops it;  kind: one of attribute.KINDS
    values    categories as listed; labels: names to show instead, as many, or empty;  dtype: type of the released column
    lower, upper, bins     texts; bins holds a number of equal bins (of codes, for kind "coded"), or the edges separated by commas,
                           or nothing for the default
    missing, other         whether empty and unlisted values have a cell of their own
    decimals  digits to release, or None;  note: what to mind, in our own words

`attribute` turns a row into a domain attribute or says in one sentence what is wrong. Plain functions; no records are seen here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.guess import Guess
from dpsynth_core.vocabulary.attribute import Attribute, column_field, day_of, equal_edges
from dpsynth_core.vocabulary.domain import Domain

Row = dict[str, Any]

BLANK: Row = {
    "use": True,
    "kind": "categorical",
    "values": [],
    "labels": [],
    "dtype": "string",
    "lower": "",
    "upper": "",
    "bins": "",
    "missing": False,
    "other": False,
    "decimals": None,
    "note": "",
}
LISTED = ("categorical", "ordinal")
EDITABLE = ("use", "kind", "lower", "upper", "bins", "missing", "other")
MANY_VALUES = 1_000


def blank(columns: Iterable[str]) -> list[Row]:
    """A row for each column, with nothing said about it yet."""
    return [{"column": name, **BLANK, "values": [], "labels": []} for name in columns]


def fitted(rows: Sequence[Row], columns: Sequence[str]) -> list[Row]:
    """The rows in the order of the table's columns: those of columns that are gone left out, blank ones added for new columns."""
    by_column = {row["column"]: row for row in rows}
    return [by_column.get(name) or blank([name])[0] for name in columns]


def row_of(attribute: Attribute) -> Row:
    """The row that means this attribute."""
    row = blank([attribute.name])[0] | {"kind": attribute.kind, "missing": attribute.missing, "other": attribute.other}
    if attribute.kind == "coded":
        return row | {"bins": str(attribute.size)}
    if attribute.kind in LISTED:
        return row | {"values": list(attribute.categories), "labels": list(attribute.labels), "dtype": attribute.dtype}
    bins = len(attribute.edges) - 1
    equal = attribute.edges == equal_edges(attribute.name, attribute.kind, attribute.lower, attribute.upper, bins)
    return row | {
        "lower": _number_text(attribute.lower),
        "upper": _number_text(attribute.upper),
        "bins": str(bins) if equal else ", ".join(_edge_text(attribute, edge) for edge in attribute.edges),
        "decimals": attribute.decimals,
    }


def attribute(row: Mapping[str, Any]) -> Attribute:
    """What a row means. Raises InputError naming the column."""
    name, kind = row["column"], row["kind"]
    if kind == "coded":
        return Attribute.coded(name, _whole(name, row["bins"], "the number of codes (under Bins)"))
    if kind in LISTED:
        if not row["values"] and not row["other"]:
            raise InputError(column_field(name), "its values are not listed yet", "list them below, or choose another kind")
        return Attribute.categorical(
            name,
            row["values"],
            ordered=kind == "ordinal",
            dtype=row["dtype"],
            other=row["other"],
            missing=row["missing"],
            labels=row["labels"],
        )
    if not str(row["lower"]).strip() or not str(row["upper"]).strip():
        raise InputError(column_field(name), "its bounds are not set yet", "give the lowest and the highest value that count")
    return _binned(row)


def domain_of(rows: Iterable[Row]) -> Domain:
    """The domain of the used rows, in their order. Raises InputError for the first that is wrong."""
    return Domain(tuple(attribute(row) for row in rows if row["use"]))


def problems(rows: Iterable[Row]) -> dict[str, InputError]:
    """What is wrong, by column, for used rows only."""
    errors: dict[str, InputError] = {}
    for row in rows:
        try:
            if row["use"]:
                attribute(row)
        except InputError as error:
            errors[row["column"]] = error
    return errors


def cells(row: Row) -> int | None:
    """Number of cells of a row's attribute; None while it is not complete or not used."""
    try:
        return attribute(row).size if row["use"] else None
    except InputError:
        return None


def with_domain(rows: Sequence[Row], domain: Domain) -> list[Row]:
    """The rows as a given domain says; columns that it does not name are dropped. Raises InputError if none of its names fit."""
    given = {a.name: a for a in domain}
    if not any(row["column"] in given for row in rows):
        raise InputError("domain", "none of its columns is in the table", "check that it belongs to this table")
    return [row_of(given[row["column"]]) if row["column"] in given else {**row, "use": False} for row in rows]


def listed_text(row: Row) -> str:
    """The categories one per line, each with its label after a tab if it has one."""
    labels = row["labels"] or [""] * len(row["values"])
    return "\n".join(f"{value}\t{label}" if label else value for value, label in zip(row["values"], labels, strict=True))


def read_listed(text: str) -> dict[str, list[str]]:
    """`values` and `labels` of a text with one category per line, optionally followed by a tab and a label. Blank lines are left out."""
    pairs = [line.split("\t", 1) for line in text.splitlines() if line.strip()]
    values = [pair[0].strip() for pair in pairs]
    labels = [pair[1].strip() if len(pair) > 1 else "" for pair in pairs]
    return {"values": values, "labels": [label or value for value, label in zip(values, labels, strict=True)] if any(labels) else []}


def grid(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as the table on screen: what can be edited there, the number of cells, and what to say about each column."""
    errors = problems(rows)
    frame = pd.DataFrame([{name: row[name] for name in ("column", *EDITABLE)} for row in rows])
    frame["cells"] = pd.array([cells(row) for row in rows], dtype="Int64")
    frame["values"] = [_remark(row, errors.get(row["column"])) for row in rows]
    return frame[["use", "column", "kind", "cells", "values", "lower", "upper", "bins", "missing", "other"]]


def edited(rows: Sequence[Row], changes: Mapping[int, Mapping[str, Any]]) -> list[Row]:
    """The rows after what the curator changed in `grid`, by position. An emptied text cell means an empty text."""
    result = [dict(row) for row in rows]
    for position, values in changes.items():
        for name, new in values.items():
            if name in EDITABLE and int(position) < len(result):
                cell = ("" if new is None else str(new)) if name in ("lower", "upper", "bins") else new
                result[int(position)] |= {name: cell, "note": result[int(position)]["note"] if cell == rows[int(position)][name] else ""}
    return result


def from_guesses(guesses: Iterable[Guess]) -> list[Row]:
    """Rows as proposed; columns that had better be left out are, with the reason."""
    rows = []
    for guess in guesses:
        row = blank([guess.name])[0] if guess.attribute is None else row_of(guess.attribute)
        rows.append(row | {"use": not guess.drop and guess.attribute is not None, "note": guess.advice})
    return rows


def with_guesses(rows: Sequence[Row], guesses: Iterable[Guess]) -> list[Row]:
    """The rows as another table of the same columns looks like; columns that it lacks are dropped. Raises InputError if none fits."""
    proposed = {row["column"]: row for row in from_guesses(guesses)}
    if not any(row["column"] in proposed for row in rows):
        raise InputError("public table", "it has none of the columns of your table", "choose one with the same column names")
    return [proposed.get(row["column"], {**row, "use": False}) for row in rows]


def _remark(row: Row, problem: InputError | None) -> str:
    if not row["use"]:
        return f"left out. {row['note']}".strip()
    if problem is not None:
        return f"⚠ {problem.problem}"
    if len(row["values"]) > MANY_VALUES and row["kind"] in LISTED:
        return "⚠ very many values: names or ids identify people, leave them out"
    if row["note"]:
        return f"⚠ {row['note']}"
    return ", ".join(row["labels"] or row["values"])[:200] if row["kind"] in LISTED else ""


def _binned(row: Mapping[str, Any]) -> Attribute:
    name, kind = row["column"], row["kind"]
    lower, upper = (_bound(name, kind, str(row[end])) for end in ("lower", "upper"))
    bins, edges = _bins(name, kind, str(row["bins"]))
    if kind == "integer":
        return Attribute.integer(name, lower, upper, bins=bins, edges=edges, missing=row["missing"])
    if kind == "date":
        return Attribute.day(name, lower, upper, bins=bins, edges=edges, missing=row["missing"])
    return Attribute.numeric(name, lower, upper, bins=bins, edges=edges, missing=row["missing"], decimals=row["decimals"])


def _bins(name: str, kind: str, text: str) -> tuple[int | None, list[Any] | None]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        return None, None
    if len(parts) == 1:
        return _whole(name, parts[0], "the number of bins"), None
    return None, [_bound(name, kind, part) for part in parts]


def _bound(name: str, kind: str, text: str) -> Any:
    """A bound or an edge; dates stay text, which Attribute.day reads."""
    entered = text.strip()
    if kind == "date":
        return entered
    try:
        return int(entered) if kind == "integer" else float(entered)
    except ValueError:
        wanted = "whole number" if kind == "integer" else "number"
        raise InputError(column_field(name), f"“{entered[:40]}” is not a {wanted}", "correct the bounds or the bins") from None


def _whole(name: str, text: Any, what: str) -> int:
    try:
        return int(str(text).strip())
    except ValueError:
        raise InputError(column_field(name), f"{what} is not a whole number", "correct it") from None


def _number_text(bound: Any) -> str:
    return str(int(bound)) if isinstance(bound, float) and bound.is_integer() and abs(bound) < 1e15 else str(bound)


def _edge_text(attribute: Attribute, edge: float) -> str:
    """An edge as typed: the last one of whole values names the upper bound, which it includes."""
    if attribute.kind == "numeric":
        return _number_text(edge)
    whole = edge - 1 if edge == attribute.edges[-1] else edge
    return day_of(whole).isoformat() if attribute.kind == "date" else str(int(whole))
