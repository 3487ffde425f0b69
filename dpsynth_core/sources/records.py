"""The records of a table that count, part by part: everything that a process needs to count one part, on any machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import persons
from dpsynth_core.sources.characters import EXACT, fold
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.files import Table
from dpsynth_core.sources.parts import NOTHING_LISTED, USUAL, WHOLE, Listed, Part, Sizes
from dpsynth_core.sources.persons import Before, Keys, Turnout, nobody
from dpsynth_core.sources.readers import check_columns
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.occupied import Occupied, OccupiedCounts
from dpsynth_core.vocabulary.predictors import Predictor, RightCounts
from dpsynth_core.vocabulary.tally import Tally, check_canonical


class Batches(Protocol):
    """A counter that takes in the records of a table batch by batch, and uses the codes of `columns`."""

    @property
    def domain(self) -> Domain:
        """The domain of the codes."""

    @property
    def columns(self) -> Clique:
        """The columns whose codes `add` uses."""

    def add(self, codes: Mapping[str, NDArray[np.int32]], rows: int) -> None:
        """Add records.

        Args:
            codes: The codes of each column, shape (rows,).
            rows: The number of records.
        """


class Counting(Batches, Protocol):
    """Numbers that records are added to."""

    @property
    def nbytes(self) -> int:
        """Memory in bytes before any record is counted."""

    @property
    def tables(self) -> tuple[NDArray[np.int64], ...]:
        """The numbers so far."""

    def absorb(self, tables: Iterable[NDArray[np.int64]]) -> None:
        """Add the numbers from other records."""


Counts = TypeVar("Counts", bound=Counting)


@dataclass(frozen=True)
class Records:
    """The records of a table that count.

    Attributes:
        table: The opened table.
        person_column: The column that names persons; only their first rows in file order count (see `persons`).
        max_rows_per_person: The number of rows of each person that count.
        sizes: The sizes of parts.
    """

    table: Table
    person_column: str | None = None
    max_rows_per_person: int = 1
    sizes: Sizes = USUAL

    def __post_init__(self) -> None:
        persons.check_limit(self.max_rows_per_person)

    def check_columns(self, domain: Domain) -> None:
        """Raise InputError if the table lacks a column of the domain or the person column, or if categories count as the same text."""
        person = [self.person_column] if self.person_column else []
        check_columns(self.table.column_names(), [*domain.names, *person])
        for attribute in domain if self.table.form.same_text != EXACT else ():
            if len({fold(one, self.table.form.same_text) for one in attribute.categories}) < len(attribute.categories):
                problem = "two of its categories count as the same text"
                raise InputError(column_field(attribute.name), problem, "list one of them, or let texts be told apart (same_text: exact)")

    def parts(self) -> list[Part]:
        """Return the table in parts, in file order."""
        return self.table.divide(self.sizes)

    def batches(
        self, columns: Sequence[str], part: Part = WHOLE, before: Before = nobody, listed: Listed = NOTHING_LISTED
    ) -> Iterator[pa.RecordBatch]:
        """Yield batches with at least these columns, without the rows beyond a person's limit.

        Args:
            columns: Column names.
            part: The part of the table to read.
            before: The rows of each person in the earlier parts.
            listed: Values that are never missing, even if the file declares them missing (`FileTable.batches`).
        """
        if self.person_column is None:
            yield from self.table.batches(columns, part, listed)
            return
        seen: dict[object, int] = {}
        read = tuple(dict.fromkeys((*columns, self.person_column)))
        for batch in self.table.batches(read, part, listed):
            named = persons.named(batch.column(self.person_column), self.table.form)
            yield batch.filter(pa.array(persons.within_limit(named, seen, self.max_rows_per_person, before)))

    def turnout(self, part: Part, keys: Keys) -> Turnout:
        """Return how many rows of each person a part has. Requires a person column."""
        assert self.person_column is not None
        batches = self.table.batches((self.person_column,), part)
        return persons.turnout((persons.named(batch.column(0), self.table.form) for batch in batches), keys, self.max_rows_per_person)

    def add_to(self, tally: Batches, part: Part = WHOLE, before: Before = nobody) -> Iterator[None]:
        """Count a part, a batch with each step."""
        listed = {one.name: one.categories for one in tally.domain if one.is_listed}
        for batch in self.batches(tally.columns or tally.domain.names[:1], part, before, listed):
            codes = {name: encode_column(tally.domain[name], batch.column(name), self.table.form.notation) for name in tally.columns}
            tally.add(codes, batch.num_rows)
            yield


class RecordCounts(ABC):
    """A `RecordSource` that works all records of a table into something that counts them."""

    def __init__(self, domain: Domain, records: Records) -> None:
        """Check the columns. Raises InputError if the table lacks a column of the domain or the person column."""
        self.domain = domain
        self._records = records
        records.check_columns(domain)

    def over(self, domain: Domain) -> Self:
        """See `ValueSource.over`. Raises InputError if the table lacks a column of the domain."""
        self._records.check_columns(domain)
        other = copy(self)
        other.domain = domain
        return other

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """See `MarginalSource.counts`. Raises ValueError for a clique that is not in canonical order."""
        check_canonical(self.domain, cliques)
        return self._counted(partial(Tally, self.domain, tuple(cliques))).counts() if cliques else {}

    def occupied(self, clique: Clique) -> Occupied:
        """See `CellSource.occupied`."""
        return self._counted(partial(OccupiedCounts, self.domain, clique)).occupied

    def right(self, predictors: Sequence[Predictor]) -> NDArray[np.int64]:
        """See `RecordSource.right`."""
        return self._counted(partial(RightCounts, self.domain, tuple(predictors))).numbers

    @abstractmethod
    def _counted(self, new: Callable[[], Counts]) -> Counts:
        """Return a counter of all records, where `new` makes an empty counter."""
