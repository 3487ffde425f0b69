"""Marginal counts of one table on this machine: a file, a folder of files or a DataFrame, streamed as Arrow record batches.

One pass per call of `counts`, whatever the number of marginals; memory holds one batch, the tables of counts and, with a person
column, how many rows of each person were seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import persons
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.files import TableFormat, TableSource, column_names, open_batches
from dpsynth_core.sources.values import keyed_counts
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.tally import Tally


class ArrowSource:
    """A `ValueSource` over a table.

    person_column: with it, only the first max_rows_per_person rows of each person, in file order, are counted (see `persons`).
    Raises InputError if the table lacks a column of the domain or the person column.
    """

    def __init__(
        self,
        domain: Domain,
        table: TableSource,
        form: TableFormat | None = None,
        person_column: str | None = None,
        max_rows_per_person: int = 1,
    ) -> None:
        if max_rows_per_person < 1:
            raise InputError("unit.max_rows_per_person", "it is below 1", "give a whole number from 1 up")
        self._domain = domain
        self._table = table
        self._form = form or TableFormat()
        self._person_column = person_column
        self._max_rows_per_person = max_rows_per_person
        there = set(column_names(table, self._form))
        for name in (*domain.names, *([person_column] if person_column else [])):
            if name not in there:
                raise InputError(column_field(name), "the data have no column of this name", "drop it from the domain, or correct its name")

    @property
    def domain(self) -> Domain:
        return self._domain

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """See `MarginalSource.counts`. Raises ValueError for a clique that is not in canonical order."""
        for clique in cliques:
            if self._domain.clique(clique) != clique:
                raise ValueError(f"not a canonical clique: {clique}")
        if not cliques:
            return {}
        tally = Tally(self._domain, cliques)
        for batch in self._batches(tally.columns or self._domain.names[:1]):
            interrupts.check()
            codes = {name: encode_column(self._domain[name], batch.column(name), self._form.notation) for name in tally.columns}
            tally.add(codes, batch.num_rows)
        return tally.counts()

    def over(self, domain: Domain) -> ArrowSource:
        """See `ValueSource.over`. Raises InputError if the table lacks a column of the domain."""
        return ArrowSource(domain, self._table, self._form, self._person_column, self._max_rows_per_person)

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """See `ValueSource.values`."""

        def columns() -> Iterator[pa.Array]:
            for batch in self._batches((name,)):
                interrupts.check()
                yield batch.column(name)

        return keyed_counts(columns, self._form.missing_markers, hierarchy=self._domain[name].hierarchy)

    def _batches(self, columns: Clique) -> Iterator[pa.RecordBatch]:
        """Batches with at least these columns, without the rows beyond a person's limit."""
        if self._person_column is None:
            yield from open_batches(self._table, self._form, columns)
            return
        seen: dict[object, int] = {}
        read = tuple(dict.fromkeys((*columns, self._person_column)))
        for batch in open_batches(self._table, self._form, read):
            named = persons.named(batch.column(self._person_column), self._form)
            yield batch.filter(pa.array(persons.within_limit(named, seen, self._max_rows_per_person)))
