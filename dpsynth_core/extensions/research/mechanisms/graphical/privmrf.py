"""PrivMRF: a Markov random field whose shape is decided first and whose marginals are then added round by round.

Source: Cai, Lei, Wei, Xiao 2021, "Data Synthesis via Differentially Private Markov Random Fields".

Noisy R-scores measure the dependence of each pair of columns. From them grows an attribute graph within the model's capacity
(`attribute_graph`), and the graph gives the initial marginals. Then each round asks for the noisy errors of candidates inside the graph's
cliques and measures the worst ones. A marginal is considered only if it is theta-useful: its average count is theta times its expected
noise. Ours also considers a pair whose dependence exceeds its noise. Knows no workload. Shares, theta and the other constants come from the
authors' program.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.inference.smoothing import smooth_columns
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.graphical import aim_forecast, attribute_graph, models
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, SINGLE, Card, Forecast, Split
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement
from dpsynth_core.vocabulary.workload import Workload

COLUMNS, SCORES, ERRORS = 0.1, 0.1, 0.1
"""Shares of the budget for the columns, for the R-scores and for the errors of candidates; the rest measures marginals."""
MARGINALS = 1 - COLUMNS - SCORES - ERRORS
DOUBT = 2.0
"""Standard deviations of its noise that are subtracted from a pair's dependence."""
ADDED, MOST_ROUNDS = 0.8, 8
"""Marginals that the rounds add per column, and the largest number of rounds: otherwise half as many as columns."""


