"""The dual game, which DualQuery and DQRS play (Gaboardi et al. 2014; Vietri et al. 2020, section 5 and Algorithm 4).

The query player holds a distribution over the closed class, Q^t proportional to exp(-eta * sum over tau < t of A(x^tau, q)) with the
payoff A(x, q) = q(D) - q(x). It cannot be released; s samples of it are. The data player answers with the record x^t that satisfies the
fewest of them, a best reply by A. The T records are the output. How a round's samples come about sets the two mechanisms apart.

In code a sample q is kept as its negation, "what the record should satisfy", so that a best reply is the record that satisfies the most;
and Pr[q] is proportional to exp(eta * sum of A(x^tau, negation of q)): the kernel's exponential mechanism with score
sign * (N q(D) - N/t * sum over tau of q(x^tau)), in people, at eps = 2 eta t m / N, m being the rows of one person.

Costs, in rho, of what follows round t < T (Cesar and Rogers 2021): (2 eta t m / N)^2 / 8 a fresh sample, and
((eta m / N) (1 + 1/(e^gamma - 1)))^2 / 8 to try an old sample for keeping. All are eta^2 times something public, and so is their sum:
the number of rounds is the largest that the budget affords at the eta that was asked for, and eta is then raised a little until the whole
budget is used. Differences from the papers, none at a price in privacy:

- Their numbers of rounds and samples make the theorem true and are out of reach of any budget one would call private.
- Ties between best replies, which are many, are broken at random: columns that no sample mentions get a random value.
- `skip` leaves out the records of the first rounds. Default: none, as in the papers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.mechanisms.mechanism import Forecast, Split
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.rounds import count_people, people
from dpsynth_core.mechanisms.steps import Finish, Finished, Step, as_it_is
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.research import operations
from dpsynth_core.research.mechanisms.games import query_game
from dpsynth_core.research.mechanisms.games.query_game import Codes, Signed
from dpsynth_core.research.oracles.records.problem import Linear
from dpsynth_core.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.vocabulary.workload import Workload

_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class SampleSchedule:
    """What follows the rounds 1 .. T - 1. fresh: samples drawn from Q^{t+1}. gamma: of the bits by which the old samples are kept; nan
    where none is kept."""

    samples: int
    fresh: NDArray[np.int64]
    gamma: NDArray[np.float64]

    def prices(self) -> NDArray[np.float64]:
        """rho of each round at eta m / N = 1."""
        t = np.arange(1, len(self.fresh) + 1, dtype=np.float64)
        return self.fresh * t**2 / 2 + np.nan_to_num(self.samples * keep_price(self.gamma))


Scheduled = Callable[[int, float], SampleSchedule]
"""The schedule of T rounds at some eta."""


KEPT = (
    "T follows from the budget, eta and s; the printed T, eta and s follow from the accuracy wanted and are beyond any such budget.",
    "eta is raised a little until the whole budget is used.",
    "Ties between best replies are broken at random.",
    "The number of people is measured for 2% of the budget where it is secret; the paper takes it as known.",
)
MOVED = "Finished rows are moved towards the records' own answers; the paper's are not."


@dataclass(frozen=True, eq=False)
class GamePlan:
    """Made before the first private answer but N."""

    rounds: int
    eta: float
    schedule: SampleSchedule


def keep_price(gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """rho of trying one old sample at eta m / N = 1."""
    return np.asarray((1 + 1 / np.expm1(gamma)) ** 2 / 8)


def plan(scheduled: Scheduled, people: float, rho: float, eta: float, most: int) -> GamePlan:
    """The rounds that rho affords at this eta, `most` at most, and the eta at which they cost all of it. people: N / m."""

    def price(rounds: int, eta: float) -> float:
        return float(scheduled(rounds, eta).prices().sum()) * (eta / people) ** 2

    every = scheduled(most, eta).prices().cumsum() * (eta / people) ** 2
    rounds = max(2, 1 + int(np.searchsorted(every, rho, side="right")))
    low, high = 0.0, eta
    while price(rounds, high) <= rho:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if price(rounds, middle) <= rho else (low, middle)
    schedule = scheduled(rounds, low)
    eta = people * math.sqrt(rho / float(schedule.prices().sum()))
    return GamePlan(rounds, eta, schedule)


@dataclass(frozen=True, eq=False)
class QueryPlayer:
    """The game as the query player sees it after round t: the kernel, the class, N, m, and the randomness that protects nobody."""

    kernel: Kernel
    queries: QueryClass
    plan: GamePlan
    people: float
    rows: float
    rng: np.random.Generator

    def fresh(self, t: int, hits: SparseAnswers) -> Signed:
        """The round's fresh samples from Q^{t+1}, as what a record should satisfy. hits: sum of q(x^tau) over the t rounds."""
        count = int(self.plan.schedule.fresh[t - 1])
        answers = hits.scaled(self.people / t)
        eps = 2 * self.plan.eta * t * self.rows / self.people
        return Signed(*operations.select_signed_query(self.kernel, self.queries, answers, eps, count))


