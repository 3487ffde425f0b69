"""Functions for Python programs: sets of rows of a release, and analyses with intervals. They spend no budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from dpsynth_core.extensions.intervals import analysing, widths
from dpsynth_core.extensions.intervals.allowed import check
from dpsynth_core.extensions.intervals.analysing import Analysed
from dpsynth_core.extensions.intervals.noise import Informed
from dpsynth_core.extensions.intervals.pooling import POPULATION, Pooled, pool
from dpsynth_core.extensions.intervals.sets import FEWEST, MOST, USUAL, Sets
from dpsynth_core.extensions.intervals.widths import Width
from dpsynth_core.interface.given_values import whole_number
from dpsynth_core.interface.plan import Plan
from dpsynth_core.interface.release import Release
from dpsynth_core.release.rows import as_table

_MOST_SEED = 2**64 - 1
_sets: WeakKeyDictionary[Release, Sets] = WeakKeyDictionary()


def samples(release: Release, m: int = USUAL, seed: int | None = None) -> Iterator[Any]:
    """Yield m sets of rows of a release, which differ by the noise that the release has.

    Analyse each set, and combine the results with ``pool``: the spread of the sets is about the error that the noise makes.
    ``analyse`` computes that error exactly. Sets cost no budget, and no model is fitted: the released rows are weighed so that their
    measured tables move by fresh noise of the same size, and drawn by these weights.

    Args:
        release: A release of AIM, MST or Independent with rows.
        m: Number of sets, from 2 to 200.
        seed: Another seed gives other sets; by default the published seed of the rows, so that anyone makes the same
            sets.

    Returns:
        An iterator over the sets, each a table of the kind that was given.

    Raises:
        InputError: If nothing is known of intervals for this kind of release, or ``m`` or ``seed`` is out of range.

    Examples:
        >>> import dpsynth_core as dps
        >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="independent")
        >>> sets = list(dps.samples(plan.run(progress=False), 2))
        >>> len(sets), list(sets[0].columns)
        (2, ['sex'])
    """
    m = whole_number(m, "m", "a number of sets", FEWEST, MOST)
    seed = None if seed is None else whole_number(seed, "seed", "a seed", 0, _MOST_SEED)
    check(release.made)
    sets = _sets_of(release) if seed is None else Sets.of(release.made, seed)
    return (release.back(as_table(one.rows), release.made.domain) for one in sets.first(m))


def analyse(release: Release, analysis: str, of: str = POPULATION) -> Analysed:
    """Analyse a release, with 95 % intervals that know of its noise.

    Each result has an R2, the share of its variation that the measured tables determine. In trials, about 95 % of the intervals held
    where R2 was 0.99 or more, and 1 - 50 / people or more. A result with an R2 below 0.5 has no interval; the relation that no table holds
    is named instead. The analysis costs no budget, and no model is fitted.

    Args:
        release: A release of AIM, MST or Independent with rows.
        analysis: Such as ``mean(income | sex == "f")``, ``share(sick == "yes")``, ``difference(income, sex == "f")``,
            ``quantile(income, 0.9)``, ``correlation(age, income)``, ``odds_ratio(sick == "yes", sex == "f")``, a linear
            regression ``income ~ age + sex``, a logistic one ``sick == "yes" ~ age + sex``, or ``poisson(visits ~
            age)``.
        of: "population" for the people that the table was drawn from, with sampling; "table" for the table itself, with
            noise alone.

    Returns:
        The results, each with its interval and its R2.

    Raises:
        InputError: If the analysis cannot be read, or nothing is known of intervals for this kind of release.

    Examples:
        >>> import dpsynth_core as dps
        >>> plan = dps.plan("demo", {"sex": ["female", "male"], "age": (16, 95)}, epsilon=1, tables=2, mechanism="independent")
        >>> found = dps.analyse(plan.run(progress=False), 'share(sex == "female")')
        >>> found.passes, 0.4 < found.results[0].low < found.results[0].high < 0.6
        (True, True)
    """
    return analysing.analyse(Informed.of(release.made), analysis, of)


def interval_widths(plan: Plan, people: float) -> tuple[Width, ...]:
    """Forecast how wide the intervals of a plan's named analyses will be. No table is opened, and nothing is charged.

    Args:
        plan: A plan with ``analysis=...``.
        people: The approximate number of people, at least 1.

    Returns:
        For each analysis, in order, the ``width`` of its intervals divided by the width of ordinary intervals of the confidential
        table, which have no noise, with a likely range from ``low`` to ``high``. () for a plan without named analyses.

    Raises:
        InputError: If the plan cannot have named analyses, or ``people`` is not a number of people.

    Examples:
        >>> import dpsynth_core as dps
        >>> columns = {"sex": ["female", "male"], "age": (16, 95)}
        >>> plan = dps.plan("demo", columns, epsilon=1, tables=2, analysis='difference(age, sex == "male")')
        >>> few, many = (dps.interval_widths(plan, people)[0] for people in (1000, 100_000))
        >>> 1 < many.width < few.width
        True
    """
    return widths.forecast(plan.sealed, people)


def _sets_of(release: Release) -> Sets:
    """Return the sets of a release by its published seed, kept as long as the release."""
    if release not in _sets:
        _sets[release] = Sets.of(release.made)
    return _sets[release]


__all__ = ["Analysed", "Pooled", "Width", "analyse", "interval_widths", "pool", "samples"]
