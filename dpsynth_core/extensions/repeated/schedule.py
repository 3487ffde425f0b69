"""Schedules: the budget of each release of a table that is published every month, quarter, half-year or year.

Where every release is about the same people, rho adds up over the releases (`privacy.accountant`), so that each of n releases gets an n-th
of the rho that the whole epsilon allows. As epsilon grows like the square root of rho, a release alone then has more than an n-th of the
whole epsilon. Where the people of each release are in no other one, a person loses no more than one release costs, and each release may
use all of the epsilon.

Each epsilon of a release is rounded down and each cap is rounded up, so that the ledger takes every release of the schedule. It takes none
more, unless much was spent before: then the rounding of the cap may be as large as a release. The sums here are exact fractions, as those
of the ledger are (`store.accounts`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from types import MappingProxyType

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.planning.defaults import DELTA
from dpsynth_core.privacy.accountant import Accountant
from dpsynth_core.privacy.budget import MIN_EPSILON, check_budget

EVERY = MappingProxyType({"month": 12, "quarter": 4, "half-year": 2, "year": 1})
"""Releases a year, by how often a table is published."""
YEAR, WHOLE = "year", "whole"
"""What epsilon is for: each year, or all years of the schedule together."""
PER = (YEAR, WHOLE)
SAME, NEW = "same", "new"
"""Who is in each release: the same people, or in each release people who are in no other one."""
WHO = (SAME, NEW)
MOST_YEARS = 50
_DIGITS = 5
"""Significant digits of every epsilon of a schedule: so many that the rounding of 600 releases together is less than one release."""
_ROUNDING = 1e-9
"""Largest relative error of a conversion and back, which must not cost a digit. What is rounded is checked afterwards."""


@dataclass(frozen=True)
class Line:
    """One release of a schedule.

    Attributes:
        number: Its number, from 1.
        year: The year of the schedule in which it is made, from 1.
        rho: Its cost, in the rho of the schedule's accountant.
        epsilon: Its epsilon by itself, for the budget of its plan.
        so_far: Epsilon of this and all earlier releases for a person who is in them, at the schedule's delta.
            It counts what was spent before the schedule.
    """

    number: int
    year: int
    rho: float
    epsilon: float
    so_far: float


@dataclass(frozen=True)
class Wanted:
    """The wishes of a curator for a schedule.

    Attributes:
        every: How often the table is published, one of `EVERY`.
        years: Number of years, from 1 to `MOST_YEARS`.
        epsilon: The wanted epsilon.
        per: `YEAR` if epsilon is for each year, `WHOLE` if it is for all years together.
        who: `SAME` if the same people are in each release, `NEW` if each release has people of its own.
        delta: Delta of the guarantee for all releases together, and of each plan.
    """

    every: str
    years: int
    epsilon: float
    per: str = YEAR
    who: str = SAME
    delta: float = DELTA

    def check(self) -> None:
        """Check every value, and return nothing.

        Raises:
            InputError: A value is unknown or out of range.
        """
        for field, value, among in (("every", self.every, EVERY), ("per", self.per, PER), ("who", self.who, WHO)):
            if value not in among:
                raise InputError(field, f"{shown(value)} is unknown", f"use one of {', '.join(among)}")
        if type(self.years) is not int or not 1 <= self.years <= MOST_YEARS:
            raise InputError("years", f"{shown(self.years)} is not a number of years", f"give a whole number from 1 to {MOST_YEARS}")
        check_budget(self.epsilon, self.delta)


@dataclass(frozen=True)
class Costs:
    """The rule by which costs of releases are counted, and what was spent about the same people before.

    Attributes:
        accountant: The accountant in whose rho all releases add up.
        charged: The accountant that turns the epsilon of one release into its rho: the plan's.
        own_delta: Part of a release's delta that its steps need by themselves; such parts add up.
        spent: rho that was spent before; it counts on top of the wanted epsilon.
        spent_delta: Sum of the own deltas of what was spent.
    """

    accountant: Accountant
    charged: Accountant
    own_delta: float = 0.0
    spent: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)


@dataclass(frozen=True)
class Schedule:
    """A schedule of releases, each with the same budget. `Schedule.of` makes one.

    Attributes:
        wanted: What was asked for.
        costs: How costs are counted. Where each release has people of its own, nothing was spent before.
        each: Epsilon of one release, for the budget of its plan.
        rho: Cost of one release, in rho.
        cap: Epsilon of the cap that the ledger needs at the schedule's delta, for all releases together where the people are the same, and
            else for the population of one release. It includes what was spent before.
    """

    wanted: Wanted
    costs: Costs
    each: float
    rho: float
    cap: float

    @classmethod
    def of(cls, wanted: Wanted, costs: Costs) -> Schedule:
        """Return the schedule whose releases have the largest budgets that the wanted epsilon allows, rounded down to five digits.

        Args:
            wanted: What is asked for.
            costs: How costs are counted.

        Raises:
            InputError: A value is unknown or out of range, a release would get less epsilon than it must have, or
                nothing is left of delta.
        """
        wanted.check()
        if wanted.who == NEW:
            costs = replace(costs, spent=Fraction(0), spent_delta=Fraction(0))
        number = _added(wanted)
        shared = min(number, EVERY[wanted.every]) if wanted.per == YEAR else number
        left = _left(wanted.delta, costs, number)
        whole = Fraction(costs.accountant.rho_from(wanted.epsilon, left))
        each, rho = _largest(whole / shared, wanted.delta - costs.own_delta, costs.charged, wanted.epsilon)
        together = costs.spent + number * Fraction(rho)
        cap = float(wanted.epsilon) if together <= whole else _cap(together, left, costs.accountant)
        return cls(wanted, costs, each, rho, cap)

    @property
    def delta(self) -> float:
        """Delta of all releases together, of each plan, and of the cap."""
        return self.wanted.delta

    @property
    def number(self) -> int:
        """Number of releases."""
        return EVERY[self.wanted.every] * self.wanted.years

    @property
    def lines(self) -> tuple[Line, ...]:
        """The releases in order."""
        a_year, same = EVERY[self.wanted.every], self.wanted.who == SAME
        return tuple(
            Line(one, (one - 1) // a_year + 1, self.rho, self.each, self._together(one if same else 1)) for one in range(1, self.number + 1)
        )

    @property
    def whole(self) -> float:
        """Epsilon of all releases together for one person, at `delta`, with what was spent before."""
        return self._together(_added(self.wanted))

    def allowed_by(self, epsilon: float, delta: float) -> bool:
        """Return whether a cap of (epsilon, delta) allows all releases of the schedule that one person may be in, after what was spent."""
        number = _added(self.wanted)
        try:
            left = _left(delta, self.costs, number)
        except InputError:
            return False
        return self.costs.spent + number * Fraction(self.rho) <= Fraction(self.costs.accountant.rho_from(epsilon, left))

    def _together(self, number: int) -> float:
        """Return epsilon of so many releases together, at `delta`, with what was spent before."""
        left = _left(self.delta, self.costs, _added(self.wanted))
        return self.costs.accountant.epsilon_from(_above(self.costs.spent + number * Fraction(self.rho)), left)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The schedule in full sentences: the budget of a release, how losses add up, and the cap that the ledger needs."""
        plural, years = "s" * (self.number > 1), f"{self.wanted.years:,} year{'s' * (self.wanted.years > 1)}"
        said = [f"{self.number:,} release{plural} in {years}: each gets epsilon {self.each:g}, delta {self.delta:g} (rho {self.rho:.4g})."]
        if self.wanted.who == NEW:
            return (
                *said,
                "Nobody is in two releases, so a person loses no more than one release costs.",
                f"Charge a population of its own for each release; each needs a cap of epsilon {self.cap:g}, delta {self.delta:g}.",
                "If a person may be in two releases, this does not hold: plan for the same people.",
            )
        before = ", with what was spent before," if self.costs.spent else ""
        together = f"All of them together{before} are epsilon {_text(self.whole)} at delta {self.delta:g}."
        said.append(f"The same people are in all releases: rho adds up ({self.costs.accountant.name}). {together}")
        if self.wanted.per == YEAR and self.wanted.years > 1:
            said.append(f"Each year alone is epsilon {self.wanted.epsilon:g}; over {years} losses add up to more.")
        said.append(f"The ledger needs a cap of epsilon {self.cap:g}, delta {self.delta:g}.")
        return tuple(said)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The releases as texts: number, year, rho, epsilon alone, epsilon of all so far."""
        return [(f"{one.number}", f"{one.year}", f"{one.rho:.4g}", f"{one.epsilon:g}", _text(one.so_far)) for one in self.lines]


TITLES = ("Release", "Year", "rho", "Epsilon alone", "Epsilon so far")
"""Titles of `Schedule.rows`."""


def text_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with the columns of a table of texts below each other, aligned at the right; there is at least one row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _added(wanted: Wanted) -> int:
    """Return the number of releases that one person may be in."""
    return EVERY[wanted.every] * wanted.years if wanted.who == SAME else 1


def _left(delta: float, costs: Costs, number: int) -> float:
    """Return the rest of delta after the own deltas of so many releases and of what was spent before.

    Raises:
        InputError: Nothing is left.
    """
    exact = Fraction(delta) - costs.spent_delta - number * Fraction(costs.own_delta)
    if exact <= 0:
        problem = f"the steps of {number:,} releases need more than {delta:g} by themselves"
        raise InputError("delta", problem, "choose a plan without such steps, or fewer releases")
    rounded = float(exact)
    return rounded if Fraction(rounded) <= exact else math.nextafter(rounded, 0.0)


def _largest(most: Fraction, delta: float, accountant: Accountant, wanted: float) -> tuple[float, float]:
    """Return the largest epsilon of five digits whose rho is at most `most`, with that rho.

    Raises:
        InputError: The epsilon would be below what a release may have.
    """
    rough = min(wanted, accountant.epsilon_from(float(most), delta)) * (1 + _ROUNDING)
    epsilon = _rounded(rough, ROUND_FLOOR)
    while epsilon >= Decimal(str(MIN_EPSILON)):
        if Fraction(rho := accountant.rho_from(float(epsilon), delta)) <= most:
            return float(epsilon), rho
        epsilon -= _unit(epsilon)
    raise InputError("epsilon", f"it leaves each release less than {MIN_EPSILON:g}", "plan fewer releases, or more epsilon")


def _cap(rho: Fraction, delta: float, accountant: Accountant) -> float:
    """Return the smallest epsilon of five digits whose rho is at least `rho`."""
    epsilon = _rounded(accountant.epsilon_from(_above(rho), delta) * (1 - _ROUNDING), ROUND_CEILING)
    while Fraction(accountant.rho_from(float(epsilon), delta)) < rho:
        epsilon += _unit(epsilon)
    return float(epsilon)


def _rounded(number: float, how: str) -> Decimal:
    exact = Decimal(str(number))
    return exact.quantize(_unit(exact), rounding=how)


def _unit(number: Decimal) -> Decimal:
    """Return one in the last of `_DIGITS` significant digits of a number."""
    return Decimal(1).scaleb(number.adjusted() - _DIGITS + 1)


def _above(exact: Fraction) -> float:
    rounded = float(exact)
    return rounded if Fraction(rounded) >= exact else math.nextafter(rounded, math.inf)


def _text(epsilon: float) -> str:
    return f"{epsilon:.4g}"
