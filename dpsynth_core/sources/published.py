"""A published table as a file: a line for each value of a column, or each combination of values of several, and how many people had it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.visible import listed
from dpsynth_core.sources import memory
from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.codec import encode_column, floats
from dpsynth_core.sources.detect import public_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import TableSource, opened
from dpsynth_core.sources.outside import missing_and_outside
from dpsynth_core.vocabulary import published
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.zeros import cells_named

COUNT = "count"
_NAMED = 20
"""Columns or cells that an error lists at most."""
Withheld: TypeAlias = Callable[["str | None"], bool]
"""Tells whether a text in the column `count`, None for an empty cell, stands for a number that was withheld."""


@dataclass(frozen=True, eq=False)
class Counts:
    """The published numbers of people in the cells of a table.

    Attributes:
        columns: The names of the table's columns, in the table's order. They are columns of the
            domain.
        cells: The number of people by cell, a tuple of one code (from 0) for each of `columns`. Cells
            without a line are left out.
    """

    columns: tuple[str, ...]
    cells: Mapping[tuple[int, ...], float]


def section(source: TableSource, domain: Domain, where: str, field: str) -> dict[str, Any]:
    """Return the entry of a spec for a published table, as a JSON object with columns, cells and source.

    Args:
        source: The published table: columns of the domain, and a column `count` of numbers of
            people. Lines in the same cell are added up.
        domain: The domain of the private table.
        where: Where the table was published.
        field: The subject of error messages, in place of the private table.

    Raises:
        InputError: The table cannot be read, is a file of more than 2 GB, has no column `count` or a column or value that the
            domain lacks, has a column whose values are to be learnt, holds something else than numbers from 0 to 10^15
            in `count`, lacks a value of a column, has no positive count, has more than 100,000 cells, or `where` is
            blank.
    """
    with _about(field):
        return _section(source, domain, where, field)


@contextmanager
def _about(field: str) -> Iterator[None]:
    """Turn errors of the body about a table into InputErrors whose field begins with `field`."""
    try:
        yield
    except InputError as error:
        if error.field.startswith(field):
            raise
        raise InputError(field if error.field == "data" else f"{field}, {error.field}", error.problem, error.remedy) from None
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(field, "it holds something else than values and numbers", "write texts and numbers of people") from None


def _section(source: TableSource, domain: Domain, where: str, field: str) -> dict[str, Any]:
    """Return the entry of a spec for a published table, with errors not yet named after `field`.

    For the arguments see `section`.
    """
    found = _counts(source, domain, field)
    labels = [domain[name].cell_labels() for name in found.columns]
    cells = [[*(of[code] for of, code in zip(labels, cell, strict=True)), count] for cell, count in found.cells.items()]
    published.read(found.columns, cells, where, domain.attributes, field)
    return {"columns": list(found.columns), "cells": cells, "source": where}


def counts(source: TableSource, domain: Domain, field: str, withheld: Withheld | None = None) -> Counts:
    """Return the number of people by cell from a table with a line for each cell.

    Args:
        source: The published table: columns of the domain, and a column `count`. Lines in the same
            cell are added up.
        domain: The domain of the private table.
        field: The subject of error messages.
        withheld: Tells which texts in the column `count` stand for a number that was withheld; the
            cell is then nan. None if no number may be withheld.

    Raises:
        InputError: The table cannot be read, is a file of more than 2 GB, lacks the column `count`, holds something
            else than numbers there, or has columns or values that the domain lacks or that are to be learnt. Negative
            and infinite numbers are not refused here.
    """
    with _about(field):
        return _counts(source, domain, field, withheld)


def _counts(source: TableSource, domain: Domain, field: str, withheld: Withheld | None = None) -> Counts:
    """Return what `counts` returns, with errors not yet named after `field`."""
    form = public_format(source, field) if isinstance(source, str | os.PathLike) else TableFormat.of({"kind": memory.KIND})
    table = opened(source, form)
    table.check()
    names = table.column_names()
    if COUNT not in names or (strange := [name for name in names if name != COUNT and (name not in domain or domain[name].most)]):
        problem = f"its column {shown(strange[0])} has no values in the domain" if COUNT in names else f"it has no column {COUNT!r}"
        known = listed([shown(name) for name in domain.names], _NAMED)
        raise InputError(field, problem, f"give columns of the domain ({known}), and their numbers of people in the column {COUNT!r}")
    columns, people = [domain[name] for name in names if name != COUNT], defaultdict[tuple[int, ...], float](float)
    for batch in table.batches(names):
        found = [batch.column(batch.schema.get_field_index(attribute.name)) for attribute in columns]
        codes = [cells_of(attribute, column, table.form, field) for attribute, column in zip(columns, found, strict=True)]
        column = batch.column(batch.schema.get_field_index(COUNT))
        numbers = floats(column, table.form.notation)
        strange = texts(_plain(column).filter(pa.array(np.isnan(numbers)))).to_pylist()
        if strange and (withheld is None or not all(map(withheld, strange))):
            raise InputError(field, f"in its column {COUNT!r} is something else than a number", "write numbers of people")
        for *cell, count in zip(*codes, numbers.tolist(), strict=True):
            people[tuple(cell)] += count
    return Counts(tuple(attribute.name for attribute in columns), dict(people))


def cells_of(attribute: Attribute, column: pa.Array, form: TableFormat, field: str) -> list[int]:
    """Return the code of the cell that each value of a column names, counted from 0, in order.

    A value is written as in a file of the domain, or it is the name of one cell, such as "0 to 9".
    Other values are refused, even where a file would count them in the cell for other values or in
    the nearest cell.

    Args:
        attribute: The column of the domain.
        column: The values.
        form: The format of the published table.
        field: The subject of error messages.

    Raises:
        InputError: A value is missing and the domain has no cell for that, or a value names no cell
            or several.
    """
    absent, unlisted = missing_and_outside(attribute, column, form.notation)
    if absent.any() and not attribute.missing:
        problem = f"a value of its column {shown(attribute.name)} is missing, and the domain has no cell for that"
        raise InputError(field, problem, "leave the line out, or name its value")
    codes = encode_column(attribute, column, form.notation).tolist()
    if unlisted.any():
        named = dict[str, int]()
        for at, label in zip(np.flatnonzero(unlisted).tolist(), texts(_plain(column).filter(pa.array(unlisted))).to_pylist(), strict=True):
            if label not in named:
                cells = _named(attribute, label, field)
                if len(cells) != 1:
                    problem = f"{shown(label)} is more than one cell of the column {shown(attribute.name)}"
                    raise InputError(field, problem, "give one line for each cell")
                named[label] = cells[0]
            codes[at] = named[label]
    return codes


def _named(attribute: Attribute, label: str, field: str) -> tuple[int, ...]:
    """Return the codes of the cells that a text names.

    Raises:
        InputError: It names none; the error lists the cells.
    """
    try:
        return cells_named([attribute], {attribute.name: label}, field)[attribute.name]
    except InputError as error:
        cells = listed([shown(one) for one in attribute.cell_labels()], _NAMED)
        raise InputError(field, error.problem, f"write one of {cells}, and leave out lines of totals") from None


def _plain(column: pa.Array) -> pa.Array:
    """Return the column without dictionary encoding."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
