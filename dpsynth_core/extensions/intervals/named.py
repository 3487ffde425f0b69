"""Analyses named before the run: the tables that their intervals rest on, which AIM then measures before any others.

An estimate moves with its influence function. For a statistic of two columns in a group, that function depends on these columns and the
group's together. For a regression it is a sum over the terms of residual times term, which tables of each pair of columns express (of a
product of columns, together with each other column).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations

from dpsynth_core.extensions.intervals import formulas
from dpsynth_core.extensions.intervals.allowed import check_plan
from dpsynth_core.extensions.intervals.estimates import prepared
from dpsynth_core.extensions.intervals.formulas import Analysis, Regression, Variable
from dpsynth_core.extensions.intervals.variables import is_numeric
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.models import Capacity
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.planning.plan import Plan
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

SETTING = "analysis"


def tables(stated: Stated, domain: Domain) -> tuple[Clique, ...]:
    """Return the tables of two columns or more that a spec's named analyses rest on, without those inside another one; () without any.

    Args:
        stated: The spec's section `extensions`.
        domain: The domain.

    Raises:
        InputError: A text is not an analysis, or does not fit the domain.
    """
    return _cliques(domain, [named(text, domain) for text in texts(stated)])


def named(text: str, domain: Domain) -> Analysis:
    """Return the analysis that a text names, checked against a domain.

    Values are not checked where a column's values are still to be learnt.

    Args:
        text: The analysis.
        domain: The domain.

    Raises:
        InputError: The text is not an analysis, or it does not fit the domain.
    """
    analysis = formulas.read(text)
    for column in formulas.columns(analysis):
        if column not in domain:
            raise InputError(SETTING, f"{column!r} is not a column of the domain", f"use {', '.join(domain.names[:12])}")
    if not any(domain[column].most for column in formulas.columns(analysis)):
        prepared(domain, analysis)
    return analysis


def rests_on(text: str, domain: Domain) -> tuple[Clique, ...]:
    """Return the tables that an analysis rests on, without those inside another one; () for a statistic of one column.

    Args:
        text: The analysis.
        domain: The domain.

    Raises:
        InputError: The text is not an analysis, does not fit the domain, or is about a column whose values are to be learnt.
    """
    analysis = named(text, domain)
    _check_learnt(domain, analysis)
    return _cliques(domain, [analysis])


def examples(domain: Domain) -> dict[str, tuple[str, ...]]:
    """Return analyses that the columns of a domain allow, as texts by the name of the example.

    They use the first column of numbers and the first list of 2 to 8 values that are no ordered numbers and have
    no double quotes; the regression uses the second such list too. The result is {} if the domain lacks such a
    column or such a list. Columns whose values are to be learnt are not used.

    Args:
        domain: The domain.
    """
    known = [one for one in domain if not one.most]
    outcome = next((one for one in known if is_numeric(one)), None)
    groups = [one for one in known if one.is_listed and not is_numeric(one) and 2 <= one.values <= MOST_GROUPS]
    groups = [one for one in groups if not any('"' in text for text in one.categories)]
    if outcome is None or not groups:
        return {}
    y, by, first = _quoted(outcome.name), _quoted(groups[0].name), f'"{groups[0].categories[0]}"'
    return {
        f"mean of {outcome.name} by {groups[0].name}": tuple(f'mean({y} | {by} == "{text}")' for text in groups[0].categories),
        f"difference of {outcome.name} by {groups[0].name}": (f"difference({y}, {by} == {first})",),
        "regression": (f"{y} ~ {' + '.join(_quoted(one.name) for one in groups[:2])}",),
    }


MOST_GROUPS = 8
"""Largest number of groups whose means an example names."""


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d][\w.]*", name) else f"`{name}`"


def _cliques(domain: Domain, analyses: Iterable[Analysis]) -> tuple[Clique, ...]:
    found = [columns for one in analyses for columns in wanted(one)]
    widest = [one for one in dict.fromkeys(found) if len(one) > 1 and not any(one < other for other in found)]
    return tuple(map(domain.clique, widest))


def _check_learnt(domain: Domain, analysis: Analysis) -> None:
    for name in formulas.columns(analysis):
        if domain[name].most:
            raise InputError(SETTING, f"the values of {name!r} are to be learnt", "learn them first, or leave the analysis out")


def wanted(analysis: Analysis) -> list[frozenset[str]]:
    """Return the columns of each table that the intervals of an analysis rest on; tables may repeat and lie inside each other."""
    if not isinstance(analysis, Regression):
        return [frozenset(formulas.columns(analysis))]
    return [one | other for one, other in combinations([_columns((analysis.outcome,)), *map(_columns, analysis.terms)], 2)]


def _columns(variables: Iterable[Variable]) -> frozenset[str]:
    return frozenset(one if isinstance(one, str) else one.column for one in variables)


def check(plan: Plan) -> None:
    """Check that a plan can have named analyses, and return nothing.

    Args:
        plan: The plan, whose spec names the analyses.

    Raises:
        InputError: Its mechanism is another than AIM with usual settings, it has two linked tables or
            weights, a text is not an analysis of its columns, values of such a column are to be learnt, or a
            model of the tables is larger than max_size_mb.
    """
    check_plan(plan, SETTING)
    check_mechanism(plan.mechanism)
    assert isinstance(plan.mechanism, Aim), "others were refused"
    for text in texts(plan.spec.extensions):
        _check_learnt(plan.domain, named(text, plan.domain))
    most = plan.mechanism.max_size_mb
    if (used := Capacity(plan.domain, most).used_mb(plan.workload.first)) > most:
        problem = f"a model of the tables of these analyses takes {used:,.0f} MB, more than max_size_mb ({most:g})"
        raise InputError(SETTING, problem, "name fewer analyses, merge values, or raise max_size_mb")


def check_mechanism(mechanism: Mechanism) -> None:
    """Check that a mechanism measures the tables of named analyses before others, and return nothing.

    Raises:
        InputError: It is another than AIM with its usual settings.
    """
    if not isinstance(mechanism, Aim) or not mechanism.strategies.planned:
        problem = f"{mechanism.card.title} does not measure the tables of named analyses before others"
        raise InputError(SETTING, problem, "choose AIM with its usual settings, or name no analyses")


def texts(stated: Stated) -> list[str]:
    """Return the analyses that a spec names, as text and in order; [] without any.

    Args:
        stated: The spec's section `extensions`.
    """
    named = stated.get(SETTING, [])
    return named if isinstance(named, list) else []
