"""The columns of the Domain page together: loading, editing in a grid, and the resulting domain. Plain functions; no records here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd

from dpsynth_core.evaluation.learnt_columns import LearntColumn
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.guess import Guess
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.attribute import DEFAULT_MOST, Attribute
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.domain import DATA, LEARNT, ORIGINS, Domain
from dpsynth_core.vocabulary.usual import Role
from dpsynth_core.web.domain.column_draft import NEAREST, OWN, ColumnDraft, blank, fresh

_UNNAMED = ("column_1", "column_2")
"""The readers' names for columns without a header; without any header, the second name occurs too."""
_NOT_OF_THIS_TABLE = ("domain", "the table has none of its columns", "check that it belongs to this table")
EDITABLE = ("use", "kind", "lower", "upper", "bins", "missing", "other")
MANY_VALUES = 1_000
_BESIDE_VALUES = {"use": True, "note": "", "origin": "", "guessed": False, "label": "", "table": ""}
"""Fields that do not affect the values that a column can contain."""


def fitted(drafts: Sequence[ColumnDraft], columns: Sequence[str], declared: Sequence[Column] = ()) -> list[ColumnDraft]:
    """Return a draft for each column of the table, in the table's order.

    Existing drafts are kept, drafts of columns that are gone are dropped, and new columns get fresh
    drafts. The only column without a header, which is named column_1, is not used at first.

    Args:
        drafts: The existing drafts.
        columns: The names of the table's columns.
        declared: What the file declares about its columns.
    """
    by_name, types = {draft.name: draft for draft in drafts}, {column.name: column for column in declared}
    first = {name: fresh(name, types.get(name)) for name in columns if name not in by_name}
    if _UNNAMED[0] in first and _UNNAMED[1] not in columns:
        note = "The header is empty, like that of an index: use the column only if it is not an index."
        first[_UNNAMED[0]] = first[_UNNAMED[0]].changed(use=False, note=note)
    return [by_name[name] if name in by_name else first[name] for name in columns]


def domain_of(drafts: Iterable[ColumnDraft]) -> Domain:
    """Return the domain of the used columns in their order.

    Raises:
        InputError: A used column is not complete (the error is about the first one), two have the same name, or
            no used column is measured: none is used, or all are filled in.
        CapacityError: There are too many columns.
    """
    used = [draft for draft in drafts if draft.use]
    return Domain.of([draft.complete() for draft in used], origin=origin_of(used))


def origin_of(drafts: Iterable[ColumnDraft]) -> str:
    """Return the origin of the used columns' values.

    If there are several, it is the first in `domain.ORIGINS`, which deserves the least trust; ""
    without an origin.

    Args:
        drafts: The columns; those that are not used do not count.
    """
    there = {draft.origin for draft in drafts if draft.use}
    return next((origin for origin in ORIGINS if origin in there), "")


def with_origins(before: Sequence[ColumnDraft], after: Sequence[ColumnDraft], loaded: str = "") -> list[ColumnDraft]:
    """Return the columns after a change, each with its origin: where its values were taken from.

    A column whose values changed gets the origin `loaded`, or "typed" without one. A column that is to be learnt has
    the origin "learnt". A column that was read from the private table keeps this origin under any edit, because its
    values may still be known from the records only. Loading it from another source replaces the origin.

    Args:
        before: The columns before the change.
        after: The columns after the change.
        loaded: The origin of loaded values; "" for a change that the curator typed.
    """
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
    """Return by name the error of each used column that is not complete, in the columns' order; {} if all are complete."""
    return {draft.name: error for draft in drafts if (error := draft.problem()) is not None}


def measured(drafts: Iterable[ColumnDraft]) -> list[Attribute]:
    """Return the used columns that are complete and measured (not generated), in order."""
    return [draft.attribute() for draft in drafts if draft.use and not draft.is_filled and draft.problem() is None]


