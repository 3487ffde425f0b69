"""Ceilings: how often an attack can work on people who take part, by how often it works on people who do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.accountant import Accountant

BASE_RATES = (0.001, 0.01, 0.1, 0.5)
"""The base rates that report and pages state."""


@dataclass(frozen=True)
class Ceiling:
    """The limit of an attack on a person. Both numbers are probabilities from 0 to 1.

    Attributes:
        without: Base rate: the probability that the attack works on a person who does not take part, or its mean over people.
        most: Largest probability that it works on a person who takes part, or its mean over the same people.
    """

    without: float
    most: float


def ceilings(accountant: Accountant, rho: float, slack: float = 0.0, rates: Sequence[float] = BASE_RATES) -> tuple[Ceiling, ...]:
    """Return the ceiling of each base rate under a budget, in the order of the rates.

    An attack that works or fails on a person is a test of whether the person takes part, so the trade-off curve of membership tests bounds
    it: the base rate is the test's false-positive rate, the ceiling the largest true-positive rate (`privacy.meaning.power`). This also
    holds for re-identification, attribute inference and reconstruction (Kulynych et al. 2025). The curve is concave, so that by Jensen's
    inequality a mean over people is bounded at the mean of their base rates.

    Args:
        accountant: The accountant of the budget.
        rho: The budget, in rho.
        slack: The delta of steps whose guarantee fails with that probability.
        rates: Base rates from 0 to 1.

    Raises:
        ValueError: A rate is not between 0 and 1, or the budget not positive.
    """
    if not all(0 <= rate <= 1 for rate in rates):
        raise ValueError("a base rate is a probability from 0 to 1")
    most = meaning.power(accountant, rho, np.array(rates, dtype=float), slack)
    return tuple(Ceiling(rate, float(max(rate, one))) for rate, one in zip(rates, most, strict=True))
