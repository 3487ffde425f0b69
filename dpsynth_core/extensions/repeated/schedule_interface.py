"""Schedules for Python programs."""

from __future__ import annotations

from dpsynth_core.extensions.repeated.planned import planned
from dpsynth_core.extensions.repeated.schedule import SAME, YEAR, Schedule, Wanted
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.interface.given_values import plain
from dpsynth_core.interface.plan import Plan
from dpsynth_core.planning.defaults import DELTA


def schedule(
    every: str,
    epsilon: float,
    *,
    years: int = 1,
    per: str = YEAR,
    who: str = SAME,
    delta: float | None = None,
    plan: Plan | None = None,
    population: str | None = None,
) -> Schedule:
    """Plan the budget of each release of a table that is published again and again. Nothing is charged.

    No table of people is read. With a population, the ledger is read.

    Args:
        every: How often it is published: "month", "quarter", "half-year" or "year".
        epsilon: The wanted epsilon of each year, or of all years together.
        years: Number of years, from 1 to 50.
        per: What epsilon is for: "year" or "whole".
        who: Who is in each release: "same" people, or "new" people who are in no other release.
        delta: Delta of all releases together; by default the plan's, or 1e-9 without a plan.
        plan: The plan of a release, whose accountant is used; zCDP without one.
        population: The population in the ledger whose earlier charges count; by default the plan's.

    Returns:
        The schedule: `each` is the epsilon of a release, `cap` the one that the ledger needs, `lines` are the releases.

    Raises:
        InputError: If a value is unknown or out of range, a release would get less epsilon than it must
            have, nothing is left of delta, or the plan cannot have this delta.
        BooksLost: If the ledger is not whole.

    Examples:
        >>> import dpsynth_core as dps
        >>> quarters = dps.schedule("quarter", 1)
        >>> quarters.each, quarters.cap, [round(line.so_far, 2) for line in quarters.lines]
        (0.48603, 1.0, [0.49, 0.7, 0.86, 1.0])
    """
    if plan is not None and not isinstance(plan, Plan):
        raise InputError("plan", f"{shown(plan)} is not a plan", "give what dps.plan returns, or leave it out")
    usual = DELTA if plan is None else plan.sealed.spec.budget.delta
    wanted = Wanted(str(every), plain(years), plain(epsilon), str(per), str(who), usual if delta is None else plain(delta))
    return planned(wanted, None if plan is None else plan.sealed, population or (plan.population if plan is not None else None))
