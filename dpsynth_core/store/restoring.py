"""Accept books that are not whole: what a person does, with a reason, after the database was lost, damaged, put back from a copy or
changed.

No program can know what was charged then, so nothing is charged until a person has decided. The decision is an entry of the chain and every
later release says that there was one. Nor can it know what jobs have read: those that are charged end and stay charged. An export of the
ledger brings back what it has and the database lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import astuple

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import private_directory, sync
from dpsynth_core.foundation.reasons import check_reason
from dpsynth_core.store import chain, database, head, jobs, postgres, seals
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.faults import BooksLost, StoreFault, explained
from dpsynth_core.store.head import Head
from dpsynth_core.store.home import home, now
from dpsynth_core.store.upgrading import in_order

_OF_ROWS = ("table", "constraint")


def restore(owner: str, reason: str, export: Sequence[Entry] = ()) -> Head:
    """Make the books usable as they are, and record who accepted what; the new head.

    What cannot be read of the database is set aside, not deleted. Raises InputError without a reason, for an export that is not whole or
    belongs to another ledger, and where nothing has to be accepted.
    """
    private_directory(head.head_file().parent)
    check_reason("--reason", reason, "why the books may go on as they are (it is kept in the ledger)")
    if problem := chain.check_chain(export).problem:
        raise InputError("ledger export", problem, "use one that `ledger check` finds whole")
    accepted, rescued = _database()
    if not seals.key_is_sound():
        seals.new_key()
        accepted.append("its fingerprint.key was lost; files that were charged before are not recognised")
    with database.transaction() as db:
        _add(db, rescued)
        accepted += [problem for problem in (chain.verify_in(db, head.read()).problem,) if problem]
        added = _add(db, export)
        if added:
            accepted.append(f"entries from an export: {added:,}")
        if not accepted:
            raise InputError("ledger", "it is whole, so that there is nothing to accept", "go on as before")
        entries = chain.entries_in(db)
        note = f"{reason.strip()} (accepted: {'; '.join(accepted)})"
        entry = Entry(owner, "restore", note=note, accepted=chain.state(entries))
        chain.insert(db, chain.linked(entry, database.head_of(db)))
        jobs.end_charged(db)
        return database.head_of(db)


def _database() -> tuple[list[str], tuple[Entry, ...]]:
    """Make sure that there is a database that can be opened. What was wrong with the one before, and its ledger, if that is whole and the
    database had to be set aside."""
    problem, entries = _look()
    if not problem:
        return [], ()
    with suppress(BooksLost if postgres.address() else StoreFault):  # a server's refusal has a remedy of its own
        _rebuild()
        if not _look()[0]:
            return [problem], ()
    _anew()
    if still := _look()[0]:
        raise StoreFault(postgres.VARIABLE, still, "put the newest dump back into an empty database, and name that")
    return [problem], () if chain.check_chain(entries).problem else entries


def _look() -> tuple[str, tuple[Entry, ...]]:
    """What is wrong with the database, and the entries of its ledger as far as they can be read."""
    entries: tuple[Entry, ...] = ()
    try:
        with database.reading() as db:
            entries = chain.entries_in(db)
            return database.damage(db), entries
    except BooksLost as error:
        return error.problem, entries


def _add(db: Connection, export: Sequence[Entry]) -> int:
    """Write what an export has beyond the end of the chain; how many entries that is."""
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
    """Make again what follows from the tables and this program: indices, triggers and views. What is wrong with tables stays."""
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
    """A database without content in place of one that cannot be used, whose file is set aside and not deleted. Raises StoreFault for one
    on a server."""
    place, aside = home() / database.DATABASE, f"lost-{now().replace(':', '')}"
    for path in [] if postgres.address() else [place, *database.beside(place)]:
        if path.exists():
            path.rename(path.with_name(f"{path.name}.{aside}"))
    sync(home())  # else a new database may stand beside the log of the old one
    database.make()
