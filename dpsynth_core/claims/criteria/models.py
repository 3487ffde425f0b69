"""Criteria on models: the share of people that a model trained on the synthetic rows predicts rightly.

The share stands by itself, or beside the share of the best constant guess.

They need no measurement of their own. The plan has the column among those that models are to predict, and their share of the budget pays
for the noisy counts that `claims.models.measuring` also states: R people about whom the model is right, G about whom the guess is, both
with noise of deviation sigma, and T, the number of people. The criterion is about R / T, or (R - G) / T, whose noise has twice the
variance. The bounds are for a ratio (`intervals.fraction`), each with 95 % confidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from typing_extensions import override

from dpsynth_core.claims.criteria.conditions import known_column
from dpsynth_core.claims.criteria.criterion import UNKNOWN, Criterion, Entries, Entry, Field
from dpsynth_core.claims.criteria.outcomes import TOO_SMALL
from dpsynth_core.claims.models.measuring import Guesses
from dpsynth_core.claims.models.stated import PER_COLUMN
from dpsynth_core.claims.models.targets import models_of
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import percent, possible
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval, Noisy, fraction
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.kinds.kind import is_number
from dpsynth_core.vocabulary.predictors import BOOSTING
from dpsynth_core.vocabulary.workload import Workload

_GUESSED = (
    Field("column", "Column that is guessed", Entry.PREDICTED),
    Field("model", "Model, trained on the rows", Entry.MODEL),
    Field("tolerance", "A guess is right within ±", Entry.NEAR),
)


@dataclass(frozen=True)
class ModelCriterion(Criterion):
    """A criterion on a model. Its error is the share of people that is missing; people read shares of right guesses.

    Attributes:
        lowest: Smallest possible share.
        noise: Standard deviation of its count's noise, relative to a single measured count.
        found: Words of the finding.
        column: The predicted column.
        model: Name of the model.
        tolerance: Allowed distance of a guessed number, in the column's unit; None if the criterion states
            none, so that another statement or the default holds (`ModelSpec`), or if no number is guessed.
        least: Required share (a fraction), the first entry of the form.
    """

    lowest: ClassVar[float]
    noise: ClassVar[float]
    found: ClassVar[str]

    column: str
    model: str
    tolerance: float | None
    least: float

    @classmethod
    @override
    def read(cls, entries: Entries, workload: Workload, field: str) -> Self:
        """Return the criterion that JSON states; without "model" it is about gradient boosting.

        Args:
            entries: The JSON object.
            workload: The workload, with the domain.
            field: Place of the criterion in the spec, with which the fields of errors begin.

        Raises:
            InputError: The share or column is missing, or share, column, model, tolerance, importance or name
                cannot be used, or another entry is stated.
        """
        share = cls.form[0].name
        least: Any = entries.get(share)
        if not is_number(least) or not cls.lowest < least < 1:
            raise InputError(f"{field}.{share}", f"{shown(least)} cannot be used", f"give a number above {cls.lowest:g} and below 1")
        common = cls.common(entries, field)
        column = known_column(entries.get("column"), workload.domain, f"{field}.column", "name the column that is guessed")
        model, tolerance = entries.get("model", BOOSTING), entries.get("tolerance")
        if model not in (known := models_of(workload.domain[column])):
            raise InputError(f"{field}.model", f"{shown(model)} is not a model of {column_field(column)}", f"use one of {', '.join(known)}")
        if tolerance is not None and not (is_number(tolerance) and tolerance > 0):
            raise InputError(f"{field}.tolerance", f"{shown(tolerance)} cannot be used", "give a number above 0, or leave it out")
        return cls(*common, column, str(model), None if tolerance is None else float(tolerance), float(least))

    @override
    def sentence(self, domain: Domain) -> str:
        """Return the words "guesses of COLUMN by MODEL that is trained on the rows", with the tolerance if there is one; unescaped."""
        near = "" if self.tolerance is None else f", to within {self.tolerance:g},"
        return f"guesses of {self.column}{near} by {self.model} that is trained on the rows"

    def stated(self, guesses: Guesses) -> Interval:
        """Return the error and its bounds from the measured counts, as shares of people.

        Each bound holds with 95 % confidence by itself.
        """
        raise NotImplementedError

    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:  # noqa: ARG002
        """Return by how much the upper bound is expected to exceed the measured error, as a share of people.

        Args:
            unit: The unit of privacy.
            rho: The budget for the three counts of this column: both models and the constant guess.
            workload: The workload; not used.
            people: A public or declared number of people.
        """
        return normal(CONFIDENCE) * self.noise * unit.query_l1 * math.sqrt(PER_COLUMN / (2 * rho)) / people

    def share(self, error: float) -> str:
        """Return as text, in per cent, the share or gain that people read for an error (a fraction)."""
        raise NotImplementedError

    @override
    def amount(self, error: float) -> str:
        """Return the share of right guesses (or the gain) for an error or a limit, in per cent, with its unit."""
        return f"{self.share(error)} {self.unit_of_error}"

    @override
    def requirement(self) -> str:
        """Return the requirement in words: "right for at least ..."."""
        return f"right for at least {self.amount(self.limit)}"

    @override
    def finding(self, interval: Interval) -> str:
        """Return a sentence with the measured share and its bounds of 95 % confidence each.

        If the bounds leave every share possible, the sentence says that the group is too small.
        """
        if interval.at_most >= 1 and interval.at_least <= self.lowest:
            return TOO_SMALL
        value, least, most = map(self.share, (interval.error, interval.at_most, interval.at_least))
        return f"Measured: {self.found.format(value)}; at least {least} and at most {most}, with 95% confidence each."

    @override
    def uncertainty(self, margin: float) -> str:
        """Return the result of `margin` in words, in per cent of the people."""
        return f"{percent(possible(margin))} of the people"

    @override
    def rule(self, margin: float) -> str:
        """Return a sentence: which measured shares are met, not met or undecided, given the noise.

        Args:
            margin: The result of `margin`, a fraction.
        """
        low, high = (self.amount(self.limit + sign * margin) for sign in (1, -1))
        return f"Measured {high} or more, it is met; less than {low}, not met; in between it stays undecided."


@dataclass(frozen=True)
class ModelRight(ModelCriterion):
    """The share of the people about whom a model is right, e.g. {"kind": "model", "column": "income", "at_least": 0.8}.

    Errors are the share about whom it is wrong.
    """

    kind: ClassVar[str] = "model"
    title: ClassVar[str] = "Models: how often one guesses a column right"
    form: ClassVar[tuple[Field, ...]] = (Field("at_least", "Right for at least, in % of people", Entry.PERCENT, 0.7), *_GUESSED)
    unit_of_error: ClassVar[str] = "of the people"
    lowest: ClassVar[float] = 0.0
    noise: ClassVar[float] = 1.0
    found: ClassVar[str] = "right for {}"

    @property
    @override
    def limit(self) -> float:
        """The largest share of people about whom the model may be wrong, a fraction."""
        return round(1 - self.least, 12)

    @override
    def share(self, error: float) -> str:
        """Return the share of people about whom the model is right, in per cent as text, for an error."""
        return percent(possible(1 - error))

    @override
    def stated(self, guesses: Guesses) -> Interval:
        """Return the share about whom the model is wrong, with its bounds of 95 % confidence each, as fractions.

        It is `UNKNOWN` if the number of people is mostly noise.

        Args:
            guesses: The measured counts.
        """
        low, high = fraction(guesses.right, guesses.people, normal(CONFIDENCE))
        value = guesses.right.value / guesses.people.value
        return Interval(*(1 - possible(share) for share in (value, high, low))) if math.isfinite(low) else UNKNOWN


@dataclass(frozen=True)
class ModelGain(ModelCriterion):
    """The excess of a model's share of right guesses over the share of the best constant guess.

    Example: {"kind": "model-gain", "column": "income", "above_guess": 0.02}; `least` may be below 0. An error is minus that excess.
    """

    kind: ClassVar[str] = "model-gain"
    title: ClassVar[str] = "Models: how much more often than the best constant guess"
    form: ClassVar[tuple[Field, ...]] = (
        Field("above_guess", "More people than the constant guess, in % of all", Entry.PERCENT, 0.02, least=-0.99),
        *_GUESSED,
    )
    unit_of_error: ClassVar[str] = "of the people, beside the best guess that looks at nothing"
    lowest: ClassVar[float] = -1.0
    noise: ClassVar[float] = math.sqrt(2)
    found: ClassVar[str] = "{} beside that guess"

    @property
    @override
    def limit(self) -> float:
        """Minus the required gain, a fraction, because an error is minus the measured gain."""
        return -self.least

    @override
    def share(self, error: float) -> str:
        """Return the gain over the constant guess, in per cent with its sign as text, for an error."""
        return f"{possible(-error, -1.0):+.1%}"

    @override
    def stated(self, guesses: Guesses) -> Interval:
        """Return minus the gain, and its bounds of 95 % confidence each, as fractions.

        If the number of people is mostly noise, the bounds are -1 and infinity, and the error is NaN.

        Args:
            guesses: The measured counts.
        """
        more = guesses.right.value - guesses.guess.value
        deviation = math.hypot(guesses.right.sigma, guesses.guess.sigma)
        low, high = fraction(Noisy(more, deviation), guesses.people, normal(CONFIDENCE))
        return Interval(-more / guesses.people.value, -high, -low) if math.isfinite(low) else Interval(math.nan, -1.0, math.inf)

    def hopeless(self, margin: float) -> bool:
        """Return whether no model can meet the criterion.

        That is so if the required gain plus `margin` is 1 or more, because every gain is below 1.

        Args:
            margin: The result of the method `margin`, a fraction.
        """
        return margin - self.limit >= 1
