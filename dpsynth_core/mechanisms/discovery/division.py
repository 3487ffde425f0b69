"""How the discovery share of a budget is divided between the columns whose values are to be learnt, and what each of them gets for it.

The rule is fixed before a run and part of what is sealed: every column has the same share of rho. A column of numbers or dates divides its
share evenly between `LEVELS` looks, each finer than the one before (`numbers`). A column of texts spends its own on one question
(`privacy.thresholds`), for which delta is divided evenly between such columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import scipy

from dpsynth_core.privacy import thresholds
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.attribute import Attribute

LEVELS = 3
LIKELY = 0.95
"""The chance with which a value is called likely to be found."""
_HEADROOM = 1 - 2.0**-30
"""So that parts that were divided in floating point add up to no more than the whole."""


@dataclass(frozen=True)
class Portion:
    """What a column is learnt with. sigma: of the noise, in records. delta: of texts; 0 for numbers, which need none."""

    column: Attribute
    sigma: float
    delta: float

    def least(self, rows: int) -> int | None:
        """The noisy number of records that a text needs to be published; None for numbers. rows: per person."""
        return thresholds.threshold(self.sigma, self.delta, rows) if self.delta else None

    def shared_by(self, rows: int) -> int | None:
        """The number of records with which a text is found 95 times of 100; None for numbers."""
        return shared_by(self.sigma, self.delta, rows) if self.delta else None


def shared_by(sigma: float, delta: float, rows: int, chance: float = LIKELY) -> int:
    """The number of records that a value must have to be found with this chance."""
    return max(1, math.ceil(thresholds.threshold(sigma, delta, rows) - 0.5 + sigma * float(scipy.special.ndtri(chance))))


def texts(columns: Sequence[Attribute]) -> int:
    """How many of these columns hold texts, and so need a part of delta."""
    return sum(not column.is_number for column in columns)


def divided(columns: Sequence[Attribute], unit: Unit, rho: float, delta: float) -> tuple[Portion, ...]:
    """A portion for each column. rho, delta: of all of them together."""
    each, own = rho / len(columns) * _HEADROOM, delta / max(1, texts(columns)) * _HEADROOM
    looks = [LEVELS if column.is_number else 1 for column in columns]
    return tuple(
        Portion(column, unit.marginal_l2 * math.sqrt(count / (2 * each)), 0.0 if column.is_number else own)
        for column, count in zip(columns, looks, strict=True)
    )
