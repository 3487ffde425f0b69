"""How often models that are trained on synthetic rows are right about the people: measured, on a share of the budget of its own.

A model that was trained on synthetic rows has seen released values only. The number R of records that it is right about is one count
(`PrivacyKernel.measure_right`, with the proof); of each column k = 3 are measured: two models and the best guess that looks at nothing.

What is stated is p = R / N, with N the number of records. Where N is public, R + noise divided by it is normal around p. Elsewhere there is
an estimate T of N with noise of its own, independent of R's: then (R + noise) - p T is normal around 0, with variance
sigma^2 + p^2 sigma_T^2, and the interval is all p for which it is near enough to 0 (Fieller 1954). Its coverage is that of the normal
distribution, whatever R and N are; where T says hardly anything, it is everything from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.criteria.models import PER_COLUMN, Guesses
from dpsynth_core.claims.models import training
from dpsynth_core.claims.models.targets import Target
from dpsynth_core.claims.models.training import Model
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics import intervals as bounds
from dpsynth_core.statistics.intervals import Noisy
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import ROUNDING

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Share:
    """A share of the people, as measured, and between which two numbers it is with 95 % confidence. All from 0 to 1."""

    value: float
    low95: float
    high95: float


@dataclass(frozen=True)
class Usefulness:
    """How often a model of a column is right. tolerance: how near a guessed number has to be, None where a value is guessed. sha256: of the
    model. accuracy: the model's. guess: the best guess that looks at nothing, as text; majority: how often it is right. sigma: noise of
    each count, in records; total: the number of records that they are shares of. right, guess_right: how many records the model and the
    guess were right about, as measured: below 0 or above all of them where noise took them there."""

    column: str
    model: str
    tolerance: float | None
    sha256: str
    accuracy: Share
    guess: str
    majority: Share
    sigma: float
    total: Total
    right: float
    guess_right: float

    @property
    def better(self) -> bool:
        """Whether the model is right more often than the guess that looks at nothing: their intervals say so."""
        return self.accuracy.low95 > self.majority.high95


@dataclass(frozen=True)
class Trained:
    """What is known of the models of a column before anything is measured. digests: by name of the model."""

    target: Target
    digests: dict[str, str]
    guess: str


def measure(
    kernel: SealedKernel, domain: Domain, codes: NDArray[np.int32], targets: Sequence[Target], total: Total
) -> tuple[Usefulness, ...]:
    """Train the models of these columns on synthetic rows, and spend all that `kernel` has left on how often they are right.

    codes: of the rows, shape (rows, attributes of the domain). total: the number of records as it was released.
    """
    models = [(*training.trained(domain, codes, target), training.majority(domain, codes, target)) for target in targets]
    sigma = kernel.unit.query_l1 * math.sqrt(PER_COLUMN * len(targets) / (2 * kernel.rho_left))
    noisy = kernel.measure_right([model.predictor for of_one in models for model in of_one], sigma)
    return state([_known(target, of_one) for target, of_one in zip(targets, models, strict=True)], noisy, sigma, total)


def state(trained: Sequence[Trained], noisy: NDArray[np.float64], sigma: float, total: Total) -> tuple[Usefulness, ...]:
    """What follows from the noisy counts: for each column, those of its models and that of the guess."""
    stated = []
    for one, counts in zip(trained, noisy.reshape(-1, PER_COLUMN).tolist(), strict=True):
        *models, by_guess = counts
        majority = share(by_guess, sigma, total)
        for (name, digest), right in zip(one.digests.items(), models, strict=True):
            facts = one.target.column, name, one.target.tolerance, digest, share(right, sigma, total), one.guess, majority
            stated.append(Usefulness(*facts, sigma, total, right, by_guess))
    return tuple(stated)


def guesses(usefulness: Sequence[Usefulness]) -> dict[tuple[str, str], Guesses]:
    """What criteria can be decided by: by column and name of the model, the counts as they were measured."""

    def counted(number: float, one: Usefulness) -> Noisy:
        return Noisy(number, math.sqrt(one.sigma**2 + ROUNDING))

    return {
        (one.column, one.model): Guesses(counted(one.right, one), counted(one.guess_right, one), Noisy(one.total.value, one.total.sigma))
        for one in usefulness
    }


def share(count: float, sigma: float, total: Total) -> Share:
    """A noisy count as a share of the people. Noise is normal noise in whole numbers: its variance is that much larger."""
    noisy, people = Noisy(count, math.sqrt(sigma**2 + ROUNDING)), Noisy(total.value, total.sigma)
    low, high = bounds.fraction(noisy, people, normal((1 + CONFIDENCE) / 2))
    return Share(_within(count / total.value), _within(low), _within(high))


def _within(number: float) -> float:
    return min(1.0, max(0.0, number))


def _known(target: Target, models: Sequence[Model]) -> Trained:
    *named, majority = models
    return Trained(target, {model.name: model.predictor.sha256 for model in named}, majority.guess)
