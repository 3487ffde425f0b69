"""A kernel that is plain to see through, and the query release game in its slowest words; for the tests of FEM and its relatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.domain import Domain


@dataclass
class PlainKernel:
    """N is public. The exponential mechanism by one Gumbel variable for each query and each negation, in the order of their numbers."""

    domain: Domain
    codes: NDArray[np.int32]
    rho_total: float
    seed_given: int
    noise: np.random.Generator
    chosen: list[tuple[int, int]] = field(default_factory=list)
    rho_spent: float = 0.0
    unit: Unit = Unit(REPLACE)  # noqa: RUF009 - frozen
    selection_price: float = 1 / 8

    @property
    def rho_left(self) -> float:
        return self.rho_total - self.rho_spent

    def seed(self) -> int:
        return self.seed_given

    def measure_total(self, sigma: float) -> float:
        return float(len(self.codes)) if sigma > 0 else float("nan")

    def select_signed_query(
        self, queries: QueryClass, answers: SparseAnswers, eps: float, count: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        numbers = np.arange(queries.size)
        true = np.array([queries.query(number).of(self.codes).sum() for number in numbers], dtype=float)
        gaps = true - answers.at(numbers)
        picked = [pick(np.concatenate([gaps, -gaps]), eps, self.noise) for _ in range(count)]
        self.rho_spent += count * eps**2 / 8
        self.chosen += [(place % queries.size, 1 if place < queries.size else -1) for place in picked]
        return (
            np.array([number for number, _ in self.chosen[-count:]], dtype=np.int64),
            np.array([sign for _, sign in self.chosen[-count:]], dtype=np.int8),
        )


def pick(scores: NDArray[np.float64], eps: float, noise: np.random.Generator) -> int:
    """The exponential mechanism for scores of sensitivity 1."""
    return int(np.argmax(scores + noise.gumbel(0.0, 2 / eps, scores.shape)))


def every_record(domain: Domain) -> list[tuple[int, ...]]:
    return list(product(*(range(size) for size in domain.sizes(domain.names))))
