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
    """A `View` of a source. It keeps counts, never records."""

    def __init__(self, source: MarginalSource, noise: Noise) -> None:
        self.source, self.domain, self.noise = source, source.domain, noise
        self.offers = frozenset(ability for ability in ("over", "values", "right", "roots", "occupied") if getattr(source, ability, None))
        self._tables: dict[Clique, Integers] = {}
        self._cells: dict[Attribute, Integers] = {}
        self._remembered: dict[str, tuple[Hashable, Any]] = {}

    def prepare(self, cliques: Collection[Clique]) -> None:
        """Read these marginals in one pass, if their tables fit."""
        if missing := [clique for clique in cliques if clique not in self._tables]:
            self._fetch(missing)

    def prepare_cells(self, cells: Collection[Attribute]) -> None:
        """Count these columns in these cells in one pass."""
        counts = self.over(Domain(tuple(cells))).counts([(attribute.name,) for attribute in cells])
        self._cells = {attribute: counts[(attribute.name,)] for attribute in cells}

    def over(self, domain: Domain) -> ValueSource:
        """Return the same records in the cells of another domain."""
        if not hasattr(self.source, "over"):
            raise ValueError("this source holds cells, not values")
        return cast(ValueSource, self.source).over(domain)

    def tables(self, cliques: Collection[Clique]) -> dict[Clique, Integers]:
        """Return marginals from the cache, by summation of a larger one, or else in one pass over the source."""
        if unknown := [clique for clique in cliques if clique not in self._tables and not self._sum_down(clique)]:
            self._fetch(unknown)
        return {clique: self._tables[clique] for clique in cliques}

    def total(self) -> Integers:
        """Return the number of rows as an array of one, from a marginal that was read if there is one."""
        if self._tables:
            return next(iter(self._tables.values())).sum().reshape(1)
        return np.asarray(self.source.counts([()])[()]).reshape(1)

    def cells(self, cells: Attribute) -> Integers:
        """Return the number of records in each of these cells, counted now unless prepared."""
        if cells not in self._cells:
            self.prepare_cells([cells])
        return self._cells[cells]

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Yield numbers of records by key of a column, in parts without common keys."""
        return cast(ValueSource, self.source).values(name)

    def right(self, predictors: Sequence[Predictor]) -> Integers:
        """Return the number of records that each predictor is right about."""
        return cast(RecordSource, self.source).right(predictors)

    def roots(self, clique: Clique, groups: Mapping[str, Any]) -> Integers:
        """Return sums of roots: see `RootSource.roots`."""
        return cast(RootSource, self.source).roots(clique, groups)

    def occupied(self, clique: Clique) -> Occupied:
        """Return the distinct records over these columns, cached for the next question."""
        return self.remembered("occupied", clique, lambda: cast(CellSource, self.source).occupied(clique))

    def remembered(self, kind: str, key: Hashable, compute: Callable[[], T]) -> T:
        """Return `compute()`, cached under `key` until its kind is asked for another key."""
        if kind not in self._remembered or self._remembered[kind][0] != key:
            self._remembered.pop(kind, None)  # one at a time: it may be large
            self._remembered[kind] = key, compute()
        return cast(T, self._remembered[kind][1])

    def _sum_down(self, clique: Clique) -> bool:
        """Cache the marginal as a sum of the smallest cached one that contains it. Return False if no cached one does."""
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
