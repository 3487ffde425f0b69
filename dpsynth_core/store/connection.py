"""What the store asks of a connection to its database, SQLite's own or `postgres.Connection`: statements that both understand.

Parameters are `?` or `:name`, texts, numbers and None; a true value is 1. A row is found by name or place, and is a mapping to `**`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

Row = Any
"""sqlite3.Row, or what `postgres` has in its place."""


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
