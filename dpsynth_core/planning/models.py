"""Columns that a release is asked to predict, from what a spec says of them: public facts alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.planning.spec import ModelSpec
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.names import column_field

MOST_CLASSES = 50
"""Values that a model tells apart at most: each takes trees and coefficients of its own."""
_TENTH = 0.1
_ROUNDED = 1e-9
"""Of a tolerance: what sums of edges are off by at most."""
PER_COLUMN = 3
"""Counts that are measured of each column: two models, and the guess that looks at nothing."""


@dataclass(frozen=True)
class Target:
    """A column to predict. tolerance: of numbers, in the column's own unit: a guess is right about a cell of which no value is further off.
    None where one of the cells is guessed."""

    attribute: Attribute
    tolerance: float | None

    @property
    def column(self) -> str:
        return self.attribute.name

    def least_and_most(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """By cell, the smallest and the largest guess that is right about it: float64 of shape (size,). The smallest is above the largest
        where no guess is: in bins wider than twice the tolerance, and for missing and other values."""
        assert self.tolerance is not None
        first, last = ends(self.attribute)
        none = np.full(self.attribute.size - len(first), 1.0)
        return np.concatenate([last - self.tolerance, none]), np.concatenate([first + self.tolerance, 0 * none])

    def leave_room(self) -> NDArray[np.bool_]:
        """By cell, whether more than one number is right: of bins as wide as twice the tolerance, their very middle alone is."""
        assert self.tolerance is not None
        least, most = self.least_and_most()
        return np.asarray(most - least > _ROUNDED * self.tolerance)


def ends(attribute: Attribute) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest value of each bin of a column of numbers."""
    edges = np.array(attribute.edges, dtype=np.float64)
    last = edges[1:] - 1.0 if attribute.scale.whole else edges[1:].copy()
    last[-1] = float(attribute.scale.number(attribute.upper))
    return edges[:-1], last


def check_rows(models: Sequence[ModelSpec], mechanism: Mechanism) -> None:
    """That there will be rows to train on. Raises InputError."""
    if models and not mechanism.card.makes_rows:
        problem = f"{mechanism.card.title} makes no rows that models could be trained on"
        raise InputError("models", problem, "leave them out, or choose a mechanism that makes rows")


def check_records(models: Sequence[ModelSpec], counts_alone: bool) -> None:
    """That there are records to ask. counts_alone: whether counts are all that comes out of the table, as of a database. Raises InputError
    before anything is charged."""
    if models and counts_alone:
        problem = "a database counts cells, and cannot be asked whether a model is right about a record"
        raise InputError("models", problem, "leave them out, or export the table to a file")


def targets(domain: Domain, models: Sequence[ModelSpec]) -> tuple[Target, ...]:
    """What is to be predicted. Raises InputError, named by its place in the spec, for what no model could predict."""
    return tuple(_targets(domain, models))


def predictable(domain: Domain) -> tuple[str, ...]:
    """The columns that models can be asked for."""
    return tuple(attribute.name for attribute in domain if not _obstacle(domain, attribute))


def _targets(domain: Domain, models: Sequence[ModelSpec]) -> Iterator[Target]:
    seen = set[str]()
    for place, model in enumerate(models):
        field = f"models.{place}"
        if model.column not in domain:
            raise InputError(f"{field}.column", f"there is no column {model.column!r}", "name a column of the domain")
        if model.column in seen:
            raise InputError(f"{field}.column", f"{model.column!r} is named twice", "name each column once")
        seen.add(model.column)
        attribute = domain[model.column]
        if obstacle := _obstacle(domain, attribute):
            raise InputError(f"{field}.column", f"{column_field(model.column)} {obstacle[0]}", obstacle[1])
        yield Target(attribute, _tolerance(f"{field}.tolerance", attribute, model.tolerance))


def _obstacle(domain: Domain, attribute: Attribute) -> tuple[str, str] | None:
    """Why no model can predict it, and what to do."""
    another = "choose another column"
    if attribute.most:
        return "has values that are to be learnt, so that nobody can say what would be predicted", f"list its values, or {another}"
    if attribute.values < 2:
        return "has one value, so that there is nothing to predict", another
    if len(domain) < 2:
        return "is the only column, so that there is nothing to predict it from", "use more columns"
    if not _is_quantity(attribute) and attribute.size > MOST_CLASSES:
        return f"has {attribute.size:,} cells, and a model tells {MOST_CLASSES} apart at most", f"give it fewer, or {another}"
    return None


def _is_quantity(attribute: Attribute) -> bool:
    """Whether a guess can be near: numbers, but not dates and times, whose unit nobody would state."""
    return attribute.is_number and attribute.scale.axis == "number"


def _tolerance(field: str, attribute: Attribute, stated: float | None) -> float | None:
    """As stated; a tenth of the range where nothing is, or as much as the narrowest bin needs. Raises InputError."""
    if not _is_quantity(attribute):
        if stated is not None:
            raise InputError(field, f"{column_field(attribute.name)} is no number, so that no guess is near", "leave it out")
        return None
    first, last = ends(attribute)
    needed = float((last - first).min()) / 2
    if stated is None:
        return max(_TENTH * float(last[-1] - first[0]), needed)
    if stated < needed:
        problem = f"within {stated:g}, no guess is right about any bin of {column_field(attribute.name)}"
        raise InputError(field, problem, f"use {needed:g} or more, or narrower bins")
    if stated > (whole := float(last[-1] - first[0])):
        raise InputError(field, f"{stated:g} is more than the range of {column_field(attribute.name)}", f"use {whole:g} or less")
    return stated
