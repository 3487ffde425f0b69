"""Training a generator network towards noisy answers: Adam from anew each time, with a rate that falls to nothing as a cosine.

Knows released values only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dpsynth_core.foundation import threads
from dpsynth_core.research.inference.generator.network import Generator, Parameters
from dpsynth_core.research.inference.relaxed.losses import Loss
from dpsynth_core.research.inference.relaxed.onehot import Columns
from dpsynth_core.research.inference.relaxed.projection import Adam

EVERY = 50
"""Training is told of after so many steps."""


@dataclass(frozen=True, eq=False)
class Trained:
    """Where a training is. table: the relaxed table at these parameters. steps: taken so far."""

    parameters: Parameters
    table: Columns
    steps: int


def train(generator: Generator, start: Parameters, loss: Loss, rate: float, steps: int) -> Iterator[Trained]:
    """Yields after every EVERY steps; the last one is the result. It ends earlier where the loss is nothing. `start` is left as it is."""
    adam, parameters, taken, ended = Adam(start.shape, rate), start.copy(), 0, False
    while not ended:
        # not held while a step is looked at: the number of threads is the whole process's
        with threads.one_thread():
            done, ended, table = _some(generator, parameters, loss, adam, taken, steps)
        taken += done
        if not ended:
            yield Trained(parameters.copy(), table, taken)
    yield Trained(parameters, table, taken)


def answering(generator: Generator, parameters: Parameters) -> Columns:
    """The relaxed table at these parameters, rounded as `train` rounds it: whoever repeats a release has one thread of linear algebra, and
    sums of float32 depend on how many there are."""
    with threads.one_thread():
        return generator.forward(parameters).table


def _some(generator: Generator, parameters: Parameters, loss: Loss, adam: Adam, taken: int, steps: int) -> tuple[int, bool, Columns]:
    """Up to EVERY steps, which change the parameters: how many there were, whether they were the last, and the relaxed table after them."""
    through = generator.forward(parameters)
    for done in range(min(EVERY, steps - taken)):
        value, slope = loss(through.table)
        if not value:
            return done, True, through.table
        gradient = generator.gradient(parameters, through, slope)
        parameters -= (1 + math.cos(math.pi * (taken + done) / steps)) / 2 * adam.step(gradient)
        through = generator.forward(parameters)
    return min(EVERY, steps - taken), taken + EVERY >= steps, through.table
