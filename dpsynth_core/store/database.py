"""The database behind projects, runs and the ledger, an SQLite file or on a server (`postgres`): schema, connections, transactions.

Write-ahead log, so that pages read while a worker writes; synchronous=FULL, because a charge that a power cut could take back
would be a privacy bug; secure_delete, so that what is deleted is overwritten. The ledger's rules (append-only, unbroken chain,
one reservation a run, no refund after the data was touched) are triggers: no code path can get around them, and `damage` sees whether they
are in force.

The file is made once, whole, in a home where nothing speaks of earlier use. Where something does, a missing or an empty database is a loss
that somebody has to accept in words (`restoring`), not a new beginning with an unspent budget.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import made_once
from dpsynth_core.store import ledger_head, remote_database, upgrading
from dpsynth_core.store.connection import CATALOGUE, NEWEST, Connection, Part
from dpsynth_core.store.faults import FIELD, BooksLost, explained
from dpsynth_core.store.home import home, key_file
from dpsynth_core.store.ledger_head import GENESIS, Head
from dpsynth_core.store.tables import TABLES

DATABASE = "dpsynth.sqlite"
VERSION = 7
BUSY_SECONDS = 30.0

_LEDGER = f"""
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    curator TEXT NOT NULL,
    population TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('population', 'cap', 'reserve', 'touch', 'return', 'restore',
        'demand', 'rules', 'approve plan', 'approve release', 'look', 'download', 'delete', 'token', 'revoke',
        'share', 'retention')),
    run TEXT NOT NULL,
    spec TEXT NOT NULL,
    relation TEXT NOT NULL,
    person_column TEXT,
    max_rows INTEGER NOT NULL,
    rho REAL NOT NULL,
    own_delta REAL NOT NULL,
    accountant TEXT NOT NULL,
    epsilon REAL NOT NULL,
    delta REAL NOT NULL,
    fingerprint TEXT NOT NULL,
    note TEXT NOT NULL,
    accepted TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX ledger_of_population ON ledger (population);
CREATE INDEX ledger_of_run ON ledger (run, kind);

CREATE TRIGGER ledger_is_never_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_never_shortened BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_a_chain BEFORE INSERT ON ledger
WHEN NEW.number != COALESCE((SELECT MAX(number) FROM ledger), 0) + 1
  OR NEW.previous != COALESCE((SELECT hash FROM ledger ORDER BY number DESC LIMIT 1), '{GENESIS}')
BEGIN SELECT RAISE(ABORT, 'a ledger entry must follow the last one'); END;
CREATE TRIGGER ledger_has_one_entry_of_a_kind_per_run BEFORE INSERT ON ledger
WHEN NEW.run != '' AND EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = NEW.kind)
BEGIN SELECT RAISE(ABORT, 'this run already has such a ledger entry'); END;
CREATE TRIGGER ledger_reserves_something BEFORE INSERT ON ledger
WHEN NEW.kind = 'reserve' AND (NEW.run = '' OR NOT NEW.rho > 0)
BEGIN SELECT RAISE(ABORT, 'a reservation needs a run and a positive rho'); END;
CREATE TRIGGER ledger_touches_after_reserving BEFORE INSERT ON ledger
WHEN NEW.kind = 'touch' AND (NEW.rho != 0
  OR NOT EXISTS (SELECT 1 FROM ledger WHERE population = NEW.population AND run = NEW.run AND kind = 'reserve')
  OR EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = 'return'))
BEGIN SELECT RAISE(ABORT, 'only a run with a standing reservation may touch data'); END;
CREATE TRIGGER ledger_returns_only_what_was_not_touched BEFORE INSERT ON ledger
WHEN NEW.kind = 'return' AND (
  NOT EXISTS (SELECT 1 FROM ledger WHERE population = NEW.population AND run = NEW.run
              AND kind = 'reserve' AND rho = -NEW.rho)
  OR EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = 'touch'))
BEGIN SELECT RAISE(ABORT, 'a run that touched data stays charged'); END;
"""
SCHEMA = TABLES + _LEDGER


@contextmanager
def transaction() -> Iterator[Connection]:
    """Open a write transaction that has the database's lock from its first line (BEGIN IMMEDIATE).

    It commits at the end and rolls back on any exception. If the ledger grew, the file with its
    head is replaced after the commit. In an unused home the database is created first.

    Raises:
        StoreFault: The disk or the database refuses; nothing is kept then. Only for its subclass InDoubt, when a server was
            lost during the commit, it is not known whether that was kept.
        InputError: Another version of this program wrote the database.
        sqlite3.IntegrityError: A rule of the tables refuses a statement; on a server it is psycopg.IntegrityError.
    """
    with explained(), closing(connect()) as connection, suspecting(connection):  # closing rolls back what was not committed
        connection.execute("BEGIN IMMEDIATE")
        before = head_of(connection)
        yield connection
        after = head_of(connection)
        with nullcontext() if after == before else ledger_head.advancing(after):
            connection.execute("COMMIT")


@contextmanager
def reading() -> Iterator[Connection]:
    """Open a connection that cannot write and sees one unchanging state of the database.

    In an unused home the database is created first, and one of an earlier version is upgraded.

    Raises:
        StoreFault: The disk or the database refuses.
        InputError: Another version of this program wrote the database.
    """
    with explained(), closing(connect()) as connection, suspecting(connection):
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        yield connection


def head_of(db: Connection) -> Head:
    """Return number and hash of the ledger's last entry as this connection sees it; number 0 and `GENESIS` without entries."""
    row = db.execute(NEWEST).fetchone()
    return Head(*row) if row else Head()


