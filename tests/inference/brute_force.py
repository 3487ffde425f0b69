"""The oracle for every inference test: the whole joint distribution as one table (small domains only)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.contraction import Labels
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand


def coded_domain(sizes: Sequence[int]) -> Domain:
    return Domain.from_json({f"a{i}": size for i, size in enumerate(sizes)})


def joint(sizes: Sequence[int], cliques: Sequence[Labels], log_potentials: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The normalised product of exponentials of all potentials."""
    everything = tuple(range(len(sizes)))
    total = np.zeros(sizes)
    for labels, table in zip(cliques, log_potentials, strict=True):
        total = total + expand(table, labels, everything)
    p = np.exp(total - total.max())
    return p / p.sum()


def marginal(p: NDArray[np.float64], labels: Labels) -> NDArray[np.float64]:
    return p.sum(axis=tuple(a for a in range(p.ndim) if a not in labels))
