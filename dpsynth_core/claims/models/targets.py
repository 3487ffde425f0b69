"""Columns that models are to predict, from a spec: public facts alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.models.specs import MAX_MODELS, ModelSpec
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.predictors import BOOSTING, LINEAR, LOGISTIC

MOST_CLASSES = 50
"""Largest number of classes of a model; each takes its own trees and coefficients."""
_TENTH = 0.1
_ROUNDED = 1e-9
"""Rounding of sums of edges, as a share of a tolerance."""


class Predicted(Protocol):
    """A criterion on a model of a column."""

    @property
    def column(self) -> str:
        """The predicted column."""

    @property
    def tolerance(self) -> float | None:
        """The allowed distance of a guessed number, in the column's unit, if the criterion states one; otherwise None.

        With None, the tolerance that the plan or another criterion states for the column holds, or else the default
        of `ModelSpec`. It is None, too, for a column of which no number is guessed.
        """


@dataclass(frozen=True)
class Target:
    """A column to predict.

    Attributes:
        attribute: The column.
        tolerance: Allowed distance of a guessed number, in the column's unit: a guess is right about a cell if all values of the cell are
            within it. None where a cell is guessed.
    """

    attribute: Attribute
    tolerance: float | None

    @property
    def column(self) -> str:
        """The name of the column."""
        return self.attribute.name

    def least_and_most(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the smallest and the largest guess that is right about each cell, each of shape (size,), in the column's unit.

        The smallest exceeds the largest if no guess is right: in bins wider than twice the
        tolerance, and for missing and other values. The target must have a tolerance.
        """
        assert self.tolerance is not None
        first, last = ends(self.attribute)
        none = np.full(self.attribute.size - len(first), 1.0)
        return np.concatenate([last - self.tolerance, none]), np.concatenate([first + self.tolerance, 0 * none])

    def leave_room(self) -> NDArray[np.bool_]:
        """Return a mask of the cells about which more than one guess is right, shape (size,).

        In bins as wide as twice the tolerance, only the middle is right. The target must have a tolerance.
        """
        assert self.tolerance is not None
        least, most = self.least_and_most()
        return np.asarray(most - least > _ROUNDED * self.tolerance)


