"""sepFEM: FEM with the separator's perturbation (Vietri, Tian, Bun, Steinke, Wu 2020, Algorithms 1 and 3).

The rounds are those of `primal_game`, which says what differs from the paper. The queries "this column has this value" tell any two records
apart: they are the separator set of one-hot records. Each is added to the objective with a weight from the Laplace distribution of
scale eta; fresh weights for every record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpsynth_core.mechanisms.mechanism import Card, printed
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.research.mechanisms.games import fem, primal_game, query_game
from dpsynth_core.research.mechanisms.games.primal_game import PrimalGame
from dpsynth_core.research.oracles.records.problem import Linear


@dataclass(frozen=True)
class SepFem(PrimalGame):
    card: Card = Card(
        name="sepfem",
        title="sepFEM",
        summary="FEM with another way to keep its rows varied, which has the better proof. Try it where FEM is good.",
        paper=f"{query_game.PAPER}, Algorithm 3",
        privacy=fem.PRIVACY,
        accountant=ZCDP,
        takes_thresholds=True,
        differences=primal_game.DIFFERENCES,
    )
    eta: float = primal_game.scale(0.12, "Scale of the random weights that vary the rows")

    @staticmethod
    def perturb(rng: np.random.Generator, sizes: Sequence[int], eta: float) -> Linear:
        """The negative of Algorithm 3's weights, as symmetric as they are."""
        return tuple(rng.laplace(0.0, eta, size) for size in sizes)


PUBLISHED = replace(SepFem(), card=printed(SepFem.card, *primal_game.CHOSEN), **primal_game.AS_PRINTED)
"""Algorithms 1 and 3 as printed (Vietri et al. 2020)."""
