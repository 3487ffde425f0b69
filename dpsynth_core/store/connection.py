"""What the store asks of a connection to its database, SQLite's own or `postgres.Connection`: statements that both understand.

Parameters are `?` or `:name`, texts, numbers and None; a true value is 1. A row is found by name or place, and is a mapping to `**`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

NEWEST = "SELECT number, hash FROM ledger ORDER BY number DESC LIMIT 1"
CATALOGUE = """
SELECT type, name, tbl_name, sql, 'DROP ' || type || ' "' || replace(name, '"', '""') || '"' FROM sqlite_master WHERE sql IS NOT NULL
"""
"""All that a database is made of, as `Part` has it."""
Row = Any
"""sqlite3.Row, or what `postgres` has in its place."""


class Part(NamedTuple):
    """made: the statement that makes it, if one does alone. undone: the one that takes it away."""

    kind: str
    name: str
    table: str
    made: str
    undone: str


class Rows(Protocol):
    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Row: ...
    def fetchall(self) -> list[Row]: ...
    def __iter__(self) -> Iterator[Row]: ...


class Connection(Protocol):
    def execute(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ..., /) -> Rows: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Rows: ...
    def close(self) -> None: ...
