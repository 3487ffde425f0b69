"""Filter synthetic rows by one column. Works on released rows; knows no screen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.release.rows import Rows
from dpsynth_core.vocabulary.domain import Attribute

MAX_CHOICES = 200
Filter = Callable[[pa.Table], pa.Table]
"""Some of the rows of a table."""


def has_choices(attribute: Attribute) -> bool:
    """Whether the column is filtered by picking values rather than by a range."""
    return not attribute.is_number and attribute.size <= MAX_CHOICES


def first(rows: Rows, column: str, keep: Filter | None, most: int) -> tuple[pa.Table, int]:
    """The first of the rows that a filter of a column keeps, and how many it keeps in all: of most rows, that column alone is read."""
    if keep is None:
        return _some(rows.batches(), most), rows.num_rows
    wanted, number, have = rows.batches(), 0, 0
    shown: list[pa.Table] = []
    for batch in rows.batches([column]):
        number += keep(batch).num_rows
        if have < most:
            shown.append(keep(next(wanted)).slice(0, most - have))
            have += shown[-1].num_rows
    return pa.concat_tables(shown), number


def _some(batches: Iterator[pa.Table], most: int) -> pa.Table:
    """The first rows of batches; no further one is read."""
    shown = [next(batches).slice(0, most)]
    while (have := sum(table.num_rows for table in shown)) < most and (batch := next(batches, None)) is not None:
        shown.append(batch.slice(0, most - have))
    return pa.concat_tables(shown)


def choices(rows: Rows, column: str) -> set[object]:
    """The values that a column has, None for missing ones. No other column is read."""
    return {value for batch in rows.batches([column]) for value in batch.column(column).unique().to_pylist()}


def one_of(table: pa.Table, column: str, values: Collection[object]) -> pa.Table:
    """Rows whose value is among `values`; None stands for missing. No values keep all rows."""
    if not values:
        return table
    wanted = pa.array([value for value in values if value is not None], table.schema.field(column).type)
    mask = pc.fill_null(pc.is_in(table.column(column), wanted), False)
    if None in values:
        mask = pc.or_(mask, pc.is_null(table.column(column)))
    return table.filter(mask)


def between(table: pa.Table, column: str, low: object, high: object) -> pa.Table:
    """Rows whose value lies in low..high, inclusive; missing values do not."""
    values = table.column(column)
    mask = pc.and_(pc.greater_equal(values, pa.scalar(low, values.type)), pc.less_equal(values, pa.scalar(high, values.type)))
    return table.filter(pc.fill_null(mask, False))
