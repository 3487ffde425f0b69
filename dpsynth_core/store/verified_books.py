"""The ledger's books, verified: a charge checks the new entries and takes the sums of the earlier ones from a signed checkpoint.

A checkpoint is the file ledger.checkpoint beside the database: the books of all entries up to one, when all were last checked, and
an HMAC-SHA512 of both with the key in fingerprint.key. It is written only after these entries were verified and committed. A checkpoint
that is missing, damaged or of another version is ignored. A ledger of up to `EVERY` entries has no checkpoint, and every use checks all
entries.

**What a charge verifies** (`current`), before it writes: the checkpoint's signature; that the last entry it covers is in the database as it
was; numbers, links, hashes and rules of every entry after that one; that the ledger has the entry that the head file names; that tables,
indices and triggers are as this program makes them. So no sum, cap, unit or open reservation comes from anything that is not verified:
what is altered, lost or added around the program among earlier entries gives no budget back.

**What only a full check finds** (`verify`): an earlier entry that was altered or removed and its index, and damaged pages of the database.
`ledger check` and the page's button make it at once; so does the first charge after a day without one, each use without a usable
checkpoint, and a server once a day. It adds up all entries and compares the sums with the checkpoint's. Once it found a problem, every
charge makes it again and is refused.
"""

from __future__ import annotations

import hmac
import json
import math
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.store import chain, ledger_head
from dpsynth_core.store.chain import Entry, Verification
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import damage, reading
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.home import home, key_file, now
from dpsynth_core.store.ledger_books import Books, after
from dpsynth_core.store.ledger_head import EMPTY, Head
from dpsynth_core.store.times import DAY, age

EVERY = 500
"""Number of new entries after which a checkpoint is written."""
_VERSION = 1


def current(db: Connection) -> Books:
    """Return the verified books, for a transaction that will write.

    If all entries were checked, a checkpoint may be written into its file.

    Raises:
        BooksLost: The ledger is not whole.
    """
    books, whole = _unaltered(db, due=True)
    noted = ledger_head.read()
    if problem := _missing(db, books, noted) or damage(db, everywhere=whole):
        raise BooksLost(problem)
    _keep(replace(books, checked=now()) if whole else books, noted)
    return books


def read() -> Books:
    """Return the verified books, without a check that no entry is missing at the end and that the database is undamaged.

    If all entries were checked, a checkpoint may be written into its file.

    Raises:
        BooksLost: The chain was altered.
    """
    noted = ledger_head.read()
    with reading() as db:
        books, whole = _unaltered(db)
        if whole and books.head.number > EVERY and not (_missing(db, books, noted) or damage(db)):
            _keep(replace(books, checked=now()), noted)
    return books


def unverified(db: Connection) -> Books:
    """Return the books as far as they can be read, whole or not.

    Raises:
        BooksLost: The table has rows that are not entries.
    """
    return _look(db)[0]


def verify() -> Verification:
    """Check every entry, that the ledger has the entry that the head file names, the checkpoint, and every page of the database.

    Problems are returned (`Verification.problem`). Afterwards a checkpoint is written, or marked if there is a problem.

    Raises:
        StoreFault: The database cannot be read.
    """
    noted = ledger_head.read()  # before the database, which may only be further by then
    with reading() as db:
        return verify_in(db, noted)


def verify_in(db: Connection, noted: Head | None) -> Verification:
    """Check the whole ledger that a connection sees, and the database; afterwards write a checkpoint.

    If there is a problem, the earlier checkpoint is marked, so that every later use checks
    everything and finds it too.

    Args:
        db: The connection.
        noted: The head that the file names; None if the file is missing or damaged.
    """
    books, verified = _whole(db)
    problem = verified.problem or _missing(db, books, noted) or damage(db)
    if not problem:
        _keep(replace(books, checked=now()), noted)
    elif (begin := _checkpoint()) is not None:
        _write(replace(begin, checked=""))
    return replace(verified, problem=problem)


def standing() -> Verification:
    """Return the result of checking now what a charge verifies; nothing is written.

    Unlike `verify`, it takes the entries that a usable checkpoint covers as they are in the checkpoint, and does not read
    every page of the database then. Problems are returned (`Verification.problem`).

    Raises:
        StoreFault: The database cannot be read.
    """
    noted = ledger_head.read()
    with reading() as db:
        books, problem, whole = _look(db)
        problem = problem or _missing(db, books, noted) or damage(db, everywhere=whole)
    return Verification(books.head, problem, len(books.restored), books.set_back, "" if whole else books.checked)


def append(db: Connection, books: Books, entry: Entry) -> Entry:
    """Append an entry to the chain, with its number, date, link and hash, inside the transaction of `db`.

    Args:
        db: Connection of the transaction.
        books: The verified books, from `current`, with what the transaction has appended since.
        entry: The entry, without number, date and hashes.

    Returns:
        The complete entry.

    Raises:
        BooksLost: By the books, the entry breaks the rules of charges.
        sqlite3.IntegrityError: The database refuses the entry; on a server it is psycopg.IntegrityError.
    """
    if books.head == EMPTY and ledger_head.read() is None:
        ledger_head.begin()
    stored = chain.insert(db, chain.linked(entry, books.head))
    if problem := chain.check_chain([stored], books.head, books.reserved.values()).problem:
        raise BooksLost(problem)
    return stored


def add(db: Connection, entry: Entry) -> Entry:
    """Append one entry after verifying the ledger (`current`), and return it complete, with number, date and hash.

    Raises:
        BooksLost: The ledger is not whole, or the entry breaks the rules of charges.
    """
    return append(db, current(db), entry)