@dataclass(frozen=True)
class PrivMrf:
    """PrivMRF.

    The R-score of a pair is half the distance of its shares from the product of its columns' shares. With the product of the private
    columns, as in the paper, a person changes the distance by up to 4 in counts (by PrivBayes' argument: 1 by the pair, less than 3 by the
    product). Here the product is taken of noisy columns, a released table v: by the triangle inequality | ||M(D) - v||_1 - ||M(D') - v||_1
    | is at most ||M(D) - M(D')||_1, which is 1 where a record is added or removed and 2 where one is replaced, times the rows of a person.
    `Kernel.measure_errors` charges this for all pairs at once.
    """

    card: Card = Card(
        "privmrf", "PrivMRF", GDP,
        summary=(
            "Decides from noisy dependence which columns belong together, then measures round by round what the model gets most wrong "
            "there. Ignores the workload."
        ),
        paper="Cai, Lei, Wei, Xiao: Data Synthesis via Differentially Private Markov Random Fields (VLDB 2021)",
        privacy=(
            "Measures each column with rounded Gaussian noise (rho = sensitivity^2 / (2 sigma^2)), then how far each pair is from the "
            "product of the noisy columns, then marginals and, round by round, the errors of candidates, all likewise. The costs "
            "add up under Gaussian differential privacy. What is asked depends on released values alone."
        ),
        differences=(
            "After the paper and its authors' program, not to the letter, so that it has no preset.",
            "An R-score is the distance from the product of the noisy columns, of sensitivity 1 (2 if a record is replaced), instead of "
            "from that of the private ones, of sensitivity 4. Columns are measured first for that, with a tenth of the budget.",
            "An edge of the graph is added only if the graph stays triangulated without more edges, and if its score is worth its cells; "
            "in the authors' program each edge is tried with all that its triangulation needs, until nothing fits.",
            "Where the authors' program draws at random, in the networks of the cliques, scores decide; parents are added one by one, by "
            "the merit of correlation-based feature selection.",
            "The model may have 10 million cells in all (max_size_mb); in the program 10 million a clique and 50 million in all, on Adult "
            "30 million below epsilon 0.41.",
            "A whole clique of the graph is a candidate too; a measured table is not. A round's candidates differ, in the program "
            "one can be drawn twice. Those of the smaller errors lose half their weight for the next round, in the program any half.",
            "A pair is considered too if its score, less two deviations of its noise, is more than the noise it would be measured with; in "
            "the paper only if its average count is theta times that noise. At epsilon 0.1 it errs 0.129 instead of 0.259 on pairs of the "
            "demo.",
            f"{models.COLUMNS_SMOOTHED} It errs 3 and 4% less on Titanic at epsilon 1 and 0.1, 2% on a column of 500 values. "
            "Dependence is still asked for against the columns as measured.",
            "Columns with many values are not measured by levels of a hierarchy; rare values that noise hides are one to the model.",
            "The number of people is an estimate where it is secret. Fits end early, as soon as they would follow noise, and finished rows "
            "are moved towards the model.",
        ),
    )
    max_size_mb: float = models.capacity_mb()
    theta: float = real(
        6.0, least=0.1, most=100.0, text="Marginals are considered while their average count is this many times the expected noise."
    )
    dependence: float = real(
        1.0, least=0.0, most=100.0, text="Pairs are considered too while their noise is at most this many times their dependence. 0: not."
    )
    max_columns: int = whole(6, least=2, most=10, text="Most columns of a marginal.")
    candidates: int = whole(400, least=1, most=5000, text="Candidates whose errors a round asks for. Fewer: less noise in each error.")
    merge_below: float = models.merge_below()

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run for 50,000 people, or why it is refused.

        Args:
            workload: The workload.
            rho: The budget, in rho.
        """
        return self.forecast_for(workload, rho, aim_forecast.PEOPLE_ASSUMED)

    def forecast_for(self, workload: Workload, rho: float, people: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run for a number of people, or why it is refused.

        Every pair is compared once; a round compares the candidates and fits a model within the
        capacity. Refused are a single column, and columns or pairs of columns that are too large.

        Args:
            workload: The workload.
            rho: The budget, in rho.
            people: Number of people divided by the number of counts that one person changes.
        """
        domain = workload.domain
        pairs, cells = math.comb(len(domain), 2), rounds.cells_of_pairs(domain)
        reason = models.columns_too_large(domain, self.max_size_mb) or rounds.without_pairs(domain) or rounds.too_many_in_pairs(cells)
        growing = 2e-3 * pairs + 1e-6 * pairs**2
        a_fit = 0.02 * len(domain) + self.max_size_mb / 80.0 * min(1.0, 4 * rho)
        fits = (1 + rounds_for(len(domain))) * (a_fit + 4e-4 * self.candidates)
        seconds = aim_forecast.around(workload, people) + 1e-7 * cells + growing + fits
        return Forecast(not reason, seconds, 250.0 + 5e-5 * cells + 2 * self.max_size_mb, reason)

    def split(self, _workload: Workload, _total_is_public: bool) -> Split:
        """Return three stages with their shares of the budget: 0.1 for columns, 0.2 for choosing, 0.7 for marginals.

        If no rounds are needed, marginals also get what choosing leaves.
        """
        return ((SINGLE, COLUMNS), (CHOOSING, SCORES + ERRORS), (CHOSEN, MARGINALS))

    def steps(self, kernel: Kernel, _workload: Workload) -> Iterator[Step]:
        """Run PrivMRF with the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each column and marginal; a Fitted for the graph, after the initial
            marginals and after each round; then a Finished.
        """
        kernel.prepare(list(combinations(kernel.domain.names, 2)))
        run = _Run(self, kernel, (yield from rounds.measure_columns(kernel, COLUMNS * kernel.rho_total)))
        scores = run.scores()
        cliques = attribute_graph.cliques_of(run.folding.model, scores, run.capacity.cells)
        yield rounds.fitted(kernel, 0, f"joined columns in {len(cliques)} groups, of at most {max(map(len, cliques))} columns")
        plan = self._plan(kernel, run.model, cliques, scores)
        yield from run.measure_initial(plan)
        offers, rng = plan.offers, np.random.default_rng(kernel.seed())
        for number, count in enumerate(plan.rounds, 2):
            asked = _drawn(offers, self.candidates, rng)
            kernel.prepare(asked)
            noise = rounds.sigma_for(ERRORS * kernel.rho_total / len(plan.rounds), kernel.unit.errors_l2(len(asked)))
            errors = kernel.measure_errors(run.model.marginals(asked), noise)
            ranked = sorted(asked, key=lambda clique: -errors[clique])
            chosen = yield from run.measure_worst(number, ranked, count, plan)
            offers = _left(offers, ranked, chosen)
        details = {"groups": len(cliques), "marginals": len(run.marginals), "rounds": len(plan.rounds), "model_size_mb": run.size_mb}
        yield Finished(run.model, run.model.total, details)

    def _plan(self, kernel: Kernel, model: GraphicalModel, cliques: Sequence[Clique], scores: attribute_graph.Scores) -> _Plan:
        """Return which marginals to measure first, and what the rounds may add.

        Sigma divides the budget among the initial marginals and the wanted number of added ones. If
        there are no more candidates than wanted, all are measured at once, without rounds.

        Args:
            kernel: The kernel, for its budget and sensitivities.
            model: Model of the columns.
            cliques: The maximal cliques of the attribute graph.
            scores: The R-score of each pair.
        """
        domain, wanted = model.folding.model, added(len(kernel.domain))
        doubt = DOUBT * score_sigma(kernel)
        dependent = {pair: 2 * score * model.total - doubt for pair, score in scores.items()}

        def sigma(marginals: int) -> float:
            return rounds.sigma_for(MARGINALS * kernel.rho_total / marginals, kernel.unit.marginal_l2)

        def useful(marginals: int) -> attribute_graph.Useful:
            noise = HALF_NORMAL * sigma(marginals)
            pairs = {pair: self.dependence * count / noise for pair, count in dependent.items()}
            return attribute_graph.Useful(domain, model.total / (self.theta * noise), self.max_columns, pairs)

        initial = attribute_graph.initial_marginals(useful(len(domain) + wanted), cliques, scores)
        together = len(initial) + wanted
        offers = {r: weight for r, weight in attribute_graph.candidates(useful(together), cliques).items() if r not in initial}
        if len(offers) <= wanted:
            return _Plan([*initial, *offers], {}, [], 0.0)
        count = rounds_for(len(domain))
        return _Plan(initial, offers, [wanted // count + (k < wanted % count) for k in range(count)], sigma(together))


@dataclass(frozen=True)
class _Plan:
    """The marginals that a run measures, and their noise.

    Attributes:
        initial: Marginals to measure first.
        offers: Candidates of the rounds, with their weights in random draws.
        rounds: Number of marginals that each round adds; empty without rounds.
        sigma: Standard deviation of the noise of each marginal, in counts; 0 without rounds.
    """

    initial: list[Clique]
    offers: Mapping[Clique, float]
    rounds: list[int]
    sigma: float


class _Run:
    """The state of a run: its measurements and the fitted model.

    It begins with the columns; `marginals` holds the cliques that are measured after these.

    Args:
        mechanism: The parameters.
        kernel: The kernel.
        columns: The measurements of the columns.
    """

    def __init__(self, mechanism: PrivMrf, kernel: Kernel, columns: list[Measurement]) -> None:
        self._kernel = kernel
        self._measurements = columns
        self.marginals: list[Clique] = []
        self.folding = Folding.of(kernel.domain, columns, mechanism.merge_below)
        self.capacity = models.Capacity(self.folding.model, mechanism.max_size_mb)
        self.believed = smooth_columns(kernel.domain, columns, kernel.known)
        self.model = models.fit(kernel, columns, folding=self.folding)

    def scores(self) -> dict[Clique, float]:
        """Measure the R-score of each pair: half the distance of its shares from independent columns, about 0 to 1.

        Distances are from the columns as measured; smoothed columns would make them smaller.
        """
        pairs = list(combinations(self._kernel.domain.names, 2))
        errors = self._kernel.measure_errors(self.model.marginals(pairs), score_sigma(self._kernel))
        return {pair: max(0.0, error) / (2 * self.model.total) for pair, error in errors.items()}

    def measure_initial(self, plan: _Plan) -> Iterator[Step]:
        """Measure the initial marginals that fit the model, or columns once more if no marginal fits.

        Without rounds they get the whole remaining budget.

        Args:
            plan: The plan.
        """
        chosen = self._fitting(plan.initial, len(plan.initial)) or self._columns
        yield from self._measure(1, chosen, plan.sigma if plan.rounds else self._all_left(chosen), last=not plan.rounds)
        yield rounds.fitted(self._kernel, 1, f"measured {len(chosen)} initial marginals")

    def measure_worst(self, number: int, ranked: Sequence[Clique], count: int, plan: _Plan) -> Generator[Step, None, list[Clique]]:
        """Measure, as one round, the worst marginals that fit the model, and return them (by `yield from`).

        The last round spends the remaining budget, on columns if no other marginal fits.

        Args:
            number: Number of the round.
            ranked: The candidates, the largest error first.
            count: Number of marginals to measure.
            plan: The plan.
        """
        last, chosen = number == len(plan.rounds) + 1, self._fitting(ranked, count)
        if last:
            chosen = chosen or self._columns
        yield from self._measure(number, chosen, self._all_left(chosen) if last else plan.sigma, last=last)
        yield rounds.fitted(self._kernel, number, f"measured {len(chosen)} marginals of the largest errors")
        return chosen

    @property
    def size_mb(self) -> float:
        return self.capacity.used_mb([*self._columns, *self.marginals])

    @property
    def _columns(self) -> list[Clique]:
        return rounds.columns_of(self._kernel.domain)

    def _all_left(self, marginals: Sequence[Clique]) -> float:
        """Return the sigma of these marginals if they spend the whole remaining budget in equal parts."""
        return rounds.sigma_for(self._kernel.rho_left / len(marginals), self._kernel.unit.marginal_l2)

    def _measure(self, number: int, chosen: Sequence[Clique], sigma: float, *, last: bool) -> Iterator[Step]:
        self._measurements += yield from rounds.measure(self._kernel, number, chosen, sigma)
        self.marginals += chosen
        stopping = models.FINAL if last else models.BETWEEN
        self.model = models.fit(self._kernel, self._measurements, self.model, stopping, folding=self.folding, columns=self.believed)

    def _fitting(self, wanted: Sequence[Clique], count: int) -> list[Clique]:
        """Return the first `count` of the wanted marginals with which the model stays within its capacity.

        All lie inside cliques of a graph that fits, but a model's elimination order need not be the
        graph's.
        """
        chosen: list[Clique] = []
        for clique in wanted:
            if len(chosen) < count and self.capacity.allows([*self._columns, *self.marginals, *chosen], clique):
                chosen.append(clique)
        return chosen


def added(columns: int) -> int:
    """Return the number of marginals that all rounds together add: 0.8 times the number of columns, rounded down, at least 1."""
    return max(1, int(ADDED * columns))


def rounds_for(columns: int) -> int:
    """Return the number of rounds: half of the number of columns, rounded down, but from 1 to 8."""
    return min(MOST_ROUNDS, max(1, columns // 2))


def score_sigma(kernel: Kernel) -> float:
    """Return the standard deviation of the noise of each pair's distance from independence, in counts."""
    return rounds.sigma_for(SCORES * kernel.rho_total, kernel.unit.errors_l2(math.comb(len(kernel.domain), 2)))


def _drawn(offers: Mapping[Clique, float], count: int, rng: np.random.Generator) -> list[Clique]:
    """Return up to `count` different candidates, drawn by their weights, in the order of `offers`."""
    cliques, weights = list(offers), np.array(list(offers.values()))
    numbers = rng.choice(len(cliques), min(count, len(cliques)), replace=False, p=weights / weights.sum())
    return [cliques[number] for number in sorted(numbers.tolist())]


def _left(offers: Mapping[Clique, float], ranked: Sequence[Clique], chosen: Sequence[Clique]) -> dict[Clique, float]:
    """Return the candidates of the next round with their weights, without the chosen ones.

    Candidates in the second half of the ranking lose half of their weight.

    Args:
        offers: The candidates of this round with their weights.
        ranked: The drawn candidates, the largest error first.
        chosen: The measured ones.
    """
    smaller = set(ranked[len(ranked) // 2 :])
    return {r: weight / 2 if r in smaller else weight for r, weight in offers.items() if r not in chosen}
