"""Finished releases beside the curves of a sweep: which can stand there, and the error that each measured on its own people.

A release was made of another table than the one that was tried on. Its error says how that went, at the same epsilon and for the same
tables over the same cells; where one of these is another, the two numbers are not of the same thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.release import Release
from dpsynth_core.tradeoffs.sweep import Sweep


@dataclass(frozen=True)
class Beside:
    """A release as a point. name: what to call it (hostile text). error, low, high: people in a wrong cell, a share of all on average over
    the tables, as it was measured, and where it lies with 95 % confidence."""

    name: str
    epsilon: float
    error: float
    low: float
    high: float


def obstacle(sweep: Sweep, release: Release, headline: Headline) -> str:
    """Why a release cannot stand beside the curves, as a clause; "" where it can."""
    base, spec = sweep.base, release.spec
    if release.plan.domain != sweep.workload.domain:
        return "its columns or their values are others"
    if release.plan.workload != sweep.workload:
        return "it was asked for other tables, or weighs them differently"
    if (spec.unit.relation, spec.unit.max_rows_per_person) != (base.unit.relation, base.unit.max_rows_per_person):
        return "it hides something else of a person, so that its ε means another noise"
    return "" if headline.certified else "it has no certificate, so that its errors were not measured"


def point(name: str, release: Release, headline: Headline) -> Beside:
    """A release that has no `obstacle`, as a point."""
    return Beside(name, release.spec.budget.epsilon, headline.mean, headline.mean_low, headline.mean_limit)


def table(points: Sequence[Beside]) -> Zoned[pd.DataFrame]:
    """Columns as the fields of `Beside`."""
    return released(pd.DataFrame([vars(one) for one in points], columns=list(Beside.__dataclass_fields__)))