def reservation(db: Connection, books: Books, run: str) -> Entry:
    """Return the entry that charged the run with this id.

    Raises:
        BooksLost: The entry is missing, or was altered.
    """
    charge = books.reserved.get(run) or next((one for one in chain.entries_in(db, chain.OF_RUN, run) if one.kind == "reserve"), None)
    if charge is None or charge.run != run:
        raise BooksLost("its ledger has no entry of this charge any more")
    if charge.hash != charge.digest() and charge.number > max(books.restored, default=0):
        raise BooksLost(f"its ledger is not whole: entry {charge.number} was altered")
    return charge


def check_if_due(seconds: float) -> None:
    """Check everything if the last full check is older than `seconds`, or found a problem.

    A ledger without a checkpoint is not checked.

    Args:
        seconds: Age of the last full check from which on it is repeated.

    Raises:
        BooksLost: The ledger is not whole.
        StoreFault: The database cannot be read.
    """
    if (begin := _checkpoint()) is not None and _is_old(begin, seconds) and (problem := verify().problem):
        raise BooksLost(problem)


def forget() -> None:
    """Delete the checkpoint, so that the next use checks everything."""
    _file().unlink(missing_ok=True)


def _unaltered(db: Connection, *, due: bool = False) -> tuple[Books, bool]:
    """Return the books, and whether all entries were read (`_look`).

    Raises:
        BooksLost: The chain was altered.
    """
    books, problem, whole = _look(db, due=due)
    if problem:
        raise BooksLost(f"its ledger is not whole: {problem}")
    return books, whole


def _look(db: Connection, *, due: bool = False) -> tuple[Books, str, bool]:
    """Return the books, the problem of the chain or "", and whether all entries were read.

    Args:
        db: The connection.
        due: Whether all entries are read if the last full check is older than a day.
    """
    begin = _checkpoint()
    if begin is not None and not _is_old(begin, DAY if due else math.inf):
        first, *new = chain.entries_in(db, chain.FROM, begin.head.number) or [Entry("", "")]
        fits = Head(first.number, first.hash) == begin.head and first.hash == first.digest() and all(one.kind != "restore" for one in new)
        if fits and chain.check_chain(new, begin.head, begin.reserved.values()).ok:
            return after(begin, new), "", False
    books, verified = _whole(db)
    return books, verified.problem, True


def _whole(db: Connection) -> tuple[Books, Verification]:
    """Return the books of all entries, and the result of checking each entry, and the checkpoint against all entries."""
    entries, begin = chain.entries_in(db), _checkpoint()
    verified = chain.check_chain(entries)
    if begin is None:
        return after(Books(), entries), verified
    covered = sum(entry.number <= begin.head.number for entry in entries)
    books = after(Books(checked=begin.checked), entries[:covered])
    other = "" if books == begin else f"its ledger has other entries up to {begin.head.number} than its ledger.checkpoint"
    return after(books, entries[covered:]), replace(verified, problem=verified.problem or other)


def _is_old(books: Books, seconds: float) -> bool:
    """Return whether the last full check is older than so many seconds, is dated in the future, or found a problem."""
    return not books.checked or not 0 <= age(books.checked) < seconds


def _missing(db: Connection, books: Books, noted: Head | None) -> str:
    """Return why the ledger does not contain the entry that the head file names, or "" if it does."""
    if noted is None:
        return "" if books.head == EMPTY else "its ledger.head, which names the newest entry of the ledger, is missing or damaged"
    if noted.number > books.head.number:
        return f"its ledger ends with entry {books.head.number}, but there was an entry {noted.number}"
    held = noted in (EMPTY, books.head) or chain.entries_in(db, "WHERE number = ? AND hash = ?", noted.number, noted.hash)
    return "" if held else f"its ledger has another entry {noted.number} than it had"


def _file() -> Path:
    return home() / "ledger.checkpoint"


def _checkpoint() -> Books | None:
    """Return the books of the checkpoint; None if the file is missing or its signature is wrong."""
    with suppress(FileNotFoundError):
        return _opened(_file().read_bytes(), key_file().read_bytes())
    return None


@lru_cache(maxsize=2)
def _opened(content: bytes, key: bytes) -> Books | None:
    signature, _, body = content.partition(b"\n")
    if not hmac.compare_digest(signature, _signature(body, key)):
        return None
    stated = json.loads(body)
    return Books.from_json(stated["books"]) if stated["version"] == _VERSION else None


def _keep(books: Books, noted: Head | None) -> None:
    """Write a checkpoint of verified books where one is worth it.

    Entries that are not committed have no place in it: the head file names committed ones alone.
    """
    begin = _checkpoint() or Books()
    is_new = books.checked != begin.checked or books.head.number - begin.head.number >= EVERY
    if books.head.number <= EVERY or books.head != noted or not is_new or not key_file().exists():
        return
    _write(books)


def _write(books: Books) -> None:
    """Write a checkpoint, unless the disk refuses."""
    body = json.dumps({"version": _VERSION, "books": books.to_json()}, separators=(",", ":")).encode()
    with suppress(OSError), private_file(_file()) as stream:
        stream.write(_signature(body, key_file().read_bytes()) + b"\n" + body)


def _signature(body: bytes, key: bytes) -> bytes:
    """Return the signature of a checkpoint. Sealed fingerprints use another hash function, so neither passes as the other."""
    return hmac.digest(key, body, "sha512").hex().encode()
