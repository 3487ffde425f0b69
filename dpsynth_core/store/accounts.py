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
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy.accountant import Accountant, common, named
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.faults import BooksLost

DEFAULT_CAP = (10.0, 1e-9)
"""(epsilon, delta) of a population whose curator chose no cap."""


class CapExceeded(InputError):
    """The population's cap leaves less than the run asks for; nothing was reserved."""


class UnitDiffers(InputError):
    """The population's charges have another unit of privacy; nothing was reserved."""


class Cap(NamedTuple):
    """The largest privacy loss of all releases of a population together, as (epsilon, delta)."""

    epsilon: float
    delta: float


def names(books: Iterable[Entry]) -> tuple[str, ...]:
    """Return the names of all populations in these ledger entries, in the order in which they were opened."""
    return tuple(entry.population for entry in books if entry.kind == "population")


def cap_of(books: Iterable[Entry], population: str) -> Cap | None:
    """Return the newest cap of a population; None if the population is not open."""
    return next((cap for _, cap in reversed(caps_of(books, population))), None)


def caps_of(books: Iterable[Entry], population: str) -> list[tuple[int, Cap]]:
    """Return every cap that the population ever had, oldest first, as pairs (number of the entry that set it, cap)."""
    theirs = (entry for entry in books if entry.population == population and entry.kind in ("population", "cap"))
    return [(entry.number, Cap(entry.epsilon, entry.delta)) for entry in theirs]


def reservation(books: Sequence[Entry], run: str) -> Entry:
    """Return the entry that charged the run with this id.

    Raises:
        BooksLost: The entry is missing.
    """
    for entry in books:
        if entry.kind == "reserve" and entry.run == run:
            return entry
    raise BooksLost("its ledger has no entry of this charge any more")


def standing(books: Sequence[Entry]) -> list[Entry]:
    """Return the reservation of every run that was not given back, oldest first."""
    returned = {entry.run for entry in books if entry.kind == "return"}
    return [entry for entry in books if entry.kind == "reserve" and entry.run not in returned]


def charges_of(books: Sequence[Entry], population: str) -> list[Entry]:
    """Return the reservation of every run of a population that was not given back, oldest first."""
    return [entry for entry in standing(books) if entry.population == population]


def unit_of(charge: Entry) -> UnitSpec:
    """Return the unit of privacy that a charge names."""
    unit = {"relation": charge.relation, "person_column": charge.person_column, "max_rows_per_person": charge.max_rows}
    return UnitSpec.model_validate(unit)


def check_fits(population: str, cap: Cap, charges: Sequence[Entry], more: Entry) -> None:
    """Check that one more charge fits below the cap.

    Args:
        population: Name of the population, for messages.
        cap: The cap in force.
        charges: The population's charges that were not given back.
        more: The charge to add.

    Raises:
        UnitDiffers: The charges protect another unit of privacy.
        CapExceeded: The cap leaves less than the charge asks for.
    """
    if (problem := mixed(population, unit_of(charges[0]) if charges else None, unit_of(more))) is not None:
        raise problem
    together = [*charges, more]
    left = rest(cap.delta, (charge.own_delta for charge in together))
    if left <= 0:
        raise CapExceeded(
            f"population {population!r}",
            f"this run has steps that need a delta of their own, which would use up the cap's {cap.delta:g}",
            "choose a learner without one, lower the run's delta, or raise the cap's on the ledger page and give the reason there",
        )
    accountant, after = counted_in(together), total(charge.rho for charge in together)
    if after > Fraction(accountant.rho_from(cap.epsilon, left)):
        raise CapExceeded(
            f"population {population!r}",
            f"this run would bring its privacy loss to epsilon {accountant.epsilon_from(above(after), left):.4g},"
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


def counted_in(charges: Iterable[Entry], following: Sequence[Accountant] = ()) -> Accountant:
    """Return the accountant in which these charges, and the runs that follow, add up.

    A GDP cost may be counted in zCDP, but not the other way round.

    Args:
        charges: The standing charges.
        following: The accountants of further runs.
    """
    return common([*(named(charge.accountant) for charge in charges), *following])


def total(amounts: Iterable[float]) -> Fraction:
    """Return the sum of the amounts as an exact fraction, without rounding."""
    return sum(map(Fraction, amounts), start=Fraction(0))


def rest(cap: float, amounts: Iterable[float]) -> float:
    """Return the cap minus the sum of the amounts, rounded down; 0 where nothing is left."""
    exact = Fraction(cap) - total(amounts)
    rounded = max(0.0, float(exact))
    return rounded if Fraction(rounded) <= max(exact, Fraction(0)) else math.nextafter(rounded, 0.0)


def above(exact: Fraction) -> float:
    """Return the smallest float that is not below the fraction."""
    rounded = float(exact)
    return rounded if Fraction(rounded) >= exact else math.nextafter(rounded, math.inf)