def ends(attribute: Attribute) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and the largest number of each bin, each of shape (bins,), in the column's unit.

    Cells for missing and other values are not among them.
    """
    edges = np.array(attribute.edges, dtype=np.float64)
    last = edges[1:] - 1.0 if attribute.scale.whole else edges[1:].copy()
    last[-1] = float(attribute.scale.number(attribute.upper))
    return edges[:-1], last


def check_rows(models: Sequence[ModelSpec], criteria: Mapping[str, Predicted], mechanism: Mechanism) -> None:
    """Check that the mechanism makes rows if a spec asks for models or has criteria on models.

    Args:
        models: The spec's models.
        criteria: Criteria on models by their places in the spec; if there are no models, the error
            names the first place.
        mechanism: The mechanism.

    Raises:
        InputError: The mechanism makes no rows.
    """
    if (models or criteria) and not mechanism.card.makes_rows:
        problem = f"{mechanism.card.title} makes no rows that models could be trained on"
        asking = "models" if models else next(iter(criteria))
        raise InputError(asking, problem, "leave them out, or choose a mechanism that makes rows")


def targets(domain: Domain, models: Sequence[ModelSpec], criteria: Mapping[str, Predicted] | None = None) -> tuple[Target, ...]:
    """Return the columns to predict: first the spec's models', then the criteria's, each once.

    Args:
        domain: The domain.
        models: The spec's models.
        criteria: Criteria on models by their places in the spec; None for no criteria.

    Raises:
        InputError: A column is unknown, is named twice in `models` or cannot be predicted; a tolerance is too
            small, too large or of a column without numbers; there are more than 20 columns (`MAX_MODELS`); or a
            criterion has another tolerance than the measured one. The error names the place.
    """
    criteria = criteria or {}
    found = tuple(_targets(domain, _wanted(models, criteria)))
    if len(found) > MAX_MODELS:
        raise InputError("criteria", f"models of more than {MAX_MODELS} columns are needed together", "state criteria about fewer columns")
    tolerances = {target.column: target.tolerance for target in found}
    for field, one in criteria.items():
        if one.tolerance not in (None, measured := tolerances[one.column]):
            problem = f"guesses of {column_field(one.column)} are measured to within {measured:g}" if measured else "no number is guessed"
            raise InputError(f"{field}.tolerance", problem, "state the same tolerance, or leave it out")
    return found


def _wanted(models: Sequence[ModelSpec], criteria: Mapping[str, Predicted]) -> Iterator[tuple[str, ModelSpec]]:
    """Yield (place in the spec, model) for each wanted model.

    If several criteria are about the same column, the tolerance that one states holds for all.
    """
    yield from ((f"models.{place}", model) for place, model in enumerate(models))
    named = {model.column for model in models}
    for field, one in criteria.items():
        if one.column not in named:
            named.add(one.column)
            stated = (other.tolerance for other in criteria.values() if other.column == one.column and other.tolerance is not None)
            yield field, ModelSpec(column=one.column, tolerance=next(stated, None))


def predictable(domain: Domain) -> tuple[str, ...]:
    """Return the columns that models can predict, in the order of the domain.

    They have at least two known values and, unless they hold numbers, at most 50 cells (`MOST_CLASSES`); () if the
    domain has one column.
    """
    return tuple(attribute.name for attribute in domain if not _obstacle(domain, attribute))


def _targets(domain: Domain, wanted: Iterator[tuple[str, ModelSpec]]) -> Iterator[Target]:
    seen = set[str]()
    for field, model in wanted:
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
    another = "choose another column"
    if attribute.most:
        return "has values that are to be learnt, so that it cannot be predicted yet", f"list its values, or {another}"
    if attribute.values < 2:
        return "has one value, so that there is nothing to predict", another
    if len(domain) < 2:
        return "is the only column, so that there is nothing to predict it from", "use more columns"
    if not is_quantity(attribute) and attribute.size > MOST_CLASSES:
        return f"has {attribute.size:,} cells, and a model tells {MOST_CLASSES} apart at most", f"give it fewer, or {another}"
    return None


def is_quantity(attribute: Attribute) -> bool:
    """Return whether a guess can be near: True for numbers, not for dates and times, whose unit would be unclear."""
    return attribute.is_number and attribute.scale.axis == "number"


def models_of(attribute: Attribute) -> tuple[str, str]:
    """Return the names of the two models of a column: boosting, then the linear model."""
    return BOOSTING, LINEAR if is_quantity(attribute) else LOGISTIC


def _tolerance(field: str, attribute: Attribute, stated: float | None) -> float | None:
    """Return the tolerance of a column's guesses as stated, or the default; None for columns without numbers.

    The default is a tenth of the column's range, or the median width of its bins if that is larger,
    so that a guess in the right bin can be right.

    Args:
        field: Place of the tolerance in the spec, for errors.
        attribute: The column.
        stated: The stated tolerance, or None.

    Raises:
        InputError: The column has no numbers, or the tolerance is too small or too large.
    """
    if not is_quantity(attribute):
        if stated is not None:
            raise InputError(field, f"{column_field(attribute.name)} is not a number, so that no guess can be near", "leave it out")
        return None
    first, last = ends(attribute)
    needed = float((last - first).min()) / 2
    if stated is None:
        return max(_TENTH * float(last[-1] - first[0]), float(np.median(last - first)))
    if stated < needed:
        problem = f"within {stated:g}, no guess is right about any bin of {column_field(attribute.name)}"
        raise InputError(field, problem, f"use {needed:g} or more, or narrower bins")
    if stated > (whole := float(last[-1] - first[0])):
        raise InputError(field, f"{stated:g} is more than the range of {column_field(attribute.name)}", f"use {whole:g} or less")
    return stated