def with_codebook(drafts: Sequence[ColumnDraft], columns: Iterable[Column], origin: str) -> list[ColumnDraft]:
    """Return the columns as a codebook describes them.

    A column that the codebook does not name is not used any more, if the codebook names another column of the same
    table. A column that the codebook names without values stays open.

    Args:
        drafts: The columns.
        columns: The columns of the codebook.
        origin: The origin of its values.

    Raises:
        InputError: The codebook names none of the columns.
    """
    given = {column.name: fresh(column.name, column) if column.to_do else _drafted(column, origin) for column in columns}
    return _replaced(drafts, given, _NOT_OF_THIS_TABLE)


def with_guesses(drafts: Sequence[ColumnDraft], guesses: Iterable[Guess]) -> list[ColumnDraft]:
    """Return the columns as guessed from a public table with the same columns.

    Columns that the public table lacks are not used any more.

    Args:
        drafts: The columns.
        guesses: The guesses from the public table.

    Raises:
        InputError: The public table has none of the columns.
    """
    misfit = ("public table", "this table has none of the columns of your table", "choose one with the same column names")
    return _replaced(drafts, {draft.name: draft for draft in from_guesses(guesses)}, misfit)


def _replaced(drafts: Sequence[ColumnDraft], given: Mapping[str, ColumnDraft], misfit: tuple[str, str, str]) -> list[ColumnDraft]:
    """Return the drafts, in which `given` replaces drafts of the same names.

    Further columns of a table for which `given` has a column are not used any more.

    Raises:
        InputError: No name fits; `misfit` is its field, problem and remedy.
    """
    meant = {draft.table for draft in drafts if draft.name in given}
    if not meant:
        raise InputError(*misfit)
    return [given.get(draft.name, draft.changed(use=draft.use and draft.table not in meant)) for draft in drafts]


def with_pasted(drafts: Sequence[ColumnDraft], domain: Domain) -> list[ColumnDraft]:
    """Return the drafts, in which columns of `domain` replace drafts of the same names, with the origin "codebook".

    Other columns of `domain` are ignored.

    Raises:
        InputError: The domain has none of the columns.
    """
    if not {draft.name for draft in drafts} & set(domain.column_names):
        raise InputError("pasted lines", "the table has none of the columns that they name", "write the names as the table does")
    return with_columns(drafts, map(Column.of, domain.columns), "codebook")


def with_columns(drafts: Sequence[ColumnDraft], columns: Iterable[Column], origin: str) -> list[ColumnDraft]:
    """Return the drafts, in which `columns`, which are complete, replace drafts of the same names.

    `origin` is the origin of their values.
    """
    given = {column.name: _drafted(column, origin) for column in columns}
    return [given.get(draft.name, draft) for draft in drafts]


def _drafted(column: Column, origin: str) -> ColumnDraft:
    return ColumnDraft.of(column.complete()).changed(origin=origin)


def from_guesses(guesses: Iterable[Guess]) -> list[ColumnDraft]:
    """Return a draft for each guess, in order. A column that should not be released is not used, with a note why."""
    drafts = []
    for guess in guesses:
        draft = blank(guess.name) if guess.attribute is None else ColumnDraft.of(guess.attribute)
        draft = draft.with_identifiers(guess.attribute is not None) if guess.identifies else draft
        drafts.append(draft.changed(use=not guess.drop and guess.attribute is not None, note=guess.advice))
    return drafts


def to_learn(drafts: Sequence[ColumnDraft], kinds: Mapping[str, str] = MappingProxyType({})) -> list[ColumnDraft]:
    """Return all columns, with each used column that is not complete set to learn at most 32 values (`DEFAULT_MOST`).

    Args:
        drafts: All columns.
        kinds: The kind of columns that are not complete, by name, as the curator chose it now.
    """
    said = [draft.changed(kind=kinds[draft.name]) if draft.problem() and draft.name in kinds else draft for draft in drafts]
    return [draft.learning(DEFAULT_MOST) if draft.problem() else draft for draft in said]


