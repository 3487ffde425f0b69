"""A class of twelve queries over a small table, and the distributions of the dual game over it, written out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.mechanisms.games.dual_game import GamePlan, QueryPlayer, SampleSchedule
from dpsynth_core.extensions.research.mechanisms.games.query_game import Signed
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.privacy.tables import ArraySource

SMALL = Domain.from_json({"a": 3, "b": 2})
PEOPLE = np.repeat(np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]], dtype=np.int32), [90, 10, 40, 30, 20, 10], axis=0)
CLASS = QueryClass.of(all_kway(SMALL, 2))


def player_of(
    plan_eta: float, rounds: int, samples: int = 20, gamma: NDArray[np.float64] | None = None, fresh: int | None = None, seed: int = 7
) -> QueryPlayer:
    """A game in which everything but the samples is given; N is public and the budget is no limit."""
    kernel = PrivacyKernel(ArraySource(SMALL, PEOPLE), Unit("replace"), 1e9, SeededNoise(seed))
    bits = np.full(rounds - 1, np.nan) if gamma is None else gamma
    schedule = SampleSchedule(samples, np.full(rounds - 1, samples if fresh is None else fresh), bits)
    made = GamePlan(rounds, plan_eta, schedule)
    return QueryPlayer(kernel, CLASS, made, float(len(PEOPLE)), 1.0, np.random.default_rng(seed))


def payoffs(record: NDArray[np.int32] | tuple[int, ...]) -> NDArray[np.float64]:
    """A(x, q) = q(D) - q(x) for the 6 queries and then their 6 negations."""
    true = np.array([CLASS.query(i).of(PEOPLE).mean() for i in range(CLASS.size)])
    here = np.array([CLASS.query(i).of(np.array([record], dtype=np.int32))[0] for i in range(CLASS.size)])
    return np.concatenate([true - here, (1 - true) - (1 - here)])


def distribution(eta: float, records: NDArray[np.int32]) -> NDArray[np.float64]:
    """Q^{t+1} after these t records, over the 12 places of `payoffs`."""
    weights = np.exp(-eta * sum(payoffs(record) for record in records))
    return np.asarray(weights / weights.sum())


def places(queries: QueryClass, signed: Signed, *, negated: bool) -> NDArray[np.int64]:
    """Where signed queries, or their negations, stand in `payoffs`."""
    signs = -signed.signs if negated else signed.signs
    return np.asarray(signed.numbers + np.where(signs < 0, queries.size, 0))


def signed(numbers: NDArray[np.int64], *, negated: bool) -> Signed:
    """The inverse of `places`."""
    signs = np.where(numbers >= CLASS.size, -1, 1) * (-1 if negated else 1)
    return Signed(numbers % CLASS.size, signs.astype(np.int8))
