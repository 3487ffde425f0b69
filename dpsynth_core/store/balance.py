"""What the ledger says: what a population has spent, what is left of its cap, and what a release states of both. Charges nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy.accountant import GDP, Accountant
from dpsynth_core.store import accounts, chain, rules, seals
from dpsynth_core.store.accounts import DEFAULT_CAP, Cap
from dpsynth_core.store.chain import SECOND, Entry
from dpsynth_core.store.home import now


@dataclass(frozen=True)
class Spent:
    """The account of one population. epsilon: of everything charged, at the cap's delta, infinite where that is used up; remaining_epsilon:
    of one more release that takes all of `remaining_rho`, at the same delta. accountant: what the rho here are counted in.
    unit: of every charge, None before the first."""

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
        """The part of the cap that is used, from 0 to 1."""
        return min(1.0, self.rho / self.cap_rho) if self.cap_rho > 0 else 1.0


@dataclass(frozen=True)
class Left:
    """epsilon, rho: of one more release that takes all. releases: that were charged."""

    cap_epsilon: float
    epsilon: float
    rho: float
    releases: int


def populations() -> tuple[str, ...]:
    """Names of all populations, in the order in which they were opened."""
    return accounts.names(chain.entries())


def spent(population: str, following: Accountant = GDP, cap: tuple[float, float] = DEFAULT_CAP) -> Spent:
    """The account of a population; of one that is not open yet, an empty account with this cap, (epsilon, delta). Raises BooksLost.

    following: the accountant of the release that would come next. Where it is zCDP's, all has to be counted so.
    """
    return _account(chain.whole(), population, following, Cap(*cap))


def left(population: str, following: Accountant) -> Left | None:
    """What is left of the cap of a population that is open. Raises BooksLost."""
    if population not in populations():
        return None
    found = spent(population, following)
    return Left(found.cap_epsilon, found.remaining_epsilon, found.remaining_rho, found.releases)


def spent_by_all() -> tuple[Spent, ...]:
    """The accounts of all populations, in the order in which they were opened. Raises BooksLost."""
    books = chain.whole()
    return tuple(_account(books, name, GDP, Cap(*DEFAULT_CAP)) for name in accounts.names(books))


def same_file_elsewhere(fingerprint: str, population: str) -> tuple[str, ...]:
    """Other populations that were charged for the same data file, or one of two: a reason for a warning. Raises BooksLost."""
    others = [entry for entry in accounts.standing(chain.whole()) if entry.population != population]
    ours = seals.seals(fingerprint, [entry.run for entry in others])
    same = (entry for entry, seal in zip(others, ours, strict=True) if {*entry.fingerprint.split()} & {*seal.split()})
    return tuple(sorted({entry.population for entry in same}))


def clock_problem() -> str:
    """Why the next entry would be dated before the newest one, or "". Raises BooksLost."""
    newest = chain.whole()[-1:]
    if not newest or now()[:SECOND] >= newest[0].at[:SECOND]:
        return ""
    problem = f"the clock of this machine is behind entry {newest[0].number} of the ledger, which is dated {newest[0].at[:SECOND]} UTC"
    return f"{problem}: it was set back, or was wrong then"


def citation(run: str) -> dict[str, Any]:
    """What a release says of the ledger: its own entry, what that protects, and the most that all releases of its population may lose.

    earlier_caps: those that were replaced after charges existed. restored: how often a person accepted a ledger that was not whole. rules:
    the SHA-256 of those of the house when the run was charged, if there were any. Raises BooksLost.
    """
    books = chain.whole()
    entry = accounts.reservation(books, run)
    caps = accounts.caps_of(books, entry.population)
    first = next(other.number for other in books if other.kind == "reserve" and other.population == entry.population)
    later = [number for number, _ in caps if number > first]
    earlier = [cap._asdict() for _, cap in caps[-1 - len(later) : -1]]
    in_force = rules.newest([other for other in books if other.number < entry.number])
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
    """How many more releases of `rho` fit into what is left, both counted in the same way."""
    return max(0, math.floor(left / rho)) if rho > 0 else 0


def _account(books: Sequence[Entry], population: str, following: Accountant, otherwise: Cap) -> Spent:
    """following: the accountant of the release that would come next; zCDP's makes all count in zCDP. otherwise: the cap of one
    that is not open."""
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
