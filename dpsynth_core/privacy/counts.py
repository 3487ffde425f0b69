"""The exact counts of one source, read once: the `View` that the kernel hands to an operation after its charge."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from dpsynth_core.privacy.view import Integers, Noise
from dpsynth_core.sources.source import CellSource, MarginalSource, RecordSource, RootSource, ValueSource, counted
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.occupied import Occupied
from dpsynth_core.vocabulary.predictors import Predictor

T = TypeVar("T")


class Counts:
    """A `View` of a source: it caches exact counts, and never holds records. Its answers are private, without noise.

    Marginals, cells of columns and occupied cells are cached; `values`, `right` and `roots` ask the source anew.

    Args:
        source: The source that counts records.
        noise: The source of noise for answers.
    """

    def __init__(self, source: MarginalSource, noise: Noise) -> None:
        self.source, self.domain, self.noise = source, source.domain, noise
        self.offers = frozenset(ability for ability in ("over", "values", "right", "roots", "occupied") if getattr(source, ability, None))
        self._tables: dict[Clique, Integers] = {}
        self._cells: dict[Attribute, Integers] = {}
        self._remembered: dict[str, tuple[Hashable, Any]] = {}

    def prepare(self, cliques: Collection[Clique]) -> None:
        """Read and cache these marginals in one pass over the source, except those that are cached already.

        Raises:
            RuntimeError: The source returned a marginal of the wrong shape.
        """
        if missing := [clique for clique in cliques if clique not in self._tables]:
            self._fetch(missing)

    def prepare_cells(self, cells: Collection[Attribute]) -> None:
        """Count and cache columns in one pass, each in the cells of an `Attribute`, which the domain need not have.

        The columns of an earlier call are forgotten.

        Raises:
            ValueError: The source holds codes and not values.
        """
        counts = self.over(Domain(tuple(cells))).counts([(attribute.name,) for attribute in cells])
        self._cells = {attribute: counts[(attribute.name,)] for attribute in cells}

    def over(self, domain: Domain) -> ValueSource:
        """Return a source of the same records, coded in the cells of another domain; nothing is counted yet.

        Raises:
            ValueError: The source holds codes and not values.
        """
        if not hasattr(self.source, "over"):
            raise ValueError("this source holds cells, not values")
        return cast(ValueSource, self.source).over(domain)

    def everybody(self) -> MarginalSource:
        """Return a source of everybody's records; the source itself if it does not count some persons alone."""
        other = getattr(self.source, "everybody", None)
        return self.source if other is None else cast(MarginalSource, other())

    def tables(self, cliques: Collection[Clique]) -> dict[Clique, Integers]:
        """Return exact marginals: cached, summed from a larger cached one, or read in one pass over the source.

        Args:
            cliques: Cliques whose names are in the domain's order.

        Returns:
            By clique, the numbers of records, int64, shape `domain.sizes(clique)`. The arrays are the cached
            ones, which the caller must not change.

        Raises:
            RuntimeError: The source returned a marginal of the wrong shape.
        """
        if unknown := [clique for clique in cliques if clique not in self._tables and not self._sum_down(clique)]:
            self._fetch(unknown)
        return {clique: self._tables[clique] for clique in cliques}

    def total(self) -> Integers:
        """Return the number of rows as an array of shape (1,), from a cached marginal if there is one."""
        if self._tables:
            return next(iter(self._tables.values())).sum().reshape(1)
        return np.asarray(self.source.counts([()])[()]).reshape(1)

    def cells(self, cells: Attribute) -> Integers:
        """Return the number of records in each cell of one column, from the cache of `prepare_cells` or counted now.

        Args:
            cells: The column, with cells that the domain need not have.

        Returns:
            Exact numbers, int64, shape (cells,), in the cached array, which the caller must not change.

        Raises:
            ValueError: The source holds codes and not values.
        """
        if cells not in self._cells:
            self.prepare_cells([cells])
        return self._cells[cells]

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Yield mappings from a column's keys (`vocabulary.keys`) to their exact numbers of records, counted anew.

        No key is in two of the mappings. Only a source that holds values can answer.
        """
        return cast(ValueSource, self.source).values(name)

    def right(self, predictors: Sequence[Predictor]) -> Integers:
        """Return, for each predictor, the exact number of records that it predicts rightly, shape (predictors,); not cached."""
        return cast(RecordSource, self.source).right(predictors)

    def roots(self, clique: Clique, groups: Mapping[str, Any]) -> Integers:
        """Return per cell the sum over persons of limit * sqrt(share), in steps of 1/ROOT_STEPS; it is not cached.

        The share is the fraction of the person's records that are in the cell, the limit the number of rows
        that a person may have. Each person's term is rounded down to a whole step (`RootSource.roots`).

        Args:
            clique: The columns, or names of groups in place of columns.
            groups: Groups of values, by name.

        Returns:
            Whole numbers, int64, in an array with one axis for each entry of `clique`.
        """
        return cast(RootSource, self.source).roots(clique, groups)

    def occupied(self, clique: Clique) -> Occupied:
        """Return the cells of a clique that have records, with exact numbers; the latest result is cached.

        Raises:
            ValueError: The clique has more than 2^62 cells.
        """
        return self.remembered("occupied", clique, lambda: cast(CellSource, self.source).occupied(clique))

    def remembered(self, kind: str, key: Hashable, compute: Callable[[], T]) -> T:
        """Return compute(), or the cached result if the latest call with this kind had the same key.

        Args:
            kind: Name under which one result is cached.
            key: What the result depends on.
            compute: Computes the result.
        """
        if kind not in self._remembered or self._remembered[kind][0] != key:
            self._remembered.pop(kind, None)  # one at a time: it may be large
            self._remembered[kind] = key, compute()
        return cast(T, self._remembered[kind][1])

    def _sum_down(self, clique: Clique) -> bool:
        """Cache a marginal as a sum of the smallest cached marginal that contains it; False if no cached one does."""
        wanted = set(clique)
        smallest = min((kept for kept in self._tables if wanted.issubset(kept)), key=self.domain.cells, default=None)
        if smallest is None:
            return False
        self._tables[clique] = project(self._tables[smallest], smallest, clique)
        return True

    def _fetch(self, cliques: Collection[Clique]) -> None:
        fetched = counted(self.source, cliques)
        for clique in cliques:
            if fetched[clique].shape != self.domain.sizes(clique):
                raise RuntimeError("the source returned a marginal of the wrong shape")
            self._tables[clique] = fetched[clique]
