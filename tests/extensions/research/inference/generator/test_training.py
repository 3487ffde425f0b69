"""What a generator is trained to make small, with gradients against finite differences, and that training finds answers it can have."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dpsynth_core.extensions.research.inference.generator.network import EVERY, Generator, LargestGaps, WeightedSquares, answering, train
from dpsynth_core.extensions.research.inference.relaxed.losses import MarginalLoss
from dpsynth_core.extensions.research.inference.relaxed.onehot import OneHot, marginal
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from tests.extensions.research.inference.relaxed import references

DOMAIN = Domain.from_json({"a": 3, "b": 4, "c": 2})
SPACE = OneHot(DOMAIN)
CLIQUES: tuple[Clique, ...] = (("a",), ("a", "b"), ("a", "b", "c"))
TOTAL = 100.0


def measured(seed: int) -> list[Measurement]:
    """Of noise alone: nothing here is about being right. The last table is noisier."""
    rng = np.random.default_rng(seed)
    return [Measurement(c, rng.normal(TOTAL / 12, 9.0, DOMAIN.sizes(c)), sigma) for c, sigma in zip(CLIQUES, (2.0, 2.0, 5.0), strict=True)]


def table(seed: int, rows: int = 5) -> np.ndarray:
    return SPACE.sparsemax(SPACE.random(rows, np.random.default_rng(seed)).astype(np.float64))


def gaps(place: np.ndarray, measurements: list[Measurement], low: float = -np.inf, high: float = np.inf) -> list[np.ndarray]:
    """Answer less noisy fraction, the latter within bounds."""
    return [marginal(place, SPACE.blocks(m.clique)) - np.clip(m.values.reshape(-1) / TOTAL, low, high) for m in measurements]


def test_weighted_squares_are_the_squares_over_variances_per_cell() -> None:
    place, measurements = table(1), measured(2)
    expected = sum(((gap * TOTAL / m.sigma) ** 2).sum() for gap, m in zip(gaps(place, measurements), measurements, strict=True))
    loss = WeightedSquares(SPACE, TOTAL)(measurements, place)
    assert loss(place)[0] == pytest.approx(expected / sum(m.values.size for m in measurements))
    assert loss(place)[1] == pytest.approx(references.finite_differences(lambda moved: loss(moved)[0], place), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("most", [10_000, 4])
def test_largest_gaps_are_those_above_half_the_usual_one(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The norm divided by how many there are: `torch.norm(errors, p=2) / len(errors)` of the authors' program."""
    monkeypatch.setattr(LargestGaps, "MOST", most)
    misfit, before, place, measurements = LargestGaps(SPACE, TOTAL), table(3), table(4), measured(5)
    misfit(measurements, before)
    loss = misfit(measurements, place)
    first, second = (np.abs(np.concatenate(gaps(at, measurements, 0, 1))).max() for at in (before, place))
    sizes = np.sort(np.abs(np.concatenate(gaps(place, measurements, 0, 1))))[::-1][:most]
    counted = sizes[sizes >= 0.5 * (0.5 * first + 0.5 * second)]
    assert 1 < len(counted) < 30
    assert loss(place)[0] == pytest.approx(np.sqrt((counted**2).sum()) / len(counted))
    assert loss(place)[1] == pytest.approx(references.finite_differences(lambda moved: loss(moved)[0], place, 1e-7), rel=1e-4, abs=1e-7)


def network() -> tuple[Generator, np.ndarray]:
    rng = np.random.default_rng(6)
    generator = Generator.drawn(SPACE, 8, 60, (16, 16), rng)
    return generator, generator.initial(rng)


def skewed() -> np.ndarray:
    """A distribution with most of its mass in few cells."""
    mass = np.random.default_rng(0).random(DOMAIN.sizes(DOMAIN.names)) ** 8
    return np.asarray(mass / mass.sum())


def test_training_finds_answers_that_a_network_can_have() -> None:
    generator, start = network()
    *_, last = train(generator, start, MarginalLoss([SPACE.blocks(DOMAIN.names)], [skewed()]), 1e-2, 2000)
    assert last.steps == 2000
    assert np.abs(marginal(last.table, SPACE.blocks(DOMAIN.names)) - skewed().reshape(-1)).max() < 2e-3


def test_training_reports_on_its_way_and_leaves_the_start_alone() -> None:
    generator, start = network()
    before = start.copy()
    fits = list(train(generator, start, MarginalLoss([SPACE.blocks(DOMAIN.names)], [skewed()]), 1e-2, 2 * EVERY + 10))
    assert [fit.steps for fit in fits] == [EVERY, 2 * EVERY, 2 * EVERY + 10]
    assert (start == before).all()
    assert fits[-1].table == pytest.approx(generator.forward(fits[-1].parameters).table)


def test_training_ends_where_nothing_is_left_to_make_smaller() -> None:
    generator, start = network()
    (last,) = train(generator, start, lambda place: (0.0, np.zeros_like(place)), 1e-2, 100)
    assert last.steps == 0
    assert (last.parameters == start).all()


def threads() -> int:
    """Of NumPy's linear algebra."""
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


def test_products_have_one_thread_and_whoever_takes_the_steps_has_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """As whoever repeats a release has: how sums of float32 are rounded depends on it."""
    generator, start = network()
    loss, during, between = MarginalLoss([SPACE.blocks(DOMAIN.names)], [skewed()]), set(), []
    forward = Generator.forward

    def watched(self: Generator, parameters: np.ndarray) -> object:
        during.add(threads())
        return forward(self, parameters)

    monkeypatch.setattr(Generator, "forward", watched)
    with threadpool_limits(limits=2, user_api="blas"):
        for _ in train(generator, start, loss, 1e-2, 2 * EVERY):
            between.append(threads())
        answering(generator, start)
        between.append(threads())
    assert during == {1}
    assert between == [2, 2, 2]
