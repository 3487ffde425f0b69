"""Multiplicative weights with private answers: MWEM and PMW^Pub, which share their loop.

The sources are Hardt, Ligett, McSherry 2012, and Liu et al. 2021, Algorithm 1. Each round selects the query that the weights answer worst,
measures it, and moves the weights towards the answer.

With the replay of earlier answers (Liu et al., section 5.3): at each round, in random order, all queries measured so far whose answer is
at least half as wrong as the newest one's are applied once more. That costs nothing, it uses released values only. What differs between
the mechanisms, the set of records that carry weights and where the weights start, is in `inference.weights`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpsynth_core.extensions.research import operations
from dpsynth_core.extensions.research.inference.weights import MAX_CELLS, CellWeights, RowWeights, Weights
from dpsynth_core.extensions.research.mechanisms.weights import mixture
from dpsynth_core.extensions.research.vocabulary.queries import Incidence, Query, QueryClass, SparseAnswers
from dpsynth_core.mechanisms import public_check, rounds
from dpsynth_core.mechanisms.mechanism import CHECKING, CHOOSING, CHOSEN, COUNTING, Card, Forecast, Mechanism, Split, printed
from dpsynth_core.mechanisms.parameters import choice, real, whole
from dpsynth_core.mechanisms.steps import Finish, Finished, Fitted, Step, Unmoved, as_it_is
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload

REPLAYED = 0.5
"""Smallest error of an earlier answer, relative to the newest one's, at which it is applied again."""

MOST_ROUNDS = 2_000
SUPPOSED_PEOPLE = 100_000
"""Number of people in forecasts of duration, before it is known."""

_KEPT = (
    "T follows from the budget unless set: it is an input of the algorithm, tuned in the paper.",
    "The number of people is measured for 1% of the budget where it is secret; the paper takes it as known.",
)
_DIFFERENCES = (
    "Queries are selected by the exponential mechanism at twice the epsilon of permute-and-flip, which costs the same and errs less.",
    "The average leaves out the first nine tenths of the rounds; printed is the average of all.",
    "Finished rows are moved towards the weighted ones; the paper's are not.",
    *_KEPT,
)
_BYTES_PER_CELL = 40
_SECONDS_PER_CELL = 5e-8
"""Seconds of MWEM per cell of the domain and round: sums for all marginals, the average, and the replay of earlier answers."""


@dataclass(frozen=True)
class MeasuredQuery:
    """A measured query.

    Attributes:
        query: The query.
        answer: The noisy answer as a fraction of the people, from 0 to 1.
        sigma: Standard deviation of its noise, in people.
    """

    query: Query
    answer: float
    sigma: float


Select = Callable[[Kernel, QueryClass, SparseAnswers, float], int]
"""Returns the number of a badly answered query, for rho = eps^2 / 8. Answers are counts."""


def exponentially(kernel: Kernel, queries: QueryClass, answers: SparseAnswers, eps: float) -> int:
    """Select a badly answered query by the exponential mechanism at eps, and return its number in the class (a `Select`).

    Args:
        kernel: The kernel, which is charged.
        queries: The class of queries.
        answers: Public answers to all queries, in counts.
        eps: Privacy parameter of the selection, which costs rho = eps^2 / 8.
    """
    return int(operations.select_worst_queries(kernel, queries, answers, eps, 1, np.zeros(0, dtype=np.int64))[0])


def by_permute_and_flip(kernel: Kernel, queries: QueryClass, answers: SparseAnswers, eps: float) -> int:
    """Select a badly answered query by permute-and-flip, and return its number in the class (a `Select`).

    It runs at eps / 2, so that it costs as much as the exponential mechanism at eps.

    Args:
        kernel: The kernel, which is charged.
        queries: The class of queries.
        answers: Public answers to all queries, in counts.
        eps: Twice the privacy parameter of permute-and-flip; it costs rho = eps^2 / 8.
    """
    return operations.permute_and_flip(kernel, queries, answers, eps / 2)


