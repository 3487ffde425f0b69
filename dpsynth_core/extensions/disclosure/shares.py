"""Shares of people from noisy counts, with their intervals, in words, and beside what epsilon allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpsynth_core.claims.models.stated import CONFIDENCE, Share
from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.unit import REPLACE
from dpsynth_core.statistics.distances import possible
from dpsynth_core.statistics.intervals import Noisy, fraction
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.measurement import ROUNDING

if TYPE_CHECKING:
    from dpsynth_core.planning.plan import Plan

_HALVINGS = 60


def share_of(count: float, noises: int, sigma: float, total: Total) -> Share:
    """Return a noisy count of people as a share with its 95 % interval, all from 0 to 1.

    A count below 0 has the upper end of a count of 0, so that no interval is a single point.

    Args:
        count: The noisy count, in people.
        noises: Number of measured counts that were added up to it.
        sigma: Standard deviation of the noise of each of them, in people, before rounding.
        total: Number of people.
    """
    noise, people, reach = math.sqrt(noises * (sigma**2 + ROUNDING)), Noisy(total.value, total.sigma), normal((1 + CONFIDENCE) / 2)
    low, _ = fraction(Noisy(count, noise), people, reach)
    _, high = fraction(Noisy(max(count, 0.0), noise), people, reach)
    return Share(possible(count / total.value), possible(low), possible(high))


def least_without(plan: Plan, share: float) -> float:
    """Return how often an attack works at least on people who do not take part, if it works on this share of those who do.

    An attack that works on a share b of those who do not take part works on at most T(b) of those who do, with T the trade-off curve of
    the release's budget. The result is the smallest b with T(b) at least `share`, from 0 to `share`.

    Args:
        plan: The plan.
        share: Share of people, from 0 to 1.
    """
    shares, low, high = plan.shares, 0.0, share
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        allowed = float(meaning.power(shares.accountant, shares.rho, np.array([middle]), shares.slack)[0])
        low, high = (low, middle) if allowed >= share else (middle, high)
    return low


def limits(plan: Plan, most: float, who: str) -> list[str]:
    """Return the sentence on what epsilon allows; [] where noise is predictable, or the share rounds to 0.

    Args:
        plan: The plan.
        most: The share of people on whom an attack works, from 0 to 1.
        who: The word for them, such as "people".
    """
    decimals = 1 if most >= 0.01 else 2
    if plan.spec.output.seed is not None or round(100 * most, decimals) <= 0:
        return []
    without = math.floor(10 ** (decimals + 2) * least_without(plan, most)) / 10**decimals  # down, because it is a lower bound
    part, other = "they take part", "they do not"
    if plan.unit.relation == REPLACE:
        part, other = "their own rows are used", "other rows stand in place of theirs"
    works = f"What works on {most:.{decimals}%} of the {who} if {part} works on at least {without:.{decimals}f}% of them if {other}."
    return [f"{works} Epsilon sets this limit, for every attack."]


def interval(share: Share) -> str:
    """Return a share with its interval in words, such as "2.5% (2.4% to 2.6%)"."""
    decimals = 2 if share.high95 - share.low95 <= 0.002 else 1  # so that the ends differ
    return f"{share.value:.{decimals}%} ({share.low95:.{decimals}%} to {share.high95:.{decimals}%})"
