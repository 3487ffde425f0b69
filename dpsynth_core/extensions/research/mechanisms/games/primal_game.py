"""The primal game: Algorithm 1 of Vietri et al. 2020.

FEM plays it with the perturbation of Algorithm 2, and sepFEM with the one of Algorithm 3.

In every round the data player follows the perturbed leader: s records, each the best reply to all queries chosen so far under its own
perturbation. The query player answers with one query, chosen by the exponential mechanism at eps_0, that these records answer worst. The
records of all rounds together are the output.

Differences from the paper are on the cards, and their effect is in `docs/accuracy.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsynth_core.extensions.research import operations
from dpsynth_core.extensions.research.mechanisms.games import query_game
from dpsynth_core.extensions.research.oracles.records.problem import Linear
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.mechanism import Card, Forecast, printed
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.rounds import count_people, eps_for, people
from dpsynth_core.mechanisms.steps import Finish, Finished, Step, Unmoved, as_it_is
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.workload import Workload


def authors_eps_0(rho: float, people: float) -> float:
    """Return eps_0 of a choice as the authors' last published runs set it: 0.008 times the square root of epsilon.

    Here epsilon belongs to `rho` at the paper's delta of 1/N^2, by the conversion of Bun and Steinke
    2016. T = 2 rho / eps_0^2 is then some 350 epsilon for 50,000 people.

    Args:
        rho: Budget of all choices, in rho.
        people: N, or N divided by the rows per person.
    """
    return 0.008 * math.sqrt(rho + 2 * math.sqrt(2 * rho * math.log(max(people, 2.0))))


@dataclass(frozen=True)
class Form:
    """The rules of the game that differ between our preset and the published one.

    Attributes:
        charge: rho of a choice at eps_0 = 1 from which T is computed; None for its actual cost,
            1/8.
        eps_0: eps_0 of a choice by the budget and the number of people, where the parameter `eps_0`
            is 0; None to follow `Fem.choice_error`.
        last_word: Number of rounds of records after the last choice.
        finish: Finish of the rows.
    """

    charge: float | None = None
    eps_0: Callable[[float, float], float] | None = None
    last_word: int = 1
    finish: Finish = as_it_is


STEADY_ROUNDS = 64
"""Number of rounds at which a choice may err by `choice_error`; in more rounds less, in proportion to 1 / sqrt(T)."""
_USUAL_PEOPLE = 50_000.0
_DISTINCT = 1 / 3
"""Share of the chosen queries that are different: at epsilon 1 on Adult 100 of 350."""
LEAST_EPS_0 = 1e-6
"""Smallest eps_0, far below practical values. rho is divided by its square, which must not vanish."""
_COUNTED = "The number of people is measured for 2% of the budget where it is secret; the paper takes it as known."
_GROWS = "eta grows with the square root of T, as in the authors' program; in Algorithms 2 and 3 it is fixed."
_ALL_ROUNDS = "Records of all rounds are kept, as printed; the authors' program leaves out those of the first quarter of the rounds."
_ONE_VALUE = "A record has one value of each column, as in the authors' program; of the printed records some have two, or none."
_EXPONENTIAL = (
    "Costs are exponentially distributed, as Algorithm 2 and the authors' program have them; equation 3 and section 6 print Laplace noise."
)
_DIFFERENCES = (
    "A choice costs eps^2/8 of rho; the paper charges four times as much.",
    "T follows from the accuracy of a choice; the paper tunes eps_0 on the private table.",
    "The records have the last word: T choices, T + 1 rounds of records.",
    _GROWS,
    "The records of the first quarter of the rounds are left out, as in the authors' program and not in the paper: the largest error on "
    "invented people falls from 0.16 to 0.10.",
    "200 records a round, where the authors' program has 50; 5 of them are proved best, and the others are found by a search without a "
    "proof, which finds the best nine times in ten.",
    "Finished rows are moved towards the records' own answers; the paper's are not.",
    _ONE_VALUE,
    _COUNTED,
)
_CHOSEN = (
    "eps_0 = 0.008 sqrt(epsilon), eta = 0.16 sqrt(T) and 50 records a round are those of the last runs that the authors published with "
    "their program; the paper tunes eps_0 and eta on the private table, and does not print s.",
    _GROWS,
    _ALL_ROUNDS,
    _ONE_VALUE,
    "rho follows from epsilon and delta as in Canonne et al. 2020; the paper's conversion is a little looser.",
    _COUNTED,
)


def _eta(default: float, subject: str) -> float:
    return real(default, least=0.001, most=100.0, text=f"{subject}, eta, as a multiple of the square root of the number of rounds.")


@dataclass(frozen=True)
class Fem:
    """FEM: every value of every column has an exponentially distributed cost with mean eta.

    A value is a coordinate of the one-hot record. The costs are drawn afresh for every record.
    """

    card: Card = Card(
        "fem", "FEM", ZCDP, takes_thresholds=True,
        summary=(
            "Keeps the largest error of any single count small: asks which count is worst, finds rows that mend it, and again. For many "
            "large tables and a small epsilon."
        ),
        paper=f"{query_game.PAPER}, Algorithm 2",
        privacy=(
            "Measures the number of people, where it is secret, with rounded Gaussian noise; then every round chooses one counting query "
            "or its negation with the exponential mechanism (rho = eps^2/8). The records are found by a solver that sees the chosen "
            "queries only, so they cost nothing however the search ends. The rounds compose adaptively under zero-concentrated "
            "differential privacy."
        ),
        differences=(_EXPONENTIAL, *_DIFFERENCES),
    )
    choice_error: float = real(
        0.12, least=0.001, most=10.0,
        text="How far from the worst count a choice may be in 64 rounds, as a share of the people; half of it in four times as many.",
    )
    rounds: int = whole(400, least=1, most=5000, text="The most rounds T; a small budget buys fewer.")
    records: int = whole(200, least=1, most=1000, text="Records s that are looked for in each round.")
    proved: int = whole(
        5, least=1, most=1000, text="Records of a round that a solver proves best, if it can; the others are found by a quick search."
    )
    eta: float = _eta(0.25, "Mean of the random costs that vary the rows")
    solve_seconds: float = query_game.solve_seconds()
    gap: float = query_game.gap()
    skip: float = query_game.skip(0.25)
    eps_0: float = real(0.0, least=0.0, most=10.0, text="Epsilon of each choice, as in the papers. 0: from the budget.")
    form: Form = Form()

    split = staticmethod(query_game.split)

    def __post_init__(self) -> None:
        if 0 < self.eps_0 < LEAST_EPS_0:
            raise InputError("mechanism.eps_0", f"{self.eps_0:g} is below {LEAST_EPS_0:g}", "give more, or 0 to choose by choice_error")

    @staticmethod
    def perturb(rng: np.random.Generator, sizes: Sequence[int], eta: float) -> Linear:
        """Draw the cost of each value of each column, exponentially distributed: Algorithm 2's sigma_j.

        Args:
            rng: Source of randomness.
            sizes: Number of values of each column.
            eta: Mean of the costs, in queries.

        Returns:
            For each column, the costs of its values, in queries.
        """
        return tuple(rng.exponential(eta, size) for size in sizes)

    def choices(self, size: int, people: float, rho: float) -> int:
        """Return T, the number of choices: as many as the budget affords, from 1 to the parameter `rounds`.

        Where eps_0 is given (`given_eps_0`), the budget pays for choices at that eps. Otherwise it
        pays for choices that find, with high probability, a query within an error of the worst one:
        2 ln(2|Q|) / (eps N) <= choice_error * sqrt(STEADY_ROUNDS / T). The right side falls as the
        error of the game itself does, and T grows with the square root of rho.

        Args:
            size: |Q|, the number of queries without negations.
            people: N, or N divided by the rows per person.
            rho: Budget of all choices, in rho.
        """
        if eps_0 := self.given_eps_0(people, rho):
            return int(min(self.rounds, max(1.0, rho / ((self.form.charge or 1 / 8) * eps_0**2))))
        eps = 2 * math.log(2 * size) / (self.choice_error * people)  # in STEADY_ROUNDS rounds
        return int(min(self.rounds, max(1.0, math.sqrt(STEADY_ROUNDS * 8 * rho) / eps)))

    def given_eps_0(self, people: float, rho: float) -> float:
        """Return the eps_0 that the parameter or the form gives; 0 if it follows from `choice_error`.

        Args:
            people: N, or N divided by the rows per person.
            rho: Budget of all choices, in rho.
        """
        return self.eps_0 or (self.form.eps_0(rho, people) if self.form.eps_0 else 0.0)

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a game for 50,000 people, or why it is refused.

        Args:
            workload: The tables that are asked for.
            rho: Budget of the run, in rho.
        """
        return self.forecast_for(workload, rho, _USUAL_PEOPLE)

    def forecast_for(self, workload: Workload, rho: float, people: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a game, or why it is refused: too many cells.

        Args:
            workload: The tables that are asked for.
            rho: Budget of the run, in rho.
            people: Expected number of people, divided by the rows per person.
        """
        count = self.choices(QueryClass.of(workload).size, people, rho)
        searched = min(self.proved, self.records)
        climbed = self.records - searched
        return query_game.forecast(workload, count + self.form.last_word, searched, _DISTINCT * count, self.solve_seconds, climbed)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run Algorithm 1 with the kernel's budget; yield its steps.

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
        limit = query_game.search_limit(self.solve_seconds, self.gap)
        with query_game.data_player(queries, limit, min(self.proved, self.records)) as player:
            counted = yield from count_people(kernel, query_game.TOTAL_SHARE)
            total = people(counted)
            number_of, rho = total / kernel.unit.query_l1, kernel.rho_left
            count = self.choices(queries.size, number_of, rho)
            eps = eps_for(rho / count, kernel.selection_price)
            if self.form.charge is not None:
                eps = min(eps, self.given_eps_0(number_of, rho) or eps)
            eta = self.eta * math.sqrt(count)

            chosen, rounds = query_game.Signed.uniform(queries, 1, rng), []
            for number in range(1, count + 1 + self.form.last_word):
                perturbations = [self.perturb(rng, sizes, eta) for _ in range(self.records)]
                records, found = player.records(chosen, perturbations)
                rounds.append(records)
                if number <= count:
                    answers = SparseAnswers.of_rows(queries, records, total / len(records))
                    chosen = chosen.plus(query_game.Signed(*operations.select_signed_query(kernel, queries, answers, eps)))
                yield query_game.played(kernel, number, found)
        details = {"choices": count, "eps_of_a_choice": eps, "eta": eta, **player.searches.to_json()}
        yield Finished(self.form.finish(query_game.together(kernel.domain, rounds, self.skip, total)), total, details)


@dataclass(frozen=True)
class SepFem(Fem):
    """FEM with the separator's perturbation.

    The queries "this column has this value" tell any two records apart: they are the separator set of one-hot records. Each is added to the
    objective with a Laplace distributed weight of scale eta, drawn afresh for every record.
    """

    card: Card = replace(
        Fem.card,
        name="sepfem",
        title="sepFEM",
        summary="FEM with another way to keep its rows varied, which has the better proof. Try it where FEM is good.",
        paper=f"{query_game.PAPER}, Algorithm 3",
        differences=_DIFFERENCES,
    )
    eta: float = _eta(0.08, "Scale of the random weights that vary the rows")

    @staticmethod
    def perturb(rng: np.random.Generator, sizes: Sequence[int], eta: float) -> Linear:
        """Draw the cost of each value of each column, Laplace distributed around zero: Algorithm 3's perturbation.

        Costs are the negatives of Algorithm 3's weights, whose distribution is symmetric.

        Args:
            rng: Source of randomness.
            sizes: Number of values of each column.
            eta: Scale of the costs, in queries.

        Returns:
            For each column, the costs of its values, in queries.
        """
        return tuple(rng.laplace(0.0, eta, size) for size in sizes)


_PUBLISHED: Mapping[str, Any] = {
    **{"eta": 0.16, "rounds": 5000, "records": 50, "proved": 50, "skip": 0.0},
    "form": Form(1 / 2, authors_eps_0, last_word=0, finish=Unmoved),
}
"""The authors' last settings. form: eps_0^2/2 per round, and a last choice that no records answer."""
FEM_PUBLISHED = replace(Fem(), card=printed(Fem.card, _EXPONENTIAL, *_CHOSEN), **_PUBLISHED)
"""Algorithm 1 with 2 (Vietri et al. 2020)."""
SEPFEM_PUBLISHED = replace(SepFem(), card=printed(SepFem.card, *_CHOSEN), **_PUBLISHED)
"""Algorithm 1 with 3 (Vietri et al. 2020)."""