SELECTIONS: Mapping[str, Select] = {"exponential": exponentially, "permute-and-flip": by_permute_and_flip}


@dataclass(frozen=True)
class Reweighing:
    """The rounds of multiplicative weights and their parameters, shared by MWEM and PMW^Pub.

    Attributes:
        scale: Factor of the number of rounds (`round_count`).
        finish: Finish of the rows.
    """

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
        """Return the number of rounds T: as set, or scale * sqrt(N * sqrt(2 rho)), from 1 to 2,000.

        N sqrt(2 rho) is the number of people in units of a count's noise. Theorem 4.4 of Liu et al.
        has the first power, and constants for theorems. Exponent and scales were found on simulated
        people (`docs/accuracy.md`): from epsilon 0.1 to 1 the best T grows about threefold, as
        noise falls ninefold.

        Args:
            rho: Budget of the run, in rho.
            total: Number N of people, noisy or public.
        """
        return min(MOST_ROUNDS, max(1, self.rounds or round(self.scale * math.sqrt(total * math.sqrt(2 * rho)))))

    def split_after(self, first: Split, total_is_public: bool) -> Split:
        """Return the planned stages with their shares of the budget, which add up to 1.

        They are `first`, a count of the people if it is secret, selections, and measured queries.

        Args:
            first: Stages before the count, with their shares of the budget.
            total_is_public: Whether the number of people is public.
        """
        counting: Split = () if total_is_public else ((COUNTING, rounds.TOTAL_SHARE),)
        rest = 1.0 - math.fsum(share for _, share in (*first, *counting))
        return (*first, *counting, (CHOOSING, (1 - self.measure_share) * rest), (CHOSEN, self.measure_share * rest))

    def reweigh(
        self, kernel: Kernel, queries: QueryClass, weights: Weights, total: float, count: int, select: Select
    ) -> Generator[Fitted, None, list[MeasuredQuery]]:
        """Run `count` rounds with the remaining budget, split equally; changes `weights`.

        Each round selects the query that the weights answer worst, measures it, and reweighs.
        Before each round the weights are remembered, except for the first share `skip` of the
        rounds: the result is the average of A_0 .. A_(count - 1), or of the last of these.

        Args:
            kernel: The kernel, which is charged.
            queries: The class of queries.
            weights: The weights.
            total: Number of people, noisy or public.
            count: Number of rounds.
            select: Selects a query.

        Returns:
            The measured queries, in order (by `yield from`).

        Yields:
            A Fitted step per round.
        """
        rng = np.random.default_rng(kernel.seed())
        measured: list[MeasuredQuery] = []
        for round_number in range(1, count + 1):
            rho = kernel.rho_left / (count + 1 - round_number)
            budget = rounds.RoundBudget.spending(rho, self.measure_share, kernel.unit.query_l1, kernel.selection_price)
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
    """Apply the newest answer, and earlier answers that are at least REPLAYED times as wrong, in random order.

    An answer a to the query q changes the weight A(x) of a record x to A(x) exp(q(x) (a - q(A)) /
    2).

    Args:
        weights: The weights, which are changed.
        measured: The measured queries, the newest last.
        rng: Randomness of the order.
    """
    wrong = np.array([abs(weights.answer(one.query) - one.answer) for one in measured])
    for i in rng.permutation(np.flatnonzero(wrong >= REPLAYED * wrong[-1])):
        weights.reweigh(measured[i].query, (measured[i].answer - weights.answer(measured[i].query)) / 2)


def described(domain: Domain, measured: Sequence[MeasuredQuery]) -> list[dict[str, Any]]:
    """Return the measured queries as JSON values for release.json, in the order of measurement; [] without any.

    Each has attributes, cells (their labels), at_least (how many of these must agree), answer (a
    fraction of the people, clipped to 0 to 1) and sigma (of its noise, in people).

    Args:
        domain: The domain.
        measured: The measured queries.
    """
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


