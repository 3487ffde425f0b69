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

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

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
        table = self.centred(free)
        return np.asarray(np.maximum(table, 0, out=table))

    def centred(self, free: Columns) -> Columns:
        """The parameters shifted, block by block and row by row, so that their positive parts are their sparsemax."""
        shifted = np.empty_like(free)
        for attribute in range(len(self.domain)):
            block = self.block(attribute)
            np.subtract(free[block], _threshold(free[block]), out=shifted[block])
        return shifted


def _threshold(values: Columns) -> Columns:
    """tau with sum max(values - tau, 0) = 1, for each row; values: shape (values of an attribute, rows). If the j largest values are the
    positive ones, tau is (their sum - 1) / j (Martins and Astudillo 2016, Algorithm 1). As a function of j that first rises, while the next
    value is above it, and then falls: its maximum is tau."""
    ordered = np.sort(values, axis=0)
    excess = ordered[-1] - 1
    tau = excess.copy()
    for j in range(2, len(values) + 1):
        excess += ordered[-j]
        mean = excess / j
        if (mean <= tau).all():
            break
        np.maximum(tau, mean, out=tau)
    return np.asarray(tau)
