"""The dual game: DualQuery, and DQRS, which reuses samples (Gaboardi et al. 2014; Vietri et al. 2020, section 5 and Algorithm 4).

The query player holds a distribution over the closed class, Q^t proportional to exp(-eta * sum over tau < t of A(x^tau, q)) with the
payoff A(x, q) = q(D) - q(x). It cannot be released; s samples from it are released. The data player answers with the record x^t that
satisfies the fewest samples, a best reply by A. The T records are the output. DualQuery draws all samples of a round afresh; the first
round's are uniform and free.

In code a sample q is kept as its negation, "the condition that the record should satisfy", so that a best reply is the record that
satisfies the most; and Pr[q] is proportional to exp(eta * sum of A(x^tau, negation of q)): the kernel's exponential mechanism with score
sign * (N q(D) - N/t * sum over tau of q(x^tau)), in people, at eps = 2 eta t m / N, m being the rows of one person.

Costs, in rho, after round t < T (Cesar and Rogers 2021): (2 eta t m / N)^2 / 8 for a fresh sample, and
((eta m / N) (1 + 1/(e^gamma - 1)))^2 / 8 to try an old sample for keeping. Each cost and their sum are eta^2 times a public number: the
number of rounds is the largest that the budget affords at the requested eta, and eta is then raised a little until the whole budget is
used. Further differences from the papers are on the cards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpsynth_core.extensions.research import operations
from dpsynth_core.extensions.research.mechanisms.games import query_game
from dpsynth_core.extensions.research.mechanisms.games.query_game import Codes, Signed
from dpsynth_core.extensions.research.oracles.records.problem import Linear
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.mechanisms.mechanism import Card, Forecast, printed
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.rounds import count_people, people
from dpsynth_core.mechanisms.steps import Finish, Finished, Step, Unmoved, as_it_is
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.workload import Workload

_HALVINGS = 60
_KEPT = (
    "T follows from the budget, eta and s; the printed T, eta and s follow from the accuracy wanted and are beyond any such budget.",
    "eta is raised a little until the whole budget is used.",
    "Ties between best replies are broken at random.",
    "The number of people is measured for 2% of the budget where it is secret; the paper takes it as known.",
)
_RECYCLED = (
    "A round that would cost more than s fresh samples draws s fresh samples; Algorithm 4 recycles in every round.",
    "The records are the output, as in Theorem 7; the last line of Algorithm 4 prints samples.",
)
_MOVED = "Finished rows are moved towards the records' own answers; the paper's are not."


@dataclass(frozen=True, eq=False)
class SampleSchedule:
    """The numbers of samples after the rounds 1 .. T - 1.

    Attributes:
        samples: Number s of samples that a record should satisfy.
        fresh: Number of samples drawn afresh from Q^{t+1}, shape (T - 1,).
        gamma: The gamma_t of each round, shape (T - 1,): an old sample is kept with probability
            exp(-gamma_t) at most. NaN for a round whose samples are all fresh.
    """

    samples: int
    fresh: NDArray[np.int64]
    gamma: NDArray[np.float64]

    def prices(self) -> NDArray[np.float64]:
        """Return the rho of each round's samples, in units of (eta m / N)^2, shape (T - 1,).

        eta is the step size of the game, m the rows per person and N the number of rows.
        """
        t = np.arange(1, len(self.fresh) + 1, dtype=np.float64)
        return self.fresh * t**2 / 2 + np.nan_to_num(self.samples * keep_price(self.gamma))


@dataclass(frozen=True, eq=False)
class GamePlan:
    """The plan of a game, made before the first private answer except N.

    Attributes:
        rounds: Number of rounds T, at least 2.
        eta: The step size at which the rounds cost the whole budget.
        schedule: The samples of each round.
    """

    rounds: int
    eta: float
    schedule: SampleSchedule


def all_fresh(rounds: int, samples: int) -> SampleSchedule:
    """Return DualQuery's schedule: s fresh samples after every round but the last.

    T rounds cost rho = s eta^2 m^2 (T-1) T (2T-1) / (12 N^2), with step size eta, m rows per person
    and N rows.

    Args:
        rounds: Number of rounds T, at least 1.
        samples: Number of samples s.
    """
    return SampleSchedule(samples, np.full(rounds - 1, samples), np.full(rounds - 1, np.nan))


def recycling(rounds: int, eta: float, samples: int) -> SampleSchedule:
    """Return Algorithm 4's schedule, which keeps old samples in the rounds where that is cheaper.

    The other rounds draw s fresh samples.

    Args:
        rounds: Number of rounds T, at least 1.
        eta: The step size; a larger one needs more fresh samples in the rounds that keep old ones.
        samples: Number of samples s.
    """
    t = np.arange(1, rounds, dtype=np.float64)
    gamma = 1 / (2 * t ** (2 / 3))
    fresh = np.ceil((2 * gamma + 4 * eta) * samples)
    cheaper = fresh * t**2 / 2 + samples * keep_price(gamma) < samples * t**2 / 2
    return SampleSchedule(samples, np.where(cheaper, fresh, samples).astype(np.int64), np.where(cheaper, gamma, np.nan))


def keep_price(gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each round, the rho of deciding whether one old sample is kept (Lemma 9).

    It is in units of (eta m / N)^2, with step size eta, m rows per person and N rows, and has the shape of `gamma`.

    Args:
        gamma: The gamma_t of each round: a sample is kept with probability exp(-gamma_t) at most. NaN gives NaN.
    """
    return np.asarray((1 + 1 / np.expm1(gamma)) ** 2 / 8)


