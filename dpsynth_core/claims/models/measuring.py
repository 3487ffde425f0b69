"""The measured usefulness of models: how often models trained on synthetic rows are right about the people, on a share of the budget.

A model that was trained on synthetic rows has seen released values only. The number R of records that it is right about is one count
(`PrivacyKernel.measure_right`, with the proof); for each column k = 3 are measured: two models and the best constant guess.

Stated is p = R / N, with N the number of records. Where N is public, R + noise divided by N is normal around p. Elsewhere there is an
estimate T of N with noise of its own, independent of R's: then (R + noise) - p T is normal around 0, with variance sigma^2 + p^2 sigma_T^2,
and the interval is all p for which it is near enough to 0 (Fieller 1954). Its coverage is the normal distribution's for all R and N; where
T is mostly noise, it is everything from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.claim import Asked, Final, Received
from dpsynth_core.claims.models import training
from dpsynth_core.claims.models.stated import CONFIDENCE, PER_COLUMN, Share, Usefulness
from dpsynth_core.claims.models.targets import Target, models_of
from dpsynth_core.claims.outcome import Wrong, expect
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.distances import possible
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.intervals import Noisy, fraction
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import ROUNDING
from dpsynth_core.vocabulary.predictors import Predictor
from dpsynth_core.vocabulary.rows import one_table


@dataclass(frozen=True)
class Guesses:
    """Measured counts of people, with their noise.

    Attributes:
        right: Number of people about whom a model is right.
        guess: Number of people about whom the best constant guess is right.
        people: Number of people.
    """

    right: Noisy
    guess: Noisy
    people: Noisy


@dataclass(frozen=True)
class Trained:
    """The models of a column before any measurement.

    Attributes:
        target: The column.
        digests: SHA-256 of each model, by its name.
        guess: The best constant guess, as text.
    """

    target: Target
    digests: dict[str, str]
    guess: str


def measure(
    kernel: SealedKernel, domain: Domain, codes: NDArray[np.int32], targets: Sequence[Target], total: Total
) -> tuple[Usefulness, ...]:
    """Train models on synthetic rows, and measure how often they are right about the people.

    The measurement spends the kernel's remaining budget. The result has two entries per target (boosting,
    then the linear model), in the order of the targets.

    Args:
        kernel: The kernel.
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        targets: The columns to predict, at least one.
        total: Number of records as released.
    """
    predictors, known = list[Predictor](), list[Trained]()
    for target in targets:
        named, majority = training.trained(domain, codes, target), training.majority(domain, codes, target)
        predictors += [model.predictor for model in (*named, majority)]
        known.append(Trained(target, {model.name: model.predictor.sha256 for model in named}, majority.guess))
    sigma = kernel.unit.query_l1 * math.sqrt(PER_COLUMN * len(targets) / (2 * kernel.rho_left))
    return state(known, kernel.measure_right(predictors, sigma), sigma, total)


def state(trained: Sequence[Trained], noisy: NDArray[np.float64], sigma: float, total: Total) -> tuple[Usefulness, ...]:
    """Return the usefulness that follows from noisy counts: one entry for each model of each column, in order.

    Args:
        trained: The models of each column.
        noisy: For each column, the counts for its models and for the constant guess, in records, flat.
        sigma: Standard deviation of the noise of each count, in records, before rounding.
        total: Number of records as released.
    """
    stated = []
    for one, counts in zip(trained, noisy.reshape(-1, PER_COLUMN).tolist(), strict=True):
        *models, by_guess = counts
        majority = share(by_guess, sigma, total)
        for (name, digest), right in zip(one.digests.items(), models, strict=True):
            accuracy = share(right, sigma, total)
            stated.append(
                Usefulness(
                    column=one.target.column,
                    model=name,
                    tolerance=one.target.tolerance,
                    accuracy=accuracy.value,
                    low95=accuracy.low95,
                    high95=accuracy.high95,
                    majority=majority.value,
                    majority_low95=majority.low95,
                    majority_high95=majority.high95,
                    majority_guess=one.guess,
                    right=right,
                    majority_right=by_guess,
                    sigma=sigma,
                    total=total,
                    model_sha256=digest,
                )
            )
    return tuple(stated)


def guesses(usefulness: Sequence[Usefulness]) -> dict[tuple[str, str], Guesses]:
    """Return the measured counts by (column, model name), from which criteria are decided."""
    counted = {}
    for one in usefulness:
        right, guess = (Noisy(number, math.sqrt(one.sigma**2 + ROUNDING)) for number in (one.right, one.majority_right))
        counted[one.column, one.model] = Guesses(right, guess, Noisy(one.total.value, one.total.sigma))
    return counted


def share(count: float, sigma: float, total: Total) -> Share:
    """Return a noisy count as a share of the people, with its two-sided 95 % interval, all cut to 0 to 1.

    Noise is normal noise rounded to whole numbers, which enlarges its variance.

    Args:
        count: The noisy count, in records.
        sigma: Standard deviation of the noise before rounding, in records.
        total: Number of records.
    """
    noisy, people = Noisy(count, math.sqrt(sigma**2 + ROUNDING)), Noisy(total.value, total.sigma)
    low, high = fraction(noisy, people, normal((1 + CONFIDENCE) / 2))
    return Share(possible(count / total.value), possible(low), possible(high))


def again(received: Received, stated: Sequence[Usefulness], answer: Any) -> tuple[Usefulness, ...]:
    """Return the usefulness that follows from the kernel's noisy counts and the stated digests of the models.

    Args:
        received: The release.
        stated: The usefulness as stated.
        answer: The kernel's answer with the counts.

    Raises:
        Wrong: The release has no rows, does not tell the number of records, or `stated` lacks a model of one of the plan's
            targets.
    """
    if (codes := one_table(received.final.released.codes)) is None:
        raise Wrong("there are no rows that models could be trained on")
    digests = {(one.column, one.model): one.model_sha256 for one in stated}
    trained = list[Trained]()
    for target in received.plan.targets:
        wanted = models_of(target.attribute)
        expect(all((target.column, name) in digests for name in wanted), "a model of a column is not stated")
        guess = training.majority(received.plan.domain, codes.astype(np.int32), target).guess
        trained.append(Trained(target, {name: digests[target.column, name] for name in wanted}, guess))
    people = received.final.total
    if people is None:  # measured for them alone
        before = received.answers[[answer.operation for answer in received.answers].index("measure_right") - 1]
        expect(before.operation == "measure_total", "nothing says how many records there are")
        people = Total(max(1.0, float(before.value)), math.sqrt(float(before.arguments[0]) ** 2 + ROUNDING))
    return state(trained, answer.value, float(answer.arguments[0]), people)


def sentences(plan: Asked, stated: Sequence[Usefulness], final: Final) -> list[str]:
    """Return the sentences that state the claim, one text for each column in order, unescaped; [] without models.

    Args:
        plan: The plan of the release.
        stated: The usefulness of each model.
        final: The released tables and rows.
    """
    targets = {target.column: target for target in plan.targets}
    by_column = groupby(stated, key=lambda one: one.column)
    return [_sentence(list(of_one), targets.get(column), final.released) for column, of_one in by_column]


def _sentence(models: Sequence[Usefulness], target: Target | None, released: Evidence) -> str:
    """Return sentences about the models of a column.

    For numbers they also state the share of synthetic rows in cells that a guess can hit.
    """
    column, room = models[0].column, ""
    if target is not None and target.tolerance is not None and (codes := one_table(released.codes)) is not None:
        share = float(target.leave_room()[codes[:, released.domain.position(column)]].mean())
        room = f" Of the synthetic rows, {share:.1%} are in bins that leave a guess room to be right."
    near = "" if models[0].tolerance is None else f" to within {models[0].tolerance:g}"
    named = "; ".join(f"{one.model} for {_interval(one.of_model)}" for one in models)
    always = f"Whoever always guesses “{models[0].majority_guess}” is right for {_interval(models[0].of_guess)}."
    return f"{column}{near}: {named} of the people. {always} {verdict(models)}{room}"


def verdict(models: Sequence[Usefulness]) -> str:
    """Return a sentence: which of the two models of a column are shown to be better than the best constant guess.

    Args:
        models: The two models of one column.
    """
    better = [one.model for one in models if one.better]
    if len(better) == len(models):
        return "Both are right more often than that guess."
    if better:
        return f"Only {better[0]} is shown to be right more often than that guess."
    return "Neither is shown to be right more often than that guess."


def _interval(share: Share) -> str:
    return f"{share.value:.1%} ({share.low95:.1%} to {share.high95:.1%})"
