"""The view that an operation of the kernel gets after its charge: noise and exact counts, and no record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.occupied import Occupied
from dpsynth_core.vocabulary.predictors import Predictor

Integers = NDArray[np.int64]
T = TypeVar("T")


class Noise(Protocol):
    """A source of noise. `private` tells whether a release made with it keeps its promise; False brands the release "not private"."""

    private: bool

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        """Return values + normal noise of standard deviation sigma, rounded to whole numbers (see `lattice`), independently per entry."""

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """Return values + noise with Pr[x] proportional to exp(-|x| / scale) on the integers, independently per entry."""

    def noisy_max(self, scores: Integers, scale: float) -> int:
        """Return the index of the largest score + Gumbel(scale): index i with probability proportional to exp(score_i / scale)."""

    def uniform(self, size: int) -> int:
        """Return a whole number from 0 to size - 1, each with the same probability."""

    def bernoulli_exp(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        """Return True with probability exp(-x), independently for each x >= 0."""

    def halved(self, counts: Integers) -> Integers:
        """Return, for each entry, the number of heads among that many fair coins."""


class View(Protocol):
    """The exact counts of one table. Private: `privacy.kernel` alone makes a view, and gives it to an operation after the charge."""

    @property
    def noise(self) -> Noise:
        """The source of noise for the answer."""

    def tables(self, cliques: Collection[Clique]) -> dict[Clique, Integers]:
        """Return the marginals of canonical cliques, shape domain.sizes(clique)."""

    def total(self) -> Integers:
        """Return the number of rows, as an array of one."""

    def cells(self, cells: Attribute) -> Integers:
        """Return the number of records in each of these cells of one column, which need not be cells of the domain."""

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Yield numbers of records by key (`vocabulary.keys`) of a column, in parts without common keys."""

    def right(self, predictors: Sequence[Predictor]) -> Integers:
        """Return the number of records that each predictor is right about."""

    def roots(self, clique: Clique, groups: Mapping[str, Any]) -> Integers:
        """Return sums of roots: see `RootSource.roots`."""

    def occupied(self, clique: Clique) -> Occupied:
        """Return the distinct records over these columns."""

    def remembered(self, kind: str, key: Hashable, compute: Callable[[], T]) -> T:
        """Return `compute()`, a function of the counts, cached under `key` for the next question of its kind.

        One result is cached for each kind.
        """
