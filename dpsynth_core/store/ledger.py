"""The privacy ledger: every charge of every owner against every population.

A population is the group of people whose total privacy loss is capped. It belongs to the
installation: owners who charge the same population share its cap, in the app and on the command
line. Its first entry opens it with a cap (epsilon, delta). Later entries change the cap, reserve
budget for a run, record that the run touched private data, or return the reservation of a run that
did not. No entry is ever altered (`chain`).

The cap is the bound that composition theorems for adaptively chosen runs need: fixed before the
first run (`privacy.accountant`). So a release states the cap, and whether it was changed after
charges existed, rather than what was spent when it was written.

This module never sees data; only budgets, names and fingerprints. What others may read of an entry
(`chain`, `exports`) contains no name of a project.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import check_reason
from dpsynth_core.planning.unit_spec import UNNAMED, UnitSpec
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.budget import check_budget
from dpsynth_core.store import accounts, roles, sealed_fingerprints, verified_books
from dpsynth_core.store.accounts import DEFAULT_CAP
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.ledger_books import Books, after
from dpsynth_core.store.population_names import check_new, same_name


@dataclass(frozen=True)
class Charge:
    """The charge of a run to a population.

    Attributes:
        population: Name of the population.
        run: Id of the run.
        spec: Digest of the sealed spec.
        unit: The unit of privacy.
        rho: Cost of the run, in the rho of `accountant`.
        epsilon: Epsilon of the run.
        delta: Delta of the run.
        fingerprint: Fingerprint of the run's tables (`fingerprints.of_spec`); it is sealed before
            it is written.
        note: Text for people.
        own_delta: Part of delta for steps that need a delta of their own.
        accountant: Name of the accountant.
    """

    population: str
    run: str
    spec: str
    unit: UnitSpec
    rho: float
    epsilon: float
    delta: float
    fingerprint: str
    note: str = ""
    own_delta: float = 0.0
    accountant: str = ZCDP.name


class PlanDiffers(InputError):
    """The error if a run's plan is not the one that its ledger entry names."""


def open_population(owner: str, name: str, cap: tuple[float, float] = DEFAULT_CAP, note: str = "") -> None:
    """Open a population with a cap; a population that is open already keeps its cap, and nothing else is checked.

    Args:
        owner: The person who opens it; their role must allow `Act.CAP`.
        name: Name of the population.
        cap: The cap (epsilon, delta), by default (10, 1e-9).
        note: Text for people.

    Raises:
        InputError: The name cannot be used or looks like another population's, the cap cannot be used, or the role does
            not allow it.
        BooksLost: The ledger is not whole.
    """
    with transaction() as db:
        books = verified_books.current(db)
        if name not in books.populations:
            _open(db, books, owner, name, cap, note)


def change_cap(owner: str, name: str, cap: tuple[float, float], note: str) -> None:
    """Change the cap of a population, by an entry of the ledger.

    A cap below what is already spent is accepted, and then allows no further run.

    Args:
        owner: The person who changes it; their role must allow `Act.CAP`.
        name: Name of the population.
        cap: The new cap (epsilon, delta).
        note: The reason, which is kept in the ledger.

    Raises:
        InputError: The reason has fewer than three different words, the cap cannot be used, the population is not open,
            or the role does not allow it.
        BooksLost: The ledger is not whole.
    """
    check_budget(*cap)
    check_reason("reason", note, "why the cap changes (it is kept in the ledger)")
    with transaction() as db:
        roles.check(db, owner, roles.Act.CAP)
        books = verified_books.current(db)
        if name not in books.populations:
            raise InputError(f"population {name!r}", "it does not exist", "open it first")
        verified_books.append(db, books, Entry(owner, "cap", name, epsilon=float(cap[0]), delta=float(cap[1]), note=note))


def check_name(name: str) -> None:
    """Check that a text can be the name of a population: 1 to 200 printable characters, not blank.

    Raises:
        InputError: It is empty, too long, has control characters, or is reserved for releases without a population.
    """
    if not name.strip():
        raise InputError("population", "it has no name", "say in a few words whose records these are")
    if len(name) > 200 or not name.isprintable():
        raise InputError("population", "its name is too long or has control characters", "say in a few words whose records these are")
    if same_name(name, UNNAMED):
        raise InputError("population", f"{name!r} is what a release without one is called", "say in a few words whose records these are")


