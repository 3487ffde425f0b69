"""From the database of a version before to that of now. Entries of the ledger are copied as they are: their hashes and the file with the
head show any that would be changed or lost here."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from dpsynth_core.store.faults import BooksLost

_FROM = (2, 3, 4, 5)
"""Their ledgers had fewer kinds of entries, but for some of the last; the first knew no people."""
_CHANGED = {"ledger", "people", "tokens", "needs", "shares", "offers"}


def to(version: int, db: sqlite3.Connection, schema: Collection[tuple[str, str, str, str]]) -> int:
    """The version of the database, after a step up to `version` where it is one before. schema: type, name, table and text of all that
    is in a database of now. Raises BooksLost where the former rules were changed."""
    found = _version(db)
    if found not in _FROM:
        return found
    db.execute("BEGIN EXCLUSIVE")
    if _version(db) == found:  # else another process was first
        _step(db, set(schema))
        db.execute(f"PRAGMA user_version = {version}")
    db.execute("COMMIT")
    return version


def _step(db: sqlite3.Connection, schema: set[tuple[str, str, str, str]]) -> None:
    before = _parts(db)
    if changed := {name for _, name, _, _ in before ^ schema} - _CHANGED:
        raise BooksLost(f"tables or rules of its database were changed ({', '.join(sorted(changed))})")
    for kind, name, table, _ in before:
        if table == "ledger" and kind != "table":
            db.execute(f"DROP {kind} {name}")
    db.execute("ALTER TABLE ledger RENAME TO former")
    for kind, name, _, statement in sorted(schema - _parts(db), key=lambda part: part[0] != "table"):
        db.execute(statement)
        if (kind, name) == ("table", "ledger"):  # before its rules are in force, which a chain that a person accepted may not keep
            db.execute("INSERT INTO ledger SELECT * FROM former ORDER BY number")
    db.execute("DROP TABLE former")


def _parts(db: sqlite3.Connection) -> set[tuple[str, str, str, str]]:
    return {tuple(row) for row in db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")}


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