def plan(scheduled: Callable[[int, float], SampleSchedule], people: float, rho: float, eta: float, most: int) -> GamePlan:
    """Plan the number of rounds and eta from public numbers.

    Args:
        scheduled: Returns the schedule for a number of rounds and a step size eta.
        people: Number of rows N, divided by the rows per person m.
        rho: Budget of the rounds, in rho.
        eta: The requested step size.
        most: Largest number of rounds, at least 2.

    Returns:
        The rounds that rho affords at `eta`, from 2 to `most`, and the step size at which they cost all of
        rho. It is `eta` or more, and less only if two rounds at `eta` would cost more than rho.
    """

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
    """The query player, who draws samples of queries through the kernel.

    Attributes:
        kernel: The kernel, which is charged.
        queries: The class of queries.
        plan: The plan of the game.
        people: Number N of people, public or noisy.
        rows: Largest number m of rows of one person.
        rng: Randomness that protects no person.
    """

    kernel: Kernel
    queries: QueryClass
    plan: GamePlan
    people: float
    rows: float
    rng: np.random.Generator

    def fresh(self, t: int, hits: SparseAnswers) -> Signed:
        """Draw the fresh samples from Q^{t+1} through the kernel, which charges every draw.

        They are queries and negations, drawn from the private table by the exponential mechanism;
        the record of the next round should satisfy them.

        Args:
            t: Number of the round that has just ended, from 1 to T - 1.
            hits: Sum of q(x) over the records x of rounds 1 to t, for every query q.

        Returns:
            The numbers of the queries and their signs; `schedule.fresh[t - 1]` of each.
        """
        count = int(self.plan.schedule.fresh[t - 1])
        answers = hits.scaled(self.people / t)
        eps = 2 * self.plan.eta * t * self.rows / self.people
        return Signed(*operations.select_signed_query(self.kernel, self.queries, answers, eps, count))


@dataclass(frozen=True)
class DualQuery:
    """DualQuery: in each round a solver finds one record that satisfies many of s queries, which the kernel drew."""

    card: Card = Card(
        "dualquery", "DualQuery", ZCDP, takes_thresholds=True,
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
        differences=(_MOVED, *_KEPT),
    )
    eta: float = real(2.0, least=0.001, most=1000.0, text="How fast counts that are answered well lose weight. Less: more rounds.")
    samples: int = whole(5, least=1, most=10_000, text="Queries s that a record has to answer. More: fewer rounds.")
    rounds: int = whole(1000, least=2, most=100_000, text="The most rounds T, and records; a small budget buys fewer.")
    solve_seconds: float = query_game.solve_seconds()
    gap: float = query_game.gap()
    skip: float = query_game.skip()
    finish: Finish = as_it_is

    split = staticmethod(query_game.split)

    def schedule(self, rounds: int, _eta: float) -> SampleSchedule:
        """Return the schedule of a game with this many rounds: s fresh samples after every round but the last.

        Eta makes no difference.
        """
        return all_fresh(rounds, self.samples)

    @staticmethod
    def resample(player: QueryPlayer, t: int, _sample: Signed, _record: Codes, hits: SparseAnswers) -> Signed:
        """Return the s samples of the next round, drawn afresh; the kernel is charged.

        They are the conditions that the record of the next round should satisfy.

        Args:
            player: The player that draws queries.
            t: Number of the round that ends, counted from 1.
            hits: Sum of q(x) over the records x so far, for every query q.
        """
        return player.fresh(t, hits)

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a game, or why it is refused: too many cells.

        The time is for all rounds that the parameters allow; a small budget affords fewer.
        """
        return query_game.forecast(workload, self.rounds, 1, self.samples, self.solve_seconds)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Play the game with the kernel's whole budget; yield its steps.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for the number of people if it is secret, a Fitted for each round, then a
            Finished with the records as its model.

        Raises:
            OracleError: No possible record was found, or a solver process failed.
        """
        queries, sizes = QueryClass.of(workload), kernel.domain.sizes(kernel.domain.names)
        rng = np.random.default_rng(kernel.seed())
        with query_game.data_player(queries, query_game.search_limit(self.solve_seconds, self.gap), proved=1) as data_player:
            counted = yield from count_people(kernel, query_game.TOTAL_SHARE)
            total, rows = people(counted), kernel.unit.query_l1
            game = plan(self.schedule, total / rows, kernel.rho_left, self.eta, self.rounds)
            query_player = QueryPlayer(kernel, queries, game, total, rows, rng)

            sample = Signed.uniform(queries, self.samples, rng)
            hits, rounds = SparseAnswers.of_rows(queries, np.zeros((0, len(sizes)), dtype=np.int32)), []
            for t in range(1, game.rounds + 1):
                record, searches = data_player.records(sample, [tie_breaker(rng, sizes)])
                rounds.append(record)
                hits = hits.plus(SparseAnswers.of_rows(queries, record))
                if t < game.rounds:
                    sample = self.resample(query_player, t, sample, record, hits)
                yield query_game.played(kernel, t, searches)
        fresh = int(game.schedule.fresh.sum())
        details = {"rounds": game.rounds, "eta": game.eta, "fresh_samples": fresh, **data_player.searches.to_json()}
        yield Finished(self.finish(query_game.together(kernel.domain, rounds, self.skip, total)), total, details)


