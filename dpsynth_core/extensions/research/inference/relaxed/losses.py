"""Losses of a relaxed table: weighted squared distances of its answers to noisy answers, with gradients written by hand.

Answers are fractions of the table. `QueryLoss` suits queries picked one by one and gathers their columns; `MarginalLoss` suits all cells of
whole marginals and uses matrix products. Released answers alone enter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.extensions.research.inference.relaxed.onehot import Columns, OneHot, add_slopes, at_least, cells, exactly, halves

Fractions = NDArray[np.float64]
Blocks = tuple[slice, ...]
IMPOSSIBLE_CELLS = 20_000
"""Largest number of structural zeros that every step can evaluate."""


class Loss(Protocol):
    """A function from relaxed tables to losses with gradients."""

    def __call__(self, table: Columns) -> tuple[float, Columns]:
        """Return the loss of a relaxed table and its gradient, in the table's shape."""


@dataclass(frozen=True, eq=False)
class Sum:
    """The sum of several losses."""

    parts: Sequence[Loss]

    def __call__(self, table: Columns) -> tuple[float, Columns]:
        """Return the sum of the losses and the sum of their gradients, in the table's shape."""
        results = [part(table) for part in self.parts]
        return sum(value for value, _ in results), np.asarray(sum(gradient for _, gradient in results))


@dataclass(frozen=True, eq=False)
class QueryLoss:
    """The sum over queries of weight * (answer - target)^2.

    Attributes:
        columns: Columns of each query in the one-hot space, shape (k, queries).
        targets: Noisy answers as fractions, shape (queries,).
        threshold: A query counts rows with at least this many of its k columns.
        weights: Weights, shape (queries,).
    """

    AT_ONCE = 64
    """Number of queries whose products are formed together: with a thousand rows they fit into a processor's cache."""

    columns: NDArray[np.int64]
    targets: Fractions
    threshold: int
    weights: Fractions

    def __call__(self, table: Columns) -> tuple[float, Columns]:
        """Return the loss and its gradient, in the table's shape and precision."""
        (k, queries), rows = self.columns.shape, table.shape[1]
        slopes = np.empty((k, queries, rows), dtype=table.dtype)
        loss = 0.0
        for start in range(0, queries, self.AT_ONCE):
            some = slice(start, start + self.AT_ONCE)
            answers = self._answers([table[column] for column in self.columns[:, some]], slopes[:, some])
            gaps = answers.astype(np.float64) / rows - self.targets[some]
            weighted = gaps * self.weights[some]
            loss += float(gaps @ weighted)
            slopes[:, some] *= (weighted * (2 / rows)).astype(table.dtype)[:, None]
        # the sparse matrix adds the slope of each query's column to that column
        entries = np.ones(k * queries, dtype=table.dtype), (self.columns.reshape(-1), np.arange(k * queries))
        return loss, scipy.sparse.csr_array(entries, shape=(len(table), k * queries)) @ slopes.reshape(k * queries, rows)

    def _answers(self, factors: list[Columns], slopes: Columns) -> Columns:
        """Return the sum of each query's answer over the relaxed rows, shape (queries,).

        Args:
            factors: The k columns of the queries, each of shape (queries, rows).
            slopes: Filled with the derivative of the answer in each column, shape (k, queries,
                rows). That derivative does not depend on the column itself.
        """
        for i in range(len(factors)):
            slopes[i] = exactly([*factors[:i], *factors[i + 1 :]], self.threshold - 1)
        answers = np.einsum("qn,qn->q", factors[0], slopes[0])
        without = at_least(factors[1:], self.threshold)
        return np.asarray(answers + without.sum(axis=1) if self.threshold < len(factors) else answers)


class MarginalLoss:
    """The loss weight * sum over marginals and their cells of (answer - target)^2.

    Args:
        marginals: Blocks of columns of each marginal.
        targets: Noisy fractions of each marginal, flat in C order; NaN where any value is allowed.
        weight: Common weight.
    """

    GROUP_CELLS = 4096
    """Number of cells of first halves per matrix product: enough for all cores, and 16 MB with a thousand rows."""

    def __init__(self, marginals: Sequence[Sequence[slice]], targets: Sequence[Fractions], weight: float = 1.0) -> None:
        self._weight = weight
        self._groups: list[_Group] = []
        open_groups: dict[tuple[int, ...], _Group] = {}
        for blocks, target in zip(marginals, targets, strict=True):
            left, right = halves(blocks)
            place = tuple(block.start for block in right)
            if place not in open_groups or open_groups[place].cells >= self.GROUP_CELLS:
                open_groups[place] = _Group(right, [], [])
                self._groups.append(open_groups[place])
            open_groups[place].lefts.append(left)
            open_groups[place].targets.append(target.reshape(-1))

    def __call__(self, table: Columns) -> tuple[float, Columns]:
        """Return the loss and its gradient, in the table's shape.

        Marginals with the same second half share one matrix product, and its two transposes for the
        gradient.
        """
        gradient, loss = np.zeros_like(table), 0.0
        for group in self._groups:
            right = cells(table, group.right)
            lefts = [cells(table, left) for left in group.lefts]
            stacked = np.concatenate(lefts)
            gaps = stacked @ right.T / table.shape[1]
            gaps -= np.concatenate(group.targets).reshape(gaps.shape)
            np.nan_to_num(gaps, copy=False)
            loss += float(np.square(gaps, dtype=np.float64).sum()) * self._weight
            gaps *= 2 * self._weight / table.shape[1]
            ends = np.cumsum([len(left) for left in lefts])[:-1]
            for left, slope in zip(group.lefts, np.split(gaps @ right, ends), strict=True):
                add_slopes(gradient, table, left, slope)
            add_slopes(gradient, table, group.right, gaps.T @ stacked)
        return loss, gradient


