"""A generator network: fixed random inputs become relaxed rows (Liu, Vietri, Wu 2021, section 5).

Relaxed rows are distributions over the values of each attribute.

Two or more hidden layers, each a linear map, batch normalisation and max(0, .), whose outputs are put beside their inputs; then a linear
map to one number per value, and a softmax for each attribute. The inputs stay as they were drawn, so that the network is a way to
parametrise a relaxed table of so many rows. Gradients are written by hand. Knows released values only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.inference.relaxed.losses import Adam, Loss, MarginalLoss, Sum
from dpsynth_core.extensions.research.inference.relaxed.onehot import Columns, OneHot, add_slopes, cells, halves
from dpsynth_core.foundation import threads
from dpsynth_core.vocabulary.measurement import Measurement

Parameters = NDArray[np.floating[Any]]
"""All weights of a network, flat."""
_SMALL = 1e-5
"""Constant added to the variance of a batch before the root is taken (Ioffe and Szegedy 2015, Algorithm 1)."""


@dataclass(frozen=True, eq=False)
class _Layer:
    """The values of a hidden layer's forward pass that its gradient needs.

    Attributes:
        inputs: Inputs, shape (d, batch).
        normal: Normalised outputs, shape (h, batch).
        inverse: 1 / deviation, shape (h, 1).
        positive: True where an output is above zero, shape (h, batch).
    """

    inputs: Columns
    normal: Columns
    inverse: Columns
    positive: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pass:
    """A forward pass through the network.

    Attributes:
        table: The relaxed table, shape (columns of the one-hot space, batch).
        last: Inputs of the last map, shape (its inputs, batch).
        layers: The hidden layers, in order.
    """

    table: Columns
    last: Columns
    layers: tuple[_Layer, ...]


@dataclass(frozen=True, eq=False)
class Generator:
    """A generator network. Its hidden linear maps have no constants, which batch normalisation would remove.

    Attributes:
        space: The one-hot space of the outputs.
        inputs: Fixed inputs, shape (latent, batch), one column per relaxed row.
        hidden: Width of each hidden layer.
    """

    space: OneHot
    inputs: Columns
    hidden: tuple[int, ...]

    @staticmethod
    def drawn(space: OneHot, latent: int, batch: int, hidden: Sequence[int], rng: np.random.Generator) -> Generator:
        """Return a generator whose fixed inputs are drawn from a standard normal distribution.

        Args:
            space: The one-hot space of the outputs.
            latent: Number of inputs of the network.
            batch: Number of relaxed rows.
            hidden: Width of each hidden layer.
            rng: Source of randomness.
        """
        return Generator(space, rng.standard_normal((latent, batch), dtype=np.float32), tuple(hidden))

    def initial(self, rng: np.random.Generator) -> Parameters:
        """Return random starting parameters, flat.

        Linear maps are uniform within 1 / sqrt(number of inputs), scales are one, shifts and
        constants are zero.

        Args:
            rng: Source of randomness.
        """
        drawn: list[Columns] = []
        for shape in self._shapes:
            reach = 1 / math.sqrt(shape[1])
            drawn.append(rng.uniform(-reach, reach, shape) if shape[1] > 1 else np.zeros(shape))
        for scale in range(1, 3 * len(self.hidden), 3):
            drawn[scale][:] = 1.0
        return np.concatenate([part.reshape(-1) for part in drawn]).astype(self.inputs.dtype)

    def starting_at(self, parameters: Parameters, shares: NDArray[np.float64]) -> Parameters:
        """Return a copy of the parameters whose last constants make every relaxed row resemble given shares.

        Args:
            parameters: The parameters, flat; not changed.
            shares: Share of each value of each attribute, above zero, shape (columns of the one-hot space,).
        """
        moved = parameters.copy()
        moved[-self.space.columns :] = np.log(shares)
        return moved

    def forward(self, parameters: Parameters) -> Pass:
        """Return the relaxed table at these parameters, with the intermediate values that `gradient` needs.

        Args:
            parameters: The parameters, flat.
        """
        parts, inputs, layers = list(self._split(parameters)), self.inputs, []
        for weights, scale, shift in _threes(parts[:-2]):
            normal = weights @ inputs
            normal -= normal.mean(axis=1, keepdims=True)
            variance = np.einsum("hn,hn->h", normal, normal)[:, None] / normal.shape[1]
            inverse = 1 / np.sqrt(variance + _SMALL)
            normal *= inverse
            outputs = normal * scale + shift
            layers.append(_Layer(inputs, normal, inverse, outputs > 0))
            inputs = np.concatenate([np.maximum(outputs, 0), inputs])
        return Pass(self._softmax(parts[-2] @ inputs + parts[-1]), inputs, tuple(layers))

    def gradient(self, parameters: Parameters, through: Pass, slope: Columns) -> Parameters:
        """Return the gradient of a loss in the parameters, flat, by backpropagation.

        Args:
            parameters: The parameters, flat.
            through: The forward pass at these parameters.
            slope: Derivative of the loss in the relaxed table, shape (columns of the one-hot space, batch).
        """
        parts = list(self._split(parameters))
        logits = self._softmax_slope(through.table, slope)
        gradients = [logits.sum(axis=1, keepdims=True), logits @ through.last.T]  # from the last to the first
        inner = parts[-2].T @ logits
        for layer, (weights, scale, _) in zip(reversed(through.layers), reversed(list(_threes(parts[:-2]))), strict=True):
            outputs, inner = inner[: len(scale)] * layer.positive, inner[len(scale) :]
            shifts = outputs.sum(axis=1, keepdims=True)
            scales = np.einsum("hn,hn->h", outputs, layer.normal)[:, None]
            batch = outputs.shape[1]
            before = (outputs - shifts / batch - layer.normal * (scales / batch)) * (scale * layer.inverse)
            gradients += [shifts, scales, before @ layer.inputs.T]
            inner = inner + weights.T @ before
        return np.concatenate([part.reshape(-1) for part in reversed(gradients)])

    @cached_property
    def _shapes(self) -> list[tuple[int, int]]:
        """Shapes of the parts of the flat parameters, in order.

        For each hidden layer: map, scale and shift; then map and constants of the last layer.
        """
        shapes, width = [], len(self.inputs)
        for hidden in self.hidden:
            shapes += [(hidden, width), (hidden, 1), (hidden, 1)]
            width += hidden
        return [*shapes, (self.space.columns, width), (self.space.columns, 1)]

    def _split(self, parameters: Parameters) -> Iterator[Columns]:
        ends = list(accumulate(rows * columns for rows, columns in self._shapes))
        for shape, end in zip(self._shapes, ends, strict=True):
            yield parameters[end - shape[0] * shape[1] : end].reshape(shape)

    def _softmax(self, logits: Columns) -> Columns:
        """Replace the logits of each attribute by their softmax, in place, and return the array."""
        for attribute in range(len(self.space.domain)):
            block = logits[self.space.block(attribute)]
            block -= block.max(axis=0)
            np.exp(block, out=block)
            block /= block.sum(axis=0)
        return logits

    def _softmax_slope(self, table: Columns, slope: Columns) -> Columns:
        logits = np.empty_like(table)
        for attribute in range(len(self.space.domain)):
            block = self.space.block(attribute)
            logits[block] = table[block] * (slope[block] - np.einsum("vn,vn->n", table[block], slope[block]))
        return logits


def _threes(parts: Sequence[Columns]) -> Iterator[tuple[Columns, Columns, Columns]]:
    for start in range(0, len(parts), 3):
        yield parts[start], parts[start + 1], parts[start + 2]


EVERY = 50
"""Number of steps between reports of a training."""


@dataclass(frozen=True, eq=False)
class Trained:
    """The state of a training.

    Attributes:
        parameters: The parameters, flat.
        table: The relaxed table at these parameters, shape (columns of the one-hot space, relaxed rows).
        steps: Number of steps taken since the training began.
    """

    parameters: Parameters
    table: Columns
    steps: int


def train(generator: Generator, start: Parameters, loss: Loss, rate: float, steps: int) -> Iterator[Trained]:
    """Train the network with Adam, at a rate that falls to zero as a cosine.

    Training ends after `steps` steps, or earlier if the loss reaches zero.

    Args:
        generator: The network.
        start: The starting parameters, flat, which are not changed.
        loss: The loss of a relaxed table.
        rate: Adam's rate at the beginning.
        steps: Largest number of steps.

    Yields:
        The state after every 50 steps and at the end; the last state is the result.
    """
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
    """Return the relaxed table at these parameters, shape (columns, relaxed rows), with the same rounding as in `train`.

    Linear algebra uses one thread, because sums of float32 depend on the number of threads, and a
    repeated release must be the same.

    Args:
        generator: The network.
        parameters: The parameters, flat.
    """
    with threads.one_thread():
        return generator.forward(parameters).table


def _some(generator: Generator, parameters: Parameters, loss: Loss, adam: Adam, taken: int, steps: int) -> tuple[int, bool, Columns]:
    """Take up to EVERY steps of Adam, which change the parameters in place.

    Args:
        generator: The network.
        parameters: The parameters.
        loss: The loss of a relaxed table.
        adam: The state of Adam.
        taken: Number of steps taken before.
        steps: Largest number of steps of the training.

    Returns:
        The number of steps taken here, whether the training has ended, and the relaxed table after
        them.
    """
    through = generator.forward(parameters)
    for done in range(min(EVERY, steps - taken)):
        value, slope = loss(through.table)
        if not value:
            return done, True, through.table
        gradient = generator.gradient(parameters, through, slope)
        parameters -= (1 + math.cos(math.pi * (taken + done) / steps)) / 2 * adam.step(gradient)
        through = generator.forward(parameters)
    return min(EVERY, steps - taken), taken + EVERY >= steps, through.table


class Misfit(Protocol):
    """A function that returns the loss of each round of a run. It may use what it stored in earlier rounds."""

    def __call__(self, measurements: Sequence[Measurement], table: Columns, /) -> Loss:
        """Return the loss that a round minimises, as a function of the relaxed table.

        Args:
            measurements: All measurements so far.
            table: The relaxed table at the beginning of the round.
        """


Misfits = Callable[[OneHot, float], Misfit]
"""Makes the misfit of a run from its one-hot space and number of people."""


@dataclass(frozen=True)
class WeightedSquares:
    """The mean over measured cells of (answer - noisy answer)^2 / variance.

    Attributes:
        space: The one-hot space.
        total: Number of people.
    """

    space: OneHot
    total: float

    def __call__(self, measurements: Sequence[Measurement], _table: Columns) -> Loss:
        """Return the loss of a round. Marginals measured with the same noise are evaluated together."""
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
    """The Euclidean norm of the largest gaps divided by their number, as in the authors' program.

    It takes at most MOST gaps of at least half the usual largest gap. The usual largest gap is a running mean over the rounds, in which
    each new round counts half. Noisy fractions are moved to [0, 1] first.

    Attributes:
        space: The one-hot space.
        total: Number of people.
        usual: The usual largest gap, as a fraction of the people; None before the first round.
    """

    MOST = 10_000

    space: OneHot
    total: float
    usual: float | None = None

    def __call__(self, measurements: Sequence[Measurement], table: Columns) -> Loss:
        """Return the loss of a round, and update the usual largest gap."""
        marginals = [self.space.blocks(m.clique) for m in measurements]
        targets = [np.clip(m.values / self.total, 0.0, 1.0) for m in measurements]
        largest = max(float(np.abs(gap).max()) for gap in _gaps(table, marginals, targets))
        self.usual = largest if self.usual is None else (self.usual + largest) / 2
        return _NormOfGaps(marginals, targets, self.usual / 2, self.MOST)


@dataclass(frozen=True, eq=False)
class _NormOfGaps:
    """The norm of the gaps of a round.

    Attributes:
        marginals: Blocks of columns of each marginal.
        targets: Noisy fractions of each marginal.
        least: Smallest gap that counts.
        most: Largest number of gaps that count.
    """

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
            (left, right), sums = halves(blocks), slope.astype(table.dtype)
            add_slopes(gradient, table, left, sums @ cells(table, right))
            add_slopes(gradient, table, right, sums.T @ cells(table, left))
        return norm / len(counted), gradient


def _gaps(table: Columns, marginals: Sequence[Sequence[slice]], targets: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Return, for each marginal, the relaxed table's answers less the targets, as fractions.

    Each array has the shape (cells of the marginal's first half, cells of its second half); see
    `halves`.

    Args:
        table: The relaxed table.
        marginals: Blocks of columns of each marginal.
        targets: Noisy fractions of each marginal.
    """
    gaps = []
    for blocks, target in zip(marginals, targets, strict=True):
        left, right = halves(blocks)
        answers = (cells(table, left) @ cells(table, right).T).astype(np.float64) / table.shape[1]
        gaps.append(answers - target.reshape(answers.shape))
    return gaps
