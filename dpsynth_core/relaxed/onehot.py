"""The one-hot space: every value of every attribute is a column, and a relaxed record is a distribution over the values of each attribute.

A relaxed table is an array of shape (columns, relaxed rows): a column of the table is contiguous, which is what products of columns want.
Knows the public domain only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.domain import Domain
from dpsynth_core.measurement import Clique

Columns = NDArray[np.floating[Any]]
"""Shape (columns of the one-hot space, relaxed rows)."""


@dataclass(frozen=True)
class OneHot:
    """Columns of a domain: those of attribute i are block(i), one for each of its values in order."""

    domain: Domain

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First column of each attribute, and at the end the number of columns."""
        return np.array([0, *accumulate(self.domain.sizes(self.domain.names))])

    @property
    def columns(self) -> int:
        return int(self.starts[-1])

    def block(self, attribute: int) -> slice:
        return slice(int(self.starts[attribute]), int(self.starts[attribute + 1]))

    def blocks(self, clique: Clique) -> list[slice]:
        """The columns of each attribute of a marginal."""
        return [self.block(self.domain.position(name)) for name in clique]

    def random(self, rows: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """Free parameters to begin with, uniform in [-1, 1] (paper, section 5.1), shape (columns, rows)."""
        return (2 * rng.random((self.columns, rows), dtype=np.float32) - 1).astype(np.float32)

    def sparsemax(self, free: Columns) -> Columns:
        """Every block of every row projected to the simplex: the nearest distribution over the values of the attribute."""
        table = np.empty_like(free)
        for attribute in range(len(self.domain)):
            block = self.block(attribute)
            np.subtract(free[block], _threshold(free[block]), out=table[block])
        return np.asarray(np.maximum(table, 0, out=table))


def _threshold(values: Columns) -> Columns:
    """tau with sum max(values - tau, 0) = 1, for each row; values: shape (values of an attribute, rows).

    With values sorted downwards, tau is the mean excess (sum of the first j - 1) / j at the j that makes it largest (Martins and
    Astudillo 2016, Algorithm 1: more values would have to be negative, fewer would leave some out).
    """
    ordered = np.sort(values, axis=0)[::-1]
    excess = np.cumsum(ordered, axis=0)
    excess -= 1
    excess /= np.arange(1, len(values) + 1, dtype=values.dtype)[:, None]
    return np.asarray(excess.max(axis=0))