def impossible(space: OneHot, weight: float) -> list[Loss]:
    """Return the losses that keep a relaxed table away from its domain's structural zeros: one loss or none.

    The list is empty if there are no structural zeros, or if the tables that contain them have more
    than 20,000 cells together, too many for every step. Rounded rows never reach
    structural zeros in any case, but then differ from the relaxed table's answers.

    Args:
        space: The one-hot space.
        weight: Factor of the sum of the squared answers to impossible cells, which are fractions.
    """
    domain = space.domain
    if not 0 < sum(map(domain.cells, domain.zeros)) <= IMPOSSIBLE_CELLS:
        return []
    nothing = [np.where(zero, 0.0, np.nan) for zero in domain.zeros.values()]
    return [MarginalLoss([space.blocks(clique) for clique in domain.zeros], nothing, weight)]


@dataclass(frozen=True, eq=False)
class _Group:
    """Marginals with the same second half: their first halves and flat targets."""

    right: Blocks
    lefts: list[Blocks]
    targets: list[Fractions]

    @property
    def cells(self) -> int:
        return sum(target.size for target in self.targets) // math.prod(block.stop - block.start for block in self.right)


Free = Columns
"""Parameters before sparsemax."""


@dataclass(frozen=True)
class Descent:
    """Settings of a projection. Defaults come from `docs/accuracy.md`, from simulated people.

    Attributes:
        rate: Adam's step.
        reach: How far below the support parameters may be.
        steps: Largest number of steps.
        every: Number of steps between reports.
        window: A fit ends when this many steps improved the loss by less than `improvement`.
        improvement: Relative improvement of the loss.
    """

    rate: float = 0.1
    reach: float = 0.2
    steps: int = 300
    every: int = 50
    window: int = 50
    improvement: float = 1e-3


@dataclass(frozen=True, eq=False)
class Fit:
    """The state of a fit.

    Attributes:
        free: The parameters, shape (columns, rows).
        steps: Number of steps taken.
        loss: Loss before the last step.
    """

    free: Free
    steps: int
    loss: float


def project(space: OneHot, start: Free, loss: Loss, descent: Descent) -> Iterator[Fit]:
    """Fit a relaxed table to a loss by Adam, with a projection to distributions before each step.

    It ends after `descent.steps` steps, or earlier if the loss hardly improves (`Descent.window`).

    Args:
        space: The one-hot space.
        start: Starting parameters, shape (columns, rows), which are not changed.
        loss: The loss of a relaxed table.
        descent: Settings.

    Yields:
        The state after every `descent.every` steps and at the end; the last state is the result, whose table is
        `space.sparsemax(free)`.
    """
    adam = Adam(start.shape, descent.rate)
    free, before = start, math.inf
    for step in range(1, descent.steps + 1):
        free = np.maximum(space.centred(free), -descent.reach)
        value, gradient = loss(np.maximum(free, 0))
        free -= adam.step(gradient)
        ended = step == descent.steps
        if step % descent.window == 0:
            ended = ended or value > before * (1 - descent.improvement)
            before = value
        if ended or step % descent.every == 0:
            yield Fit(free.copy(), step, value)
        if ended:
            return


class Adam:
    """Adam (Kingma and Ba 2015, Algorithm 1).

    Its small constant is far below any gradient here, because losses of fractions have small
    gradients.

    Args:
        shape: Shape of the parameters.
        rate: Size of a step.
    """

    FIRST, SECOND, TINY = 0.9, 0.999, 1e-12

    def __init__(self, shape: tuple[int, ...], rate: float) -> None:
        self._rate = rate
        self._mean = np.zeros(shape, dtype=np.float32)
        self._square = np.zeros(shape, dtype=np.float32)
        self._moved = np.zeros(shape, dtype=np.float32)
        self._steps = 0

    def step(self, gradient: Free) -> Free:
        """Return the change to subtract from the parameters; the array is overwritten by the next step.

        The gradient is overwritten as well: a step spends most of its time on memory access.

        Args:
            gradient: Gradient of the loss in the parameters.
        """
        self._steps += 1
        self._mean *= self.FIRST
        self._mean += np.multiply(gradient, 1 - self.FIRST, out=self._moved)
        gradient *= gradient
        gradient *= 1 - self.SECOND
        self._square *= self.SECOND
        self._square += gradient
        scale = np.sqrt(self._square, out=gradient)
        scale += self.TINY
        np.divide(self._mean, scale, out=self._moved)
        self._moved *= self._rate * math.sqrt(1 - self.SECOND**self._steps) / (1 - self.FIRST**self._steps)
        return self._moved