def is_open(draft: ColumnDraft) -> bool:
    """Return whether a used column has no values yet, or is to learn them with the release."""
    return draft.use and (bool(draft.most) or draft.problem() is not None)


def of_kinds(drafts: Sequence[ColumnDraft], kinds: Mapping[str, str]) -> list[ColumnDraft]:
    """Return all columns, in which each open column has the kind in `kinds`, by its name."""
    return [draft.changed(kind=kinds[draft.name]) if is_open(draft) and draft.name in kinds else draft for draft in drafts]


def with_learnt(drafts: Sequence[ColumnDraft], columns: Iterable[LearntColumn]) -> list[ColumnDraft]:
    """Return all columns, in which each open column has the values that a run learnt.

    A column stays open if its values were not learnt (`LearntColumn.is_learnt`) or were learnt as
    another kind of column. Numbers beyond the learnt bounds count in the nearest bin, and missing
    values have a cell of their own.

    Args:
        drafts: All columns.
        columns: The released result of the run, for some columns.
    """
    learnt = {one.attribute.name: one for one in columns if one.is_learnt}
    return [_with_values(draft, learnt[draft.name]) if draft.name in learnt else draft for draft in drafts]


def _with_values(draft: ColumnDraft, learnt: LearntColumn) -> ColumnDraft:
    if not awaits(draft, learnt):
        return draft
    made = _drafted(Column.of(learnt.attribute), LEARNT).changed(missing=True)
    return made if made.is_listed else made.changed(other=NEAREST)


def awaits(draft: ColumnDraft, learnt: LearntColumn) -> bool:
    """Return whether a column is still open, and of the kind as which a run learnt its values."""
    return is_open(draft) and draft.kind == learnt.attribute.kind


def open_kinds(drafts: Sequence[ColumnDraft]) -> dict[str, str]:
    """Return the kind of each used column that is not complete, by name; {} if all are complete.

    For a categorical column without an origin, which was not changed yet, it is the kind that the
    name suggests, if any.
    """
    promised = {Role.NUMBER: "numeric", Role.DATE: "date", Role.TIME: "time"}
    return {
        draft.name: promised.get(usual.role(draft.name), draft.kind) if draft.kind == "categorical" and not draft.origin else draft.kind
        for draft in drafts
        if draft.problem() is not None
    }


def grid(drafts: Sequence[ColumnDraft]) -> pd.DataFrame:
    """Return the columns as a frame for the grid, one row for each column in order.

    Its columns are use, column (the name), kind, cells (their number; missing if unknown), values (a
    remark), lower, upper and bins (texts as typed), and missing and other (whether such values have a cell
    of their own).
    """
    frame = pd.DataFrame([{"column": draft.name, "values": _remark(draft), **_shown(draft)} for draft in drafts])
    frame["cells"] = pd.array([draft.cells() for draft in drafts], dtype="Int64")
    return frame[["use", "column", "kind", "cells", "values", "lower", "upper", "bins", "missing", "other"]]


def _shown(draft: ColumnDraft) -> dict[str, Any]:
    """Return the editable fields of a column in the grid."""
    texts = {"lower": draft.text("lower"), "upper": draft.text("upper"), "bins": draft.bins_text()}
    cells = {which: draft.treatment(which) == OWN for which in ("missing", "other")}
    return {"use": draft.use, "kind": draft.kind, **texts, **cells}


def edited(drafts: Sequence[ColumnDraft], changes: Mapping[int, Mapping[str, Any]]) -> list[ColumnDraft]:
    """Return the columns after changes in the grid. A changed column loses note and guess; unknown positions are ignored.

    Args:
        drafts: The columns.
        changes: The changed fields of `EDITABLE` by the column's position, from 0. None in a text field is
            an empty text.
    """
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
        return "⚠ very many values: leave out names and ids, which identify people"
    return f"⚠ {draft.note}" if draft.note else ", ".join(values)[:200]
