"""A source of private records, as other rooms see it: it returns only counts, of marginals or of the answers of a released function.

Another engine (a cluster) is one more class with `counts`, and with `occupied` for rules to be learnt from it. Exact counts leave a source
in two directions only: to the privacy kernel and to the curator-only evaluation; distinct records go to the kernel alone. A source does not
know structural zeros: a record in an impossible cell is counted there, without any report.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.blocks import TABLE_BYTES, slices
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.occupied import Occupied
from dpsynth_core.vocabulary.predictors import Predictor


class MarginalSource(Protocol):
    """A source of private records that answers only with exact marginal counts."""

    @property
    def domain(self) -> Domain:
        """The domain of the counted cells."""

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """Return the exact marginal over each clique: numbers of records, without noise.

        A record in a cell that a rule calls impossible is counted there.

        Args:
            cliques: Canonical cliques, that is, tuples of column names in the order of the domain.

        Returns:
            By clique, an int64 array of shape `domain.sizes(clique)`. The empty clique has the number of
            all records, shape ().
        """


class CellSource(MarginalSource, Protocol):
    """A source that can list the non-empty cells of a marginal that is too large for a dense array."""

    def occupied(self, clique: Clique) -> Occupied:
        """Return the non-empty cells of the marginal over a clique, with exact record counts.

        The columns of the clique are in domain order. For the same records, every source returns the same arrays.

        Raises:
            ValueError: The marginal has more than 2^62 cells, so that 64 bits cannot number them
                (`vocabulary.occupied`).
        """


class RecordSource(MarginalSource, Protocol):
    """A source that can apply a released function to each record."""

    def right(self, predictors: Sequence[Predictor]) -> NDArray[np.int64]:
        """Return how many records have the target value that each predictor guesses, exactly.

        Whether a record is counted depends on this record and the public predictor only.

        Returns:
            Counts, shape (predictors,).
        """


class RootSource(MarginalSource, Protocol):
    """A source that knows which records belong to the same person."""

    def roots(self, clique: Clique, groups: Mapping[str, Groups]) -> NDArray[np.int64]:
        """Return per cell the sum over persons of limit * sqrt(share), int64, in units of 1/1024 (`ROOT_STEPS`) of a record.

        The share is the fraction of the person's records that are in the cell; the limit is the
        number of rows that a person may have. Each person's term is rounded down to a whole unit.
        Records in the cell of "no person" may be left out; the shares are then fractions of the
        person's other records.

        Args:
            clique: The columns of the cells; a name of `groups` may stand in place of a column.
            groups: Groups of the values of a column, by name.

        Returns:
            An array with one axis for each entry of `clique`.
        """


class ValueSource(MarginalSource, Protocol):
    """A source that keeps values as they were written, so that it can encode them in any domain."""

    def over(self, domain: Domain) -> ValueSource:
        """Return a source of the same records, encoded in another domain."""

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Yield the exact number of records for each key of a column (`vocabulary.keys`).

        A key is the text of a value, "" for missing values, and "other" for texts that cannot be keys. The mappings from key
        to number of records come in parts; no key is in two parts.

        Args:
            name: The column.
        """


def counted(source: MarginalSource, cliques: Collection[Clique], table_bytes: int = TABLE_BYTES) -> dict[Clique, NDArray[np.int64]]:
    """Return the marginals over the cliques, counted in several passes to bound the memory.

    A single call of `source.counts` would return the same integers. Without cliques the result is empty.

    Args:
        source: The source of the counts.
        cliques: The cliques, each with its columns in domain order.
        table_bytes: The memory in bytes of the arrays in which one pass counts, 512 MiB by default; a single larger
            marginal is counted all the same (`vocabulary.blocks.slices`). The returned arrays are additional.
    """
    tables: dict[Clique, NDArray[np.int64]] = {}
    for group in slices(source.domain, cliques, table_bytes):
        tables |= source.counts(group)
    return tables
