"""The generator network against a literal pass, one relaxed row and one unit at a time, and its gradient against finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.extensions.research.inference.generator.network import Generator
from dpsynth_core.extensions.research.inference.relaxed.onehot import OneHot
from dpsynth_core.vocabulary.domain import Domain
from tests.extensions.research.inference.relaxed import references

SPACE = OneHot(Domain.from_json({"a": 3, "b": 1, "c": 4}))
LATENT, BATCH, HIDDEN = 3, 6, (4, 5)


def generator() -> Generator:
    """In double precision."""
    drawn = Generator.drawn(SPACE, LATENT, BATCH, HIDDEN, np.random.default_rng(1))
    return Generator(SPACE, drawn.inputs.astype(np.float64), HIDDEN)


def parameters(network: Generator) -> np.ndarray:
    """Anywhere: scales and shifts too."""
    start = network.initial(np.random.default_rng(2))
    return np.asarray(start + np.random.default_rng(3).normal(0, 0.3, start.shape))


def literal_table(network: Generator, flat: np.ndarray) -> np.ndarray:
    """Section 5 of the paper with the residual layers of the authors' program: each puts max(0, normalised) before its inputs."""
    numbers = iter(flat.tolist())
    columns = [[float(x) for x in network.inputs[:, n]] for n in range(BATCH)]  # of each relaxed row, what goes into the next layer
    for width in HIDDEN:
        weights = [[next(numbers) for _ in columns[0]] for _ in range(width)]
        scales, shifts = [next(numbers) for _ in range(width)], [next(numbers) for _ in range(width)]
        outputs = [[0.0] * width for _ in range(BATCH)]
        for unit in range(width):
            sums = [math.fsum(w * x for w, x in zip(weights[unit], column, strict=True)) for column in columns]
            mean = math.fsum(sums) / BATCH
            deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in sums) / BATCH + 1e-5)
            for n in range(BATCH):
                outputs[n][unit] = max(0.0, scales[unit] * (sums[n] - mean) / deviation + shifts[unit])
        columns = [new + old for new, old in zip(outputs, columns, strict=True)]
    weights = [[next(numbers) for _ in columns[0]] for _ in range(SPACE.columns)]
    constants = [next(numbers) for _ in range(SPACE.columns)]
    assert next(numbers, None) is None
    table = np.zeros((SPACE.columns, BATCH))
    for n, column in enumerate(columns):
        logits = [math.fsum(w * x for w, x in zip(row, column, strict=True)) + c for row, c in zip(weights, constants, strict=True)]
        for attribute in range(len(SPACE.domain)):
            block = SPACE.block(attribute)
            raised = [math.exp(logit) for logit in logits[block]]
            table[block, n] = [one / math.fsum(raised) for one in raised]
    return table


def test_a_pass_is_what_its_units_compute_one_by_one() -> None:
    network = generator()
    flat = parameters(network)
    assert network.forward(flat).table == pytest.approx(literal_table(network, flat), rel=1e-9)


def test_gradients_match_finite_differences() -> None:
    network = generator()
    flat, wanted = parameters(network), np.random.default_rng(4).normal(size=(SPACE.columns, BATCH))
    through = network.forward(flat)
    slope = 2 * (through.table - wanted)
    expected = references.finite_differences(lambda moved: float(((network.forward(moved).table - wanted) ** 2).sum()), flat)
    assert network.gradient(flat, through, slope) == pytest.approx(expected, rel=1e-5, abs=1e-8)


def test_a_network_begins_with_unit_scales_and_no_shifts() -> None:
    network = generator()
    start = network.initial(np.random.default_rng(5))
    first = HIDDEN[0] * LATENT
    assert np.abs(start[:first]).max() <= 1 / math.sqrt(LATENT)
    assert (start[first : first + HIDDEN[0]] == 1).all()
    assert (start[first + HIDDEN[0] : first + 2 * HIDDEN[0]] == 0).all()


def test_a_start_near_shares_gives_every_row_those_odds_but_for_the_maps() -> None:
    network = generator()
    shares = np.array([0.5, 0.3, 0.2, 1.0, 0.1, 0.2, 0.3, 0.4])
    flat = network.starting_at(np.zeros_like(network.initial(np.random.default_rng(6))), shares)
    assert network.forward(flat).table == pytest.approx(np.repeat(shares[:, None], BATCH, axis=1))
