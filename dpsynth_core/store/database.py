"""The SQLite file behind projects, runs and the ledger: schema, connections, transactions.

Write-ahead log, so that pages read while a worker writes; synchronous=FULL, because a charge that a power cut could take back
would be a privacy bug; secure_delete, so that what is deleted is overwritten. The ledger's rules (append-only, unbroken chain,
one reservation a run, no refund after the data was touched) are triggers: no code path can get around them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from dpsynth_core.errors import InputError
from dpsynth_core.private_files import made_once
from dpsynth_core.store.home import home

GENESIS = "0" * 64
"""What the first ledger entry of an owner names as its predecessor's hash."""

_BUSY_SECONDS = 30.0

_VERSION_1 = f"""
CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    draft TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX projects_of_owner ON projects (owner, updated);

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    project TEXT NOT NULL REFERENCES projects (id),
    spec TEXT NOT NULL,
    digest TEXT NOT NULL,
    population TEXT NOT NULL,
    rho REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'cancelling', 'done', 'failed', 'cancelled', 'lost')),
    touched INTEGER NOT NULL DEFAULT 0,
    pid INTEGER,
    birth TEXT,
    place TEXT,
    created TEXT NOT NULL,
    started TEXT,
    heartbeat TEXT,
    cancel_asked TEXT,
    finished TEXT,
    error TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX runs_of_project ON runs (owner, project, created);
CREATE INDEX runs_by_state ON runs (state, created);

CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;

CREATE TABLE ledger (
    owner TEXT NOT NULL,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    population TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('population', 'cap', 'reserve', 'touch', 'return')),
    run TEXT NOT NULL DEFAULT '',
    spec TEXT NOT NULL DEFAULT '',
    relation TEXT NOT NULL DEFAULT '',
    rho REAL NOT NULL DEFAULT 0.0,
    epsilon REAL NOT NULL DEFAULT 0.0,
    delta REAL NOT NULL DEFAULT 0.0,
    fingerprint TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (owner, number)
) WITHOUT ROWID;
CREATE INDEX ledger_of_population ON ledger (owner, population);
CREATE INDEX ledger_of_run ON ledger (run);

CREATE TRIGGER ledger_is_never_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_never_shortened BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_a_chain BEFORE INSERT ON ledger
WHEN NEW.number != COALESCE((SELECT MAX(number) FROM ledger WHERE owner = NEW.owner), 0) + 1
  OR NEW.previous != COALESCE((SELECT hash FROM ledger WHERE owner = NEW.owner ORDER BY number DESC LIMIT 1), '{GENESIS}')
BEGIN SELECT RAISE(ABORT, 'a ledger entry must follow the last one'); END;
CREATE TRIGGER ledger_has_one_entry_of_a_kind_per_run BEFORE INSERT ON ledger
WHEN NEW.run != '' AND EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = NEW.kind)
BEGIN SELECT RAISE(ABORT, 'this run already has such a ledger entry'); END;
CREATE TRIGGER ledger_reserves_something BEFORE INSERT ON ledger
WHEN NEW.kind = 'reserve' AND (NEW.run = '' OR NOT NEW.rho > 0)
BEGIN SELECT RAISE(ABORT, 'a reservation needs a run and a positive rho'); END;
CREATE TRIGGER ledger_touches_after_reserving BEFORE INSERT ON ledger
WHEN NEW.kind = 'touch' AND (NEW.rho != 0
  OR NOT EXISTS (SELECT 1 FROM ledger WHERE owner = NEW.owner AND population = NEW.population AND run = NEW.run AND kind = 'reserve')
  OR EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = 'return'))
BEGIN SELECT RAISE(ABORT, 'only a run with a standing reservation may touch data'); END;
CREATE TRIGGER ledger_returns_only_what_was_not_touched BEFORE INSERT ON ledger
WHEN NEW.kind = 'return' AND (
  NOT EXISTS (SELECT 1 FROM ledger WHERE owner = NEW.owner AND population = NEW.population AND run = NEW.run
              AND kind = 'reserve' AND relation = NEW.relation AND rho = -NEW.rho)
  OR EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = 'touch'))
BEGIN SELECT RAISE(ABORT, 'a run that touched data stays charged'); END;
"""

