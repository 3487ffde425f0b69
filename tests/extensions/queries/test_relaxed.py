"""The relaxed form of written queries: what it is for people, what it is for distributions, and its gradient."""

from __future__ import annotations

from itertools import pairwise, product
from math import prod

import numpy as np
import pytest

from dpsynth_core.extensions.queries.relaxed import Counts
from dpsynth_core.extensions.queries.written import Written, written
from tests.extensions.queries.test_written import DOMAIN, EVERYBODY

TEXTS = (
    "all of sex=f, age>=60",
    "any of sex=f, age>=60, not job=2*nurse",
    "at least 2 of sex=f, age>=60, not job=2*nurse, 2*not x=yes",
    "at least 3 of 2*sex=f, 3*age>=60, -1*2*not x=yes, 2*job=2*nurse",
    "at least -1 of -2*sex=f, -1*age<20",
)
SIZES = DOMAIN.sizes(DOMAIN.names)
STARTS = np.array([0, *np.cumsum(SIZES)])
PLACES = {name: place for place, name in enumerate(DOMAIN.names)}


def asked(*texts: str) -> tuple[Written, ...]:
    return tuple(written(DOMAIN, text) for text in texts)


def one_hot(codes: np.ndarray) -> np.ndarray:
    table = np.zeros((STARTS[-1], len(codes)))
    for place, start in enumerate(STARTS[:-1]):
        table[start + codes[:, place], np.arange(len(codes))] = 1.0
    return table


def distributions(rows: int, seed: int = 1) -> np.ndarray:
    table = np.random.default_rng(seed).random((STARTS[-1], rows))
    for start, end in pairwise(STARTS):
        table[start:end] /= table[start:end].sum(axis=0)
    return table


def answer(query: Written, table: np.ndarray) -> float:
    """The mean answer: with target 0 and weight 1 the loss is its square."""
    value, _ = Counts((query,), PLACES).loss(STARTS, np.zeros(1), np.ones(1))(table)
    return float(np.sqrt(value))


@pytest.mark.parametrize("text", TEXTS)
def test_of_people_it_is_the_query(text: str) -> None:
    (query,) = asked(text)
    for person in EVERYBODY:
        assert answer(query, one_hot(person[None])) == float(query.met(DOMAIN, person[None])[0])
    assert answer(query, one_hot(EVERYBODY)) == pytest.approx(query.met(DOMAIN, EVERYBODY).mean())


@pytest.mark.parametrize("text", TEXTS)
def test_of_distributions_it_is_the_expectation_of_independent_draws(text: str) -> None:
    (query,), table = asked(text), distributions(3)
    met = query.met(DOMAIN, EVERYBODY)
    for row in range(3):
        chances = [prod(table[start + code, row] for start, code in zip(STARTS, person, strict=False)) for person in EVERYBODY]
        assert answer(query, table[:, [row]]) == pytest.approx(float(np.array(chances) @ met))


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_differences(seed: int) -> None:
    """The loss is a polynomial; central differences of 1e-5 are off by about 1e-9 at these weights."""
    rng = np.random.default_rng(seed)
    loss = Counts(asked(*TEXTS), PLACES).loss(STARTS, rng.random(len(TEXTS)), 1 + rng.random(len(TEXTS)))
    table = rng.random((STARTS[-1], 4))
    _, gradient = loss(table)
    for place in product(*map(range, table.shape)):
        step = np.zeros_like(table)
        step[place] = 1e-5
        difference = (loss(table + step)[0] - loss(table - step)[0]) / 2e-5
        assert gradient[place] == pytest.approx(difference, abs=1e-6)


def test_precision_and_shape_are_those_of_the_table() -> None:
    loss = Counts(asked(*TEXTS), PLACES).loss(STARTS, np.zeros(len(TEXTS)), np.ones(len(TEXTS)))
    table = distributions(6).astype(np.float32)
    _, gradient = loss(table)
    assert (gradient.shape, gradient.dtype) == (table.shape, np.float32)


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_kernel_is_asked_is_the_query(text: str) -> None:
    (query,) = asked(text)
    ((columns, cells),) = Counts((query,), PLACES).cells
    codes = EVERYBODY[:, [DOMAIN.position(name) for name in columns]]
    assert set(np.unique(cells)) <= {0.0, 1.0}
    assert (cells[tuple(codes.T)] == query.met(DOMAIN, EVERYBODY)).all()
