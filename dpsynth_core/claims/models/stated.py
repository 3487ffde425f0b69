"""Statements of a release about the models that are trained on its rows: how often each is right about the people."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.measurement import ROUNDING

CONFIDENCE = 0.95
PER_COLUMN = 3
"""Counts measured per column: two models, and the constant guess."""


@dataclass(frozen=True)
class Share:
    """A measured share of the people.

    Attributes:
        value: The share, from 0 to 1.
        low95: Lower end of its 95 % interval.
        high95: Upper end of its 95 % interval.
    """

    value: float
    low95: float
    high95: float


@dataclass(frozen=True)
class Usefulness:
    """The share of right predictions of a model of one column, among `total` people. Shares are fractions.

    Attributes:
        column: The predicted column.
        model: Name of the model.
        tolerance: Allowed distance of a guessed number, in the column's unit; None where a value is guessed.
        accuracy: Share of people about whom the model is right.
        low95: Lower end of the 95 % interval of `accuracy`.
        high95: Upper end of the 95 % interval of `accuracy`.
        majority: Share of people about whom the best constant guess is right.
        majority_low95: Lower end of the 95 % interval of `majority`.
        majority_high95: Upper end of the 95 % interval of `majority`.
        majority_guess: The best constant guess, as text.
        right: Measured number of records that the model is right about; noise can take it below 0 or above the total.
        majority_right: Measured number of records that the constant guess is right about.
        sigma: Standard deviation of the noise of each count, in records.
        total: Number of records.
        model_sha256: SHA-256 of the model, in hexadecimal digits.
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
