"""FEM: follow the perturbed leader with the exponential mechanism (Vietri, Tian, Bun, Steinke, Wu 2020, Algorithms 1 and 2).

The rounds are those of `primal_game`, which says what differs from the paper. Here every value of every column (a coordinate of the one-hot
record) costs its own exponentially distributed amount with mean eta; fresh costs for every record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpsynth_core.mechanisms.mechanism import Card, printed
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.research.mechanisms.games import primal_game, query_game
from dpsynth_core.research.mechanisms.games.primal_game import PrimalGame
from dpsynth_core.research.oracles.records.problem import Linear

PRIVACY = (
    "Measures the number of people, where it is secret, with rounded Gaussian noise; then every round chooses one counting query or its "
    "negation with the exponential mechanism (rho = eps^2/8). The records are found by a solver that sees the chosen queries only, so they "
    "cost nothing however the search ends. The rounds compose adaptively under zero-concentrated differential privacy."
)


@dataclass(frozen=True)
class Fem(PrimalGame):
    card: Card = Card(
        name="fem",
        title="FEM",
        summary=(
            "Keeps the largest error of any single count small: asks which count is worst, finds rows that mend it, and again. For many "
            "large tables and a small epsilon."
        ),
        paper=f"{query_game.PAPER}, Algorithm 2",
        privacy=PRIVACY,
        accountant=ZCDP,
        takes_thresholds=True,
        differences=primal_game.DIFFERENCES,
    )
    eta: float = primal_game.scale(0.25, "Mean of the random costs that vary the rows")

    @staticmethod
    def perturb(rng: np.random.Generator, sizes: Sequence[int], eta: float) -> Linear:
        """Algorithm 2's sigma_j."""
        return tuple(rng.exponential(eta, size) for size in sizes)


PUBLISHED = replace(Fem(), card=printed(Fem.card, *primal_game.CHOSEN), **primal_game.AS_PRINTED)
"""Algorithms 1 and 2 as printed (Vietri et al. 2020)."""
