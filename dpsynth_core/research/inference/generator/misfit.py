"""What a generator is trained to make small: how far its answers are from everything measured so far.

`WeightedSquares` is the likelihood of the noise; `LargestGaps` is what the authors of GEM train on. Know released answers only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.research.inference.relaxed.losses import Loss, MarginalLoss, Sum
from dpsynth_core.research.inference.relaxed.onehot import Columns, OneHot, add_slopes, cells, halves
from dpsynth_core.vocabulary.measurement import Measurement


class Misfit(Protocol):
    """One for each run: it may remember earlier rounds."""

    def __call__(self, measurements: Sequence[Measurement], table: Columns, /) -> Loss:
        """The loss of a round. table: the relaxed table at its beginning."""


Misfits = Callable[[OneHot, float], Misfit]
"""Of a run. total: the number of people."""


@dataclass(frozen=True)
class WeightedSquares:
    """The sum over measured cells of (answer - noisy answer)^2 / variance, per cell."""

    space: OneHot
    total: float

    def __call__(self, measurements: Sequence[Measurement], _table: Columns) -> Loss:
        """Marginals of the same noise go together."""
        cells_measured = sum(m.values.size for m in measurements)
        alike: dict[float, list[Measurement]] = {}
        for m in measurements:
            alike.setdefault(m.sigma, []).append(m)
        return Sum([
            MarginalLoss(
                [self.space.blocks(m.clique) for m in some],
                [m.values / self.total for m in some],
                (self.total / sigma) ** 2 / cells_measured,
            )
            for sigma, some in alike.items()
        ])


@dataclass
class LargestGaps:
    """The Euclidean norm of the largest gaps, divided by their number, of those that are at least half the usual largest one. The usual one
    is a running mean over the rounds, in which each new round counts half; at most MOST gaps are taken. Noisy fractions are moved to [0, 1]
    first. All as in the authors' program."""

    MOST = 10_000

    space: OneHot
    total: float
    usual: float | None = None

    def __call__(self, measurements: Sequence[Measurement], table: Columns) -> Loss:
        marginals = [self.space.blocks(m.clique) for m in measurements]
        targets = [np.clip(m.values / self.total, 0.0, 1.0) for m in measurements]
        largest = max(float(np.abs(gap).max()) for gap in _gaps(table, marginals, targets))
        self.usual = largest if self.usual is None else (self.usual + largest) / 2
        return _NormOfGaps(marginals, targets, self.usual / 2, self.MOST)


@dataclass(frozen=True, eq=False)
class _NormOfGaps:
    """least: gaps below it count nothing. most: so many count at most, the largest."""

    marginals: Sequence[Sequence[slice]]
    targets: Sequence[NDArray[np.float64]]
    least: float
    most: int

    def __call__(self, table: Columns) -> tuple[float, Columns]:
        gaps = _gaps(table, self.marginals, self.targets)
        sizes = np.abs(np.concatenate([gap.reshape(-1) for gap in gaps]))
        least = self.least
        if len(sizes) > self.most:
            least = max(least, float(np.partition(sizes, -self.most)[-self.most]))
        counted = sizes[sizes >= least]
        gradient, norm = np.zeros_like(table), float(np.linalg.norm(counted))
        if not norm:
            return 0.0, gradient
        for blocks, gap in zip(self.marginals, gaps, strict=True):
            slope = np.where(np.abs(gap) >= least, gap, 0.0) / (norm * len(counted) * table.shape[1])
            _add(gradient, table, blocks, slope.astype(table.dtype))
        return norm / len(counted), gradient


def _gaps(table: Columns, marginals: Sequence[Sequence[slice]], targets: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Of each marginal, shape (cells of its first half, cells of its second)."""
    gaps = []
    for blocks, target in zip(marginals, targets, strict=True):
        left, right = halves(blocks)
        answers = (cells(table, left) @ cells(table, right).T).astype(np.float64) / table.shape[1]
        gaps.append(answers - target.reshape(answers.shape))
    return gaps


def _add(gradient: Columns, table: Columns, blocks: Sequence[slice], slope: Columns) -> None:
    """Add what something has in the table whose derivative in the sums over rows of a marginal is `slope`, shaped like its gaps."""
    left, right = halves(blocks)
    add_slopes(gradient, table, left, slope @ cells(table, right))
    add_slopes(gradient, table, right, slope.T @ cells(table, left))
