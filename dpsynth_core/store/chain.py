"""The entries of the ledger as a hash chain: their fields, their hashes, and the check that the chain is whole.

One chain holds all charges of the installation. Entries are only ever added: triggers of `database` refuse anything else, `check_chain`
finds changes made around the triggers, and `ledger_head` finds missing entries at the end. A person may accept a chain that is not whole
(`restoring`). That is an entry as well, and vouches for all entries before it as they are then, so that any later change is found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from hashlib import sha256
from itertools import pairwise

from dpsynth_core.foundation.documents import canonical_digest
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.home import now
from dpsynth_core.store.ledger_head import EMPTY, GENESIS, Head


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    Attributes:
        curator: The owner who made the entry.
        kind: "population" or "cap" (epsilon, delta: the cap); "reserve", "touch" or "return" (rho
            and own_delta: the change of the account, negative for a return; epsilon, delta: the
            run's); "restore"; or the name of an act.
        population: Name of the population, or "".
        run: Id of the run, or "".
        spec: Digest of the sealed spec.
        relation: Neighbouring relation of the unit of privacy, as in `spec.UnitSpec`.
        person_column: Column that identifies persons; without one, the unit is one row.
        max_rows: Largest number of rows of a person that count.
        rho: Cost of the run.
        own_delta: Delta of steps that need a delta of their own.
        accountant: Name of the accountant of rho.
        epsilon: See `kind`.
        delta: See `kind`.
        fingerprint: Sealed fingerprint of the tables (`sealed_fingerprints.seal`).
        note: Text for people.
        accepted: For a restore, the `state` of all entries before it; else "".
        number: Place in the chain, from 1.
        at: Date and time, UTC in ISO 8601.
        previous: Hash of the entry before.
        hash: Hash of every other field (`digest`).
    """

    curator: str
    kind: str
    population: str = ""
    run: str = ""
    spec: str = ""
    relation: str = ""
    person_column: str | None = None
    max_rows: int = 0
    rho: float = 0.0
    own_delta: float = 0.0
    accountant: str = ""
    epsilon: float = 0.0
    delta: float = 0.0
    fingerprint: str = ""
    note: str = ""
    accepted: str = ""
    number: int = 0
    at: str = ""
    previous: str = GENESIS
    hash: str = ""

    def digest(self) -> str:
        """Return the hash that the entry must have: SHA-256 of every field but `hash`, in hexadecimal digits."""
        content = {key: value for key, value in vars(self).items() if key != "hash"}
        return canonical_digest(content)


OF_RUN = "NOT INDEXED WHERE run = ?"
"""Clause of `entries_in` for the entries of one run. It searches no index, because the hashes cover none."""
FROM = f"WHERE number BETWEEN ? AND {2**63 - 1}"
"""Clause of `entries_in` for an entry and all later ones. Without statistics, PostgreSQL uses no index where a range has no end."""
COLUMNS = ", ".join(field.name for field in fields(Entry))
INSERT = f"INSERT INTO ledger ({COLUMNS}) VALUES ({', '.join('?' for _ in fields(Entry))})"
SECOND = len("2026-11-23T22:48:30")
"""Number of characters of a date without fractions of a second, which a clock may correct unnoticed."""
_TYPES = [tuple(type(value) for value in astuple(Entry("", "", person_column=column))) for column in (None, "")]


@dataclass(frozen=True)
class Verification:
    """The result of checking a chain of ledger entries.

    Attributes:
        head: Number and hash of the last entry, worth noting outside the installation.
        problem: The first problem and its place; "" if the chain is whole.
        restored: How often a person accepted a chain that was not whole.
        set_back: Numbers of entries that are dated before their predecessors.
        checked: When earlier entries were last checked, if only the newest were now; else "".
    """

    head: Head
    problem: str
    restored: int = 0
    set_back: tuple[int, ...] = ()
    checked: str = ""

    @property
    def ok(self) -> bool:
        """True if no problem was found."""
        return not self.problem


def entries() -> tuple[Entry, ...]:
    """Return all entries as stored, oldest first, without a check that the chain is whole.

    Raises:
        BooksLost: The table has rows that are not entries.
    """
    with reading() as db:
        return entries_in(db)


def entries_in(db: Connection, where: str = "NOT INDEXED", *values: str | int) -> tuple[Entry, ...]:
    """Return the ledger entries that a connection can read, oldest first; checks no chain.

    The connection's own uncommitted entries are among them. The result is () if no entry fits.

    Args:
        db: A connection to the store's database.
        where: The statement's clauses behind the name of the table; by default all entries are
            read, and no index is searched.
        *values: Values of the clauses' parameters.

    Raises:
        BooksLost: A field of a row has a type that no entry has.
    """
    rows = [tuple(row) for row in db.execute(f"SELECT {COLUMNS} FROM ledger {where} ORDER BY number", values)]
    if not all(map(is_typed, rows)):
        raise BooksLost("its ledger holds something that is not an entry")
    return tuple(Entry(*row) for row in rows)


