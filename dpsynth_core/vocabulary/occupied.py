"""The occupied cells of a table over some columns: the distinct records over these columns, with their numbers.

This is a marginal without its empty cells, for tables with too many cells for memory. It takes 16 bytes per distinct record. Cells are
numbered in the order of the clique, the last column fastest, so that their numbers ascend like those `numpy.argwhere` finds in a table of
counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

MAX_BINARY = 62
"""Largest number of binary columns whose cells 64 bits can number."""
_MERGED_AT = 2**16
"""Cells of further batches that wait before they are merged with those before; later as many as there are."""

Integers = NDArray[np.int64]

_NOTHING = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Occupied:
    """The occupied cells of a table over some columns, with their numbers of records.

    Attributes:
        sizes: Number of values of each column.
        cells: Numbers of the occupied cells, from 0 with the last column fastest, ascending.
        records: Number of records in each of these cells, at least one.
    """

    sizes: tuple[int, ...]
    cells: Integers
    records: Integers

    @property
    def codes(self) -> NDArray[np.unsignedinteger]:
        """Codes of the distinct records, shape (cells, columns), in the order of `cells`.

        Their type is the narrowest unsigned one, since there may be millions.
        """
        codes, left = np.empty((len(self.cells), len(self.sizes)), np.min_scalar_type(max(self.sizes, default=1))), self.cells
        for place in reversed(range(len(self.sizes))):
            left, codes[:, place] = np.divmod(left, self.sizes[place])
        return codes


class OccupiedCounts:
    """A running count of the records in each occupied cell, with the interface of `vocabulary.tally.Tally`.

    The counts are exact: of private records they are private.

    Args:
        domain: The domain.
        clique: The columns.

    Raises:
        ValueError: The table has more than 2^62 cells, too many to number them.
    """

    nbytes = 0
    """Of the tables, before a record is seen."""

    def __init__(self, domain: Domain, clique: Clique) -> None:
        if domain.cells(clique) > 2**MAX_BINARY:
            raise ValueError("the table has too many cells to number them")
        self.domain, self.columns = domain, clique
        self._sizes = domain.sizes(clique)
        self._parts: list[tuple[Integers, Integers]] = []

    @property
    def occupied(self) -> Occupied:
        """The occupied cells of all records so far, with their numbers of records."""
        return Occupied(self._sizes, *self._merged())

    @property
    def tables(self) -> tuple[Integers, ...]:
        """Two arrays for `absorb`: the numbers of the occupied cells, ascending, and the number of records in each."""
        return self._merged()

    def _merged(self) -> tuple[Integers, Integers]:
        """Merge all parts into one, and return its cells and their numbers of records."""
        cells, records = (np.concatenate(same) for same in zip(_NOTHING, *self._parts, strict=True))
        distinct, place = np.unique(cells, return_inverse=True)
        total = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(total, place, records)
        self._parts = [(distinct, total)]
        return self._parts[0]

    def absorb(self, tables: Iterable[Integers]) -> None:
        """Add counts (`tables`) of other records with the same domain and clique, in place.

        Their cells may be in any order, and the same cell may occur several times.

        Args:
            tables: Two arrays: numbers of cells, and the number of records in each.
        """
        cells, records = tables
        self._parts.append((cells, records))
        first, *others = (len(part[0]) for part in self._parts)
        if sum(others) > max(first, _MERGED_AT):
            self._merged()

    def add(self, codes: Mapping[str, NDArray[np.integer]], rows: int) -> None:
        """Count one batch of records, in addition to earlier batches.

        Args:
            codes: Code of each record in every column in `columns`, by name; other columns are
                ignored.
            rows: Number of records in the batch.
        """
        cells = np.zeros(rows, dtype=np.int64)
        for name, size in zip(self.columns, self._sizes, strict=True):
            cells = cells * size + codes[name]
        self.absorb(np.unique(cells, return_counts=True))


def row_cells(domain: Domain, codes: NDArray[np.integer], clique: Clique) -> Occupied:
    """Return the occupied cells of some rows.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        clique: The columns of the cells.

    Raises:
        ValueError: The columns have more than 2^62 cells together.
    """
    counts = OccupiedCounts(domain, clique)
    counts.add({name: codes[:, domain.position(name)] for name in clique}, len(codes))
    return counts.occupied
