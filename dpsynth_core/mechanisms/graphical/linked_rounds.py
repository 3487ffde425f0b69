"""Rounds of mechanisms for linked tables: how many, what a table costs beside the others, and which one models answer worst.

Released values only: the private tables are reached through the given kernel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean

from dpsynth_core.mechanisms.graphical.models import Answers, Choice, choose
from dpsynth_core.mechanisms.rounds import RoundBudget, least_error_shares
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique
from dpsynth_core.vocabulary.workload import Workload

ROUNDS, USUAL, FASTER = (16, 38, 80), 0.0064, 0.28
"""As how many rounds the first are paid: least, usually, most. Where noise is small more tables are worth measuring. Usually: where noise
of all that is left, on one table, would put this share of records in a wrong cell."""
OFFSET = 0.5
"""Of a table's noise, what a selection takes to be left where only patterns in it are believed."""


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