def damage(db: Connection, *, everywhere: bool = True) -> str:
    """Return what is wrong with the database although the ledger can still be read, or "" if nothing is.

    The check compares all tables, rules and indices with those that this program makes.

    Args:
        db: The connection.
        everywhere: Whether every page of a file is read too, and its indices are compared with its
            tables, because triggers search in them. This takes longer for a longer ledger.
    """
    with suppress(sqlite3.DatabaseError):
        if not everywhere or db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok":
            changed = parts(db) ^ schema()
            ours = sorted({part.name for part in changed & schema()})
            return f"tables or rules of its database were changed ({', '.join(ours) or 'something was added'})" if changed else ""
    return "its database is damaged"


def make() -> None:
    """Create a database without content unless there is one. If the disk is full, no incomplete file stays behind.

    Raises:
        StoreFault: The database is on a server that refuses, or that has other tables.
        OSError: The disk refuses.
    """
    if remote_database.address():
        return remote_database.make(SCHEMA, VERSION)
    with made_once(home() / DATABASE) as candidate:
        try:
            with closing(_open(candidate)) as connection:
                connection.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
                connection.execute("PRAGMA journal_mode = WAL")  # only now: what is in a log SQLite may fail to copy, and say nothing
        finally:
            for path in beside(candidate):
                path.unlink(missing_ok=True)


def beside(place: Path) -> list[Path]:
    """Return the paths of the files that SQLite may keep beside the database at `place`: journal, log and shared memory."""
    return [place.with_name(place.name + ending) for ending in ("-journal", "-wal", "-shm")]


def connect() -> Connection:
    """Return an open connection; the first one in an unused home creates the database.

    A database of an earlier version is upgraded.

    Raises:
        BooksLost: The database is missing or empty, but the home was used before.
        InputError: Another version of this program wrote the database.
        sqlite3.Error: SQLite cannot open the file, which `faults.explained` turns into a StoreFault; on a server it is
            StoreFault.
    """
    if (connection := _there()) is None:
        traces = _traces()
        if (connection := _there()) is None:  # else another process made it, and then what we saw
            if traces:
                raise BooksLost(f"its database is missing or empty, but it was used before: {traces} is there")
            make()
            connection = _there() or connect()
    try:
        _check_version(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _there() -> Connection | None:
    """Return a connection to the database, or None if the database does not exist yet."""
    return remote_database.there() if remote_database.address() else _open(home() / DATABASE) if (home() / DATABASE).exists() else None


def _traces() -> str:
    """Return the names of files and folders that show that this home had a database; "" in a new home."""
    projects = home() / "projects"
    made = [path.name for path in (ledger_head.head_file(), key_file(), *home().glob(f"{DATABASE}*")) if path.exists()]
    return ", ".join([*made, *(["a folder of projects"] if projects.is_dir() and any(projects.iterdir()) else [])])


def _open(path: Path) -> sqlite3.Connection:
    """Return a connection to the SQLite file with the settings that the store needs.

    In a directory that cannot be written, such as an auditor's copy, the file is only read. If a log lies
    beside it, SQLite has to read that too, and may refuse.
    """
    mode = "rwc" if os.access(path.parent, os.W_OK) else "ro" if beside(path)[1].exists() else "ro&immutable=1"
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", timeout=BUSY_SECONDS, isolation_level=None, uri=True)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


@contextmanager
def suspecting(connection: Connection) -> Iterator[None]:
    """Turn a failed statement of the body into BooksLost if the tables are not those that this program makes.

    Raises:
        BooksLost: A statement failed, and tables or rules were changed.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR and (problem := damage(connection)):
            raise BooksLost(problem) from error
        raise


def schema() -> frozenset[Part]:
    """Return all parts (tables, indices, triggers, views) that a database of this program's present version has."""
    return _schema(remote_database.address())


@cache
def _schema(server: str) -> frozenset[Part]:
    with closing(remote_database.connection() if server else sqlite3.connect(":memory:")) as empty:
        empty.executescript(SCHEMA)
        return frozenset(Part(*row) for row in empty.execute(CATALOGUE))


def parts(db: Connection) -> frozenset[Part]:
    """Return all parts of the database behind a connection.

    On a server, where others may have tables, these are the parts that belong to this program's
    tables.
    """
    ours = {part.table for part in schema()} if remote_database.address() else ()
    return frozenset(part for part in (Part(*row) for row in db.execute(CATALOGUE)) if not ours or part.table in ours)


def _check_version(connection: Connection) -> None:
    """Upgrade the database of an earlier version, and check that it then has the present version.

    Raises:
        BooksLost: The database is empty.
        InputError: It has another version.
    """
    version = upgrading.to(VERSION, connection, schema, parts)
    if version == 0:  # it appears with its schema or not at all
        raise BooksLost("its database is empty")
    if version != VERSION:
        raise InputError(FIELD, "its database was written by another version of this tool", "use that version, or name another database")
