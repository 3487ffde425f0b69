"""Filter synthetic rows by one column. Works on released rows; knows no screen."""

from __future__ import annotations

from collections.abc import Callable, Collection

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


def first(rows: Rows, keep: Filter | None, most: int) -> tuple[pa.Table, int]:
    """The first of the rows that the filter keeps, and how many it keeps in all."""
    shown: list[pa.Table] = []
    number = have = 0
    for batch in rows.batches():
        kept = batch if keep is None else keep(batch)
        number += kept.num_rows
        if have < most:
            shown.append(kept.slice(0, most - have))
            have += shown[-1].num_rows
        elif keep is None:
            return pa.concat_tables(shown), rows.num_rows
    return pa.concat_tables(shown), number


def choices(rows: Rows, column: str) -> set[object]:
    """The values that a column has, None for missing ones."""
    return {value for batch in rows.batches() for value in batch.column(column).unique().to_pylist()}


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
