"""The privacy kernel as mechanisms see it: their only view of the private table.

Mechanisms are written against this protocol, never against a source or the class that implements it (`privacy.kernel`). The kernel charges
before it answers, so the privacy proof of a mechanism is that it calls nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.research.oracles.rules.rule_oracle import Oracle
from dpsynth_core.research.oracles.rules.rules import Rule
from dpsynth_core.research.oracles.rules.task import Task
from dpsynth_core.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement, Residual
from dpsynth_core.vocabulary.predictors import Predictor


class Kernel(Protocol):
    """The operations of the privacy kernel (mechanisms are written against this, `privacy.kernel` implements it).

    The costs that operations state are zCDP's; under GDP a selection costs pi/2 times as much (`selection_price`).
    """

    @property
    def domain(self) -> Domain: ...

    @property
    def unit(self) -> Unit:
        """Which tables are neighbours, and with it every sensitivity."""

    @property
    def known(self) -> tuple[MarginalCounts, ...]:
        """What was answered of single columns before the mechanism began, and is released anyway: in this domain's cells, and free."""

    @property
    def rho_total(self) -> float: ...

    @property
    def rho_spent(self) -> float: ...

    @property
    def rho_left(self) -> float: ...

    @property
    def delta_total(self) -> float:
        """What was set aside for steps that keep their promise except with a small probability; 0 unless the mechanism asked for it."""

    @property
    def selection_price(self) -> float:
        """rho of one selection at eps = 1 under the accountant in force; at eps it is eps^2 times that."""

    def seed(self) -> int:
        """A fresh seed for randomness that protects nobody, such as the perturbations of a search. Free; part of what is released."""

    def grouped(self, groups: Sequence[Groups]) -> Self:
        """A kernel over the same table with these groups of values as further columns of its domain, with the same budget. Free."""

    def prepare(self, cliques: Collection[Clique]) -> None:
        """Read the marginals that will be needed in one pass. Answers nothing and so costs nothing."""

    def measure_marginal(self, clique: Clique, sigma: float) -> Measurement:
        """Costs marginal_l2^2 / (2 sigma^2)."""

    def residual_l2(self, clique: Clique, sigma: float) -> float:
        """L2 sensitivity of the residual of a marginal when it is measured at sigma, of (): of the number of rows. Public, free."""

    def measure_residual(self, clique: Clique, sigma: float) -> Residual:
        """Costs residual_l2^2 / (2 sigma^2). Every column of the clique must have two values or more."""

    def measure_total(self, sigma: float) -> float:
        """Number of rows + noise; free and exact (sigma ignored) when `unit.total_is_public`."""

    def measure_errors(self, answers: Mapping[Clique, NDArray[np.float64]], sigma: float) -> dict[Clique, float]:
        """||M_r(D) - answers_r||_1 + noise for each of k marginals, in counts. Costs k * marginal_l1^2 / (2 sigma^2)."""

    def select_worst_marginal(
        self,
        answers: Mapping[Clique, NDArray[np.float64]],
        weights: Mapping[Clique, float],
        offsets: Mapping[Clique, float],
        eps: float,
    ) -> Clique:
        """Exponential mechanism over the keys of `answers` with score w_r * (||M_r(D) - answers_r||_1 - offset_r).

        answers: counts, shaped like the marginals.  Costs eps^2 / 8.
        """

    def select_signed_query(
        self, queries: QueryClass, answers: SparseAnswers, eps: float, count: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """`count` independent draws of a query (number) or its negation (sign -1) by the exponential mechanism, with replacement.

        score: sign * (q(D) - answer_q), in counts, over the class closed under negation.  Costs count * eps^2 / 8.
        """

    def select_worst_queries(
        self, queries: QueryClass, answers: SparseAnswers, eps: float, count: int, excluded: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """`count` different queries, drawn one after the other by the exponential mechanism with score |q(D) - answer_q|.

        excluded: numbers that are not offered. Costs count * eps^2 / 8.
        """

    def permute_and_flip(self, queries: QueryClass, answers: SparseAnswers, eps: float) -> int:
        """One query (number) by permute-and-flip with score |q(D) - answer_q|. Costs eps^2 / 2."""

    def measure_queries(self, queries: QueryClass, numbers: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
        """q(D) + noise for each of k queries, in counts. Costs k * rows^2 / (2 sigma^2), rows: the most that one person owns."""

    def keep_queries(
        self,
        queries: QueryClass,
        numbers: NDArray[np.int64],
        signs: NDArray[np.int8],
        answers: NDArray[np.float64],
        eta: float,
        gamma: float,
        records: float,
    ) -> NDArray[np.bool_]:
        """Whether to keep each of k signed queries: True with probability exp(-eta - gamma - eta * A), independently.

        A = sign * (q(D) / records - answer), the first clipped to [0, 1].  answers: fractions, one per query.  eta > 0, gamma > 0,
        records >= 1: the number of people, public or noisy.  Costs k * ((eta * rows / records) * (1 + 1 / (e^gamma - 1)))^2 / 8.
        """

    def measure_largest_error(
        self, answers: Mapping[Clique, NDArray[np.float64]], sigma: float, threshold: int | None = None
    ) -> float:
        """The largest |q(D) - answer_q| over all cells of all marginals, + noise, in counts. Costs rows^2 / (2 sigma^2).

        threshold: answers are to "at least so many of the columns agree" instead of to cells, in tables of the same shape.
        """

    def measure_sum(self, clique: Clique, weights: NDArray[np.float64], low: float, high: float, sigma: float) -> float:
        """The sum over records of the weight of each one's cell, + noise. weights: shaped like the marginal, from low to high, which have
        0 between them and are from -1 to 1. Costs sum_l2^2 / (2 sigma^2)."""

    def mixture_l1(self, records: float) -> float:
        """Sensitivity of `best_mixture_error`, of its solver's tolerance too. Public, free."""

    def best_mixture_error(
        self, queries: QueryClass, support: NDArray[np.int32], start: NDArray[np.float64], records: float, floor: float, scale: float
    ) -> float | None:
        """The least largest error |q(D) - answer_q| that weights on the rows of `support` can have, or `floor`, + Laplace noise, in counts.

        start: public weights, above zero.  records: public or noisy number of people.  Costs (mixture_l1 / scale)^2 / 2. None where the
        solver's bounds did not meet; the promise holds on condition that this happens on no neighbouring table.
        """

    def learn_rule(self, task: Task, eps: float, oracle: Oracle) -> NDArray[np.int64]:
        """RSPM: the rule of `task` that is cheapest after Laplace noise on the separators, as `Rule.written`. Costs eps^2 / 2.

        An empty array where the oracle did not prove its answer, which is charged like any other. The promise holds on condition that
        this happens on no neighbouring table.
        """

    def learn_rule_gaussian(self, task: Task, eps: float, delta: float, oracle: Oracle) -> NDArray[np.int64]:
        """The same with Gaussian noise. Costs eps^2 / 2, and delta of `delta_total`. Empty likewise, under the same condition."""

    def learn_rule_robustly(self, task: Task, eps: float, delta: float, oracle: Oracle) -> NDArray[np.int64]:
        """PRSMA over RSPM; an empty array is its answer "fail". Costs eps^2 / 2, and delta of `delta_total`; calls of the oracle may fail.

        Only where `unit.total_is_public`. CapacityError for a table with fewer records than `research.privacy.prsma.Prsma` has parts.
        """

    def select_rule(self, task: Task, eps: float) -> NDArray[np.int64]:
        """Exponential mechanism over the rules of a class that can be gone through. Costs eps^2 / 8."""

    def measure_rules(self, task: Task, rules: Sequence[Rule], sigma: float) -> NDArray[np.float64]:
        """What each of k rules costs, in records, + noise. Costs k * rows^2 / (2 sigma^2), rows: the most that one person owns."""


class SealedKernel(Kernel, Protocol):
    """What drives a run holds: the same operations, divided into sealed parts, and the list of what they were charged."""

    @property
    def events(self) -> tuple[Event, ...]:
        """Every charge so far, in order."""

    def part(self, rho: float) -> SealedKernel:
        """A kernel over the same table with `rho` of this one's budget; whoever holds it can spend no more."""

    def over(self, domain: Domain, known: Sequence[MarginalCounts] = ()) -> SealedKernel:
        """A kernel over the same table in the cells of another public domain, with the same budget. known: what is released of it."""

    def among(self, cells: Mapping[str, tuple[int, ...]]) -> SealedKernel:
        """A kernel over those records alone that are in these public cells of columns, with the same budget."""

    def prepare_cells(self, cells: Collection[Attribute]) -> None:
        """Count these columns in these public cells in one pass, for `measure_cells`. Answers nothing and so costs nothing."""

    def measure_cells(self, clique: Clique, cells: Attribute, sigma: float) -> NDArray[np.float64]:
        """Number of records in each of these public cells of one column + noise. Costs marginal_l2^2 / (2 sigma^2)."""

    def discover_values(self, clique: Clique, sigma: float, delta: float) -> dict[str, int]:
        """Texts of one column with their numbers of records + noise, of those that reach a threshold, and always of the public keys
        (`vocabulary.keys`). Costs marginal_l2^2 / (2 sigma^2), and delta of `delta_total`."""

    def measure_right(self, predictors: Sequence[Predictor], sigma: float) -> NDArray[np.float64]:
        """How many records each of k predictors is right about, + noise. Costs k * rows^2 / (2 sigma^2), rows: the most that one person
        owns. Predictors are made of released values alone."""
