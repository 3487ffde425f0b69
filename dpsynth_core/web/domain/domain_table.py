"""The columns of the Domain page together: loaded, edited as a table, and the domain that they mean. Plain functions; no records here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.guess import Guess
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.attribute import DEFAULT_MOST, Attribute
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.domain import DATA, LEARNT, ORIGINS, Domain
from dpsynth_core.vocabulary.usual import Role
from dpsynth_core.web.domain.column_draft import OWN, ColumnDraft, blank, fresh

_UNNAMED = ("column_1", "column_2")
"""What readers call a first column without a name; where a whole header is missing, there is the second one too."""
_NOT_OF_THIS_TABLE = ("domain", "none of its columns is in the table", "check that it belongs to this table")
EDITABLE = ("use", "kind", "lower", "upper", "bins", "missing", "other")
MANY_VALUES = 1_000
_BESIDE_VALUES = {"use": True, "note": "", "origin": "", "guessed": False, "label": "", "table": ""}
"""What may change while what a column can contain stays the same."""


def fitted(drafts: Sequence[ColumnDraft], columns: Sequence[str], declared: Sequence[Column] = ()) -> list[ColumnDraft]:
    """The drafts in the order of the table's columns: those of columns that are gone left out, fresh ones added for new columns. declared:
    what the file says of its columns."""
    by_name, types = {draft.name: draft for draft in drafts}, {column.name: column for column in declared}
    first = {name: fresh(name, types.get(name)) for name in columns if name not in by_name}
    if _UNNAMED[0] in first and _UNNAMED[1] not in columns:
        note = "Its header is empty, as that of an index: use it only if it is none."
        first[_UNNAMED[0]] = first[_UNNAMED[0]].changed(use=False, note=note)
    return [by_name[name] if name in by_name else first[name] for name in columns]


def domain_of(drafts: Iterable[ColumnDraft]) -> Domain:
    """The domain of the used columns, in their order. Raises InputError for the first that is wrong."""
    used = [draft for draft in drafts if draft.use]
    return Domain.of([draft.complete() for draft in used], origin=origin_of(used))


def origin_of(drafts: Iterable[ColumnDraft]) -> str:
    """Where the used columns came from: of several origins the one that says least for them (`domain.ORIGINS`)."""
    there = {draft.origin for draft in drafts if draft.use}
    return next((origin for origin in ORIGINS if origin in there), "")


def with_origins(before: Sequence[ColumnDraft], after: Sequence[ColumnDraft], loaded: str = "") -> list[ColumnDraft]:
    """The columns after a change, each with where it came from. loaded: where the change came from, "" for what the curator typed. A column
    that was read from the private table stays so however it is edited: what it says may still be what only the records could tell. Only
    another source takes its place, which brings a draft of its own."""
    earlier = {draft.name: draft for draft in before}
    return [draft.changed(origin=_origin(earlier.get(draft.name), draft, loaded)) for draft in after]


def _origin(before: ColumnDraft | None, draft: ColumnDraft, loaded: str) -> str:
    if draft.most:
        return LEARNT
    if before is None:
        return draft.origin or loaded
    same = draft.changed(**_BESIDE_VALUES) == before.changed(**_BESIDE_VALUES)
    if loaded and not draft.origin and (before.origin or not same):
        return loaded
    if same or (not loaded and before.origin == DATA):
        return draft.origin
    return loaded or "typed"


def problems(drafts: Iterable[ColumnDraft]) -> dict[str, InputError]:
    """What is wrong or open, by column, of used columns only."""
    return {draft.name: error for draft in drafts if (error := draft.problem()) is not None}


def measured(drafts: Iterable[ColumnDraft]) -> list[Attribute]:
    return [draft.attribute() for draft in drafts if draft.use and not draft.is_filled and draft.problem() is None]


def with_codebook(drafts: Sequence[ColumnDraft], columns: Iterable[Column], origin: str) -> list[ColumnDraft]:
    """As a codebook says that may leave columns open; columns that it does not name are dropped. Raises InputError if none of its names
    fit."""
    given = {column.name: fresh(column.name, column) if column.to_do else _drafted(column, origin) for column in columns}
    return _replaced(drafts, given, _NOT_OF_THIS_TABLE)


def with_guesses(drafts: Sequence[ColumnDraft], guesses: Iterable[Guess]) -> list[ColumnDraft]:
    """As another table of the same columns looks like; columns that it lacks are dropped. Raises InputError if none fits."""
    misfit = ("public table", "it has none of the columns of your table", "choose one with the same column names")
    return _replaced(drafts, {draft.name: draft for draft in from_guesses(guesses)}, misfit)


def _replaced(drafts: Sequence[ColumnDraft], given: Mapping[str, ColumnDraft], misfit: tuple[str, str, str]) -> list[ColumnDraft]:
    """The given drafts in place of those of the same columns; other columns of their tables are dropped. Raises InputError(*misfit) if no
    name fits."""
    meant = {draft.table for draft in drafts if draft.name in given}
    if not meant:
        raise InputError(*misfit)
    return [given.get(draft.name, draft.changed(use=draft.use and draft.table not in meant)) for draft in drafts]


def with_pasted(drafts: Sequence[ColumnDraft], domain: Domain) -> list[ColumnDraft]:
    """As a domain of some of the columns says; the others stay as they are. Raises InputError if none of its names fit."""
    if not {draft.name for draft in drafts} & set(domain.column_names):
        raise InputError("pasted lines", "none of the columns that they name is in the table", "write the names as the table does")
    return with_columns(drafts, map(Column.of, domain.columns), "codebook")


def with_columns(drafts: Sequence[ColumnDraft], columns: Iterable[Column], origin: str) -> list[ColumnDraft]:
    """As these columns say, in which nothing is open; the others stay as they are."""
    given = {column.name: _drafted(column, origin) for column in columns}
    return [given.get(draft.name, draft) for draft in drafts]


def _drafted(column: Column, origin: str) -> ColumnDraft:
    return ColumnDraft.of(column.complete()).changed(origin=origin)


def from_guesses(guesses: Iterable[Guess]) -> list[ColumnDraft]:
    """As proposed; columns that had better be left out are, with the reason."""
    drafts = []
    for guess in guesses:
        draft = blank(guess.name) if guess.attribute is None else ColumnDraft.of(guess.attribute)
        draft = draft.with_identifiers(guess.attribute is not None) if guess.identifies else draft
        drafts.append(draft.changed(use=not guess.drop and guess.attribute is not None, note=guess.advice))
    return drafts


def to_learn(drafts: Sequence[ColumnDraft], kinds: Mapping[str, str] = MappingProxyType({})) -> list[ColumnDraft]:
    """The columns, of which those that are open and used have their values learnt. kinds: of those of which it is said now."""
    said = [draft.changed(kind=kinds[draft.name]) if draft.problem() and draft.name in kinds else draft for draft in drafts]
    return [draft.learning(DEFAULT_MOST) if draft.problem() else draft for draft in said]


def open_kinds(drafts: Sequence[ColumnDraft]) -> dict[str, str]:
    """The kind of each column that is open and used; where nobody said it, what the name suggests."""
    promised = {Role.NUMBER: "numeric", Role.DATE: "date", Role.TIME: "time"}
    return {
        draft.name: promised.get(usual.role(draft.name), draft.kind) if draft.kind == "categorical" else draft.kind
        for draft in drafts
        if draft.problem() is not None
    }


def grid(drafts: Sequence[ColumnDraft]) -> pd.DataFrame:
    """The columns as the table on screen: what can be edited there, the number of cells, and what to say about each."""
    frame = pd.DataFrame([{"column": draft.name, "values": _remark(draft), **_shown(draft)} for draft in drafts])
    frame["cells"] = pd.array([draft.cells() for draft in drafts], dtype="Int64")
    return frame[["use", "column", "kind", "cells", "values", "lower", "upper", "bins", "missing", "other"]]


def _shown(draft: ColumnDraft) -> dict[str, Any]:
    """The cells of the grid that can be edited."""
    texts = {"lower": draft.text("lower"), "upper": draft.text("upper"), "bins": draft.bins_text()}
    cells = {which: draft.treatment(which) == OWN for which in ("missing", "other")}
    return {"use": draft.use, "kind": draft.kind, **texts, **cells}


def edited(drafts: Sequence[ColumnDraft], changes: Mapping[int, Mapping[str, Any]]) -> list[ColumnDraft]:
    """The columns after what the curator changed in `grid`, by position. An emptied text cell means an empty text."""
    result = list(drafts)
    for position, entered in changes.items():
        for name in EDITABLE:
            if name in entered and int(position) < len(result):
                result[int(position)] = _edit(result[int(position)], name, entered[name])
    return result


def _edit(draft: ColumnDraft, name: str, new: Any) -> ColumnDraft:
    is_text = name in ("lower", "upper", "bins")
    cell = ("" if new is None else str(new).strip()) if is_text else new
    if cell == _shown(draft)[name]:
        return draft
    fields = draft.read_bins(cell) if name == "bins" else {name: cell}
    return draft.changed(**fields, note="", guessed=False)


def _remark(draft: ColumnDraft) -> str:
    if not draft.use:
        return f"left out. {draft.note}".strip()
    if (problem := draft.problem()) is not None:
        return f"⚠ {problem.problem}"
    values = list(map(str, draft.labels or draft.categories or ())) if draft.is_listed else []
    if len(values) > MANY_VALUES:
        return "⚠ very many values: names or ids identify people, leave them out"
    return f"⚠ {draft.note}" if draft.note else ", ".join(values)[:200]
