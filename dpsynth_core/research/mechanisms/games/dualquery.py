"""DualQuery (Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014; section 5 of Vietri et al. 2020): every round draws all its samples afresh.

The game is `dual_game`. T rounds with s samples cost rho = s eta^2 m^2 (T-1) T (2T-1) / (12 N^2): the first round's samples are uniform and
free, the later ones add up the squares 1 .. T-1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsynth_core.mechanisms.mechanism import Card, printed
from dpsynth_core.mechanisms.steps import Unmoved
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.research.mechanisms.games import dual_game
from dpsynth_core.research.mechanisms.games.dual_game import DualGame, QueryPlayer, SampleSchedule
from dpsynth_core.research.mechanisms.games.query_game import Codes, Signed
from dpsynth_core.research.vocabulary.queries import SparseAnswers


@dataclass(frozen=True)
class DualQuery(DualGame):
    card: Card = Card(
        name="dualquery",
        title="DualQuery",
        summary=(
            "Finds a few dozen rows that together answer your counts, and repeats them. Quick and coarse. For many large tables and a "
            "small epsilon."
        ),
        paper="Gaboardi, Gallego Arias, Hsu, Roth, Wu: Dual Query: Practical Private Query Release (ICML 2014)",
        privacy=(
            "Measures the number of people, where it is secret, with rounded Gaussian noise; then every round draws samples of counting "
            "queries with the exponential mechanism (rho = eps^2/8 each, eps growing with the rounds). The rows are found by a solver that "
            "sees the samples only. The rounds compose under zero-concentrated differential privacy."
        ),
        accountant=ZCDP,
        takes_thresholds=True,
        differences=(dual_game.MOVED, *dual_game.KEPT),
    )

    def schedule(self, rounds: int, _eta: float) -> SampleSchedule:
        return all_fresh(rounds, self.samples)

    @staticmethod
    def resample(player: QueryPlayer, t: int, _sample: Signed, _record: Codes, hits: SparseAnswers) -> Signed:
        return player.fresh(t, hits)


def all_fresh(rounds: int, samples: int) -> SampleSchedule:
    return SampleSchedule(samples, np.full(rounds - 1, samples), np.full(rounds - 1, np.nan))


PUBLISHED = DualQuery(card=printed(DualQuery.card, *dual_game.KEPT), finish=Unmoved)
"""The game as printed (Gaboardi et al. 2014), for an eta and s that are set beforehand."""