@dataclass(frozen=True)
class DualGame(ABC):
    """The parameters of the game, and the game itself but for where a round's samples come from."""

    eta: float = real(2.0, least=0.001, most=1000.0, text="How fast counts that are answered well lose weight. Less: more rounds.")
    samples: int = whole(5, least=1, most=10_000, text="Queries s that a record has to answer. More: fewer rounds.")
    rounds: int = whole(1000, least=2, most=100_000, text="The most rounds T, and records; a small budget buys fewer.")
    solve_seconds: float = query_game.solve_seconds()
    gap: float = query_game.gap()
    skip: float = query_game.skip()
    finish: Finish = as_it_is

    @abstractmethod
    def schedule(self, rounds: int, eta: float) -> SampleSchedule:
        """The samples of a game of so many rounds at this eta."""

    @staticmethod
    @abstractmethod
    def resample(player: QueryPlayer, t: int, sample: Signed, record: Codes, hits: SparseAnswers) -> Signed:
        """S_{t+1} from S_t, the record x^t and the hits of all records so far."""

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """As for all rounds that the parameters allow; a small budget needs fewer."""
        return query_game.forecast(workload, self.rounds, 1, self.samples, self.solve_seconds)

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        """All but the number of people chooses."""
        return query_game.split(total_is_public)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """The game. Yields Measured for the number of people where it is secret, Fitted in every round, then Finished."""
        queries, sizes = QueryClass.of(workload), kernel.domain.sizes(kernel.domain.names)
        rng = np.random.default_rng(kernel.seed())
        with query_game.data_player(queries, query_game.search_limit(self.solve_seconds, self.gap), draws=1) as data_player:
            counted = yield from count_people(kernel, query_game.TOTAL_SHARE)
            total, rows = people(counted), kernel.unit.query_l1
            game = plan(self.schedule, total / rows, kernel.rho_left, self.eta, self.rounds)
            query_player = QueryPlayer(kernel, queries, game, total, rows, rng)

            sample = Signed.uniform(queries, self.samples, rng)
            hits, rounds = SparseAnswers.of_rows(queries, np.zeros((0, len(sizes)), dtype=np.int32)), []
            for t in range(1, game.rounds + 1):
                record, answers = data_player.records(sample, [tie_breaker(rng, sizes)])
                rounds.append(record)
                hits = hits.plus(SparseAnswers.of_rows(queries, record))
                if t < game.rounds:
                    sample = self.resample(query_player, t, sample, record, hits)
                yield query_game.played(kernel, t, answers)
        fresh = int(game.schedule.fresh.sum())
        details = {"rounds": game.rounds, "eta": game.eta, "fresh_samples": fresh, **data_player.searches.to_json()}
        yield Finished(self.finish(query_game.together(kernel.domain, rounds, self.skip, total)), total, details)


def tie_breaker(rng: np.random.Generator, sizes: Sequence[int]) -> Linear:
    """Costs that add up to less than half a query, so that they decide between equally good records and nothing else."""
    return tuple(rng.random(size) / (2 * len(sizes)) for size in sizes)
