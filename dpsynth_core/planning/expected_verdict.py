"""The number of tables that a release should show to be good enough, with its own errors and without any, from public facts alone.

The facts are the plan and a declared or released number of people. A certificate measures the error of each table with noise, and a table
must not be named good by luck (Proposition 23): with noise as large as the limit, no table can be named, however good. Then it measures how
far off most tables of a group are (`claims.ranks`), and the group counts if that is within the limit. Still a plan can be hopeless before
anything is spent. Without a certificate the noise of their cells decides whether tables are good enough.

Expected errors: single columns by their noise; larger tables as far as mechanisms were off in our trials (`recommendation`), more with more
cells. Both are stated with their uncertainty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpsynth_core.claims import ranks
from dpsynth_core.claims.certificate import CERTIFICATE, CERTIFIED_COLUMNS, CERTIFIED_LARGEST, CONFIDENCE
from dpsynth_core.mechanisms.rounds import distance_sigma
from dpsynth_core.planning import recommendation
from dpsynth_core.planning.feasibility import MOSTLY, READABLE, READABLE_GROUP, assess, sure
from dpsynth_core.planning.plan import Plan, Shares
from dpsynth_core.planning.recommendation import BASELINE, Situation
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.naming import surely_below
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

Array = NDArray[np.float64]


class Light(StrEnum):
    """The outlook of a plan at a glance.

    GREEN: the release can probably be published for all purposes asked for; AMBER: for some, or
    it is not known, because values are still to be learnt; RED: for none.
    """

    GREEN = "green"
    AMBER = "amber"
    RED = "red"


@dataclass(frozen=True)
class Power:
    """The numbers of tables that a release is expected to show to be good enough.

    Attributes:
        tables: Number of tables asked for.
        good: Expected number of tables that come out good enough.
        fewest: `good` if errors are one standard deviation above their expectation.
        most: `good` if errors are one standard deviation below their expectation.
        perfect: Expected number if the rows had no error: what noise in the certificate allows at
            most.
        error: Expected mean error of a table, as a share of people in a wrong cell.
        columns: Number of single columns in the tables.
        good_columns: Expected number of single columns that come out good enough.
        single: Whether only single columns are asked for.
        grouped: Whether errors of groups of tables are measured, so that a group is called good
            enough for most of its tables, never for all.
        error_low: The mean error if errors are one standard deviation below their expectation; NaN if unknown.
        error_high: The mean error if errors are one standard deviation above their expectation; NaN if unknown.
        unknown: Number of columns whose values are to be learnt. Until then each counts as one with
            the largest number of cells that it may have.
    """

    tables: int
    good: float
    fewest: float
    most: float
    perfect: float
    error: float
    columns: int
    good_columns: int
    single: bool
    grouped: bool = False
    error_low: float = math.nan
    error_high: float = math.nan
    unknown: int = 0

    @property
    def share(self) -> float:
        """The expected share of tables that come out good enough, 0 to 1."""
        return self.good / self.tables

    @property
    def share_of_columns(self) -> float:
        """The expected share of single columns that come out good enough, 0 to 1, whether or not they are asked for as tables."""
        return self.share if self.single else self.good_columns / self.columns

    @property
    def enough(self) -> bool:
        """True if the release should be publishable for all purposes asked for, by the rule that the verdict applies afterwards.

        The expected shares of good tables and of good single columns are then at least 80 % (`MOSTLY`).
        """
        return self.share >= MOSTLY and self.share_of_columns >= MOSTLY

    @property
    def hopeless(self) -> bool:
        """True if the certificate's noise would hide more than 20 % of the tables even if the rows had no error."""
        return self.perfect < MOSTLY * self.tables

    @property
    def useless(self) -> bool:
        """True if less than 80 % of the single columns should come out good enough; such a release is not to be published."""
        return self.share_of_columns < MOSTLY

    @property
    def hope(self) -> str:
        """The expected number of good tables in words, without names of columns."""
        good, low, high = (math.floor(self.called(number) + 0.5) for number in (self.good, self.fewest, self.most))
        noun = "single column" if self.single else "table"
        if self.tables == 1:
            return f"the one {noun}" if good else f"no {noun}"
        number = f"about {good:,} of" if good else f"at most {high:,} of the" if high else "none of the"
        return f"{number} {self.tables:,} {noun}s{f' ({low:,} to {high:,})' if good and low < high else ''}"

    def called(self, number: float) -> float:
        """Return how many of `number` good tables the release will call good enough.

        All are, unless errors of groups are measured: then the release can call only most tables of
        a group good, so the result is `number` times the share of these (about 80 %, `MOSTLY`).
        """
        return number * ranks.rank_of(self.tables) / self.tables if self.grouped else number

    @property
    def light(self) -> Light:
        """The outlook of the plan.

        GREEN if the plan is `enough` and all values are known; otherwise RED if it is `hopeless` or
        `useless`, else AMBER.
        """
        if self.enough:
            return Light.AMBER if self.unknown else Light.GREEN
        return Light.RED if self.hopeless or self.useless else Light.AMBER

    @property
    def rests(self) -> str:
        """A sentence on what the numbers assume of columns whose values are to be learnt; "" without such columns."""
        if not self.unknown:
            return ""
        which = "one column" if self.unknown == 1 else f"{self.unknown:,} columns"
        return f"This assumes the values of {which}, which are still to be learnt: that they are found, and are as many as may be."

    @property
    def told(self) -> str:
        """One or two sentences that explain the light, without names of columns."""
        if self.hopeless:
            perfect = self.called(self.perfect)
            some = f"only about {perfect:,.0f} of the" if perfect >= 1 else "none of the"
            which = f"{some} {self.tables:,} tables" if self.tables > 1 else "no table"
            return f"noise hides good tables: even without any error in the rows, {which} would prove good enough."
        told = f"{self.hope} should come out good enough"
        if self.light is Light.RED and self.tables > 1:
            told += ": too few to publish"
        elif self.light is Light.AMBER and self.called(self.good) < 0.5:
            told += ", but single columns should"
        return f"{told}. {self.rests}".strip()

    @property
    def warning(self) -> str:
        """The explanation of a red light as a warning before anything is spent; "" for another light."""
        return self.told[0].upper() + self.told[1:] if self.light is Light.RED else ""