@dataclass(frozen=True)
class Dqrs(DualQuery):
    """DualQuery with rejection sampling.

    Q^{t+1} is close to Q^t where eta is small, so an old sample is kept with probability exp(-eta - gamma_t - eta A(x^t, q)), gamma_t = 1 /
    (2 t^(2/3)). Kept samples are distributed as Q^{t+1} (Lemma 8); (2 gamma_t + 4 eta) s fresh samples replace the others. Keeping costs
    one bit per sample, and bits are cheaper than samples once t is large (Lemma 9, with the range of the loss for its bound).

    No default was found at which recycling pays (`docs/accuracy.md`), so the default is DualQuery's, at which it never happens: rounds that
    recycle reach eta (T-1) <= (3 rho N^2 / (2 s m^2))^(1/3), however small eta is, which is as far as DualQuery gets with eta = 1/4.

    A round whose fresh samples and bits would cost more than s fresh samples (the first rounds, and all rounds where eta is above a
    quarter) draws s fresh samples, as DualQuery does. Either way S_{t+1} consists of samples of Q^{t+1}, and the number of rounds is at
    least DualQuery's.
    """

    card: Card = Card(
        "dqrs", "DQRS", ZCDP, takes_thresholds=True,
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
        differences=(_MOVED, *_KEPT, *_RECYCLED),
    )

    @override
    def schedule(self, rounds: int, eta: float) -> SampleSchedule:
        """Return Algorithm 4's schedule (`recycling`) for a number of rounds and a step size eta."""
        return recycling(rounds, eta, self.samples)

    @staticmethod
    def resample(player: QueryPlayer, t: int, sample: Signed, record: Codes, hits: SparseAnswers) -> Signed:
        """Return the samples of the next round: fresh samples, and the old ones that are kept; the kernel is charged.

        If the schedule keeps no samples, all are fresh. There are always s samples: surplus ones
        are dropped at random, and if fewer are left, which is rare, some occur twice.

        Args:
            player: The player that draws queries.
            t: Number of the round that ends, counted from 1.
            sample: The samples of the round that ends, as conditions that a record should satisfy.
            record: Codes of the round's record, shape (1, columns).
            hits: Sum of q(x) over the records x so far, for every query q.
        """
        samples, gamma = player.plan.schedule.samples, float(player.plan.schedule.gamma[t - 1])
        fresh = player.fresh(t, hits)
        if np.isnan(gamma):
            return fresh
        asked, satisfied = (player.kernel, player.queries), SparseAnswers.of_rows(player.queries, record).at(sample.numbers)
        bits = operations.keep_queries(*asked, sample.numbers, -sample.signs, satisfied, player.plan.eta, gamma, records=player.people)
        united = fresh.plus(sample.at(bits))
        order = player.rng.permutation(len(united))  # should fewer than s be left, which is rare, some of them stand in twice
        return united.at(order[np.arange(samples) % len(order)])


def tie_breaker(rng: np.random.Generator, sizes: Sequence[int]) -> Linear:
    """Draw random costs of all values that add up to less than half a query for any record.

    They decide between equally good records only.

    Args:
        rng: Source of randomness.
        sizes: Number of values of each column.

    Returns:
        For each column, the costs of its values.
    """
    return tuple(rng.random(size) / (2 * len(sizes)) for size in sizes)


DUALQUERY_PUBLISHED = DualQuery(card=printed(DualQuery.card, *_KEPT), finish=Unmoved)
"""The game as printed (Gaboardi et al. 2014), for an eta and s that are set beforehand."""
_DQRS_CARD = printed(Dqrs.card, *_KEPT, *_RECYCLED, "eta = alpha/4 is 0.1, for an accuracy alpha of 0.4.")
DQRS_PUBLISHED = Dqrs(card=_DQRS_CARD, eta=0.1, finish=Unmoved)
"""Algorithm 4 (Vietri et al. 2020), for an accuracy that a budget can reach."""
