"""Upgrades of an earlier version's database.

Entries of the ledger are copied as they are. Their hashes and the head file show any entry that would be changed or lost here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store.connection import Connection, Part
from dpsynth_core.store.faults import FIELD, BooksLost

_ORDER = ("function", "table", "constraint", "index", "view")
_FROM = (2, 3, 4, 5, 6)
"""Versions that can be upgraded. Their ledgers had fewer kinds of entries, except the latest two; the first knew no people."""
_ONCE = {
    "(run, kind)": "(run)",
    "SET enable_seqscan = off": "SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off",
}
"""Texts in the parts of the present version, and what stood there in all earlier ones: their index of runs, their rules on a server."""
_OF_FIRST_COUNT = ("table", "runs")
"""A part that databases had whose versions were counted from 1 for the first time, until 22 November 2026; runs are a view since then."""
_FIRST_COUNT = (
    "its database is of a version before 22 November 2026, which this one does not read; nothing in it was changed",
    "use that version, which has its charges, or name another directory for other people",
)
_KINDS = "'population'"
"""Text in the part of the ledger that lists the kinds of entries: the table or its constraint."""
_NEW = {"people", "tokens", "needs", "shares", "offers"}


def to(version: int, db: Connection, schema: Callable[[], frozenset[Part]], parts: Callable[[Connection], frozenset[Part]]) -> int:
    """Upgrade the database to `version` if an earlier version of this program made it.

    Args:
        version: The present version of the tables.
        db: Connection.
        schema: Returns all parts of a database of the present version.
        parts: Returns all parts of the database behind a connection.

    Returns:
        The version of the database afterwards; a version that cannot be upgraded is returned
        unchanged.

    Raises:
        BooksLost: Tables or rules of the earlier version were changed.
        InputError: The database is from before 22 November 2026, whose versions counted from 1 as well; it is not
            changed.
    """
    found = _version(db)
    if found not in _FROM:
        return found
    wanted = schema()
    db.execute("BEGIN EXCLUSIVE")
    if _version(db) == found:  # else another process was first
        _step(db, wanted, parts)
        db.execute(f"PRAGMA user_version = {version}")
    db.execute("COMMIT")
    return version


def in_order(parts: Iterable[Part]) -> list[Part]:
    """Return the parts in an order in which they can be created: functions, tables, constraints, indices, views, then all others."""
    return sorted(parts, key=lambda part: (_ORDER.index(part.kind) if part.kind in _ORDER else len(_ORDER), part.name))


def _step(db: Connection, schema: frozenset[Part], parts: Callable[[Connection], frozenset[Part]]) -> None:
    """Make a new ledger with the rules of `schema`, copy all entries, and delete the old one, in an open transaction.

    Args:
        db: Connection of the transaction.
        schema: The tables and rules that the new version has.
        parts: Returns the tables and rules of the database.

    Raises:
        BooksLost: Tables or rules of the database were changed.
        InputError: The database is of a version that counted from 1 as well, and is not read.
    """
    before = parts(db)
    if _OF_FIRST_COUNT in {part[:2] for part in before}:
        raise InputError(FIELD, *_FIRST_COUNT)
    once = frozenset(part._replace(made=_once(part.made)) for part in schema)
    differ = {part for part in before ^ once if part.table not in _NEW and not (part.table == "ledger" and _KINDS in part.made)}
    if changed := {part.name for part in differ}:
        raise BooksLost(f"tables or rules of its database were changed ({', '.join(sorted(changed))})")
    of_ledger = {part for part in before if part.table == "ledger"}
    for part in reversed(in_order(of_ledger)):
        if part.kind != "table":
            db.execute(part.undone)
    db.execute("ALTER TABLE ledger RENAME TO former")
    for part in in_order(schema - (before - of_ledger)):
        db.execute(part.made)
        if part[:2] == ("table", "ledger"):  # before its rules are in force, which a chain that a person accepted may not keep
            db.execute("INSERT INTO ledger SELECT * FROM former ORDER BY number")
    db.execute("DROP TABLE former")


def _once(made: str) -> str:
    """Return the statement that made a part in the version before, from the present one."""
    for present, former in _ONCE.items():
        made = made.replace(present, former)
    return made


def _version(db: Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