def power(workload: Workload, shares: Shares, unit: Unit, people: int, among: Sequence[str], worse: float = 1.0) -> Power:
    """Estimate how many tables of a plan come out good enough.

    Args:
        workload: The workload.
        shares: The shares of the budget.
        unit: The unit of privacy.
        people: A public or declared number of people.
        among: Names of the mechanisms that may run; the one with the smallest expected error
            counts.
        worse: Factor by which an earlier release's errors exceeded their expectation; 1 without
            one.
    """
    cells, several, tables = workload.table_cells.astype(float), workload.widths > 1, len(workload.cliques)
    noise = assess(workload, shares.mechanism / worse**2, unit, people, once=once(workload, among)).value
    alone = noise.noise * cells / (2 * people)
    likely = _likely(Situation.of(workload, shares.mechanism, unit, people), among, worse * np.sqrt(cells) / np.sqrt(cells).mean(), alone)
    errors = [np.minimum(1.0, np.where(several, larger, alone)) for larger in likely]
    groups: tuple[ranks.Group, ...] = ()
    if rho := shares.of(CERTIFICATE.name):
        groups = ranks.groups(unit, _for_errors(rho), people, workload.cliques)
        shown = partial(_shown, widths=workload.widths, groups=groups, rho=rho, unit=unit, people=people)
        good, most, fewest, perfect = map(shown, (*errors, np.zeros(tables)))
    else:
        good = most = fewest = float(np.sum(sure(noise.noise, cells) <= 2 * READABLE * people))
        perfect = float(tables)
    middle, best, worst = (float(error.mean()) for error in errors)
    known = (tables, good, fewest, most, perfect, middle)
    return Power(*known, noise.columns.tables, noise.columns.within, not several.any(), bool(groups), best, worst)


@dataclass(frozen=True)
class Facts:
    """Public facts that the expected result depends on besides the plan.

    Attributes:
        people: Declared or released number of people.
        among: Names of the mechanisms that may run; empty for the plan's.
        worse: Factor by which an earlier release's errors exceeded their expectation
            (`power`).
        left: rho left in the account, in the plan's accountant; infinite if unknown.
        shown: Share of single columns that a release showed to be good enough; 0 before a release
            exists.
    """

    people: int
    among: tuple[str, ...] = ()
    worse: float = 1.0
    left: float = math.inf
    shown: float = 0.0


def expected(plan: Plan, facts: Facts) -> Power:
    """Return the expected numbers of good tables of the plan.

    Args:
        plan: The plan.
        facts: The public facts about the people.
    """
    among = facts.among or (plan.mechanism.card.name,)
    known = power(plan.asked, plan.shares, plan.counted, facts.people, among, facts.worse)
    return replace(known, unknown=len(plan.domain.unknown))


