"""A DataFrame, or a table in a database, as a table that answers what a file does (`files.FileTable`). It is one part and has no header."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from dpsynth_core.sources import readers
from dpsynth_core.sources.arrays import is_plain_number, texts
from dpsynth_core.sources.databases.connect import DatabaseTable
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.parts import WHOLE, Part, Sizes


class _Held(ABC):
    form: TableFormat

    @abstractmethod
    def column_names(self) -> tuple[str, ...]: ...

    def made_names(self) -> tuple[str, ...]:
        return ()

    def check(self) -> None:
        readers.check_names(self.column_names())

    def divide(self, _sizes: Sizes) -> list[Part]:
        return [WHOLE]


@dataclass(frozen=True, eq=False)
class QueryTable(_Held):
    source: DatabaseTable
    form: TableFormat

    def column_names(self) -> tuple[str, ...]:
        return self.source.names

    def batches(self, columns: Sequence[str], _part: Part = WHOLE) -> Iterator[pa.RecordBatch]:
        readers.check_columns(self.column_names(), columns)
        return self.source.batches(columns, self.form.decimal)


@dataclass(frozen=True, eq=False)
class FrameTable(_Held):
    source: pd.DataFrame
    form: TableFormat

    def column_names(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.source.columns)

    def batches(self, columns: Sequence[str], _part: Part = WHOLE) -> Iterator[pa.RecordBatch]:
        readers.check_columns(self.column_names(), columns)
        by_name = {str(name): self.source.iloc[:, i] for i, name in enumerate(self.source.columns)}
        whole = pa.RecordBatch.from_arrays([self._array(by_name[name]) for name in columns], names=list(columns))
        for start in range(0, len(self.source), readers.BATCH_ROWS):
            yield whole.slice(start, readers.BATCH_ROWS)

    def _array(self, series: pd.Series) -> pa.Array:
        """A column by its type, or of objects by the type of each value alone: as texts, so that no value says how another is read."""
        if isinstance(series.dtype, pd.CategoricalDtype):
            series = series.astype(series.cat.categories.dtype)
        if series.dtype == object:
            return pa.array([self._text(value) for value in series], pa.string())
        array = pa.array(series, from_pandas=True)
        return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array

    def _text(self, value: object) -> str | None:
        """What a column of nothing but this value would say, in the curator's notation; None for what is missing, or no single value."""
        if isinstance(value, str):
            return value.encode(errors="replace").decode()
        try:
            alone = pa.array([value], from_pandas=True)
        except (pa.ArrowException, OverflowError):
            return str(value)
        if pa.types.is_null(alone.type) or pa.types.is_nested(alone.type):
            return None
        text: str | None = texts(alone)[0].as_py()
        return text.replace(".", self.form.decimal) if text is not None and is_plain_number(alone.type) else text
