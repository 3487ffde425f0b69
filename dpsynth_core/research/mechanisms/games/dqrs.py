"""DQRS: DualQuery with rejection sampling (Vietri, Tian, Bun, Steinke, Wu 2020, Algorithm 4).

The game is `dual_game`. Q^{t+1} is close to Q^t where eta is small, so an old sample is kept with probability
exp(-eta - gamma_t - eta A(x^t, q)), gamma_t = 1 / (2 t^(2/3)), and what is kept is distributed as Q^{t+1} (Lemma 8);
(2 gamma_t + 4 eta) s fresh samples make up for the others. Keeping costs a bit each, and bits are cheaper than samples once t is large
(Lemma 9, with the range of the loss for its bound).

We found no default at which recycling pays, and so the default is DualQuery's, at which it never happens. How far the game gets from its
uniform start is eta T. With N people of m rows each, T rounds that recycle cost at least 4 eta s (eta m/N)^2 t^2 / 2 each, together more
than 2/3 s (m/N)^2 (eta (T-1))^3: so eta (T-1) <= (3 rho N^2 / (2 s m^2))^(1/3), however small eta is. DualQuery gets as far with eta =
1/4, and twice as far with eta = 2, for its eta T grows with the cube root of eta. `benchmarks/recycling.py` compares the best of both at
the same budget: of four tables the largest error of DQRS is about twice that of DualQuery on each, at epsilon 0.1 or 1, and nowhere less
beyond chance.

Where this is not the algorithm to the letter:

- A round whose fresh samples and bits would cost more than s fresh samples (the first ones, and all of them where eta is above a quarter)
  draws s fresh samples, as DualQuery does. Either way S_{t+1} consists of samples of Q^{t+1}; DQRS never has fewer rounds than DualQuery.
- Should fewer than s samples be left, which twice the expected number of fresh ones makes rare, some of them stand in twice. It costs
  nothing, and every round costs what was planned for it.
- The algorithm's last line returns samples; the theorem, and we, return the records x^1 .. x^T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsynth_core.mechanisms.mechanism import Card, printed
from dpsynth_core.mechanisms.steps import Unmoved
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.research import operations
from dpsynth_core.research.mechanisms.games import dual_game, query_game
from dpsynth_core.research.mechanisms.games.dual_game import DualGame, QueryPlayer, SampleSchedule
from dpsynth_core.research.mechanisms.games.query_game import Codes, Signed
from dpsynth_core.research.vocabulary.queries import SparseAnswers

_KEPT = (
    *dual_game.KEPT,
    "A round that would cost more than s fresh samples draws s fresh samples; Algorithm 4 recycles in every round.",
    "The records are the output, as in Theorem 7; the last line of Algorithm 4 prints samples.",
)


@dataclass(frozen=True)
class Dqrs(DualGame):
    card: Card = Card(
        name="dqrs",
        title="DQRS",
        summary=(
            "For comparison: DualQuery that uses samples again where that is cheaper, with eta well below a quarter. That did not pay in "
            "our trials: its largest error was about twice as large on each of four tables. At its default it plays like DualQuery."
        ),
        paper=f"{query_game.PAPER}, Algorithm 4",
        privacy=(
            "As DualQuery, but a sample of an earlier round may be kept: whether it is, is one random bit whose probability depends so "
            "little on the table that it costs less than a new sample (rho = an eighth of the squared range of its privacy loss). What "
            "each round costs is fixed before the first one."
        ),
        accountant=ZCDP,
        takes_thresholds=True,
        differences=(dual_game.MOVED, *_KEPT),
    )

    def schedule(self, rounds: int, eta: float) -> SampleSchedule:
        return recycling(rounds, eta, self.samples)

    @staticmethod
    def resample(player: QueryPlayer, t: int, sample: Signed, record: Codes, hits: SparseAnswers) -> Signed:
        """S_{t+1}: what is kept of S_t, and fresh samples; s of them."""
        samples, gamma = player.plan.schedule.samples, float(player.plan.schedule.gamma[t - 1])
        fresh = player.fresh(t, hits)
        if np.isnan(gamma):
            return fresh
        satisfied = SparseAnswers.of_rows(player.queries, record).at(sample.numbers)
        bits = operations.keep_queries(player.kernel,
            player.queries, sample.numbers, -sample.signs, satisfied, player.plan.eta, gamma, records=player.people
        )
        united = fresh.plus(sample.at(bits))
        order = player.rng.permutation(len(united))
        return united.at(order[np.arange(samples) % len(order)])


def recycling(rounds: int, eta: float, samples: int) -> SampleSchedule:
    """Fresh samples and bits of Algorithm 4 in the rounds where the two are cheaper than s fresh samples."""
    t = np.arange(1, rounds, dtype=np.float64)
    gamma = 1 / (2 * t ** (2 / 3))
    fresh = np.ceil((2 * gamma + 4 * eta) * samples)
    cheaper = fresh * t**2 / 2 + samples * dual_game.keep_price(gamma) < samples * t**2 / 2
    return SampleSchedule(samples, np.where(cheaper, fresh, samples).astype(np.int64), np.where(cheaper, gamma, np.nan))


PUBLISHED = Dqrs(card=printed(Dqrs.card, *_KEPT, "eta = alpha/4 is 0.1, for an accuracy alpha of 0.4."), eta=0.1, finish=Unmoved)
"""Algorithm 4 as printed (Vietri et al. 2020), for an accuracy that a budget can reach."""