def is_typed(values: Iterable[object]) -> bool:
    """Return whether the fields of an entry, in the order of `Entry`, have exactly the types of the ledger."""
    return tuple(map(type, values)) in _TYPES


def check_chain(chain: Sequence[Entry], last: Head = EMPTY, standing: Iterable[Entry] = ()) -> Verification:
    """Check numbers, links, hashes and the rules of charges for entries, oldest first; works on an export as well.

    An entry "restore" accepts all problems before it, if it names the state of exactly these
    entries. Problems are returned (`Verification.problem`), not raised; no entries are a whole chain.

    Args:
        chain: The entries.
        last: Number and hash of the entry before the first one.
        standing: Reservations of earlier runs that may be touched or given back. A run may have one entry of a kind; a
            second one is found for these runs and for runs of `chain`, and for no others.
    """
    problem, seen = "", sha256()
    set_back = tuple(after.number for before, after in pairwise(chain) if after.at[:SECOND] < before.at[:SECOND])
    held = {(entry.run, entry.kind): entry for entry in standing}
    for entry in chain:
        if entry.kind == "restore" and entry.accepted == seen.hexdigest():
            problem, last = "", Head(entry.number - 1, last.hash)
        digest = entry.digest()
        problem = problem or _entry_problem(entry, digest, last) or _rule_problem(entry, held)
        last = Head(entry.number, entry.hash)
        held.setdefault((entry.run, entry.kind), entry)
        seen.update(f"{digest} {entry.hash}\n".encode())
    return Verification(last, problem, sum(entry.kind == "restore" for entry in chain), set_back)


def state(chain: Sequence[Entry]) -> str:
    """Return the SHA-256, in hexadecimal digits, of these entries in order, whole or not, with their stored and correct hashes.

    An entry "restore" states it for all entries before it.
    """
    return sha256("".join(f"{entry.digest()} {entry.hash}\n" for entry in chain).encode()).hexdigest()


def linked(entry: Entry, last: Head) -> Entry:
    """Return the entry as the successor of `last`: with its number, the present time, the link to `last` and its hash."""
    entry = replace(entry, number=last.number + 1, at=now(), previous=last.hash)
    return replace(entry, hash=entry.digest())


def insert(db: Connection, entry: Entry) -> Entry:
    """Write a complete entry, and return it as read back.

    Raises:
        sqlite3.IntegrityError: The database refuses the entry, because it does not follow the last one or breaks a
            rule of charges; on a server it is psycopg.IntegrityError.
        TypeError: The entry reads differently than it was written, such as an integer in a column
            of floats; it would look altered for ever.
    """
    db.execute(INSERT, astuple(entry))
    stored = Entry(*db.execute(f"SELECT {COLUMNS} FROM ledger WHERE number = ?", (entry.number,)).fetchone())
    if stored.digest() != entry.hash:  # such as an integer in a column of floats: it would look altered for ever
        raise TypeError("a ledger entry must read as it was written")
    return stored


def _entry_problem(entry: Entry, digest: str, last: Head) -> str:
    """Return what is wrong with an entry's number, link or hash, or "".

    Args:
        entry: The entry.
        digest: The hash that it must have.
        last: Number and hash of the entry before.
    """
    if entry.number != last.number + 1:
        return f"entry {last.number + 1} is missing"
    if entry.previous != last.hash:
        return f"entry {entry.number} does not follow entry {last.number}"
    return "" if entry.hash == digest else f"entry {entry.number} was altered"


def _rule_problem(entry: Entry, held: Mapping[tuple[str, str], Entry]) -> str:
    """Return a message if an entry breaks the rules of charges, or "".

    Triggers of the database enforce the same rules, but the owner of a database can switch them off
    for a while. So they are checked here again.

    Args:
        entry: The entry.
        held: The entries before this one, by run and kind.
    """
    run, reserved = entry.run, held.get((entry.run, "reserve"))
    wrong = (run, entry.kind) in held if run else entry.kind == "reserve"
    if entry.kind == "reserve":
        wrong = wrong or not entry.rho > 0 <= entry.own_delta
    if entry.kind in ("touch", "return"):
        due = reserved and (reserved.population, -reserved.rho if entry.kind == "return" else 0.0)
        wrong = due != (entry.population, entry.rho) or not held.keys().isdisjoint({(run, "touch"), (run, "return")})
    return f"entry {entry.number} breaks the rules of charges" if wrong else ""
