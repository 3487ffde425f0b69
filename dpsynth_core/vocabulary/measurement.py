"""A noisy marginal, or the residual of one: apart from selections, all that mechanisms learn about the private table's counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.groups import Groups

Clique = tuple[str, ...]
"""Attribute names in domain order; the index of a marginal."""


def subsets(columns: Sequence[str], least: int = 0, most: int | None = None) -> Iterator[Clique]:
    """The sets of `least` to `most` of some columns, none to all unless stated; smaller ones first."""
    for size in range(least, min(len(columns), len(columns) if most is None else most) + 1):
        yield from combinations(columns, size)


HALF_NORMAL = math.sqrt(2 / math.pi)
"""E|X| of a standard normal X: the expected absolute noise of a cell, in units of its standard deviation."""
ROUNDING = 1 / 12
"""What rounding noise to whole numbers adds to its variance, nearly: the variance of a number drawn evenly from an interval of length 1."""


ROOT_STEPS = 2**10
"""Sums of roots of shares are whole multiples of 1/ROOT_STEPS of a record."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """`values` = M_clique(D) + noise of parameter `sigma` per cell. The empty clique is the number of rows.

    values: float64 counts, one axis per attribute of `clique`, in that order (C order when flattened).
    spread: None where the noise is independent, from cell to cell and of other measurements. Otherwise the values already combine all
    that was measured about this marginal (see `final`), and `spread` is the largest standard deviation of their noise in any direction.
    rounding: variance that the noise of a cell has besides sigma^2: `ROUNDING` where it is normal noise rounded to whole numbers.
    groups: of the names in `clique`, those that are not columns but groups of a column's values.
    """

    clique: Clique
    values: NDArray[np.float64]
    sigma: float
    spread: float | None = None
    rounding: float = 0.0
    groups: tuple[Groups, ...] = ()

    def __post_init__(self) -> None:
        if self.values.ndim != len(self.clique):
            raise ValueError("values needs one axis per attribute of the clique")
        if not self.sigma > 0:
            raise ValueError("sigma must be positive")
        if not self.rounding >= 0 or not (self.spread is None or self.spread >= 0):
            raise ValueError("rounding and spread must not be negative")
        if self.groups and self.spread is not None:
            raise ValueError("what combines all measurements of a marginal has no groups")
        if any((groups.name, groups.size) not in zip(self.clique, self.values.shape, strict=True) for groups in self.groups):
            raise ValueError("groups must be of the clique, and as many as its table has")

    @property
    def deviation(self) -> float:
        """Standard deviation of a cell's noise, rounding included: what is published, and what measurements are weighed by."""
        return math.sqrt(self.sigma**2 + self.rounding) if self.rounding else self.sigma

    @property
    def is_rounded_normal(self) -> bool:
        """Whether its noise is what the kernel adds to a table: independent from cell to cell, normal, rounded to whole numbers."""
        return self.spread is None and self.rounding == ROUNDING

    @property
    def widest(self) -> float:
        """The largest standard deviation of the noise in any direction: that of a cell, unless the noise is correlated."""
        return self.deviation if self.spread is None else self.spread


def final(measurements: Iterable[Measurement], clique: Clique) -> Measurement | None:
    """The measurement that already combines all that was measured about this marginal, if there is one: others add nothing to it."""
    return next((m for m in measurements if m.spread is not None and m.clique == clique), None)


@dataclass(frozen=True, eq=False)
class Residual:
    """`values` = M_clique(D) + noise of standard deviation `sigma` per cell, projected on what no smaller marginal says.

    values: float64 counts, shaped like the marginal, summing to zero along every axis.
    """

    clique: Clique
    values: NDArray[np.float64]
    sigma: float


@dataclass(frozen=True, eq=False)
class MarginalCounts:
    """Uncertain counts of a marginal, each with a variance of its own, infinite where nothing is known of a cell.

    values, variances: float64, one for each cell, shaped like the marginal.
    """

    clique: Clique
    values: NDArray[np.float64]
    variances: NDArray[np.float64]
