"""Multiplicative weights with private answers, the loop that MWEM and PMW^Pub share (Hardt, Ligett, McSherry 2012; Liu et al. 2021,
Algorithm 1): each round selects the query that the weights answer worst, measures it, and moves the weights towards the answer.

With the replay of earlier answers (Liu et al., section 5.3): at each round, in random order, all queries measured so far whose answer is
at least half as wrong as the newest one's are applied once more. That costs nothing, it uses released values only. What differs between
the mechanisms, the set of records that carry weights and where the weights start, is in `inference.weights`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, COUNTING, Split
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.rounds import RoundBudget
from dpsynth_core.mechanisms.steps import Finish, Fitted, as_it_is
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.research import operations
from dpsynth_core.research.inference.weights import Weights
from dpsynth_core.research.vocabulary.queries import Query, QueryClass, SparseAnswers
from dpsynth_core.vocabulary.domain import Domain

TOTAL_SHARE = 0.01
"""Share of rho for the number of people where it is secret; the papers take it as known. At eps = 1, delta = 1e-9: sigma = 58."""
REPLAYED = 0.5
"""An earlier answer is applied again if it is at least this share of the newest one's error away."""

MOST_ROUNDS = 2_000
SUPPOSED_PEOPLE = 100_000
"""For how long a run may take, before anything is known about their number."""

KEPT = (
    "T follows from the budget unless set: it is an input of the algorithm, tuned in the paper.",
    "The number of people is measured for 1% of the budget where it is secret; the paper takes it as known.",
)
DIFFERENCES = (
    "Queries are selected by the exponential mechanism at twice the epsilon of permute-and-flip, which costs the same and errs less.",
    "The average leaves out the first nine tenths of the rounds; printed is the average of all.",
    "Finished rows are moved towards the weighted ones; the paper's are not.",
    *KEPT,
)
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class MeasuredQuery:
    """A query that was measured. answer: a fraction of the people, from 0 to 1; sigma: of its noise, in people."""

    query: Query
    answer: float
    sigma: float


Select = Callable[[Kernel, QueryClass, SparseAnswers, float], int]
"""The number of a query that is answered badly, for rho = eps^2 / 8. Answers are counts."""


def exponentially(kernel: Kernel, queries: QueryClass, answers: SparseAnswers, eps: float) -> int:
    """By the exponential mechanism at eps."""
    return int(operations.select_worst_queries(kernel, queries, answers, eps, 1, _NONE)[0])


def by_permute_and_flip(kernel: Kernel, queries: QueryClass, answers: SparseAnswers, eps: float) -> int:
    """By permute-and-flip at half the eps, which costs the same."""
    return operations.permute_and_flip(kernel, queries, answers, eps / 2)


@dataclass(frozen=True)
class Reweighing:
    """The parameters of the rounds, and the rounds themselves. scale: see `round_count`."""

    scale: ClassVar[float]

    rounds: int = whole(
        0, least=0, most=MOST_ROUNDS, text="Number of rounds T. Each asks one count. 0: by the budget and the (noisy) number of people."
    )
    measure_share: float = real(
        0.5, least=0.05, most=0.95, text="Share of each round's budget that measures; the rest selects. The paper halves it."
    )
    skip: float = real(
        0.9, least=0.0, most=0.99, text="Share of the rounds, the first ones, that the average leaves out. The paper has 0 and errs more."
    )

    finish: Finish = as_it_is

    def round_count(self, rho: float, total: float) -> int:
        """T: as set, or scale * sqrt(N * sqrt(2 rho)), N sqrt(2 rho) being the number of people in units of a count's noise. Theorem 4.4 of
        Liu et al. has the first power, and constants that are for theorems. Exponent and scales were found on simulated people
        (`docs/accuracy.md`): from epsilon 0.1 to 1 the best T grows about threefold, as noise falls ninefold."""
        count = self.rounds or round(self.scale * math.sqrt(total * math.sqrt(2 * rho)))
        return min(MOST_ROUNDS, max(1, count))

    def split_after(self, first: Split, total_is_public: bool) -> Split:
        """`first`, then the number of people where it is secret, then the rounds."""
        counting: Split = () if total_is_public else ((COUNTING, TOTAL_SHARE),)
        rest = 1.0 - math.fsum(share for _, share in (*first, *counting))
        return (*first, *counting, (CHOOSING, (1 - self.measure_share) * rest), (CHOSEN, self.measure_share * rest))

    def reweigh(
        self, kernel: Kernel, queries: QueryClass, weights: Weights, total: float, count: int, select: Select
    ) -> Generator[Fitted, None, list[MeasuredQuery]]:
        """`count` rounds with all that is left of the budget, equally. Yields a step each; returns what was measured. Before each round the
        weights are remembered, but for the first `skip` of them: the output is the average of A_0 .. A_(count - 1), or of the last of
        these."""
        rng = np.random.default_rng(kernel.seed())
        measured: list[MeasuredQuery] = []
        for round_number in range(1, count + 1):
            rho = kernel.rho_left / (count + 1 - round_number)
            budget = RoundBudget.spending(rho, self.measure_share, kernel.unit.query_l1, kernel.selection_price)
            if round_number > self.skip * count:
                weights.remember()
            chosen = select(kernel, queries, weights.answers().scaled(total), budget.eps)
            noisy = float(operations.measure_queries(kernel, queries, np.array([chosen]), budget.sigma)[0])
            newest = MeasuredQuery(queries.query(chosen), min(1.0, max(0.0, noisy / total)), budget.sigma)
            before = weights.answer(newest.query)
            measured.append(newest)
            _replay(weights, measured, rng)
            names = " x ".join(newest.query.clique)
            yield rounds.fitted(kernel, round_number, f"a count of {names} is {newest.answer:.2%}, the model said {before:.2%}")
        return measured


def _replay(weights: Weights, measured: Sequence[MeasuredQuery], rng: np.random.Generator) -> None:
    """A(x) becomes A(x) exp(q(x) (a - q(A)) / 2) for the newest query and the earlier ones that are as wrong, in random order."""
    wrong = np.array([abs(weights.answer(one.query) - one.answer) for one in measured])
    for i in rng.permutation(np.flatnonzero(wrong >= REPLAYED * wrong[-1])):
        weights.reweigh(measured[i].query, (measured[i].answer - weights.answer(measured[i].query)) / 2)


def described(domain: Domain, measured: Sequence[MeasuredQuery]) -> list[dict[str, Any]]:
    """The measured queries for the release, by the labels of their cells."""
    return [
        {
            "attributes": list(one.query.clique),
            "cells": [domain[name].cell_labels()[code] for name, code in zip(one.query.clique, one.query.values, strict=True)],
            "at_least": one.query.threshold,
            "answer": one.answer,
            "sigma": one.sigma,
        }
        for one in measured
    ]


