"""The distinct values of a column with their counts, collected over record batches with a limit on how many are kept. Curator-only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.sources.arrays import is_plain_number, texts
from dpsynth_core.sources.notation import Notation

MOST_DISTINCT = 50_000


@dataclass(frozen=True)
class Summary:
    """A column's distinct values (a plain Arrow array, no nulls or markers) with their counts. complete: not cut off at the limit."""

    name: str
    values: pa.Array
    counts: NDArray[np.int64]
    rows: int
    absent: int
    complete: bool

    @property
    def present(self) -> int:
        return self.rows - self.absent

    @property
    def is_text(self) -> bool:
        return pa.types.is_string(self.values.type)


class DistinctValues:
    """Distinct values of one column over batches, at most MOST_DISTINCT of them."""

    def __init__(self) -> None:
        self._parts: list[pa.Table] = []
        self._complete = True

    def add(self, column: pa.Array) -> None:
        if pa.types.is_nested(column.type):
            column = pa.nulls(len(column))
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        self._parts.append(_counted(pa.table({"value": plain, "count": pa.array(np.ones(len(plain), dtype=np.int64))})))
        merged = _counted(pa.concat_tables(self._parts, promote_options="permissive"))
        if merged.num_rows > MOST_DISTINCT:
            self._complete = False
            merged = merged.slice(0, MOST_DISTINCT)
        self._parts = [merged]

    def summary(self, name: str, rows: int, notation: Notation) -> Summary:
        if not self._parts:
            return Summary(name, pa.nulls(0, pa.string()), np.zeros(0, np.int64), 0, 0, True)
        values = self._parts[0].column("value").combine_chunks()
        counts = self._parts[0].column("count").to_numpy()
        if not (is_plain_number(values.type) or pa.types.is_boolean(values.type) or pa.types.is_temporal(values.type)):
            values = texts(values)
            values = pc.if_else(notation.absent(values), None, values)
        elif pa.types.is_floating(values.type):
            values = pc.if_else(pc.is_nan(values), None, values)
        absent = pc.is_null(values).to_numpy(zero_copy_only=False)
        return Summary(name, values.filter(pa.array(~absent)), counts[~absent], rows, int(counts[absent].sum()), self._complete)


def _counted(table: pa.Table) -> pa.Table:
    grouped = table.group_by("value", use_threads=False).aggregate([("count", "sum")])
    return grouped.rename_columns(["value" if name == "value" else "count" for name in grouped.column_names])
