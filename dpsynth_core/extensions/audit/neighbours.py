"""Two neighbouring tables of invented people: the only data of an audit. No real table is opened in this room."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import ROOT_STEPS, Clique
from dpsynth_core.vocabulary.occupied import Occupied, row_cells
from dpsynth_core.vocabulary.predictors import Predictor
from dpsynth_core.vocabulary.regrouping import parent, regrouped
from dpsynth_core.vocabulary.rows import right_counts, row_marginals

CROWD = 20
"""Number of other people in the tables of `worst_cases`: few, so that one person matters."""

Row = tuple[int, ...]


class InventedTable:
    """A `ValueSource` over cell codes, shape (rows, columns of the domain).

    Counts of a marginal, and the table over another domain, are computed once and shared by all
    kernels that read it. As values of a column it gives the codes.

    Args:
        domain: The domain.
        rows: The rows.
        owned: Number of rows at the end that belong to one person; every other person has one row.
        most: Number of rows that a person may have.
    """

    def __init__(self, domain: Domain, rows: Sequence[Row], owned: int = 0, most: int = 1) -> None:
        self.domain, self._owned, self._most = domain, owned, most
        self.codes: NDArray[np.int32] = np.array(rows, dtype=np.int32).reshape(len(rows), len(domain))
        self._counts: dict[Clique, NDArray[np.int64]] = {}
        self._over: dict[Domain, InventedTable] = {}

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        """Return the exact marginal over each clique, in rows.

        Args:
            cliques: The cliques in domain order; () has the number of rows.

        Returns:
            By clique, an array of shape `domain.sizes(clique)`. Later calls return the same arrays, so
            the caller must not change them.
        """
        if new := [clique for clique in cliques if clique not in self._counts]:
            self._counts |= row_marginals(self.domain, self.codes, new)
        return {clique: self._counts[clique] for clique in cliques}

    def occupied(self, clique: Clique) -> Occupied:
        """Return the cells of the clique that hold records, with their counts of records."""
        return row_cells(self.domain, self.codes, clique)

    def right(self, predictors: Sequence[Predictor]) -> NDArray[np.int64]:
        """Return how many records each predictor predicts correctly, shape (predictors,)."""
        return right_counts(self.domain, self.codes, predictors)

    def roots(self, clique: Clique, groups: Mapping[str, Groups]) -> NDArray[np.int64]:
        """Return per cell the sum over persons of most * sqrt(share), in steps of 1/ROOT_STEPS, each term rounded down.

        The share is the fraction of the person's records that are in the cell. The result is not cached.

        Args:
            clique: The names of columns or of groups of values.
            groups: Groups of values by name, which merge cells of columns.
        """
        over = parent(self.domain, clique, groups)
        mine = row_marginals(self.domain, self.codes[len(self.codes) - self._owned :], [over])[over]
        mine, every = (regrouped(counts, over, clique, groups) for counts in (mine, self.count(over)))
        others, scale = every - mine, ROOT_STEPS * self._most
        return scale * others + np.floor(scale * np.sqrt(mine / max(1, self._owned))).astype(np.int64)

    def over(self, domain: Domain) -> InventedTable:
        """Return the same records with their codes in another domain, whose columns are binned whole numbers.

        The codes of this table are taken as the numbers; a number beyond the edges is in the nearest cell.
        Later calls with an equal domain return the same table.
        """
        if domain not in self._over:
            columns = [(a, self.codes[:, self.domain.position(a.name)]) for a in domain]
            cells = [np.clip(np.searchsorted(a.edges, column, side="right") - 1, 0, a.values - 1) for a, column in columns]
            self._over[domain] = InventedTable(domain, list(zip(*cells, strict=True)), self._owned, self._most)
        return self._over[domain]

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Yield one mapping from the codes of a column that occur, as texts, to their numbers of rows."""
        yield {str(code): rows for code, rows in enumerate(self.count((name,)).tolist()) if rows}

    def count(self, clique: Clique) -> NDArray[np.int64]:
        """Return the exact marginal over one clique, in rows, an array that the caller must not change."""
        return self.counts([clique])[clique]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two tables that are neighbours under a unit of privacy.

    Attributes:
        title: Description of the person in whom they differ.
        unit: The unit of privacy.
        tables: The table without the person (or with the person's old rows), and the one with them.
    """

    title: str
    unit: Unit
    tables: tuple[InventedTable, InventedTable]

    @property
    def domain(self) -> Domain:
        """The domain of both tables."""
        return self.tables[0].domain

    @classmethod
    def of(cls, title: str, domain: Domain, unit: Unit, others: Sequence[Row], before: Sequence[Row], after: Sequence[Row]) -> Neighbours:
        """Return two neighbouring tables.

        Args:
            title: Description of the person.
            domain: The domain.
            unit: The unit of privacy.
            others: Rows of all other people.
            before: The person's rows in the first table.
            after: The person's rows in the second table. Under add-remove one of the two is empty.

        Raises:
            ValueError: The tables are not neighbours under the unit.
        """
        fewest, most = sorted((len(before), len(after)))
        if most > unit.max_rows_per_person or (fewest > 0) != (unit.relation == REPLACE):
            raise ValueError("these tables are not neighbours under this unit")
        most = unit.max_rows_per_person
        one, another = (InventedTable(domain, [*others, *owned], len(owned), most) for owned in (before, after))
        return cls(title, unit, (one, another))


def worst_cases(domain: Domain, unit: Unit) -> tuple[Neighbours, ...]:
    """Return two pairs of neighbouring tables, each with 20 other people, for a mechanism over any domain.

    The person owns as many equal rows as the unit allows, which is the most that one person can
    change. In the first pair all others are equal and unlike the person, in the second they are
    random, the same in every call.
    """
    first, last = (0,) * len(domain), tuple(attribute.size - 1 for attribute in domain)
    mine, elsewhere = [last] * unit.max_rows_per_person, [first] * unit.max_rows_per_person
    before = elsewhere if unit.relation == REPLACE else []
    rng = np.random.default_rng(0)
    mixed = [tuple(map(int, rng.integers(0, domain.sizes(domain.names)))) for _ in range(CROWD)]
    return (
        Neighbours.of("somebody unlike everybody else", domain, unit, [first] * CROWD, before, mine),
        Neighbours.of("somebody in a mixed crowd", domain, unit, mixed, before, mine),
    )
