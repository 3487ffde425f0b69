"""Forecasts, before the charge, of how wide the intervals of named analyses will be, from the plan and a number of people alone.

The noise of a result grows with sigma * sqrt(K / n): sigma is the noise of a cell of its table, K the number of cells, n the number of
rows. If all cells were equally common and the table were answered directly, that would be the noise in ordinary standard errors. Fits and
unequal cells change it, as a power of this number that was fitted to releases (`benchmarks/intervals.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dpsynth_core.extensions.intervals import named
from dpsynth_core.extensions.intervals.formulas import Regression, columns
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.aim_strategies import share_first
from dpsynth_core.mechanisms.rounds import sigma_for
from dpsynth_core.planning.plan import Plan
from dpsynth_core.vocabulary.measurement import Clique

SINGLE, GROUP, REGRESSION = "single", "group", "regression"
FITTED = {SINGLE: (1.21, 0.98), GROUP: (1.18, 0.9), REGRESSION: (1.65, 0.86)}
"""Factor and power by kind of analysis: of one column, of a group or of two columns, and regressions."""
WITHIN = 1.5
"""The factor within which the width was forecast in four of five cases, in trials with 5,000 people."""
PASSED = 0.95
"""The share of results that passed at epsilon 0.2; at 1 and 4 more did."""
PEOPLE = (5_000, 50_000)
"""Numbers of people for which widths are stated where none is known; trials had the first one alone."""


@dataclass(frozen=True)
class Width:
    """The expected width of the intervals of an analysis, of people like those in the table.

    Attributes:
        analysis: Its text.
        width: Width divided by the width of an ordinary interval of the confidential table, which has no noise; at least 1.
    """

    analysis: str
    width: float

    @property
    def low(self) -> float:
        """The least width that is likely, a factor as `width`, at least 1.

        In four of five trials, with 5,000 people, the width was between `low` and `high`.
        """
        return max(1.0, self.width / WITHIN)

    @property
    def high(self) -> float:
        """The largest width that is likely, a factor as `width`.

        In four of five trials, with 5,000 people, the width was between `low` and `high`.
        """
        return self.width * WITHIN

    def __str__(self) -> str:
        """Return a sentence."""
        likely = f"{self.low:.1f} to {self.high:.1f} in four of five trials"
        return f"{self.analysis}: intervals about {self.width:.1f} times as wide as without noise ({likely})"


def forecast(plan: Plan, people: float) -> tuple[Width, ...]:
    """Return the expected width of each analysis that a plan names, in order; () without any. No table is opened.

    Args:
        plan: The plan.
        people: The approximate number of people.

    Raises:
        InputError: The plan cannot have named analyses, or the number of people is not at least 1 and finite.
    """
    named.check(plan)
    if not 1 <= people < math.inf:
        raise InputError("people", "it is not a number of people", "say about how many there are")
    tables, single = noise(plan)
    return tuple(Width(text, math.sqrt(1 + _noise(plan, text, people, tables, single) ** 2)) for text in named.texts(plan.spec.extensions))


def sentences(plan: Plan) -> list[str]:
    """Return a sentence for each analysis that a plan names: the widths of its intervals for 5,000 and 50,000 people; [] without any.

    Args:
        plan: The plan.

    Raises:
        InputError: The plan cannot have named analyses.
    """
    found = [forecast(plan, people) for people in PEOPLE] if named.texts(plan.spec.extensions) else []
    return [
        f"{few.analysis}: intervals will be about {few.width:.1f} times as wide as without noise for {PEOPLE[0]:,} people, and "
        f"{many.width:.1f} times for {PEOPLE[1]:,}, with which it was not tried"
        for few, many in zip(*found, strict=True)
    ]


def noise(plan: Plan) -> tuple[Mapping[Clique, float], Mapping[Clique, float]]:
    """Return the noise in a cell of each table that is measured first, and in a cell of each column.

    The noise is a standard deviation in counts, by clique. Published tables and columns are left out.

    Args:
        plan: A plan of AIM.
    """
    aim, domain, workload = plan.mechanism, plan.domain, plan.workload
    assert isinstance(aim, Aim), "others were refused"
    rho, reach = plan.shares.mechanism, plan.unit.marginal_l2
    weights = workload.aim_weights()
    measured = {clique: weights[clique] for clique in domain.unpublished(weights)}
    spent = aim.measure_share * aim.least_for_columns(measured, domain)
    first = {clique: workload.weights[clique] for clique in domain.unpublished(workload.first)}
    own: dict[Clique, float] = {clique: weight for clique, weight in measured.items() if len(clique) == 1}
    rest = share_first(workload) * (1 - spent)
    return (
        {clique: sigma_for(part * rest * rho, reach) for clique, part in (aim.strategies.divide(domain, first) if first else {}).items()},
        {clique: sigma_for(part * spent * rho, reach) for clique, part in (aim.strategies.divide(domain, own) if own else {}).items()},
    )


def kind_and_size(
    plan: Plan, text: str, people: float, tables: Mapping[Clique, float], single: Mapping[Clique, float]
) -> tuple[str, float]:
    """Return the kind of an analysis and sigma * sqrt(K / n) of what it rests on; 0 where that was published and has no noise.

    The kind is "single" for one column, "group" for a group or two columns, or "regression".

    Args:
        plan: The plan.
        text: The analysis.
        people: The number of people n.
        tables: The noise of a cell of each table that is measured first, a standard deviation in counts.
        single: The noise of a cell of each column, in counts.

    Raises:
        InputError: The text is not an analysis of the plan's columns.
    """
    cells = {clique: deviation**2 * plan.domain.cells(clique) for clique, deviation in {**single, **tables}.items()}
    analysis = named.named(text, plan.domain)
    if not (wanted := named.rests_on(text, plan.domain)):
        holding = [cells[clique] for clique in cells if {*columns(analysis)} <= {*clique}]
        return SINGLE, math.sqrt(1 / sum(1 / one for one in holding) / people) if holding else 0.0
    least = [min((cells[one] for one in tables if {*clique} <= {*one}), default=0.0) for clique in wanted]
    return REGRESSION if isinstance(analysis, Regression) else GROUP, math.sqrt(sum(least) / len(least) / people)


def _noise(plan: Plan, text: str, people: float, tables: Mapping[Clique, float], single: Mapping[Clique, float]) -> float:
    """Return the expected noise of an analysis in ordinary standard errors."""
    kind, size = kind_and_size(plan, text, people, tables, single)
    factor, power = FITTED[kind]
    return float(factor * size**power)
