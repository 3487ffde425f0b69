"""Repeat the noise of a release: the fitted model answers the measured tables with fresh noise, and is fitted again.

This is a parametric bootstrap of the release's own fit. It needs released values alone: the answers, the standard deviation of their noise,
and the model that follows from them. The refitted models differ by the noise of the release, and by less than it where the fit clips
counts, smooths columns or ends early: each starts at the model that it looks for (`noise` says more). The selection is not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.estimation import Stopping, estimate, estimate_total
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.smoothing import Columns, as_measured
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.grouping import OfColumns
from dpsynth_core.mechanisms.graphical.independent import Independent
from dpsynth_core.mechanisms.graphical.levels import Believed, believed
from dpsynth_core.mechanisms.graphical.models import Fitting
from dpsynth_core.mechanisms.graphical.mst import Mst
from dpsynth_core.mechanisms.steps import RowModel, Unmoved
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release.release import Release
from dpsynth_core.release.sampling import Refitted
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import MarginalCounts, Measurement

FIELD = "release"
OTHERS = "make a release with AIM, MST or Independent, or use its answers, whose intervals are stated"


@dataclass(frozen=True, eq=False)
class Answers:
    """All noisy answers that a model is fitted to.

    Attributes:
        measurements: The measured tables.
        known: Noisy counts of columns from before the mechanism, each with the variances of its cells.
    """

    measurements: tuple[Measurement, ...]
    known: tuple[MarginalCounts, ...]


@dataclass(frozen=True, eq=False)
class Refitting:
    """The fit of a release, which can be repeated with other answers.

    Attributes:
        plan: The plan of the release.
        model: The model of the release, with groups of values as further columns where its mechanism formed such groups.
        answers: The answers of the release.
        total: The number of records if it is public, otherwise None.
    """

    plan: Plan
    model: GraphicalModel
    answers: Answers
    total: float | None

    @classmethod
    def of(cls, release: Release, fitted: Refitted) -> Refitting:
        """Return the fit of a release.

        Args:
            release: The release.
            fitted: Its model (`release.sampling.refit`).

        Raises:
            InputError: Nothing is known of intervals for this kind of release.
        """
        check(release)
        model = _graphical(fitted.model)
        total = release.total if fitted.plan.unit.total_is_public else None
        return cls(fitted.plan, model, Answers(release.measurements, fitted.known), total)

    @property
    def domain(self) -> Domain:
        """The domain of the model, with groups of values as further columns."""
        return self.model.domain

    def answered(self, rng: np.random.Generator) -> Answers:
        """Return new answers to the same tables: the model's own, in whole counts, with noise of the same distribution.

        Args:
            rng: Source of the noise.
        """
        measurements = tuple(replace(one, values=_noisy(self._answer(one), one.sigma, rng)) for one in self.answers.measurements)
        known = tuple(replace(one, values=_noisy(self.model.marginal(one.clique), _deviations(one), rng)) for one in self.answers.known)
        return Answers(measurements, known)

    def fit(self, answers: Answers) -> RowModel:
        """Return the model that the mechanism's last fit makes of these answers, started from the release's model.

        Args:
            answers: Answers to the tables of the release.
        """
        recipe = _recipe(self.plan, self.domain, answers, self.total)
        single = [one for one in recipe.used if len(one.clique) == 1 and not one.groups]
        columns: Columns = recipe.columns(self.domain, single, answers.known)
        measured = [one for one in recipe.used if one not in columns.measured]
        known = [*(one for one in answers.known if one not in columns.known), *columns.believed]
        total = estimate_total(recipe.used) if self.total is None else self.total
        model = estimate(self.domain, measured, total, self.model, recipe.stopping, self.model.folding, known)
        grouped = len(self.domain) > len(self.plan.domain)
        return recipe.fitting.finish(OfColumns(model, self.plan.domain) if grouped else model)

    def _answer(self, measurement: Measurement) -> NDArray[np.float64]:
        """Return the model's answer to a measured table, in counts.

        Groups of values that the model does not have as a column are summed from their column.

        Args:
            measurement: The measured table.
        """
        if not measurement.clique:
            return np.asarray(self.model.total)
        if all(name in self.domain for name in measurement.clique):
            return self.model.marginal(measurement.clique)
        (groups,) = measurement.groups  # the levels of a column whose ranges are asked for
        return groups.summed(self.model.marginal((groups.column,)), 0)


def check(release: Release) -> None:
    """Check that intervals of this kind of release are known to hold, and return nothing.

    Args:
        release: The release.

    Raises:
        InputError: The release has no rows, the noise of its tables is correlated, or its plan does not allow it (`check_plan`).
    """
    if release.row_seed is None:
        raise InputError(FIELD, "it holds answers and no rows", "use its answers, whose noise is stated")
    check_plan(release.plan, FIELD)
    if any(one.spread is not None for one in release.measurements):
        raise InputError(FIELD, "the noise of its tables is correlated", OTHERS)


def check_plan(plan: Plan, field: str) -> None:
    """Check that intervals of releases of this plan are known to hold, and return nothing.

    Args:
        plan: The plan.
        field: Name of the field for the error.

    Raises:
        InputError: It has linked tables, survey weights, or another mechanism than AIM, MST and Independent.
    """
    if plan.link is not None:
        what = extension.what_is_linked(plan.spec.extensions)
        raise InputError(field, f"no intervals were derived for {what}", "release a single table")
    if plan.weight is not None:
        raise InputError(field, "no intervals were derived for rows with survey weights", "release the table without weights")
    if type(plan.mechanism) not in (Aim, Mst, Independent):
        problem = f"the fit of {plan.mechanism.card.title} cannot be repeated with other answers"
        raise InputError(field, problem, OTHERS)


@dataclass(frozen=True, eq=False)
class _Recipe:
    """The settings with which a mechanism fits its last model.

    Attributes:
        used: The measurements that enter the fit.
        columns: Returns smoothed columns from the measurements of columns.
        stopping: When the fit ends.
        fitting: The mechanism's settings of fits.
    """

    used: Sequence[Measurement]
    columns: Believed
    stopping: Stopping
    fitting: Fitting


def _recipe(plan: Plan, domain: Domain, answers: Answers, total: float | None) -> _Recipe:
    mechanism, every = plan.mechanism, answers.measurements
    if isinstance(mechanism, Independent):
        return _Recipe(every, as_measured, mechanism.fitting.between, mechanism.fitting)
    if isinstance(mechanism, Mst):
        return _Recipe(every, mechanism.fitting.columns, mechanism.fitting.final, mechanism.fitting)
    assert isinstance(mechanism, Aim), "others were refused"
    fitting, ranged = mechanism.strategies.fitting, [one for one in every if any(name not in domain for name in one.clique)]
    used = [one for one in every if one not in ranged]
    if not ranged:
        return _Recipe(used, fitting.columns, fitting.final, fitting)
    levels = mechanism.strategies.levels(plan.domain, sorted({one.groups[0].column for one in ranged}))
    first = [one for one in every if len(one.clique) == 1 and (not one.groups or one in ranged)]
    return _Recipe(used, believed(levels, first, estimate_total(first) if total is None else total), fitting.final, fitting)


def _graphical(model: RowModel) -> GraphicalModel:
    inner = model.model if isinstance(model, Unmoved) else model
    inner = inner.model if isinstance(inner, OfColumns) else inner
    assert isinstance(inner, GraphicalModel), "the three mechanisms fit no other"
    return inner


def _noisy(values: NDArray[np.float64], deviation: float | NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    return np.asarray(np.rint(values + rng.normal(0.0, deviation, np.shape(values))))


def _deviations(known: MarginalCounts) -> NDArray[np.float64]:
    """Return the standard deviation of each known count; 0 for a cell whose count is not known at all."""
    return np.sqrt(np.where(np.isfinite(known.variances), known.variances, 0.0))
