"""Weighted records: a model that is a list of possible people, each standing for a number of real ones.

The result of mechanisms that search for records or weigh public ones. Released values only.

Whole rows cannot follow uneven weights exactly: the more records there are per row, the more rounding alone loses. Moving single
values afterwards removes about half of that loss, and makes marginals outside the workload no worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.model import refined
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.released import of_codes


@dataclass(frozen=True, eq=False)
class WeightedRecords:
    """codes: int32, shape (m, attributes of the domain). weights: (m,), how many people each record stands for, not negative. ValueError
    for other shapes, codes outside the domain, and weights that do not add up to a positive number."""

    domain: Domain
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        sizes = self.domain.sizes(self.domain.names)
        if self.codes.ndim != 2 or self.codes.shape[1] != len(sizes) or ((self.codes < 0) | (self.codes >= sizes)).any():
            raise ValueError("a record needs a code within the domain for each attribute")
        if self.weights.shape != (len(self.codes),) or not (self.weights >= 0).all() or not 0 < self.total < np.inf:
            raise ValueError("each record needs a weight, not negative, and together they must be positive")

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Counts, shape domain.sizes(clique)."""
        return of_codes(self.domain, self.codes, clique, self.weights)

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.int32]:
        """Codes of n rows in random order, shape (n, attributes): every record as often as its share of n, rounded down or up; then single
        values are changed to bring the rows closer to what the weighted records answer to `marginals` (weights c_r)."""
        codes = rng.permutation(np.repeat(self.codes, rounded(self.weights * (n / self.total), n, rng), axis=0))
        return refined(self.domain, lambda clique: self.marginal(clique) / self.total, codes, marginals, rng)


def rounded(shares: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Whole numbers that add up to n, each its share rounded down or up, with the share as expectation. shares: adding up to n. Systematic
    sampling in random order: what rounding down leaves over is laid end to end, and whoever lies over one of the marks start, start + 1,
    ... gets one more."""
    whole = np.floor(shares)
    over = shares - whole
    order = rng.permutation(np.flatnonzero(over))
    marks = np.cumsum(over[order])
    missing = n - int(whole.sum())
    if len(order):
        marks = np.minimum(marks, missing)
        marks[-1] = missing  # up to rounding it is
    more = np.diff(np.floor(marks + rng.random()), prepend=0.0)
    counts = whole.astype(np.int64)
    counts[order] += more.astype(np.int64)
    return counts
