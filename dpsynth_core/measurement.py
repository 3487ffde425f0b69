"""A noisy marginal, or the residual of one: all that mechanisms ever learn about the private table's counts, apart from selections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Clique = tuple[str, ...]
"""Attribute names in domain order; the index of a marginal."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """`values` = M_clique(D) + noise of standard deviation `sigma` per cell.

    values: float64 counts, one axis per attribute of `clique`, in that order (C order when flattened).
    """

    clique: Clique
    values: NDArray[np.float64]
    sigma: float

    def __post_init__(self) -> None:
        if self.values.ndim != len(self.clique):
            raise ValueError("values needs one axis per attribute of the clique")
        if not self.sigma > 0:
            raise ValueError("sigma must be positive")


@dataclass(frozen=True, eq=False)
class Residual:
    """`values` = M_clique(D) + noise of standard deviation `sigma` per cell, projected on what no smaller marginal says.

    values: float64 counts, shaped like the marginal, summing to zero along every axis.
    """

    clique: Clique
    values: NDArray[np.float64]
    sigma: float
