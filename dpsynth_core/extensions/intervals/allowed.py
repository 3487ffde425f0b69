"""Releases for which intervals are known to hold, and the noisy answers that their rows follow from."""

from __future__ import annotations

from dataclasses import dataclass

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.independent import Independent
from dpsynth_core.mechanisms.graphical.mst import Mst
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release.release import Release
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
        problem = f"nobody has tried whether intervals hold for {plan.mechanism.card.title}"
        raise InputError(field, problem, OTHERS)
