"""Rounds of mechanisms for linked tables, as AIM's: select, measure, estimate, anneal; how many, and what a table costs beside the others.

Released values only: the private tables are reached through the given kernel.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.estimation import Stopping
from dpsynth_core.mechanisms.graphical.models import FINAL, ROUGH, Answers, Choice, Selections, choose, unrelated_tables
from dpsynth_core.mechanisms.rounds import RoundBudget, fitted, least_error_shares, sigma_for
from dpsynth_core.mechanisms.steps import Step
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique
from dpsynth_core.vocabulary.workload import Workload

Floats = NDArray[np.float64]

ROUNDS, USUAL, FASTER = (16, 38, 80), 0.0064, 0.28
"""As how many rounds the first are paid: least, usually, most. Where noise is small more tables are worth measuring. Usually: where noise
of all that is left, on one table, would put this share of records in a wrong cell."""
OFFSET = 0.5
"""Of a table's noise, what a selection takes to be left where only patterns in it are believed."""
RESERVE, TOGETHER = 8, 6
"""Rounds that stay affordable; a round measures one table for each so many before it."""


class Models(Protocol):
    """The models that a mechanism's rounds improve."""

    def allowed(self, cliques: Iterable[Clique], fraction: float, /) -> list[Clique]:
        """Return those tables with which the models stay within a fraction of their capacity."""

    def answers(self, cliques: Iterable[Clique], /) -> Answers:
        """Return the models' answers to tables, in counts."""

    def learn(
        self, choice: Choice, answer: Floats, number: int, sigma: float, fraction: float, record: Selections, /
    ) -> Generator[Step, None, Choice]:
        """Measure a chosen table, add it to the measurements and record the selection.

        Args:
            choice: The selection.
            answer: The models' answer to the table, in counts.
            number: Number of the round.
            sigma: Standard deviation of the noise, in counts.
            fraction: Fraction of the capacity that may be used.
            record: The selections of the run.

        Returns:
            The selection, by yield from; its offset may be another than before.
        """

    def fit(self, stopping: Stopping, /) -> None:
        """Estimate the models from all measurements."""

    def learnt_little(self, choice: Choice, /) -> bool:
        """Return whether the model's answer to a chosen table changed no more than by noise (`Choice.taught_little`)."""


@dataclass(frozen=True)
class Rounds:
    """The rounds of a mechanism for linked tables.

    Attributes:
        candidates: The weights of the tables that may be chosen.
        costs: The cost of measuring each of them, as a multiple of a round's measurement.
        measuring: Share of a round's cost for measuring, from 0 to 1.
        annealing: Largest factor by which a round costs more after an uninformative one.
    """

    candidates: Mapping[Clique, float]
    costs: Mapping[Clique, float]
    measuring: float
    annealing: float

    def run(self, kernel: Kernel, models: Models, rounds: int, tables: int) -> Generator[Step, None, tuple[int, Selections]]:
        """Run rounds with all that is left of the kernel's budget.

        Args:
            kernel: The kernel, which is charged.
            models: The models.
            rounds: As how many equal rounds the first ones are paid.
            tables: Number of tables that are measured already.

        Returns:
            The number of rounds and their selections, by yield from.
        """
        l2 = kernel.unit.marginal_l2
        budget = RoundBudget.spending(kernel.rho_left / rounds, self.measuring, l2, kernel.selection_price)
        number, last, record = 0, not self.candidates, Selections()
        while not last:
            number += 1
            pool, choices = list(self.candidates), list[Choice]()
            for _ in range(max(1, tables // TOGETHER)):
                # select
                budget, last = budget.affordable(kernel, self.measuring)
                spent = (kernel.rho_spent + budget.rho) / kernel.rho_total
                pool = models.allowed(pool, spent)
                if not pool:
                    break
                answers = models.answers(pool)
                choice = worst(kernel, answers, self.candidates, self.costs, budget)
                # measure
                rho = self.measuring * budget.rho * self.costs[choice.clique]
                last = last or rho >= kernel.rho_left
                sigma = sigma_for(kernel.rho_left if last else rho, l2)
                choices.append((yield from models.learn(choice, answers[choice.clique], number, sigma, spent, record)))
                pool, tables = unrelated_tables(choice.clique, pool), tables + 1
                if last:
                    break
            # estimate
            last = last or not choices
            models.fit(FINAL if last else ROUGH)
            yield fitted(kernel, number, f"measured {', '.join(' x '.join(choice.clique) for choice in choices)}")
            # anneal
            if 2 * sum(map(models.learnt_little, choices)) >= len(choices):
                budget = budget.annealed(kernel.rho_left, RESERVE, self.annealing)
        return number, record


def noise_of(workload: Workload, deviation: float) -> float:
    """Return the mean share of records that noise puts in a wrong cell of a table of the workload.

    Args:
        workload: The tables that are asked for.
        deviation: Standard deviation of the noise of a cell, as a share of the records.
    """
    return HALF_NORMAL / 2 * deviation * workload.cells / len(workload.cliques)


def rounds_of(noise: float) -> int:
    """Return the number of equal rounds that the remaining budget would pay, which sets the cost of the first rounds.

    The smaller the noise, the more rounds.

    Args:
        noise: Share of records that noise puts in a wrong cell of a table measured with the whole
            remaining budget.
    """
    least, usual, most = ROUNDS
    return min(max(round(usual * (USUAL / noise) ** FASTER), least), most)


def costs_of(domain: Domain, weights: Mapping[Clique, float], more: int = 0) -> dict[Clique, float]:
    """Return the cost of measuring each table, as a multiple of the mean cost of the tables.

    Args:
        domain: The domain.
        weights: The weights of the tables, by which the budget is divided for the least error.
        more: Number of tables at the end of `weights` that the mean leaves out.
    """
    shares = least_error_shares(domain, weights)
    usual = fmean(list(shares.values())[: len(shares) - more])
    return {r: share / usual for r, share in shares.items()}


def worst(kernel: Kernel, answers: Answers, weights: Mapping[Clique, float], costs: Mapping[Clique, float], budget: RoundBudget) -> Choice:
    """Select the table that the models answer worst, by the exponential mechanism.

    Args:
        kernel: The kernel, which is charged.
        answers: The models' answers to the tables.
        weights: The weights of the tables.
        costs: The cost of measuring each table, as a multiple of a round's measurement.
        budget: The budget of the round.
    """
    offsets = {r: OFFSET * HALF_NORMAL * budget.sigma / math.sqrt(costs[r]) * answer.size for r, answer in answers.items()}
    return choose(kernel, answers, {r: weights[r] for r in answers}, offsets, budget.eps)
