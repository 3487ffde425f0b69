"""Analyses named before the run: the tables that their intervals rest on, which AIM then measures before any others.

An estimate moves with its influence function. For a statistic of two columns in a group, that function depends on these columns and the
group's together. For a regression it is a sum over the terms of residual times term, which tables of each pair of columns express (of a
product of columns, together with each other column).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from dpsynth_core.extensions.intervals import formulas
from dpsynth_core.extensions.intervals.estimates import prepared
from dpsynth_core.extensions.intervals.formulas import Analysis, Regression, Variable
from dpsynth_core.extensions.intervals.refitting import check_plan
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.models import Capacity
from dpsynth_core.planning.plan import Plan
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

SETTING = "analysis"


def tables(stated: Stated, domain: Domain) -> tuple[Clique, ...]:
    """Return the tables that a spec's named analyses rest on, without those inside another one.

    Args:
        stated: The spec's section `extensions`.
        domain: The domain.

    Raises:
        InputError: A text is not an analysis, or names no column of the domain.
    """
    analyses = [formulas.read(text) for text in texts(stated)]
    for column in (name for one in analyses for name in formulas.columns(one)):
        if column not in domain:
            raise InputError(SETTING, f"{column!r} is not a column of the domain", f"use {', '.join(domain.names[:12])}")
    found = [columns for one in analyses for columns in wanted(one)]
    widest = [one for one in dict.fromkeys(found) if len(one) > 1 and not any(one < other for other in found)]
    return tuple(map(domain.clique, widest))


def wanted(analysis: Analysis) -> list[frozenset[str]]:
    """Return the columns of each table that the intervals of an analysis rest on."""
    if not isinstance(analysis, Regression):
        return [frozenset(formulas.columns(analysis))]
    return [one | other for one, other in combinations([_columns((analysis.outcome,)), *map(_columns, analysis.terms)], 2)]


def _columns(variables: Iterable[Variable]) -> frozenset[str]:
    return frozenset(one if isinstance(one, str) else one.column for one in variables)


def check(plan: Plan) -> None:
    """Raise InputError if a plan cannot have named analyses: its mechanism, a text, or the size of their tables.

    Args:
        plan: The plan, whose spec names them.
    """
    check_plan(plan, SETTING)
    if not isinstance(plan.mechanism, Aim) or not plan.mechanism.strategies.planned:
        problem = f"{plan.mechanism.card.title} does not measure the tables of named analyses before others"
        raise InputError(SETTING, problem, "choose AIM with its usual settings, or leave it out")
    for analysis in map(formulas.read, texts(plan.spec.extensions)):
        for name in formulas.columns(analysis):
            if plan.domain[name].most:
                raise InputError(SETTING, f"the values of {name!r} are to be learnt", "learn them first, or leave the analysis out")
        prepared(plan.domain, analysis)
    most = plan.mechanism.max_size_mb
    if (used := Capacity(plan.domain, most).used_mb(plan.workload.first)) > most:
        problem = f"a model of the tables of these analyses takes {used:,.0f} MB, more than max_size_mb ({most:g})"
        raise InputError(SETTING, problem, "name fewer analyses, merge values, or raise max_size_mb")


def texts(stated: Stated) -> list[str]:
    """Return the analyses that a spec names, as text.

    Args:
        stated: The spec's section `extensions`.
    """
    named = stated.get(SETTING, [])
    return named if isinstance(named, list) else []
