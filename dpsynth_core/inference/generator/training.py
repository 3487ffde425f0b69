"""Training a generator network towards noisy answers: Adam from anew each time, with a rate that falls to nothing as a cosine.

Knows released values only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dpsynth_core.inference.generator.network import Generator, Parameters
from dpsynth_core.inference.relaxed.losses import Loss
from dpsynth_core.inference.relaxed.onehot import Columns
from dpsynth_core.inference.relaxed.projection import Adam

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
    adam, parameters, taken = Adam(start.shape, rate), start.copy(), 0
    through = generator.forward(parameters)
    while taken < steps:
        value, slope = loss(through.table)
        if not value:
            break
        gradient = generator.gradient(parameters, through, slope)
        parameters -= (1 + math.cos(math.pi * taken / steps)) / 2 * adam.step(gradient)
        taken += 1
        through = generator.forward(parameters)
        if taken % EVERY == 0 and taken < steps:
            yield Trained(parameters.copy(), through.table, taken)
    yield Trained(parameters, through.table, taken)