@dataclass(frozen=True)
class Mwem(Reweighing):
    """MWEM on an explicit distribution, with the replay and Gaussian noise.

    It keeps one number for every possible record, so it suits small domains only: the ancestor of MWEM+PGM and PMW^Pub, and their
    yardstick. Budget: the number of people where it is secret; then T equal rounds, each a selection (eps^2/8) and a measurement of one
    counting query.
    """

    card: Card = Card(
        "mwem", "MWEM", ZCDP, takes_thresholds=True,
        summary=(
            "Keeps one number for every possible row and adjusts all of them, count by count, where they are most wrong. For few columns "
            "only."
        ),
        paper="Hardt, Ligett, McSherry: A Simple and Practical Algorithm for Differentially Private Data Release (NIPS 2012)",
        privacy=(
            "Measures the number of people, where it is secret; then every round selects one counting query with the exponential mechanism "
            "(rho = eps^2/8) and measures it with rounded Gaussian noise (rho = rows^2 / (2 sigma^2), rows: the most that one person "
            "owns). The rounds compose adaptively under zero-concentrated differential privacy; a filter refuses what would exceed the "
            "total."
        ),
        differences=_DIFFERENCES,
    )
    scale: ClassVar[float] = 4.0
    select: Select = exponentially

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run for 100,000 people, or why it is refused.

        Refused are a domain of more than 10 million possible records, and a workload of too many cells.

        Args:
            workload: The tables that are asked for.
            rho: The budget, in rho.
        """
        cells = workload.domain.cells(workload.domain.names)
        if cells > MAX_CELLS:
            remedy = "use fewer columns or bins, or AIM, which needs no such table"
            reason = f"there are more than {MAX_CELLS:,} possible rows, and it keeps a number for each; {remedy}"
        else:
            reason = rounds.too_many_cells(workload.cells)
        size = min(cells, MAX_CELLS)
        once = _SECONDS_PER_CELL * size + 2e-7 * min(workload.cells, rounds.MAX_CELLS)
        memory = 200.0 + (_BYTES_PER_CELL * size + 60 * min(workload.cells, rounds.MAX_CELLS)) / 1e6
        return Forecast(not reason, 1.0 + self.round_count(rho, SUPPOSED_PEOPLE) * once, memory, reason)

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        """Return the planned stages with their shares of the budget, which add up to 1.

        They are a count of the people if it is secret, selections, and measured queries.
        """
        return self.split_after((), total_is_public)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run MWEM with the kernel's whole budget; yield its steps.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for the number of people if it is secret, a Fitted for each round, then a
            Finished.
        """
        queries = QueryClass.of(workload)
        total = rounds.people((yield from rounds.count_people(kernel, rounds.TOTAL_SHARE)))
        weights, count = CellWeights(queries), self.round_count(kernel.rho_total, total)
        measured = yield from self.reweigh(kernel, queries, weights, total, count, self.select)
        details = {"rounds": count, "queries": described(kernel.domain, measured)}
        yield Finished(self.finish(weights.average(total)), total, details)


