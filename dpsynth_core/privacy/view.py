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
    """A source of noise for the answers of the kernel.

    Attributes:
        private: Whether a release made with it is private; False brands the release "not private".
    """

    private: bool

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        """Return values + normal noise of standard deviation sigma, rounded to whole numbers (see `lattice`), independently per entry.

        Args:
            values: Whole numbers of any shape, which is the result's shape too.
            sigma: Standard deviation of the noise, in units of the values.
        """

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        """Return values + noise with Pr[x] proportional to exp(-|x| / scale) on the integers, independently per entry."""

    def noisy_max(self, scores: Integers, scale: float) -> int:
        """Return the index of the largest score + Gumbel(scale): index i, from 0, with probability proportional to exp(score_i / scale)."""

    def uniform(self, size: int) -> int:
        """Return a whole number from 0 to size - 1, each with the same probability."""

    def bernoulli_exp(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        """Return, for each exponent x >= 0, True with probability exp(-x), independently: shape (exponents,)."""

    def halved(self, counts: Integers) -> Integers:
        """Return, for each entry, the number of heads among that many fair coins."""


class View(Protocol):
    """The exact, private counts of one table, without noise.

    Only `privacy.kernel` makes a view, and it passes the view to an operation after the charge.
    """

    @property
    def noise(self) -> Noise:
        """The source of noise for the answer."""

    def tables(self, cliques: Collection[Clique]) -> dict[Clique, Integers]:
        """Return the exact marginals of canonical cliques (tuples of columns in domain order), by clique.

        Each has the numbers of records, int64, shape domain.sizes(clique). The arrays may be cached: do not
        write to them.
        """

    def total(self) -> Integers:
        """Return the number of rows, as an array of shape (1,)."""

    def cells(self, cells: Attribute) -> Integers:
        """Return the exact number of records in each of these cells of one column, shape (cells,).

        Args:
            cells: The column with its cells, which need not be cells of the domain.
        """

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        """Yield mappings from a column's keys (`vocabulary.keys`) to their exact numbers of records.

        No key is in two of the mappings.
        """

    def right(self, predictors: Sequence[Predictor]) -> Integers:
        """Return, for each predictor, the exact number of records that it predicts rightly, shape (predictors,)."""

    def roots(self, clique: Clique, groups: Mapping[str, Any]) -> Integers:
        """Return per cell the sum over persons of limit * sqrt(share), in steps of 1/ROOT_STEPS.

        The share is the fraction of the person's records that are in the cell, the limit the number of rows
        that a person may have. Each person's term is rounded down to a whole step (`RootSource.roots`).

        Args:
            clique: The columns, or names of groups in place of columns.
            groups: Groups of values, by name.

        Returns:
            Whole numbers, int64, in an array with one axis for each entry of `clique`.
        """

    def occupied(self, clique: Clique) -> Occupied:
        """Return the cells of a clique that have records, with exact numbers of records.

        Raises:
            ValueError: The clique has more than 2^62 cells.
        """

    def remembered(self, kind: str, key: Hashable, compute: Callable[[], T]) -> T:
        """Return compute(), or the cached result if the latest call with this kind had the same key.

        Args:
            kind: Name under which one result is cached.
            key: What the result depends on.
            compute: Computes the result from the counts.
        """
