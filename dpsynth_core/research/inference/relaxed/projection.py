"""Relaxed projection (Aydore et al. 2021, Algorithm 1): the relaxed table whose answers are closest to noisy ones.

Adam on free parameters of which the table is the sparsemax. The gradient is that in the table, not pulled back through sparsemax as an
autodiff framework would do: its Jacobian is zero outside the support, so that a value that a row has dropped could never return.
Parameters are kept within `reach` of the support, so that they can return when needed. With `reach` 0 (the plain projection of every step)
they would leave and enter the support with every step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpsynth_core.research.inference.relaxed.losses import Loss
from dpsynth_core.research.inference.relaxed.onehot import Columns, OneHot

Free = Columns
"""Parameters before sparsemax."""


@dataclass(frozen=True)
class Descent:
    """rate: Adam's step. reach: how far below the support parameters may be. A fit ends after `steps`, or when `window` steps improved the
    loss by less than `improvement` of it; it is told of after `every` steps. Defaults from `docs/accuracy.md`, on simulated people."""

    rate: float = 0.1
    reach: float = 0.2
    steps: int = 300
    every: int = 50
    window: int = 50
    improvement: float = 1e-3


@dataclass(frozen=True, eq=False)
class Fit:
    """Where a fit is. free: the parameters.  loss: of the step before."""

    free: Free
    steps: int
    loss: float


def project(space: OneHot, start: Free, loss: Loss, descent: Descent) -> Iterator[Fit]:
    """Yields after every `descent.every` steps; the last one is the result. `start` is left as it is."""
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
    """Kingma and Ba 2015, Algorithm 1. Its small constant is far below any gradient here: a loss of fractions has small ones."""

    FIRST, SECOND, TINY = 0.9, 0.999, 1e-12

    def __init__(self, shape: tuple[int, ...], rate: float) -> None:
        self._rate = rate
        self._mean = np.zeros(shape, dtype=np.float32)
        self._square = np.zeros(shape, dtype=np.float32)
        self._moved = np.zeros(shape, dtype=np.float32)
        self._steps = 0

    def step(self, gradient: Free) -> Free:
        """What to subtract from the parameters. Works in place, the gradient included: a step spends most of its time on memory access."""
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
