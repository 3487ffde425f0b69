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


@dataclass(frozen=True)
class Form:
    """The rules of the game that differ between our preset and the printed one.

    Attributes:
        charge: rho of a choice at eps_0 = 1 from which T is computed; None for its actual cost,
            1/8.
        growth: Factor of eta for a number of rounds.
        last_word: Number of rounds of records after the last choice.
        finish: Finish of the rows.
    """

    charge: float | None = None
    growth: Callable[[float], float] = math.sqrt
    last_word: int = 1
    finish: Finish = as_it_is


def _none(_rounds: float) -> float:
    return 1.0


LEAST_EPS_0 = 1e-6
"""Smallest eps_0, far below practical values. rho is divided by its square, which must not vanish."""
_COUNTED = "The number of people is measured for 2% of the budget where it is secret; the paper takes it as known."
_DIFFERENCES = (
    "A choice costs eps^2/8 of rho; the paper charges four times as much.",
    "T follows from the accuracy of a choice; the paper tunes eps_0 on the private table.",
    "The records have the last word: T choices, T + 1 rounds of records.",
    "eta grows with the square root of T; in Algorithms 2 and 3 it is fixed.",
    "The records of the first quarter of the rounds are left out: the largest error on invented people falls from 0.16 to 0.10.",
    "Finished rows are moved towards the records' own answers; the paper's are not.",
    _COUNTED,
)
_CHOSEN = (
    "Records a round, 50, are those of the authors' program: the paper does not print s.",
    "eps_0 and eta are the values that are in both of its tables; it tunes them on the private table.",
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
        differences=_DIFFERENCES,
    )
    choice_error: float = real(0.12, least=0.001, most=10.0, text="How far from the worst count a choice may be, as a share of the people.")
    rounds: int = whole(100, least=1, most=5000, text="The most rounds T; a small budget buys fewer.")
    records: int = whole(60, least=1, most=1000, text="Records s that are looked for in each round.")
    eta: float = _eta(0.25, "Mean of the random costs that vary the rows")
    solve_seconds: float = query_game.solve_seconds()
    gap: float = query_game.gap()
    skip: float = query_game.skip(0.25)
    eps_0: float = real(0.0, least=0.0, most=10.0, text="Epsilon of each choice, as in the papers. 0: by choice_error.")
    form: Form = Form()

    split = staticmethod(query_game.split)

    def __post_init__(self) -> None:
        if 0 < self.eps_0 < LEAST_EPS_0:
            raise InputError("mechanism.eps_0", f"{self.eps_0:g} is below {LEAST_EPS_0:g}", "give more, or 0 to choose by choice_error")

    @staticmethod
    def perturb(rng: np.random.Generator, sizes: Sequence[int], eta: float) -> Linear:
        """Draw the cost of each value of each column, exponentially distributed: Algorithm 2's sigma_j.

        Args:
            rng: Randomness.
            sizes: Number of values of each column.
            eta: Mean of the costs, in queries.
        """
        return tuple(rng.exponential(eta, size) for size in sizes)

    def choices(self, size: int, people: float, rho: float) -> int:
        """Return T, the number of choices: as many as the budget affords, from 1 to the parameter `rounds`.

        With `eps_0` set, the budget pays for choices at that eps. Otherwise it pays for choices
        that find, with high probability, a query within `choice_error` of the worst one: 2 ln(2|Q|)
        / (eps N) <= choice_error.

        Args:
            size: |Q|, the number of queries without negations.
            people: N, or N divided by the rows per person.
            rho: Budget of all choices.
        """
        if self.eps_0:
            return int(min(self.rounds, max(1.0, rho / ((self.form.charge or 1 / 8) * self.eps_0**2))))
        eps = 2 * math.log(2 * size) / (self.choice_error * people)
        return int(min(self.rounds, max(1.0, 8 * rho / eps**2)))

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time and memory of a game, or why it is refused: too many cells.

        The time is for all rounds that the parameters allow; a small budget affords fewer.
        """
        return query_game.forecast(workload, self.rounds + 1, self.records, self.rounds, self.solve_seconds)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run Algorithm 1; yield its steps.

        Yields:
            A Measured for the number of people if it is secret, a Fitted for each round, then
            Finished.
        """
        queries, sizes = QueryClass.of(workload), kernel.domain.sizes(kernel.domain.names)
        rng = np.random.default_rng(kernel.seed())
        with query_game.data_player(queries, query_game.search_limit(self.solve_seconds, self.gap), draws=self.records) as player:
            counted = yield from count_people(kernel, query_game.TOTAL_SHARE)
            total = people(counted)
            count = self.choices(queries.size, total / kernel.unit.query_l1, kernel.rho_left)
            eps = eps_for(kernel.rho_left / count, kernel.selection_price)
            if self.form.charge is not None and self.eps_0:
                eps = min(eps, self.eps_0)
            eta = self.eta * self.form.growth(count)

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
    )
    eta: float = _eta(0.12, "Scale of the random weights that vary the rows")

    @staticmethod
    def perturb(rng: np.random.Generator, sizes: Sequence[int], eta: float) -> Linear:
        """Draw the cost of each value of each column, Laplace distributed around zero: Algorithm 3's perturbation.

        Costs are the negatives of Algorithm 3's weights, whose distribution is symmetric.

        Args:
            rng: Randomness.
            sizes: Number of values of each column.
            eta: Scale of the costs, in queries.
        """
        return tuple(rng.laplace(0.0, eta, size) for size in sizes)


_PRINTED: Mapping[str, Any] = {
    "eps_0": 0.003, "eta": 1.0, "rounds": 5000, "records": 50, "skip": 0.0, "form": Form(1 / 2, _none, last_word=0, finish=Unmoved)
}
"""Settings as printed. eps_0 and eta: the only values in both Table 2 and Table 3. records: from the authors' program. form: eps_0^2/2 per
round, eta constant, and a last choice that no records answer.
"""
FEM_PUBLISHED, SEPFEM_PUBLISHED = (replace(game, card=printed(game.card, *_CHOSEN), **_PRINTED) for game in (Fem(), SepFem()))
"""Algorithm 1 with 2 and with 3 as printed (Vietri et al. 2020)."""
