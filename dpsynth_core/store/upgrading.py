"""From the database of a version before to that of now. Entries of the ledger are copied as they are: their hashes and the file with the
head show any that would be changed or lost here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dpsynth_core.store.connection import Connection, Part
from dpsynth_core.store.faults import BooksLost

_ORDER = ("function", "table", "constraint", "index", "view")
_FROM = (2, 3, 4, 5)
"""Their ledgers had fewer kinds of entries, but for some of the last; the first knew no people."""
_KINDS = "'population'"
"""In the part of the ledger that lists kinds of entries: the table or its constraint."""
_NEW = {"people", "tokens", "needs", "shares", "offers"}


def to(version: int, db: Connection, schema: Callable[[], frozenset[Part]], parts: Callable[[Connection], frozenset[Part]]) -> int:
    """The version of the database, after a step up to `version` where it is one before. schema: all that is in a database of now. parts:
    what is in one, of the tables that it has then. Raises BooksLost where the former rules were changed."""
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
    """As they are made, each after what it needs."""
    return sorted(parts, key=lambda part: (_ORDER.index(part.kind) if part.kind in _ORDER else len(_ORDER), part.name))


def _step(db: Connection, schema: frozenset[Part], parts: Callable[[Connection], frozenset[Part]]) -> None:
    before = parts(db)
    differ = {part for part in before ^ schema if part.table not in _NEW and not (part.table == "ledger" and _KINDS in part.made)}
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


def _version(db: Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
