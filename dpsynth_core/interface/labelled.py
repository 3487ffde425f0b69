"""Tables of counts that carry labels: pandas Series, cross tables and pivot tables, frames with a count, Arrow and Polars tables, dicts.

Every form is converted to lines with a value of each column and a count; `sources.published` assigns the lines to cells by name.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError, first_repeated, shown
from dpsynth_core.interface.frames import given
from dpsynth_core.sources import published
from dpsynth_core.sources.decoding import arrow_type
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.held import Frame
from dpsynth_core.sources.memory import Columns
from dpsynth_core.sources.published import COUNT, Counts, Withheld
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

_VALUES = (str, Real, np.bool_, Decimal, date, time, timedelta, np.datetime64, np.timedelta64)


def counts(table: Any, domain: Domain, names: Sequence[str], field: str, withheld: Withheld | None = None) -> Counts | None:
    """Return the counts of a labelled table by cell of the domain, or None for an array without labels.

    Only cells that the table names are in the result; counts for the same cell are added up.

    Args:
        table: Counts as a dict, or as a table of pandas, xarray, Polars or Arrow.
        domain: The columns that the table may be over.
        names: The columns that the table is given for; empty if its own labels must name them.
        field: The name of the table in errors.
        withheld: Tells which counts were withheld (`sources.published.counts`), which become nan; None if no
            count may be.

    Raises:
        InputError: A label is not a value of the domain, a count is not a number, or it is unclear to which
            column an axis belongs.
    """
    source = lines(table, names, field)
    return None if source is None else published.counts(source, domain, field, withheld)


def known_cells(table: Any, domain: Domain) -> tuple[dict[str, pa.Array], dict[str, NDArray[np.intp]]]:
    """Return the values of a table of known columns, one line per row to complete.

    Args:
        table: A pandas, Polars or Arrow table whose columns are in the domain.
        domain: The domain of the model.

    Returns:
        Two dicts by column: the exact values, for numeric columns whose values fit the type of the
        synthetic rows; and for all columns the cell code of each line.

    Raises:
        InputError: It is not a table in memory, or it has a column or a value that the domain lacks, or no
            column or no line.
    """
    field = "known"
    held = None if isinstance(table, str | os.PathLike) else given(table, {}, field).held
    if held is None:
        raise InputError(field, "it is not a table in memory", "give a pandas, Polars or Arrow table of the known columns")
    names = held.source.names
    if strange := [name for name in names if name not in domain] or not names:
        problem = f"there is no column {shown(strange[0])} in the model" if isinstance(strange, list) else "it has no column"
        raise InputError(field, problem, f"give some of {', '.join(map(shown, domain.names[:8]))}")
    if not (batches := list(held.opened(TableFormat()).batches(names))):
        raise InputError(field, "it has no lines", "give a line for each row")
    source = pa.Table.from_batches(batches)
    arrays = {name: source.column(name).combine_chunks() for name in names}
    codes = {name: np.array(published.cells_of(domain[name], arrays[name], TableFormat(), field), np.intp) for name in names}
    numbers = {name: number for name in names if domain[name].is_number and (number := _numbers(domain[name], arrays[name])) is not None}
    return numbers, codes


def _numbers(attribute: Attribute, column: pa.Array) -> pa.Array | None:
    """Return a column cast to the type that it has in synthetic rows.

    Returns:
        None if the cast fails: the column has labels of cells, or finer values than that type
        stores.
    """
    try:
        return column.cast(arrow_type(attribute))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def lines(table: Any, names: Sequence[str], field: str) -> Frame | Columns | None:
    """Return a labelled table as lines, each with a value of every column and a count.

    A table names the column of each axis by the names of its index and of its columns, or by
    columns of its own next to `count`. An axis without a name belongs to the only one of `names`
    that no other axis has. The order of lines and labels makes no difference.

    Args:
        table: A dict, or a table of pandas, xarray, Polars or Arrow.
        names: The columns that the table is given for; empty if its own labels must name them.
        field: The name of the table in errors.

    Returns:
        The table with its counts in the column `count`; None for an array, which has no labels.

    Raises:
        InputError: It is unclear to which column an axis belongs, the labels name other columns
            than `names`, or a label is not a single value.
    """
    source = _read(table, list(names), field)
    if source is None:
        return None
    found = [name for name in source.names if name != COUNT]
    if COUNT not in source.names or not found:
        problem = f"it has no column {COUNT!r}, or no other, and its index and its columns have no names"
        raise InputError(field, problem, f"name them after columns of the domain, or give each cell's values and its {COUNT!r}")
    if names and sorted(names) != sorted(found):
        problem = f"it is given for {', '.join(map(shown, names))}, and its labels are of {', '.join(map(shown, found))}"
        raise InputError(field, problem, "name both alike")
    return source


def _read(table: Any, names: list[str], field: str) -> Frame | Columns | None:
    if hasattr(table, "dims") and hasattr(table, "to_series"):  # of xarray
        table = table.to_series()
    if isinstance(table, Mapping):
        if len(names) != 1:
            problem = f"{shown(table)} is not a table of counts of {len(names) or 'unknown'} columns"
            raise InputError(field, problem, "give {value: count} for one column, or a pandas table with labels")
        return Frame(_cells([(None, pd.Index(list(table), dtype=object))], list(table.values()), names, field))
    if isinstance(table, pd.Series):
        return Frame(_cells(_levels(table.index), table, names, field))
    if isinstance(table, pd.DataFrame):
        axes = [*table.index.names, *table.columns.names]
        if COUNT in table.columns and None in axes:
            return Frame(_flat(table, field))
        return Frame(table if set(axes) == {None} and not names else _cross_table(table, names, field))
    if hasattr(table, "__arrow_c_stream__") and (hasattr(table, "columns") or hasattr(table, "column_names")):
        return Columns(_arrow(table, field))
    return None


def _flat(table: pd.DataFrame, field: str) -> pd.DataFrame:
    """Return a frame with a column `count`, with the named levels of its index turned into columns.

    Raises:
        InputError: A name is both a level and a column, or a label is not a single value. `field`
            names the table in the error.
    """
    named = [name for name in table.index.names if name is not None]
    if clash := set(named) & set(table.columns):
        raise InputError(field, f"{shown(str(clash.pop()))} is both in its index and a column", "drop one of the two")
    flat = (table.reset_index(level=named) if named else table).reset_index(drop=True)
    _check_labels(((str(name), flat.iloc[:, at]) for at, name in enumerate(flat.columns) if name != COUNT), field)
    return flat


def _arrow(table: Any, field: str) -> pa.Table:
    try:
        arrow = pa.table(table)
    except (pa.ArrowException, TypeError, ValueError):  # its text could quote a cell
        raise InputError(field, "its columns cannot be read by way of Arrow", "give each column one type") from None
    if any(pa.types.is_nested(kind) for kind in arrow.schema.types):
        raise InputError(field, "its labels are lists or structures", "give texts, numbers or dates")
    return arrow


def _levels(index: pd.Index[Any]) -> list[tuple[Hashable, pd.Index[Any]]]:
    return [(name, index.get_level_values(level)) for level, name in enumerate(index.names)]


def _cross_table(table: pd.DataFrame, names: list[str], field: str) -> pd.DataFrame:
    """Return a cross table as lines, one for each pair of a row label and a column label, row by row.

    Args:
        table: The cross table, of counts.
        names: The columns that the table is given for; one without a name in the table is inferred.
        field: The name of the table in errors.
    """
    rows, columns = table.shape
    down = [(name, labels.repeat(columns)) for name, labels in _levels(table.index)]
    across = [(name, labels.take(np.tile(np.arange(columns), rows))) for name, labels in _levels(table.columns)]
    return _cells([*down, *across], table.to_numpy().ravel(), names, field)


def _cells(levels: list[tuple[Hashable, pd.Index[Any]]], numbers: Any, names: list[str], field: str) -> pd.DataFrame:
    """Return counts as lines: for each count, a label of every level, and the column `count`.

    Args:
        levels: For each axis of the table that the caller gave, its name (None if it has none) and
            its label for each count.
        numbers: The counts, in the order of the labels.
        names: The columns that the table is given for. If exactly one level has no name, and
            exactly one of these names belongs to no level, the level gets that name.
        field: The name of the table in errors.

    Raises:
        InputError: A level stays without a name, a name is repeated, or a label is not a single
            value.
    """
    found = [None if name is None else str(name) for name, _ in levels]
    open_names = [name for name in names if name not in found]
    if found.count(None) == len(open_names) == 1:
        found[found.index(None)] = open_names[0]
    if None in found or first_repeated(found) is not None:
        problem = "its index or its columns do not say which columns of the domain their labels are of"
        raise InputError(field, problem, "name each: table.rename_axis(index=..., columns=...), or give an array without labels")
    _check_labels(zip(map(str, found), (labels for _, labels in levels), strict=True), field)
    labels = {str(name): pd.Series(labels.to_numpy(), dtype=labels.dtype) for name, (_, labels) in zip(found, levels, strict=True)}
    return pd.DataFrame({**labels, COUNT: np.asarray(numbers)})


def _check_labels(columns: Iterable[tuple[str, Any]], field: str) -> None:
    """Raise InputError for labels that are not single values, such as intervals and lists.

    The reading of tables would otherwise count them as missing values.

    Args:
        columns: Pairs of a column name and its labels.
        field: The name of the table in errors.
    """
    for name, labels in columns:
        different = list(labels) if labels.dtype == object else labels.dropna().unique()
        if any(not isinstance(label, _VALUES) and label is not None and label is not pd.NA for label in different):
            raise InputError(field, f"its labels of {shown(name)} are not texts, numbers or dates", "write the values as the domain does")
