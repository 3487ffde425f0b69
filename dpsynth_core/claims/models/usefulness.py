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
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from typing_extensions import override

from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.models import training
from dpsynth_core.claims.models.targets import Target, models_of
from dpsynth_core.claims.outcome import Nothing, Wrong, alike, expect, some
from dpsynth_core.mechanisms.mechanism import Mechanism
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

CONFIDENCE = 0.95
PER_COLUMN = 3
"""Counts measured per column: two models, and the constant guess."""


@dataclass(frozen=True)
class Guesses:
    """The measured numbers of people about whom a model and the constant guess are right, and the number of people."""

    right: Noisy
    guess: Noisy
    people: Noisy


@dataclass(frozen=True)
class Share:
    """A measured share of the people with its 95 % interval; all from 0 to 1."""

    value: float
    low95: float
    high95: float


@dataclass(frozen=True)
class Usefulness:
    """The share of right predictions of a model of one column, among `total` people.

    Attributes:
        column: The predicted column.
        model: Name of the model.
        tolerance: Allowed distance of a guessed number, None where a value is guessed.
        accuracy: Share of the model.
        low95: Lower end of its 95 % interval.
        high95: Upper end.
        majority: Share of the best constant guess.
        majority_low95: Lower end of its 95 % interval.
        majority_high95: Upper end.
        majority_guess: The best constant guess.
        right: Measured number of records that the model is right about; noise can take it below 0 or above the total.
        majority_right: The same for the guess.
        sigma: Noise of each count, in records.
        total: Number of records.
        model_sha256: SHA-256 of the model.
    """

    column: str
    model: str
    tolerance: float | None
    accuracy: float
    low95: float
    high95: float
    majority: float
    majority_low95: float
    majority_high95: float
    majority_guess: str
    right: float
    majority_right: float
    sigma: float
    total: Total
    model_sha256: str

    @property
    def of_model(self) -> Share:
        """The model's share of right guesses, with its interval."""
        return Share(self.accuracy, self.low95, self.high95)

    @property
    def of_guess(self) -> Share:
        """The share of the best constant guess, with its interval."""
        return Share(self.majority, self.majority_low95, self.majority_high95)

    @property
    def better(self) -> bool:
        """True if the model is right more often than the constant guess, with 95 % confidence.

        The difference of their counts decides, which has less noise than two intervals that must not overlap.
        """
        deviation = math.sqrt(2 * (self.sigma**2 + ROUNDING))
        return self.right - self.majority_right > normal(CONFIDENCE) * deviation


@dataclass(frozen=True)
class Trained:
    """The models of a column before any measurement. `digests` are by name of the model."""

    target: Target
    digests: dict[str, str]
    guess: str