def small_groups_sentence(plan: Plan) -> str:
    """Return a clause, without a full stop, on how many people or households a cell needs so that noise rarely hides it.

    It follows from public facts alone.

    Args:
        plan: A plan of a mechanism that publishes tables.
    """
    size = assess(plan.asked, plan.shares.mechanism, plan.counted, None, once=once(plan.workload, (plan.mechanism.card.name,))).value
    off = f"can easily be off by more than {READABLE_GROUP:.0%} of its size"
    return f"a group of fewer than about {size.smallest_group:,} {plan.who} in a cell {off}"


def once(workload: Workload, among: Sequence[str]) -> bool:
    """Return whether the whole budget measures each single column once, as Independent does.

    This is the case if Independent may run, and either no other mechanism may or only single
    columns are asked for.

    Args:
        workload: The workload.
        among: Names of the mechanisms that may run.
    """
    return BASELINE in among and (set(among) == {BASELINE} or max(map(len, workload.cliques)) == 1)


def _likely(situation: Situation, among: Sequence[str], larger: Array, alone: Array) -> tuple[Array, Array, Array]:
    """Return the expected, the best and the worst errors of each table, as shares of people.

    They are the errors of the best of the mechanisms that were tried in this situation; if none
    was, the noise `alone` for all three.

    Args:
        situation: The public facts about the plan.
        among: Names of the mechanisms that may run.
        larger: By table, the factor from the mean error to this table's error, larger for more
            cells.
        alone: By table, the error by noise if the table is measured, as a share of people.
    """
    tried = [one for name in among if (one := recommendation.expected(name, situation)) is not None and not one.beyond]
    if not tried:
        return alone, alone, alone
    best = min(tried, key=lambda one: one.error)
    return best.error * larger, best.low * larger, best.high * larger


def _shown(errors: Array, widths: NDArray[np.int64], groups: Sequence[ranks.Group], rho: float, unit: Unit, people: float) -> float:
    """Return how many tables a certificate is expected to show to be good enough.

    It measures single tables, or, where these are too noisy, groups: then all tables of a group
    count if most are good.

    Args:
        errors: The true error of each table, as a share of people.
        widths: The number of columns of each table.
        groups: The groups of tables that the certificate measures; empty for single tables.
        rho: The budget of the certificate.
        unit: The unit of privacy.
        people: Number of people.
    """
    for_errors = _for_errors(rho)
    if not groups:
        return float(_named(errors, IN_WRONG_CELL * distance_sigma(unit, for_errors, len(errors)) / people).sum())
    deviation = IN_WRONG_CELL * distance_sigma(unit, ranks.RANKED * for_errors, len(groups)) / people
    of_sizes = (np.sort(errors[widths == group.size]) for group in groups if group.size)
    return math.fsum(len(one) * float(_named(one[[ranks.rank_of(len(one)) - 1]], deviation)[0]) for one in of_sizes)


def _for_errors(rho: float) -> float:
    """Return the part of a certificate's rho that measures the errors of tables."""
    return (1 - CERTIFIED_LARGEST - CERTIFIED_COLUMNS) * rho


def people_needed(shares: Shares, unit: Unit, cliques: Sequence[Clique]) -> int:
    """Return how many people are needed so that a certificate shows 80 % of these tables to be good if they have no error.

    The result is 0 without a certificate; it is at most about 1e12.

    Args:
        shares: The shares of the budget.
        unit: The unit of privacy.
        cliques: The tables.
    """
    if not (rho := shares.of(CERTIFICATE.name)):
        return 0
    low, high, perfect, widths = 1.0, 1e12, np.zeros(len(cliques)), np.array([len(clique) for clique in cliques])
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        shown = _shown(perfect, widths, ranks.groups(unit, _for_errors(rho), middle, cliques), rho, unit, middle)
        low, high = (low, middle) if shown >= MOSTLY * len(cliques) else (middle, high)
    return math.ceil(high)


def _named(errors: Array, deviation: float) -> Array:
    """Return the probability that each table is named good enough.

    Args:
        errors: The true errors, as shares of people.
        deviation: Standard deviation of the noise with which an error is measured, as a share of
            people.
    """
    return np.asarray(ndtr(_most(round(READABLE / deviation, 6)) - errors / deviation))


@lru_cache(maxsize=4096)
def _most(limit: float) -> float:
    """Return the largest measured error at which a table is named good, in standard deviations of the noise.

    Args:
        limit: The largest true error of a good table, in standard deviations of the noise.
    """
    low, high = -40.0, limit + 2.0
    for _ in range(60):
        middle = (low + high) / 2
        named = surely_below(np.array([middle]), 1.0, 0.0, 1 - CONFIDENCE)[0] <= limit
        low, high = (middle, high) if named else (low, middle)
    return low
