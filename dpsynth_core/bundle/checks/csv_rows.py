"""A CSV of synthetic rows in a bundle, which may be hostile: read a batch at a time, with the types of the domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
from numpy.typing import NDArray

from dpsynth_core.claims.outcome import Wrong, expect
from dpsynth_core.foundation.arrow_times import holds_times
from dpsynth_core.foundation.content import Content
from dpsynth_core.release import document as releases
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.decoding import arrow_type, typed
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.domain import Domain

_BLOCK_BYTES = 2**22
"""Of synthetic.csv that are read at a time; no row is longer."""


@dataclass(frozen=True, eq=False)
class CsvRows:
    """A CSV of rows, read with the domain's types a batch at a time. What is no table of these columns is wrong."""

    domain: Domain
    content: Content
    name: str = releases.ROWS_CSV

    @cached_property
    def num_rows(self) -> int:
        with _tabular(self.name):
            return sum(batch.num_rows for batch in self._read())

    @cached_property
    def schema(self) -> pa.Schema:
        return next(self.batches()).schema

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        with _tabular(self.name):
            for batch in self._read():
                table = typed(self.domain, batch)
                yield table if columns is None else table.select(columns)

    def checked(self) -> Iterator[pa.Table]:
        """The batches, whose columns are those of the domain."""
        for batch in self.batches():
            expect(batch.column_names == list(self.domain.column_names), f"the columns of {self.name} are not those of the domain")
            yield batch

    def codes(self) -> NDArray[np.integer]:
        """The rows as cells of the domain, in as few bytes as number these. Shape (rows, attributes)."""
        narrow: np.dtype[Any] = np.min_scalar_type(max((attribute.size for attribute in self.domain), default=0))
        codes, start = np.empty((self.num_rows, len(self.domain)), narrow), 0
        for batch in self.checked():
            encoded = encode(self.domain, batch, Notation(frozenset()))
            for place, name in enumerate(self.domain.names):
                codes[start : start + batch.num_rows, place] = encoded[name]
            start += batch.num_rows
        return codes

    def _read(self) -> Iterator[pa.Table]:
        kinds = {a.name: pa.string() if holds_times(arrow_type(a)) else arrow_type(a) for a in self.domain.columns}
        options = pcsv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False)
        places, lines = pcsv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False), pcsv.ParseOptions(newlines_in_values=True)
        with self.content.open() as stream, pcsv.open_csv(stream, places, lines, options) as reader:
            empty = True
            for batch in reader:
                empty = False
                yield pa.Table.from_batches([batch])
            if empty:
                yield reader.schema.empty_table()


@contextmanager
def _tabular(name: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, ValueError):
        raise Wrong(f"{name} is no table of these columns") from None
