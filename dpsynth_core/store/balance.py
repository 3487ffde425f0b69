"""Balances of the ledger: what a population has spent, what is left of its cap, and what a release states about both.

This module charges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy.accountant import GDP, Accountant
from dpsynth_core.store import accounts, chain, sealed_fingerprints, verified_books
from dpsynth_core.store.accounts import DEFAULT_CAP, Account, Cap
from dpsynth_core.store.chain import SECOND
from dpsynth_core.store.database import head_of, reading
from dpsynth_core.store.home import home, now
from dpsynth_core.store.ledger_head import EMPTY, Head

_CHARGES = f"SELECT run, population, kind, fingerprint FROM ledger {chain.FROM} AND kind IN ('reserve', 'return') ORDER BY number"
_MOST_TABLES = 64
_SEEN: dict[tuple[Path, bytes, str], tuple[Head, dict[str, str]]] = {}
"""Of a home, its key and the fingerprint of tables: the ledger's head when this process last compared them, and the population of each run
that was charged for the same table and not given back. So that a look compares new charges alone; the latest `_MOST_TABLES` are kept.
"""


@dataclass(frozen=True)
class Spent:
    """The account of one population.

    Attributes:
        population: Name of the population.
        cap_epsilon: Epsilon of the cap.
        cap_delta: Delta of the cap.
        cap_rho: The cap in rho, for the rest of its delta that no step's own delta has used.
        rho: Sum of the rho of all charges that were not given back.
        epsilon: Epsilon of all charges together at the cap's delta; infinite if that delta is used
            up.
        remaining_rho: What is left of the cap, in rho; 0 if nothing is.
        remaining_epsilon: Epsilon of one more release that takes all of `remaining_rho`, at the
            same delta.
        unit: Unit of privacy of every charge, None before the first.
        releases: Number of charges that were not given back.
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
        """The used part of the cap, from 0 to 1, as a share of its rho; 1 if the cap has no rho."""
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
    """Return the names of all populations, in the order in which they were opened; () before the first.

    The ledger is read without a check that it is whole.

    Raises:
        BooksLost: The table has rows that are not entries.
    """
    with reading() as db:
        return verified_books.unverified(db).populations


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
    return _account(population, verified_books.read().account(population), following, Cap(*cap))


def left(population: str, following: Accountant) -> Left | None:
    """Return what is left of the cap of a population; None if the population is not open.

    Args:
        population: Name of the population.
        following: Accountant of the release that would come next; with zCDP, every charge is counted in zCDP.

    Raises:
        BooksLost: The ledger is not whole.
    """
    books = verified_books.read()
    if population not in books.populations:
        return None
    found = _account(population, books.account(population), following, Cap(*DEFAULT_CAP))
    return Left(found.cap_epsilon, found.remaining_epsilon, found.remaining_rho, found.releases)


def spent_by_all(only: Collection[str] | None = None) -> tuple[Spent, ...]:
    """Return the accounts of all populations, in the order in which they were opened.

    Args:
        only: Names of the populations whose accounts are returned; None for all.

    Raises:
        BooksLost: The ledger is not whole.
    """
    books = verified_books.read()
    return tuple(
        _account(name, books.account(name), GDP, Cap(*DEFAULT_CAP)) for name in books.populations if only is None or name in only
    )


def same_file_elsewhere(fingerprint: str, population: str) -> tuple[str, ...]:
    """Return the names of other populations that were charged for the same table, or for one of two linked tables, sorted.

    A name is a reason for a warning; () if there was no such charge. Charges that were given back do not count. The
    answer depends on records and is for the curator only.

    Args:
        fingerprint: Fingerprint of the tables (`fingerprints.of_spec`).
        population: Name of the population that is to be charged.

    Raises:
        BooksLost: The ledger is not whole, or the key of the fingerprints is lost.
    """
    verified_books.read()
    place = home(), sealed_fingerprints.key(), fingerprint
    begin, charged = _SEEN.get(place, (EMPTY, {}))
    with reading() as db:
        if begin != EMPTY and not chain.entries_in(db, "WHERE number = ? AND hash = ?", begin.number, begin.hash):
            begin, charged = EMPTY, {}  # another ledger than the one that was seen
        head, new = head_of(db), db.execute(_CHARGES, (begin.number + 1,)).fetchall()
    ours = sealed_fingerprints.seals(fingerprint, [row["run"] for row in new])
    same = {row["run"]: row["population"] for row, seal in zip(new, ours, strict=True) if {*row["fingerprint"].split()} & {*seal.split()}}
    returned = {row["run"] for row in new if row["kind"] == "return"}
    charged = {run: name for run, name in (charged | same).items() if run not in returned}
    _SEEN.pop(place, None)
    _SEEN[place] = head, charged
    for former in list(_SEEN)[:-_MOST_TABLES]:
        _SEEN.pop(former, None)
    return tuple(sorted({*charged.values()} - {population}))


def clock_problem() -> str:
    """Return a sentence if this machine's clock is behind the newest ledger entry by a second or more, else "".

    Raises:
        BooksLost: The ledger is not whole.
    """
    books = verified_books.read()
    if now()[:SECOND] >= books.at[:SECOND]:
        return ""
    problem = f"the clock of this machine is behind entry {books.head.number} of the ledger, which is dated {books.at[:SECOND]} UTC"
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
    books = verified_books.read()
    with reading() as db:
        entry = verified_books.reservation(db, books, run)
    account = books.account(entry.population)
    caps = account.caps
    later = [number for number, _ in caps if number > account.first]
    earlier = [cap._asdict() for _, cap in caps[-1 - len(later) : -1]]
    in_force = next((digest for number, digest in reversed(books.rules) if number < entry.number), "")
    return {
        "population": entry.population,
        "entry": entry.number,
        "hash": entry.hash,
        "unit": accounts.unit_of(entry).model_dump(),
        "cap": caps[-1][1]._asdict(),
        "earlier_caps": earlier,
        "restored": len(books.restored),
        **({"rules": in_force} if in_force else {}),
    }


def times_more(left: float, rho: float) -> int:
    """Return how many more releases of cost `rho` fit into what is left of a cap; 0 if `rho` is not above 0.

    Args:
        left: What is left of the cap, in the same accountant's rho.
        rho: Cost of one release.
    """
    return max(0, math.floor(left / rho)) if rho > 0 else 0


def _account(population: str, account: Account, following: Accountant, otherwise: Cap) -> Spent:
    """Return what a population has spent, and what is left.

    Args:
        population: Name of the population.
        account: Its account in the books.
        following: Accountant of the release that would come next; with zCDP, every charge is
            counted in zCDP.
        otherwise: The cap for a population that is not open.
    """
    cap, accountant = account.cap or otherwise, account.counted_in(following)
    delta, rho = accounts.rest(cap.delta, account.own_delta), account.rho
    cap_rho = accountant.rho_from(cap.epsilon, delta) if delta > 0 else 0.0
    left = accounts.rest(cap_rho, rho)
    return Spent(
        population=population,
        cap_epsilon=cap.epsilon,
        cap_delta=cap.delta,
        cap_rho=cap_rho,
        rho=float(rho),
        epsilon=0.0 if rho == 0 else accountant.epsilon_from(accounts.above(rho), delta) if delta > 0 else math.inf,
        remaining_rho=left,
        remaining_epsilon=following.epsilon_from(left, delta) if left > 0 else 0.0,
        unit=account.unit,
        releases=account.charges,
        accountant=accountant,
    )
