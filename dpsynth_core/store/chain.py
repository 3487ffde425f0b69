"""The entries of the ledger as a chain: what each says, how it is hashed, whether all of it is whole.

One chain for all charges of the installation. Entries are only ever added: triggers of `database` refuse anything else, `check_chain`
finds what was changed around them, or added against them, and `head` what was cut off. A person may accept a chain that is not whole
(`restoring`); that is an entry as well, which vouches for all before it as they are then, so that any later change of them is found again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from hashlib import sha256
from itertools import pairwise

from dpsynth_core.store import head
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import damage, reading
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.head import GENESIS, Head
from dpsynth_core.store.home import now


@dataclass(frozen=True)
class Entry:
    """One line of the ledger. `hash` covers every other field; `previous` is the hash of entry number - 1.

    kind: "population" | "cap" (epsilon, delta: the cap) | "reserve" | "touch" | "return" (rho, own_delta signed; epsilon, delta: the run's)
    | "restore". curator: the owner who made it. relation, person_column, max_rows: the unit of privacy of a charge, as in
    `spec.UnitSpec`; without a column the unit is one row. own_delta: of steps that need one of their own. accountant: what rho is counted
    in. spec: digest of the sealed spec. fingerprint: sealed (`seals.seal`). accepted: of a restore, `state` of all entries before
    it."""

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
        """What `hash` must be."""
        content = {key: value for key, value in vars(self).items() if key != "hash"}
        return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


COLUMNS = ", ".join(field.name for field in fields(Entry))
INSERT = f"INSERT INTO ledger ({COLUMNS}) VALUES ({', '.join('?' for _ in fields(Entry))})"
SECOND = len("2026-11-23T22:48:30")
"""Characters of a date; a fraction of a second that a clock is corrected by is no news."""
_TYPES = [tuple(type(value) for value in astuple(Entry("", "", person_column=column))) for column in (None, "")]


@dataclass(frozen=True)
class Verification:
    """Whether a chain is whole. head: its end, worth noting elsewhere. problem: "" or what is wrong and where.

    restored: how often a person accepted a state of it by hand. set_back: numbers of the entries that are dated before the one before them.
    """

    head: Head
    problem: str
    restored: int = 0
    set_back: tuple[int, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problem


def entries() -> tuple[Entry, ...]:
    """All entries as they are, whole or not, oldest first."""
    with reading() as db:
        return entries_in(db)


def entries_in(db: Connection) -> tuple[Entry, ...]:
    """The same as one connection sees them. Raises BooksLost for what is no entry."""
    rows = [tuple(row) for row in db.execute(f"SELECT {COLUMNS} FROM ledger NOT INDEXED ORDER BY number")]
    if not all(map(is_typed, rows)):
        raise BooksLost("its ledger holds something that is no entry")
    return tuple(Entry(*row) for row in rows)


def is_typed(values: Iterable[object]) -> bool:
    """Whether the fields of an entry, in their order, have the types that the ledger gives them."""
    return tuple(map(type, values)) in _TYPES


def whole() -> tuple[Entry, ...]:
    """Every entry, none of them altered. All that is said of money is computed from these, which were hashed, and never by a search in the
    database, whose indices are not hashed. Raises BooksLost; what was cut off, `verify` and `whole_in` find."""
    with reading() as db:
        return _unaltered(entries_in(db))


def whole_in(db: Connection) -> tuple[Entry, ...]:
    """The same for a transaction that writes: the chain reaches the entry that the file with the head names, and the database has its rules
    in force and no damage."""
    books = _unaltered(entries_in(db))
    if problem := _head_problem(books, head.read()) or damage(db):
        raise BooksLost(problem)
    return books


def verify() -> Verification:
    """Recompute the whole chain, and see that it reaches the entry that the file with the head names."""
    noted = head.read()  # before the database, which may only be further by then
    with reading() as db:
        return verify_in(db, noted)


def verify_in(db: Connection, noted: Head | None) -> Verification:
    """The same of the chain that a connection sees, given the head on file."""
    books = entries_in(db)
    verified = check_chain(books)
    return verified if verified.problem else replace(verified, problem=_head_problem(books, noted) or damage(db))


def check_chain(chain: Sequence[Entry]) -> Verification:
    """Check numbers, links, hashes and rules of entries, oldest first; works on an export as well."""
    last, problem, seen = Head(), "", sha256()
    set_back = tuple(after.number for before, after in pairwise(chain) if after.at[:SECOND] < before.at[:SECOND])
    held: dict[tuple[str, str], Entry] = {}
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
    """A hash of entries as they are, whole or not: what a restore vouches for."""
    return sha256("".join(f"{entry.digest()} {entry.hash}\n" for entry in chain).encode()).hexdigest()


def append(db: Connection, books: Sequence[Entry], entry: Entry) -> Entry:
    """Number, date, link and hash an entry and write it at the end of the chain, inside the transaction of `db`. books: all of the chain,
    from `whole_in`."""
    if not books and head.read() is None:
        head.begin()
    return insert(db, linked(entry, end_of(books)))


def end_of(books: Sequence[Entry]) -> Head:
    """The last entry by its number and hash."""
    return Head(books[-1].number, books[-1].hash) if books else Head()


def linked(entry: Entry, last: Head) -> Entry:
    """The entry that follows `last`, complete."""
    entry = replace(entry, number=last.number + 1, at=now(), previous=last.hash)
    return replace(entry, hash=entry.digest())


def insert(db: Connection, entry: Entry) -> Entry:
    """Write a complete entry; the database refuses one that does not follow the last."""
    db.execute(INSERT, astuple(entry))
    stored = Entry(*db.execute(f"SELECT {COLUMNS} FROM ledger WHERE number = ?", (entry.number,)).fetchone())
    if stored.digest() != entry.hash:  # such as an integer in a column of floats: it would look altered for ever
        raise TypeError("a ledger entry must read as it was written")
    return stored


def _unaltered(books: tuple[Entry, ...]) -> tuple[Entry, ...]:
    if problem := check_chain(books).problem:
        raise BooksLost(f"its ledger is not whole: {problem}")
    return books


def _entry_problem(entry: Entry, digest: str, last: Head) -> str:
    if entry.number != last.number + 1:
        return f"entry {last.number + 1} is missing"
    if entry.previous != last.hash:
        return f"entry {entry.number} does not follow entry {last.number}"
    return "" if entry.hash == digest else f"entry {entry.number} was altered"


def _rule_problem(entry: Entry, held: Mapping[tuple[str, str], Entry]) -> str:
    """What triggers say of a charge, asked again of what was hashed: who owns a database can switch them off, and on again."""
    run, reserved = entry.run, held.get((entry.run, "reserve"))
    wrong = (run, entry.kind) in held if run else entry.kind == "reserve"
    if entry.kind == "reserve":
        wrong = wrong or not entry.rho > 0 <= entry.own_delta
    if entry.kind in ("touch", "return"):
        due = reserved and (reserved.population, -reserved.rho if entry.kind == "return" else 0.0)
        wrong = due != (entry.population, entry.rho) or not held.keys().isdisjoint({(run, "touch"), (run, "return")})
    return f"entry {entry.number} breaks the rules of charges" if wrong else ""


def _head_problem(books: Sequence[Entry], noted: Head | None) -> str:
    """Why the chain does not reach the entry that was on file, or ""."""
    last = end_of(books)
    if noted is None:
        return "" if last == Head() else "its ledger.head, which names the newest entry of the ledger, is missing or damaged"
    if noted.number > last.number:
        return f"its ledger ends with entry {last.number}, but there was an entry {noted.number}"
    held = noted == Head() or any(entry.number == noted.number and entry.hash == noted.hash for entry in books)
    return "" if held else f"its ledger has another entry {noted.number} than it had"
