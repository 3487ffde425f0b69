"""Relaxed projection finds tables with the answers it is given, says how it goes, and stops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dpsynth_core.extensions.research.inference.relaxed.losses import Adam, Descent, MarginalLoss, project
from dpsynth_core.extensions.research.inference.relaxed.onehot import OneHot
from dpsynth_core.extensions.research.inference.relaxed.relaxed_table import RelaxedTable
from dpsynth_core.vocabulary.domain import Domain

DOMAIN = Domain.from_json({"a": 3, "b": 4, "c": 2})
SPACE = OneHot(DOMAIN)


def skewed() -> np.ndarray:
    """A distribution with most of its mass in few cells."""
    mass = np.random.default_rng(0).random((3, 4, 2)) ** 8
    return mass / mass.sum()


def loss() -> MarginalLoss:
    return MarginalLoss([SPACE.blocks(DOMAIN.names)], [skewed()])


def test_answers_that_a_table_can_have_are_found() -> None:
    start = SPACE.random(200, np.random.default_rng(1))
    *_, last = project(SPACE, start, loss(), Descent(steps=2000, improvement=0.0))
    projected = RelaxedTable(DOMAIN, SPACE.sparsemax(last.free), 1.0).marginal(DOMAIN.names)
    assert np.abs(projected - skewed()).max() < 2e-3


def test_it_reports_steps_and_a_falling_loss_and_leaves_the_start_alone() -> None:
    start = SPACE.random(50, np.random.default_rng(2))
    before = start.copy()
    fits = list(project(SPACE, start, loss(), Descent(steps=130, every=50, improvement=0.0)))
    assert [fit.steps for fit in fits] == [50, 100, 130]
    assert fits[0].loss > fits[-1].loss
    assert (start == before).all()


def test_it_stops_when_it_no_longer_improves() -> None:
    start = SPACE.random(50, np.random.default_rng(3))
    fits = list(project(SPACE, start, loss(), Descent(steps=10_000, every=20, window=20, improvement=0.01)))
    assert fits[-1].steps < 5000
    assert fits[-1].loss > fits[-2].loss * 0.99
    assert all(later.loss <= earlier.loss * 0.99 for earlier, later in pairwise(fits[:-1]))


def test_adam_takes_the_steps_of_the_paper() -> None:
    rng = np.random.default_rng(4)
    adam, mean, square = Adam((3, 2), 0.1), np.zeros((3, 2)), np.zeros((3, 2))
    for step in range(1, 6):
        gradient = rng.normal(size=(3, 2)).astype(np.float32)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        expected = 0.1 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-12)
        assert adam.step(gradient) == pytest.approx(expected, rel=1e-4)
