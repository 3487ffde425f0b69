"""Balances of the ledger: what a population has spent, what is left of its cap, and what a release states about both.

This module charges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy.accountant import GDP, Accountant
from dpsynth_core.store import accounts, chain, demands, sealed_fingerprints
from dpsynth_core.store.accounts import DEFAULT_CAP, Cap
from dpsynth_core.store.chain import SECOND, Entry
from dpsynth_core.store.home import now


@dataclass(frozen=True)
class Spent:
    """The account of one population.

    Attributes:
        population: Name of the population.
        cap_epsilon: Epsilon of the cap.
        cap_delta: Delta of the cap.
        cap_rho: The cap in rho.
        rho: Sum of all charges.
        epsilon: Epsilon of all charges together at the cap's delta; infinite if that delta is used
            up.
        remaining_rho: What is left of the cap, in rho.
        remaining_epsilon: Epsilon of one more release that takes all of `remaining_rho`, at the
            same delta.
        unit: Unit of privacy of every charge, None before the first.
        releases: Number of charged releases.
        accountant: The accountant in whose rho all charges and the cap are given.
    """

    population: str
    cap_epsilon: float
    cap_delta: float
    cap_rho: float
    rho: float
    epsilon: float
    remaining_rho: float
    remaining_epsilon: float
    unit: UnitSpec | None
    releases: int
    accountant: Accountant

    @property
    def share(self) -> float:
        """The used part of the cap, from 0 to 1."""
        return min(1.0, self.rho / self.cap_rho) if self.cap_rho > 0 else 1.0


@dataclass(frozen=True)
class Left:
    """The unspent part of a population's cap.

    Attributes:
        cap_epsilon: Epsilon of the cap.
        epsilon: Epsilon of one more release that takes all that is left.
        rho: rho of one more release that takes all that is left.
        releases: Number of charged releases.
    """

    cap_epsilon: float
    epsilon: float
    rho: float
    releases: int


def populations() -> tuple[str, ...]:
    """Return the names of all populations, in the order in which they were opened."""
    return accounts.names(chain.entries())


def spent(population: str, following: Accountant = GDP, cap: tuple[float, float] = DEFAULT_CAP) -> Spent:
    """Return the account of a population; an empty account with the given cap if the population is not open.

    Args:
        population: Name of the population.
        following: Accountant of the release that would come next. With zCDP, every charge is
            counted in zCDP.
        cap: (epsilon, delta) for a population that is not open.

    Raises:
        BooksLost: The ledger is not whole.
    """
    return _account(chain.whole(), population, following, Cap(*cap))


def left(population: str, following: Accountant) -> Left | None:
    """Return what is left of the cap of a population; None if the population is not open.

    Args:
        population: Name of the population.
        following: Accountant of the release that would come next.

    Raises:
        BooksLost: The ledger is not whole.
    """
    if population not in populations():
        return None
    found = spent(population, following)
    return Left(found.cap_epsilon, found.remaining_epsilon, found.remaining_rho, found.releases)


def spent_by_all() -> tuple[Spent, ...]:
    """Return the accounts of all populations, in the order in which they were opened.

    Raises:
        BooksLost: The ledger is not whole.
    """
    books = chain.whole()
    return tuple(_account(books, name, GDP, Cap(*DEFAULT_CAP)) for name in accounts.names(books))


def same_file_elsewhere(fingerprint: str, population: str) -> tuple[str, ...]:
    """Return the names of other populations that were charged for the same table, or for one of two: a reason for a warning.

    Args:
        fingerprint: Fingerprint of the tables (`fingerprints.of_spec`).
        population: Name of the population that is to be charged.

    Raises:
        BooksLost: The ledger is not whole.
    """
    others = [entry for entry in accounts.standing(chain.whole()) if entry.population != population]
    ours = sealed_fingerprints.seals(fingerprint, [entry.run for entry in others])
    same = (entry for entry, seal in zip(others, ours, strict=True) if {*entry.fingerprint.split()} & {*seal.split()})
    return tuple(sorted({entry.population for entry in same}))


def clock_problem() -> str:
    """Return a sentence if this machine's clock is behind the newest ledger entry, else "".

    Raises:
        BooksLost: The ledger is not whole.
    """
    newest = chain.whole()[-1:]
    if not newest or now()[:SECOND] >= newest[0].at[:SECOND]:
        return ""
    problem = f"the clock of this machine is behind entry {newest[0].number} of the ledger, which is dated {newest[0].at[:SECOND]} UTC"
    return f"{problem}: it was set back, or was wrong then"


def citation(run: str) -> dict[str, Any]:
    """Return a release's reference to the ledger, as JSON: its own entry, the unit of privacy, and the cap of its population.

    `earlier_caps` are caps that were replaced after charges existed; `restored` counts how often a
    person accepted a ledger that was not whole; `rules` is the SHA-256 of the house rules at the
    time of the charge, if there were any.

    Args:
        run: Id of the run.

    Raises:
        BooksLost: The ledger is not whole, or lacks the run's charge.
    """
    books = chain.whole()
    entry = accounts.reservation(books, run)
    caps = accounts.caps_of(books, entry.population)
    first = next(other.number for other in books if other.kind == "reserve" and other.population == entry.population)
    later = [number for number, _ in caps if number > first]
    earlier = [cap._asdict() for _, cap in caps[-1 - len(later) : -1]]
    in_force = demands.newest_rules([other for other in books if other.number < entry.number])
    return {
        "population": entry.population,
        "entry": entry.number,
        "hash": entry.hash,
        "unit": accounts.unit_of(entry).model_dump(),
        "cap": caps[-1][1]._asdict(),
        "earlier_caps": earlier,
        "restored": sum(other.kind == "restore" for other in books),
        **({"rules": in_force} if in_force else {}),
    }


def times_more(left: float, rho: float) -> int:
    """Return how many more releases of cost `rho` fit into what is left of a cap.

    Args:
        left: What is left of the cap, in the same accountant's rho.
        rho: Cost of one release.
    """
    return max(0, math.floor(left / rho)) if rho > 0 else 0


def _account(books: Sequence[Entry], population: str, following: Accountant, otherwise: Cap) -> Spent:
    """Return the account of a population.

    Args:
        books: The ledger's entries.
        population: Name of the population.
        following: Accountant of the release that would come next; with zCDP, every charge is
            counted in zCDP.
        otherwise: The cap for a population that is not open.
    """
    cap, charges = accounts.cap_of(books, population) or otherwise, accounts.charges_of(books, population)
    accountant = accounts.counted_in(charges, [following])
    delta = accounts.rest(cap.delta, (charge.own_delta for charge in charges))
    cap_rho, rho = accountant.rho_from(cap.epsilon, delta) if delta > 0 else 0.0, accounts.total(charge.rho for charge in charges)
    left = accounts.rest(cap_rho, (charge.rho for charge in charges))
    return Spent(
        population=population,
        cap_epsilon=cap.epsilon,
        cap_delta=cap.delta,
        cap_rho=cap_rho,
        rho=float(rho),
        epsilon=0.0 if rho == 0 else accountant.epsilon_from(accounts.above(rho), delta) if delta > 0 else math.inf,
        remaining_rho=left,
        remaining_epsilon=following.epsilon_from(left, delta) if left > 0 else 0.0,
        unit=accounts.unit_of(charges[0]) if charges else None,
        releases=len(charges),
        accountant=accountant,
    )
