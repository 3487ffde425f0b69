"""What an operation of the kernel is given once it was charged: noise and exact counts, and no record."""

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
    """private: whether a release made with this noise keeps its promise; False brands it "not private"."""

    private: bool

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        """values + normal noise of standard deviation sigma, rounded to whole numbers (see `lattice`), independently per entry."""

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """values + noise with Pr[x] proportional to exp(-|x| / scale) on the integers, independently per entry."""

    def noisy_max(self, scores: Integers, scale: float) -> int:
        """Index of the largest score + Gumbel(scale): index i with probability proportional to exp(score_i / scale)."""

    def uniform(self, size: int) -> int:
        """A whole number from 0 to size - 1, each with the same probability."""

    def bernoulli_exp(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        """True with probability exp(-x), independently for each x >= 0."""

    def halved(self, counts: Integers) -> Integers:
        """How many of so many fair coins show heads, for each entry."""


class View(Protocol):
    """The exact counts of one table. Private: `privacy.kernel` alone makes one, and gives it to an operation after the charge."""

    @property
    def noise(self) -> Noise: ...

    def tables(self, cliques: Collection[Clique]) -> dict[Clique, Integers]:
        """The marginals of canonical cliques, shape domain.sizes(clique)."""

    def total(self) -> Integers:
        """The number of rows, as an array of one."""

    def cells(self, cells: Attribute) -> Integers:
        """How many records are in each of these cells of one column, which the domain may not have."""

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Numbers of records by key (`vocabulary.keys`) of a column, in parts that have no key in common."""

    def right(self, predictors: Sequence[Predictor]) -> Integers:
        """How many records each predictor is right about."""

    def roots(self, clique: Clique, groups: Mapping[str, Any]) -> Integers:
        """See `RootSource.roots`."""

    def occupied(self, clique: Clique) -> Occupied:
        """The distinct records over these columns."""

    def remembered(self, kind: str, key: Hashable, compute: Callable[[], T]) -> T:
        """What `compute` says of the counts, kept for the next question of this kind with the same key. One of a kind is kept."""
