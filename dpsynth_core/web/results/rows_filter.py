"""Filter synthetic rows by one column. Works on released rows; knows no screen."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.vocabulary.domain import Attribute

MAX_CHOICES = 200


def has_choices(attribute: Attribute) -> bool:
    """Whether the column is filtered by picking values rather than by a range."""
    return not attribute.is_number and attribute.size <= MAX_CHOICES


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
