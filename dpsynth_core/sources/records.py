"""The records of a table that count, part by part: everything that a process needs to count one part, on any machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import persons
from dpsynth_core.sources.characters import EXACT, fold
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.headers import check_columns
from dpsynth_core.sources.opening import Table
from dpsynth_core.sources.parts import NOTHING_LISTED, USUAL, WHOLE, Listed, Part, Sizes
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.occupied import Occupied, OccupiedCounts
from dpsynth_core.vocabulary.predictors import Predictor, RightCounts
from dpsynth_core.vocabulary.tally import Tally, check_canonical


class Batches(Protocol):
    """A counter that is fed with records batch by batch, as the codes of `columns`."""

    @property
    def domain(self) -> Domain:
        """The domain of the codes."""

    @property
    def columns(self) -> Clique:
        """The columns whose codes `add` needs."""

    def add(self, codes: Mapping[str, NDArray[np.int32]], rows: int) -> None:
        """Add a batch of records to the counter, in place.

        Args:
            codes: By column, the code of each record from 0, shape (rows,).
            rows: The number of records in the batch.
        """


class Counting(Batches, Protocol):
    """A counter of sums over records, to which a counter of other records can be added."""

    @property
    def nbytes(self) -> int:
        """The memory of an empty counter, in bytes."""

    @property
    def tables(self) -> tuple[NDArray[np.int64], ...]:
        """The arrays counted so far, in the form that `absorb` takes; exact and private."""

    def absorb(self, tables: Iterable[NDArray[np.int64]]) -> None:
        """Add the arrays `tables` of a counter of other records to this counter."""


Counts = TypeVar("Counts", bound=Counting)


@dataclass(frozen=True)
class Records:
    """An opened table with the rule for which of its records are counted.

    Without a person column all records are counted.

    Attributes:
        table: The opened table.
        person_column: The column that names persons. Only the first rows of each person in file
            order are counted, and rows without a person are not (see `persons`).
        max_rows_per_person: The number of rows of each person that are counted.
        sizes: The approximate sizes of the parts into which the table is divided.
        chosen: A function of the name of a person that says whether this person's records are counted
            (`persons.of_chosen`). None counts those of everybody.

    Raises:
        InputError: `max_rows_per_person` is below 1.
    """

    table: Table
    person_column: str | None = None
    max_rows_per_person: int = 1
    sizes: Sizes = USUAL
    chosen: persons.Chosen | None = None

    def __post_init__(self) -> None:
        persons.check_limit(self.max_rows_per_person)

    def check_columns(self, domain: Domain) -> None:
        """Check that the table and the domain fit.

        Raises:
            InputError: The table lacks a column of the domain or the person column, it has such a
                column twice, or two categories of a column count as the same text.
        """
        person = [self.person_column] if self.person_column else []
        check_columns(self.table.column_names(), [*domain.names, *person])
        for attribute in domain if self.table.form.same_text != EXACT else ():
            if len({fold(one, self.table.form.same_text) for one in attribute.categories}) < len(attribute.categories):
                problem = "two of its categories count as the same text"
                raise InputError(column_field(attribute.name), problem, "list one of them, or let texts be told apart (same_text: exact)")

    def parts(self) -> list[Part]:
        """Return the parts into which the table is divided, in file order, at least one.

        Raises:
            InputError: The table cannot be read.
        """
        return self.table.divide(self.sizes)

    def batches(
        self, columns: Sequence[str], part: Part = WHOLE, before: persons.Before = persons.nobody, listed: Listed = NOTHING_LISTED
    ) -> Iterator[pa.RecordBatch]:
        """Yield batches of the records that are counted, in file order, with at least these columns.

        With a person column, rows beyond a person's limit, rows without a person and rows of persons who are not
        chosen are left out.

        Args:
            columns: Column names.
            part: The part of the table to read; the whole table by default.
            before: A function that returns the number of rows of each person in the earlier parts.
            listed: Listed values by column, which are never missing, even if the file declares them
                missing (`FileTable.batches`).

        Raises:
            InputError: The table cannot be read or lacks a column.
        """
        if self.person_column is None:
            yield from self.table.batches(columns, part, listed)
            return
        seen: dict[object, int] = {}
        read = tuple(dict.fromkeys((*columns, self.person_column)))
        for batch in self.table.batches(read, part, listed):
            named = persons.named(batch.column(self.person_column), self.table.form)
            counted = persons.within_limit(named, seen, self.max_rows_per_person, before)
            if self.chosen is not None:
                counted &= persons.of_chosen(named, self.chosen)
            yield batch.filter(pa.array(counted))

    def turnout(self, part: Part, keys: persons.Keys) -> persons.Turnout:
        """Return each person's number of rows in a part, at most the limit, by the person's hash; private.

        The table must have a person column.

        Args:
            part: The part of the table to read.
            keys: The keys of the hash, the same for all parts of a count.

        Raises:
            AssertionError: The table has no person column.
            InputError: The table cannot be read.
        """
        assert self.person_column is not None
        batches = self.table.batches((self.person_column,), part)
        return persons.turnout((persons.named(batch.column(0), self.table.form) for batch in batches), keys, self.max_rows_per_person)

    def add_to(self, tally: Batches, part: Part = WHOLE, before: persons.Before = persons.nobody) -> Iterator[None]:
        """Add the counted records of a part to a counter, one batch with each step of the iterator.

        Nothing is read before the first step. The iterator yields None, so that the caller can stop between batches.

        Args:
            tally: The counter, which is changed.
            part: The part of the table to read.
            before: A function that returns the number of rows of each person in the earlier parts.

        Raises:
            InputError: The table cannot be read or lacks a column.
        """
        listed = {one.name: one.categories for one in tally.domain if one.is_listed}
        for batch in self.batches(tally.columns or tally.domain.names[:1], part, before, listed):
            codes = {name: encode_column(tally.domain[name], batch.column(name), self.table.form.notation) for name in tally.columns}
            tally.add(codes, batch.num_rows)
            yield


class RecordCounts(ABC):
    """A base class of sources that pass all counted records of a table through a counter."""

    def __init__(self, domain: Domain, records: Records) -> None:
        """Check that the table has the domain's columns; raise InputError if not (`Records.check_columns`)."""
        self.domain = domain
        self._records = records
        records.check_columns(domain)

    def over(self, domain: Domain) -> Self:
        """Return a source of the same records, encoded in another domain. This source is not changed.

        Raises:
            InputError: The table lacks a column of that domain (`Records.check_columns`).
        """
        self._records.check_columns(domain)
        other = copy(self)
        other.domain = domain
        return other

    def of_chosen(self, chosen: persons.Chosen) -> Self:
        """Return a source of the records of some persons alone. This source is not changed.

        Args:
            chosen: A function of the name of a person that says whether this person's records are counted.

        Raises:
            ValueError: The table has no person column.
        """
        if self._records.person_column is None:
            raise ValueError("without a person column nobody has a name")
        other = copy(self)
        other._records = replace(self._records, chosen=chosen)
        return other

    def everybody(self) -> Self:
        """Return a source of the records of everybody, whoever was chosen (`of_chosen`). This source is not changed."""
        other = copy(self)
        other._records = replace(self._records, chosen=None)
        return other

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """Return the exact marginal over each clique, int64, in numbers of counted records; {} without cliques.

        See `MarginalSource.counts`. The table is read once.

        Raises:
            ValueError: A clique is not in domain order.
            InputError: A column is unknown, or the table cannot be read.
        """
        check_canonical(self.domain, cliques)
        return self._counted(partial(Tally, self.domain, tuple(cliques))).counts() if cliques else {}

    def occupied(self, clique: Clique) -> Occupied:
        """Return the non-empty cells of the marginal over a clique, with exact record counts.

        The columns of the clique must be in domain order. See `CellSource.occupied`. The table is read once.

        Raises:
            ValueError: The marginal has more than 2^62 cells.
            InputError: A column is unknown, or the table cannot be read.
        """
        return self._counted(partial(OccupiedCounts, self.domain, clique)).occupied

    def right(self, predictors: Sequence[Predictor]) -> NDArray[np.int64]:
        """Return how many counted records have the target value that each predictor guesses, int64 of shape (predictors,).

        The counts are exact. See `RecordSource.right`. The table is read once.

        Raises:
            InputError: The table cannot be read.
        """
        return self._counted(partial(RightCounts, self.domain, tuple(predictors))).numbers

    @abstractmethod
    def _counted(self, new: Callable[[], Counts]) -> Counts:
        """Return a counter that all counted records were added to; `new` makes an empty counter."""
