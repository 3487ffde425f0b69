"""Whether a model fits what it was made from: silent where it does, heard where it does not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.evaluation.misfit import misfits
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.zeros import StructuralZeros

DOMAIN = Domain.from_json({"a": 4, "code": 500})


class Answers:
    """The true counts of one column, as a model."""

    def __init__(self, counts: NDArray[np.float64]) -> None:
        self.counts = counts

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        return {("code",): self.counts}[clique]


def noisy(counts: NDArray[np.float64], seed: int, sigma: float = 20.0) -> Measurement:
    return Measurement(("code",), counts + np.random.default_rng(seed).normal(0, sigma, counts.shape), sigma)


def test_it_is_silent_about_the_truth_and_hears_a_column_that_came_out_uniform() -> None:
    counts = 5000 / np.arange(1, 501) ** 1.1
    total = float(counts.sum())
    for seed in range(300):
        assert misfits(DOMAIN, Answers(counts), [noisy(counts, seed)], total) == []
        assert misfits(DOMAIN, Answers(np.full(500, total / 500)), [noisy(counts, seed)], total) == ["code"]


def test_tables_that_a_model_does_not_answer_and_those_of_noise_alone_are_no_misfit() -> None:
    counts = np.full(500, 1.0)
    assert misfits(DOMAIN, Answers(counts), [Measurement(("a",), np.ones(4), 1.0), noisy(counts, 0, 1e6)], 500.0) == []


def test_what_is_measured_of_impossible_cells_does_not_count() -> None:
    rule = StructuralZeros(("a", "b"), (((0,), (0,)),))
    domain = Domain(Domain.from_json({"a": 2, "b": 2}).attributes, (rule,))

    class Zero:
        def marginal(self, _clique: Clique) -> NDArray[np.float64]:
            return np.array([[0.0, 50.0], [50.0, 50.0]])

    assert misfits(domain, Zero(), [Measurement(("a", "b"), np.array([[900.0, 50.0], [50.0, 50.0]]), 1.0)], 150.0) == []
