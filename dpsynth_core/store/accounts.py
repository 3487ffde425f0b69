"""Sums of a population's charges and the rest of the cap, in exact arithmetic.

rho adds up, and the cap in rho is the largest that gives its (epsilon, delta). Each charge names the accountant of its rho. If all charges
are in GDP, their sum is in GDP; otherwise the sum is in zCDP, which bounds every charge (`privacy.accountant`). Runs with steps that keep
their promise except with a probability of their own (`spec.Shares.delta`) add those probabilities up as well, and the cap's rho is for the
rest of its delta (approximate zCDP: Bun & Steinke 2016, section 8). Sums never exceed the cap, not by the last bit: they are compared as
fractions.

All charges of a population have one unit of privacy. Losses of different units do not add up: what is protected for each row is not
protected for a person with twenty rows, and what hides a person's record (replace) may reveal that the person is in the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple, TypeVar

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy.accountant import Accountant, common, named
from dpsynth_core.store.chain import Entry

DEFAULT_CAP = (10.0, 1e-9)
"""(epsilon, delta) of a population whose curator chose no cap."""
_Unit = tuple[str, str | None, int]
_Key = TypeVar("_Key")


class CapExceeded(InputError):
    """The population's cap leaves less than the run asks for; nothing was reserved."""


class UnitDiffers(InputError):
    """The population's charges have another unit of privacy; nothing was reserved."""


class Cap(NamedTuple):
    """The largest privacy loss of all releases of a population together, as (epsilon, delta)."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Account:
    """The charges and caps of one population, summed over its ledger entries.

    rho of charges in GDP is mu^2 / 2, of others the rho of zCDP; `accountants` says which there are.

    Attributes:
        caps: Every cap, oldest first, as pairs (number of the entry that set it, cap).
        rho: Exact sum of the rho of all charges that were not given back.
        own_delta: Exact sum of their own deltas.
        units: Number of these charges by their unit: (relation, person column, rows per person).
        accountants: Number of these charges by the name of their accountant.
        first: Number of the entry of the first charge, given back or not; 0 before it.
        demand: Note of the newest demand of approvals, or "".
    """

    caps: tuple[tuple[int, Cap], ...] = ()
    rho: Fraction = Fraction(0)
    own_delta: Fraction = Fraction(0)
    units: Mapping[_Unit, int] = field(default_factory=dict)
    accountants: Mapping[str, int] = field(default_factory=dict)
    first: int = 0
    demand: str = ""

    @property
    def cap(self) -> Cap | None:
        """The newest cap; None if the population is not open."""
        return self.caps[-1][1] if self.caps else None

    @property
    def charges(self) -> int:
        """Number of charges that were not given back."""
        return sum(self.accountants.values())

    @property
    def unit(self) -> UnitSpec | None:
        """Unit of privacy of the charges that were not given back; None without such charges."""
        return next((_unit(*unit) for unit in self.units), None)

    def changed_by(self, charge: Entry, sign: int) -> Account:
        """Return the account after a charge was added (`sign` 1) or given back (-1); this account is not changed.

        Args:
            charge: The ledger entry that reserved the charge.
            sign: 1 or -1.
        """
        unit = charge.relation, charge.person_column, charge.max_rows
        return replace(
            self,
            rho=self.rho + sign * Fraction(charge.rho),
            own_delta=self.own_delta + sign * Fraction(charge.own_delta),
            units=_counted(self.units, unit, sign),
            accountants=_counted(self.accountants, charge.accountant, sign),
            first=self.first or charge.number,
        )

    def counted_in(self, *following: Accountant) -> Accountant:
        """Return the accountant in which the charges, and the runs that follow, add up.

        It is GDP if charges and further runs are all counted in GDP and are together at most 1,024
        (`privacy.accountant.RUNS`), also if there are none; else zCDP. A GDP cost may be counted in zCDP, but not the
        other way round.

        Args:
            *following: The accountants of further runs.
        """
        return common([*(named(name) for name, many in self.accountants.items() for _ in range(many)), *following])


def unit_of(charge: Entry) -> UnitSpec:
    """Return the unit of privacy that a charge names."""
    return _unit(charge.relation, charge.person_column, charge.max_rows)


def check_fits(population: str, account: Account, more: Entry) -> None:
    """Check that one more charge fits below the cap, in exact arithmetic. Nothing is changed.

    Args:
        population: Name of the population, for messages.
        account: Its account; if it is not open, the cap is the default one, epsilon 10 and delta 1e-9.
        more: The charge to add.

    Raises:
        UnitDiffers: The charges protect another unit of privacy.
        CapExceeded: The cap leaves less than the charge asks for.
    """
    if (problem := mixed(population, account.unit, unit_of(more))) is not None:
        raise problem
    cap, after = account.cap or Cap(*DEFAULT_CAP), account.changed_by(more, 1)
    left = rest(cap.delta, after.own_delta)
    if left <= 0:
        raise CapExceeded(
            f"population {population!r}",
            f"this run has steps that need a delta of their own, which would use up the cap's {cap.delta:g}",
            "choose a learner without one, lower the run's delta, or raise the cap's on the ledger page and give the reason there",
        )
    accountant = after.counted_in()
    if after.rho > Fraction(accountant.rho_from(cap.epsilon, left)):
        raise CapExceeded(
            f"population {population!r}",
            f"this run would bring its privacy loss to epsilon {accountant.epsilon_from(above(after.rho), left):.4g},"
            f" above its cap of {cap.epsilon:g} (delta {cap.delta:g})",
            "lower epsilon, or raise the cap on the ledger page and give the reason there",
        )


def mixed(population: str, unit: UnitSpec | None, wanted: UnitSpec) -> UnitDiffers | None:
    """Return the error for charging the unit `wanted` to a population charged for another unit; None if the charges add up.

    Args:
        population: Name of the population, for the message.
        unit: The unit of privacy of the earlier charges, None without charges.
        wanted: The unit of privacy of the new charge.
    """
    if unit is None or unit == wanted:
        return None
    return UnitDiffers(
        "unit",
        f"the population {population!r} is charged for {unit.words}, and this plan protects {wanted.words}: such losses do not add up",
        "state the unit that the earlier releases have",
    )


def rest(cap: float, used: Fraction) -> float:
    """Return the cap minus what is used, as a float rounded down; 0 where nothing is left.

    Args:
        cap: The cap, such as its delta.
        used: The exact sum that is used.
    """
    exact = Fraction(cap) - used
    rounded = max(0.0, float(exact))
    return rounded if Fraction(rounded) <= max(exact, Fraction(0)) else math.nextafter(rounded, 0.0)


def above(exact: Fraction) -> float:
    """Return the smallest float that is not below the fraction."""
    rounded = float(exact)
    return rounded if Fraction(rounded) >= exact else math.nextafter(rounded, math.inf)


def _unit(relation: str, person_column: str | None, max_rows: int) -> UnitSpec:
    """Return a unit of privacy from the fields of an entry."""
    return UnitSpec.model_validate({"relation": relation, "person_column": person_column, "max_rows_per_person": max_rows})


def _counted(counts: Mapping[_Key, int], key: _Key, sign: int) -> dict[_Key, int]:
    """Return counts with one more (`sign` 1) or one less (-1) of a key; a key with no count is left out."""
    counted = {**counts, key: counts.get(key, 0) + sign}
    return {one: many for one, many in counted.items() if many}
