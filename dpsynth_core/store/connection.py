"""The database interface of the store: statements that both SQLite and `postgres.Connection` understand.

Parameters are `?` or `:name`; their values are texts, numbers and None; true is 1. A row is found by name or place, and unpacks with `**`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

NEWEST = "SELECT number, hash FROM ledger ORDER BY number DESC LIMIT 1"
CATALOGUE = """
SELECT type, name, tbl_name, sql, 'DROP ' || type || ' "' || replace(name, '"', '""') || '"' FROM sqlite_master WHERE sql IS NOT NULL
"""
"""Query for all parts of a database, as `Part`."""
Row = Any
"""A sqlite3.Row, or the class of `postgres` in its place."""


class Part(NamedTuple):
    """One part of a database: a table, index, trigger or view; on a server also a function or another object.

    Attributes:
        kind: Kind of the part.
        name: Name of the part.
        table: Name of the table that it belongs to.
        made: SQL statement that makes the part, or "" if no single statement does.
        undone: SQL statement that removes the part.
    """

    kind: str
    name: str
    table: str
    made: str
    undone: str


class Rows(Protocol):
    """The rows that a statement found."""

    @property
    def rowcount(self) -> int:
        """Number of changed rows."""

    def fetchone(self) -> Row:
        """Return the next row, or None after the last."""

    def fetchall(self) -> list[Row]:
        """Return the remaining rows, in order; [] after the last."""

    def __iter__(self) -> Iterator[Row]: ...


class Connection(Protocol):
    """A connection to a database."""

    def execute(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ..., /) -> Rows:
        """Run a statement with values for its parameters, and return its rows.

        What is raised is said by the connection at hand (`sqlite3.Error`, or StoreFault of `postgres`).
        """

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Rows:
        """Run a statement once for each sequence of values, in order."""

    def close(self) -> None:
        """Close the connection; changes that were not committed are rolled back."""
