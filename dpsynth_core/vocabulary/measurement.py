"""Noisy marginals and residuals: apart from selections, all that mechanisms learn about the private table's counts."""

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
    """Yield the subsets of some columns with `least` to `most` members, smaller ones first; by default all subsets.

    The empty subset is among them if `least` is 0. Columns of a subset have the order of `columns`.

    Args:
        columns: The columns.
        least: Smallest number of columns of a subset.
        most: Largest number of columns of a subset; None for all.
    """
    for size in range(least, min(len(columns), len(columns) if most is None else most) + 1):
        yield from combinations(columns, size)


HALF_NORMAL = math.sqrt(2 / math.pi)
"""E|X| of a standard normal X: the expected absolute noise of a cell, in units of its standard deviation."""
ROUNDING = 1 / 12
"""Variance that rounding to whole numbers adds to noise, nearly: that of a uniform number from an interval of length 1."""


ROOT_STEPS = 2**10
"""Sums of roots of shares are whole multiples of 1/ROOT_STEPS of a record."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """A noisy marginal: `values` = M_clique(D) + noise of parameter `sigma` per cell. The empty clique is the number of rows.

    Attributes:
        clique: The marginal.
        values: float64 counts of records, one axis per name in `clique`, in that order (C order when flattened); may be negative.
        sigma: Standard deviation of a cell's noise before rounding, in records; above 0.
        spread: None for noise that is independent between cells and from other measurements. Otherwise the values combine all measurements
            of this marginal (see `final`), and `spread` is the largest standard deviation of their noise in any direction.
        rounding: Variance of a cell's noise in addition to sigma^2: `ROUNDING` for normal noise rounded to whole numbers.
        groups: The names in `clique` that are groups of a column's values instead of columns.

    Raises:
        ValueError: The shape does not fit the clique, `sigma` is not positive, another number is negative, or groups do not fit.
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
        """The standard deviation of a cell's noise in records, rounding included; measurements are weighed by it."""
        return math.sqrt(self.sigma**2 + self.rounding) if self.rounding else self.sigma

    @property
    def is_rounded_normal(self) -> bool:
        """True for noise as the kernel adds to a table: independent between cells, normal, rounded to whole numbers."""
        return self.spread is None and self.rounding == ROUNDING

    @property
    def widest(self) -> float:
        """The largest standard deviation of the noise in any direction, in records: the deviation of a cell, unless noise is correlated."""
        return self.deviation if self.spread is None else self.spread


def final(measurements: Iterable[Measurement], clique: Clique) -> Measurement | None:
    """Return the measurement that combines all measurements of this marginal, or None without such a measurement.

    It is the first one with a `spread`. Further measurements of the marginal then add no information.

    Args:
        measurements: The measurements.
        clique: The marginal.
    """
    return next((m for m in measurements if m.spread is not None and m.clique == clique), None)


@dataclass(frozen=True, eq=False)
class Residual:
    """A noisy residual of a marginal: the part of its counts that no smaller marginal contains, with noise.

    Attributes:
        clique: The marginal.
        values: Noisy counts, shaped like the marginal; they sum to zero along every axis.
        sigma: Standard deviation of each cell's noise before the projection that makes sums zero.
    """

    clique: Clique
    values: NDArray[np.float64]
    sigma: float


@dataclass(frozen=True, eq=False)
class MarginalCounts:
    """Uncertain counts of a marginal.

    Attributes:
        clique: The marginal.
        values: The counts of records, float64, one axis per column.
        variances: Variance of each count, in records squared, of the same shape; infinite for an unknown cell.
    """

    clique: Clique
    values: NDArray[np.float64]
    variances: NDArray[np.float64]