def reserve(db: Connection, owner: str, charge: Charge) -> Entry:
    """Charge a run to its population, after verifying the ledger (`verified_books`), and return the ledger entry.

    A population that is not open is opened with the default cap.

    Args:
        db: Connection of a transaction that also starts the run.
        owner: The person who runs the plan.
        charge: The charge.

    Raises:
        CapExceeded: The cap leaves too little.
        UnitDiffers: Earlier charges have another unit of privacy.
        BooksLost: The ledger is not whole.
        InputError: The population cannot be opened.
    """
    books = verified_books.current(db)
    if charge.population not in books.populations:
        opened = _open(db, books, owner, charge.population, DEFAULT_CAP, "opened by its first run, with the default cap")
        books = after(books, [opened])
    entry = entry_of(owner, charge)
    accounts.check_fits(charge.population, books.account(charge.population), entry)
    return verified_books.append(db, books, entry)


def entry_of(owner: str, charge: Charge) -> Entry:
    """Return the ledger entry that reserves a charge, still without number, date and hashes; its fingerprint is sealed.

    Raises:
        BooksLost: The key of the fingerprints is lost or damaged.
    """
    unit, shared = charge.unit, {name: value for name, value in vars(charge).items() if name not in ("unit", "fingerprint")}
    return Entry(
        curator=owner,
        kind="reserve",
        relation=unit.relation,
        person_column=unit.person_column,
        max_rows=unit.max_rows_per_person,
        fingerprint=sealed_fingerprints.seal(charge.fingerprint, charge.run),
        **shared,
    )


def touch(db: Connection, run: str) -> None:
    """Record that the run is about to read private data; from here on its charge is final.

    Args:
        db: Connection of the transaction.
        run: Id of the run.

    Raises:
        BooksLost: The ledger is not whole, or lacks the run's charge.
        sqlite3.IntegrityError: The charge was given back, or touched before; on a server it is
            psycopg.IntegrityError.
    """
    books = verified_books.current(db)
    reserved = verified_books.reservation(db, books, run)
    verified_books.append(db, books, replace(reserved, kind="touch", rho=0.0, own_delta=0.0, note=""))


def give_back(db: Connection, run: str, why: str) -> None:
    """Return the reservation of a run that never touched private data.

    If the ledger is not whole, the reservation stays and no error is raised, so that everything
    else that ends with the run can end.

    Args:
        db: Connection of the transaction.
        run: Id of the run.
        why: Text for people.

    Raises:
        sqlite3.IntegrityError: The run touched private data, or its reservation was given back before; on a server it
            is psycopg.IntegrityError.
    """
    try:
        books = verified_books.current(db)
        reserved = verified_books.reservation(db, books, run)
        verified_books.append(db, books, replace(reserved, kind="return", rho=-reserved.rho, own_delta=0.0 - reserved.own_delta, note=why))
    except BooksLost:
        return


def reservation(run: str) -> Entry:
    """Return the entry that charged a run, after verifying the ledger.

    Raises:
        BooksLost: The chain was altered, or the ledger lacks the entry.
    """
    books = verified_books.read()
    with reading() as db:
        return verified_books.reservation(db, books, run)


def is_charged_for(run: str, fingerprint: str) -> bool:
    """Return whether the run was charged for tables with this fingerprint (`fingerprints.of_spec`).

    Raises:
        BooksLost: The ledger is not whole, or lacks the run's charge.
    """
    return sealed_fingerprints.are_same(reservation(run).fingerprint, sealed_fingerprints.seal(fingerprint, run))


def check_plan(run: str, digest: str) -> None:
    """Check that the run was charged for this plan, by the digest in its entry.

    Raises:
        PlanDiffers: The entry names another plan.
        BooksLost: The chain was altered, or the ledger lacks the entry.
    """
    charged = reservation(run)
    if charged.spec != digest:
        problem = f"it is another one than entry {charged.number} of the ledger was charged for"
        raise PlanDiffers("plan", problem, "put back what the run kept, or run the plan anew")


def _open(db: Connection, books: Books, owner: str, name: str, cap: tuple[float, float], note: str) -> Entry:
    """Append the entry that opens a population, after checking role, cap and name."""
    roles.check(db, owner, roles.Act.CAP)
    check_budget(*cap)
    check_name(name)
    check_new(name, books.populations)
    return verified_books.append(db, books, Entry(owner, "population", name, epsilon=float(cap[0]), delta=float(cap[1]), note=note))