@dataclass(frozen=True)
class PmwPub(Reweighing):
    """PMW^Pub: multiplicative weights on the distinct rows of the public table.

    The weights start at the rows' frequencies; then MWEM's rounds follow. The output is the average of the last iterates before A_T; its
    rows are rounded at random, not sampled. No row appears that the public table does not have, apart from the changes of single values
    that bring the rounded rows closer to the weighted ones. Differences from the paper are on the card: theory needs all iterates A_0 to
    A_(T-1), while they pull the result back to its start (`skip`).
    """

    card: Card = Card(
        "pmwpub", "PMW^Pub", ZCDP, takes_thresholds=True,
        summary=(
            "Starts from a public table of the same columns and gives its rows other weights, count by count, where they are most wrong. "
            "Best at a small epsilon, if the public people resemble yours."
        ),
        paper="Liu, Vietri, Steinke, Ullman, Wu: Leveraging Public Data for Practical Private Query Release (ICML 2021), Algorithm 1",
        privacy=(
            "The public table is used as it is: nothing protects the people in it. Of the private one, the number of people is measured "
            "where it is secret; then every round selects one counting query with the exponential mechanism (rho = eps^2/8), or where so "
            "set with permute-and-flip (rho = eps^2/2), and measures it with rounded Gaussian noise (rho = rows^2 / (2 sigma^2), rows: the "
            "most that one person owns). The rounds compose adaptively under zero-concentrated differential privacy; a filter refuses what "
            "would exceed the total."
        ),
        differences=_DIFFERENCES,
    )
    scale: ClassVar[float] = 1.0
    selection: str = choice(tuple(SELECTIONS), text="How each round selects, at the same cost; permute-and-flip is the paper's.")
    check_share: float = real(
        0.0, least=0.0, most=0.5, text="Share of the budget that first measures how well the public table could do. 0: none."
    )
    public: PublicTable | None = None

    def informed_by(self, public: PublicTable) -> Mechanism:
        """Return a copy of the mechanism that uses this public table."""
        return replace(self, public=public)

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run for 100,000 people, or why it is refused.

        A run without a public table, or with one that is too large for memory, is refused.

        Args:
            workload: The tables that are asked for.
            rho: The budget, in rho.
        """
        reason = public_check.refusal(self.public, workload)
        places = self.public.rows * len(workload.cliques) if self.public else 0
        checking = 2e-6 * places if self.check_share else 0.0
        count = self.round_count(rho, SUPPOSED_PEOPLE)
        seconds = 2.0 + checking + 1e-7 * places + count * (0.05 + 1e-7 * places)
        return Forecast(not reason, seconds, mixture.memory_mb(self.public, workload), reason)

    def condition(self, _domain: Domain) -> str:
        """Return the condition of the privacy guarantee that comes with the check, or "" without a check."""
        return mixture.CONDITION if self.check_share else ""

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        """Return the planned stages with their shares of the budget, which add up to 1.

        They are the check of the public table if it has a share, a count of the people if it is secret, selections,
        and measured queries.
        """
        checking: Split = ((CHECKING, self.check_share),) if self.check_share else ()
        return self.split_after(checking, total_is_public)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run PMW^Pub with the kernel's whole budget; yield its steps.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for the number of people if it is secret, a Fitted for the check if it has a
            share, a Fitted for each round, then a Finished.
        """
        assert self.public is not None, "forecast refuses to run without"
        support, counts = self.public.support()
        queries, details = QueryClass.of(workload), dict[str, Any]()
        total, start = rounds.people((yield from rounds.count_people(kernel, rounds.TOTAL_SHARE))), counts / counts.sum()
        if self.check_share:
            result = mixture.check(kernel, queries, support, start, total, self.check_share * kernel.rho_total)
            details["best_mixture"] = result.to_json()
            yield Fitted(0, result.sentence, kernel.rho_spent, rounds.done(kernel))
        weights = RowWeights(Incidence(queries, support), start)
        count = self.round_count(kernel.rho_total, total)
        measured = yield from self.reweigh(kernel, queries, weights, total, count, SELECTIONS[self.selection])
        details |= {"rounds": count, "distinct_rows": len(support), "queries": described(kernel.domain, measured)}
        yield Finished(self.finish(weights.average(total)), total, details)


_PRINTED: Mapping[str, Any] = {"measure_share": 0.5, "skip": 0.0, "finish": Unmoved}
_AS_LIU = printed(Mwem.card, "As Liu et al. 2021 run it (section 5.3): permute-and-flip, Gaussian noise, replay.", *_KEPT)
_REPLAYED = printed(PmwPub.card, "Earlier answers are replayed, as in section 5.3.", *_KEPT)
MWEM_PUBLISHED = Mwem(card=_AS_LIU, select=by_permute_and_flip, **_PRINTED)
"""Hardt, Ligett and McSherry 2012 with the improvements of Liu et al. 2021, section 5.3."""
PMWPUB_PUBLISHED = PmwPub(card=_REPLAYED, selection="permute-and-flip", **_PRINTED)
"""Algorithm 1 as printed in Liu et al. 2021, with the replay."""