_VERSION_2 = """
CREATE TABLE sweeps (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    project TEXT NOT NULL REFERENCES projects (id),
    document TEXT NOT NULL,
    digest TEXT NOT NULL,
    private INTEGER NOT NULL,
    rho REAL NOT NULL,
    touched INTEGER NOT NULL DEFAULT 0,
    workers INTEGER NOT NULL CHECK (workers > 0),
    state TEXT NOT NULL CHECK (state IN ('active', 'stopped', 'done')),
    created TEXT NOT NULL,
    finished TEXT
) WITHOUT ROWID;
CREATE INDEX sweeps_of_project ON sweeps (owner, project, created);

CREATE TABLE sweep_workers (
    id TEXT PRIMARY KEY,
    sweep TEXT NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
    pid INTEGER,
    birth TEXT,
    place TEXT,
    started TEXT NOT NULL,
    heartbeat TEXT
) WITHOUT ROWID;

CREATE TABLE sweep_points (
    sweep TEXT NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    forecast REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'lost')),
    worker TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    started TEXT,
    finished TEXT,
    outcome TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (sweep, number)
) WITHOUT ROWID;
CREATE INDEX sweep_points_by_state ON sweep_points (sweep, state);

CREATE TRIGGER sweep_points_stay_finished BEFORE UPDATE ON sweep_points WHEN OLD.state = 'done'
BEGIN SELECT RAISE(ABORT, 'a finished point is never done again'); END;
"""

_VERSION_3 = """
ALTER TABLE ledger ADD COLUMN own_delta REAL NOT NULL DEFAULT 0.0;
"""

_VERSION_4 = """
ALTER TABLE ledger ADD COLUMN accountant TEXT NOT NULL DEFAULT 'zCDP';
"""

_MIGRATIONS = (_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4)


@contextmanager
def transaction() -> Iterator[sqlite3.Connection]:
    """A write transaction that holds the lock from its first line (BEGIN IMMEDIATE); commits at the end, rolls back on any exception."""
    connection = _connect()
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()  # closing rolls back what was not committed


@contextmanager
def reading() -> Iterator[sqlite3.Connection]:
    """A connection that sees one unchanging state of the database and cannot write."""
    connection = _connect()
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        yield connection
    finally:
        connection.close()


def owned(db: sqlite3.Connection, kind: Literal["project", "run", "sweep"], owner: str, key: str) -> sqlite3.Row:
    """The owner's project, run or sweep. Another owner's gives the same InputError as one that does not exist."""
    row: sqlite3.Row | None = db.execute(f"SELECT * FROM {kind}s WHERE id = ? AND owner = ?", (key, owner)).fetchone()
    if row is None:
        raise InputError(kind, "it does not exist", f"choose one of your {kind}s")
    return row


def forget_deleted() -> None:
    """Push deletions through the write-ahead log, so that the old pages are overwritten on disk and not only unlinked."""
    connection = _connect()
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def _connect() -> sqlite3.Connection:
    path = home() / "dpsynth.sqlite"
    if not path.exists():
        with made_once(path) as candidate:
            _create(candidate)
    connection = _open(path)
    _migrate(connection)
    return connection


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _create(path: Path) -> None:
    """The schema in an empty file, which nobody else has opened yet."""
    connection = _open(path)
    connection.execute("PRAGMA journal_mode = WAL")
    _migrate(connection)
    connection.close()


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date. Raises InputError for a database of a newer version of this tool."""
    version = _version(connection)
    if version == len(_MIGRATIONS):
        return
    if version > len(_MIGRATIONS):
        raise InputError("DPSYNTH_HOME", "its database was written by a newer version of this tool", "upgrade, or name another directory")
    connection.execute("BEGIN IMMEDIATE")
    for statement in _statements("".join(_MIGRATIONS[_version(connection) :])):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements; executescript() would commit the transaction they must share."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
