"""Acceptance of a ledger that is not whole: a person's decision, with a reason, after the database was lost, damaged, replaced or changed.

No program can know what was charged then, so nothing is charged until a person has decided. The decision is an entry of the chain, and
every later release states it. Nor can a program know what jobs have read: charged jobs end and stay charged. An export of the ledger
brings back entries that the database lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import astuple

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import private_directory, sync
from dpsynth_core.foundation.reasons import check_reason
from dpsynth_core.store import chain, database, dispatch, ledger_head, postgres, sealed_fingerprints, verified_books
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.faults import SERVER, BooksLost, StoreFault, explained
from dpsynth_core.store.home import home, now
from dpsynth_core.store.ledger_head import Head
from dpsynth_core.store.upgrading import in_order

_OF_ROWS = ("table", "constraint")


def restore(owner: str, reason: str, export: Sequence[Entry] = ()) -> Head:
    """Accept the present ledger, so that it can be charged again, and record who did so and why.

    A database that cannot be repaired is replaced by an empty one, with the former entries if they
    can be read and are whole; its files are renamed, not deleted. Charged jobs end without a
    refund. A lost fingerprint key is replaced, so that files charged before are not recognised.

    Args:
        owner: The person who accepts; their role is not checked.
        reason: Reason in writing, which is kept in the ledger with a list of what was accepted.
        export: Entries of an export of this ledger, from the first one on; those behind the last
            entry of the database are added. Empty to add nothing.

    Returns:
        The new head of the chain, the number and hash of the entry that was added last.

    Raises:
        InputError: The reason has fewer than three different words, the export is not whole or belongs to
            another ledger, or nothing has to be accepted.
        StoreFault: The database is on a server, where one with tables is not replaced, and is still
            unusable.
    """
    private_directory(ledger_head.head_file().parent)
    check_reason("--reason", reason, "why the books may go on as they are (it is kept in the ledger)")
    if problem := chain.check_chain(export).problem:
        raise InputError("ledger export", problem, "use one that `ledger check` finds whole")
    accepted, rescued = _database()
    if not sealed_fingerprints.key_is_sound():
        sealed_fingerprints.new_key()
        accepted.append("its fingerprint.key was lost; files that were charged before are not recognised")
    with database.transaction() as db:
        _add(db, rescued)
        accepted += [problem for problem in (verified_books.verify_in(db, ledger_head.read()).problem,) if problem]
        added = _add(db, export)
        if added:
            accepted.append(f"entries from an export: {added:,}")
        if not accepted:
            raise InputError("ledger", "it is whole, so that there is nothing to accept", "go on as before")
        entries = chain.entries_in(db)
        note = f"{reason.strip()} (accepted: {'; '.join(accepted)})"
        entry = Entry(owner, "restore", note=note, accepted=chain.state(entries))
        verified_books.forget()
        chain.insert(db, chain.linked(entry, database.head_of(db)))
        dispatch.end_charged(db)
        return database.head_of(db)


def _database() -> tuple[list[str], tuple[Entry, ...]]:
    """Make sure that a database can be opened: rebuild its rules, or else replace it by an empty one.

    Returns:
        What was wrong with the former database (one text, or none), and the former ledger's entries
        if it was replaced and they are whole.

    Raises:
        StoreFault: A database on a server is still unusable.
    """
    problem, entries = _look()
    if not problem:
        return [], ()
    with suppress(BooksLost if postgres.address() else StoreFault):  # a server's refusal has a remedy of its own
        _rebuild()
        if not _look()[0]:
            return [problem], ()
    _anew()
    if still := _look()[0]:
        raise StoreFault(SERVER, still, "put the newest dump back into an empty database, and name that")
    return [problem], () if chain.check_chain(entries).problem else entries


def _look() -> tuple[str, tuple[Entry, ...]]:
    """Return (what is wrong with the database or "", the entries of its ledger as far as they can be read)."""
    entries: tuple[Entry, ...] = ()
    try:
        with database.reading() as db:
            entries = chain.entries_in(db)
            return database.damage(db), entries
    except BooksLost as error:
        return error.problem, entries


def _add(db: Connection, export: Sequence[Entry]) -> int:
    """Append those entries of an export that the ledger lacks at its end, and return their number.

    Raises:
        InputError: The export differs from the ledger in an entry that both have.
        TypeError: An entry reads differently than it was written.
    """
    present = chain.entries_in(db)
    common = min(len(present), len(export))
    if tuple(export[:common]) != present[:common]:
        raise InputError("ledger export", "it belongs to another ledger than the one here", "use an export of this one, or none")
    db.executemany(chain.INSERT, map(astuple, export[common:]))
    stored = chain.entries_in(db)[common : len(export)]
    if [entry.digest() for entry in stored] != [entry.digest() for entry in export[common:]]:
        raise TypeError("a ledger entry must read as it was written")
    return len(export) - common


def _rebuild() -> None:
    """Drop and create indices, triggers and views again; faults of the tables stay."""
    with explained(), closing(database.connect()) as connection, database.suspecting(connection):
        connection.execute("BEGIN IMMEDIATE")
        for part in reversed(in_order(database.parts(connection))):
            if part.kind not in _OF_ROWS:
                connection.execute(part.undone)
        for part in in_order(database.schema()):
            if part.kind not in _OF_ROWS:
                connection.execute(part.made)
        connection.execute("REINDEX ledger")
        connection.execute("COMMIT")


def _anew() -> None:
    """Create an empty database in place of an unusable one, whose files are renamed first.

    Raises:
        StoreFault: The database is on a server and has tables.
    """
    place, aside = home() / database.DATABASE, f"lost-{now().replace(':', '')}"
    for path in [] if postgres.address() else [place, *database.beside(place)]:
        if path.exists():
            path.rename(path.with_name(f"{path.name}.{aside}"))
    sync(home())  # else a new database may stand beside the log of the old one
    database.make()
