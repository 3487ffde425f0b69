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
    """A source of exact counts."""

    @property
    def domain(self) -> Domain:
        """The domain of the counted cells."""

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """Return exact counts of each canonical clique, shape domain.sizes(clique); the empty clique has the number of rows, shape ()."""


class CellSource(MarginalSource, Protocol):
    """A source that can name the cells of a table that is too large to be counted into."""

    def occupied(self, clique: Clique) -> Occupied:
        """Return exactly the cells of a canonical clique that records are in. For the same records, every source returns the same arrays.

        Raises:
            ValueError: The cells of the table cannot be numbered in 64 bits (`vocabulary.occupied`).
        """


class RecordSource(MarginalSource, Protocol):
    """A source through whose hands records go one by one, so that a released function of a record can be asked of each."""

    def right(self, predictors: Sequence[Predictor]) -> NDArray[np.int64]:
        """Return how many records each predictor is right about, exactly; a record and the public predictor alone decide it."""


class RootSource(MarginalSource, Protocol):
    """A source that knows which records are one person's."""

    def roots(self, clique: Clique, groups: Mapping[str, Groups]) -> NDArray[np.int64]:
        """Return the sum over persons of sqrt(share of the person's records in a cell) times the limit of rows per person, for each cell.

        The unit is 1/ROOT_STEPS, and each root is rounded down to whole units. Records in the cell of "no person" may be left out; the
        shares are then of the other records.

        Args:
            clique: The columns, and names of `groups` in place of columns.
            groups: Groups of the values of a column, by name.
        """


class ValueSource(MarginalSource, Protocol):
    """A source that holds values as they were written, of which any domain can be a coding."""

    def over(self, domain: Domain) -> ValueSource:
        """Return a source of the same records, coded in another domain."""

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Yield exact counts of records by key (`vocabulary.keys`) of a column, in parts without common keys."""


def counted(source: MarginalSource, cliques: Collection[Clique], table_bytes: int = TABLE_BYTES) -> dict[Clique, NDArray[np.int64]]:
    """Return `MarginalSource.counts` in as many passes as keep the tables of counts below `table_bytes` (`vocabulary.blocks.slices`).

    The integers are the same as in one pass. The returned tables do not count towards `table_bytes`.
    """
    tables: dict[Clique, NDArray[np.int64]] = {}
    for group in slices(source.domain, cliques, table_bytes):
        tables |= source.counts(group)
    return tables