def measure(
    kernel: SealedKernel, domain: Domain, codes: NDArray[np.int32], targets: Sequence[Target], total: Total
) -> tuple[Usefulness, ...]:
    """Train the models of these columns on synthetic rows, and measure how often they are right with the kernel's remaining budget.

    Args:
        kernel: The kernel.
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        targets: The columns.
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
    """Return the usefulness that follows from the noisy counts: for each column, the counts of its models and of the guess."""
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
    """Return the measured counts by column and name of the model, from which criteria are decided."""
    counted = {}
    for one in usefulness:
        right, guess = (Noisy(number, math.sqrt(one.sigma**2 + ROUNDING)) for number in (one.right, one.majority_right))
        counted[one.column, one.model] = Guesses(right, guess, Noisy(one.total.value, one.total.sigma))
    return counted


def share(count: float, sigma: float, total: Total) -> Share:
    """Return a noisy count as a share of the people. Noise is normal noise rounded to whole numbers, which enlarges its variance."""
    noisy, people = Noisy(count, math.sqrt(sigma**2 + ROUNDING)), Noisy(total.value, total.sigma)
    low, high = fraction(noisy, people, normal((1 + CONFIDENCE) / 2))
    return Share(possible(count / total.value), possible(low), possible(high))


class Models(Claim[tuple[Usefulness, ...]]):
    """The accuracy of models trained on the synthetic rows, for each column that a plan names."""

    name = "models"
    part = "usefulness"
    share = BudgetShare(default=0.02, least=0.001, most=0.4, otherwise="ask for no models")
    purpose = "measuring how often models are right"
    announced = "training models on the synthetic rows, and measuring how often they are right"
    unmeasured = "The run was interrupted before it was measured how often models are right, although a share of the budget was for it."
    question = "Does it follow how often models are right?"
    title = "What is a model worth that is trained on these rows?"
    noun = "models"
    reading = (
        "Each model was trained on synthetic rows alone, as anybody can train it, and then asked about every person of the private table. "
        "How often it was right was counted with noise, on a share of the budget of its own, so that it may be published. The intervals "
        "hold with 95% confidence, each by itself. A guess at a number counts as right only if no value of the person's bin is further "
        "from it than is said: of a bin twice as wide as that its very middle is right alone, of a wider one and of missing and other "
        "values nothing is."
    )
    libraries = ("scikit-learn",)
    form = TypeAdapter(tuple[Usefulness, ...])

    @override
    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:
        return bool(document.get("models"))

    @override
    def absent(self, plan: Asked) -> tuple[Usefulness, ...]:
        return ()

    @override
    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> tuple[Usefulness, ...]:
        if (codes := one_table(final.released.codes)) is None:
            return ()
        return measure(kernel, plan.domain, codes.astype(np.int32, copy=False), plan.targets, final.people(kernel))

    def follows(self, received: Received, stated: tuple[Usefulness, ...]) -> str:
        """Check the statements against the noisy counts. Running everything again shows whether these models follow from the rows."""
        targets = received.plan.targets
        answers = [answer for answer in received.answers if answer.operation == "measure_right"]
        if not stated:
            ended = received.interrupted or received.branded(self.brand)
            expect(not targets or ended, "the plan asks for models, and nothing is said of any")
            expect(not answers or received.interrupted, "it was measured how often models are right, and nothing is said of it")
            raise Nothing("no models were asked for" if not targets else "the run was interrupted before it was measured")
        expect(len(answers) == 1, "nothing was measured that it could follow from")
        if (codes := one_table(received.final.released.codes)) is None:
            raise Wrong("there are no rows that models could be trained on")
        digests = {(one.column, one.model): one.model_sha256 for one in stated}
        trained = list[Trained]()
        for target in targets:
            guess = training.majority(received.plan.domain, codes.astype(np.int32), target).guess
            trained.append(Trained(target, {name: digests[target.column, name] for name in models_of(target.attribute)}, guess))
        people = received.final.total
        if people is None:  # measured for them alone
            before = received.answers[[answer.operation for answer in received.answers].index("measure_right") - 1]
            expect(before.operation == "measure_total", "nothing says how many records there are")
            people = Total(max(1.0, float(before.value)), math.sqrt(float(before.arguments[0]) ** 2 + ROUNDING))
        recomputed = state(trained, answers[0].value, float(answers[0].arguments[0]), people)
        different = [a.column for a, b in zip(recomputed, stated, strict=True) if not alike(asdict(a), asdict(b))]
        expect(not different, f"what is said of {some(different)} does not follow from what was measured")
        followed = f"{len(stated):,} models' shares and intervals follow from what was measured"
        return f"{followed}; that these are the models, from running all again"

    @override
    def sentences(self, plan: Asked, stated: tuple[Usefulness, ...], final: Final) -> list[str]:
        targets = {target.column: target for target in plan.targets}
        by_column = groupby(stated, key=lambda one: one.column)
        return [_sentence(list(of_one), targets.get(column), final.released) for column, of_one in by_column]


MODELS = Models()


def _sentence(models: Sequence[Usefulness], target: Target | None, released: Evidence) -> str:
    """Return the models of a column in words; for numbers, also the share of synthetic rows in cells that a guess can hit."""
    column, room = models[0].column, ""
    if target is not None and target.tolerance is not None and (codes := one_table(released.codes)) is not None:
        share = float(target.leave_room()[codes[:, released.domain.position(column)]].mean())
        room = f" Of the synthetic rows, {share:.1%} are in bins that leave a guess room to be right."
    near = "" if models[0].tolerance is None else f" to within {models[0].tolerance:g}"
    named = "; ".join(f"{one.model} for {_interval(one.of_model)}" for one in models)
    always = f"Whoever always guesses “{models[0].majority_guess}” is right for {_interval(models[0].of_guess)}."
    return f"{column}{near}: {named} of the people. {always} {verdict(models)}{room}"


def verdict(models: Sequence[Usefulness]) -> str:
    """Return in words which of the two models of a column are shown to be better than the best constant guess."""
    better = [one.model for one in models if one.better]
    if len(better) == len(models):
        return "Both are right more often than that guess."
    if better:
        return f"Only {better[0]} is shown to be right more often than that guess."
    return "Neither is shown to be right more often than that guess."


def _interval(share: Share) -> str:
    return f"{share.value:.1%} ({share.low95:.1%} to {share.high95:.1%})"
