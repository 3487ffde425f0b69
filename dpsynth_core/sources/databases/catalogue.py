"""The catalogue of a database: its tables and views, and the columns of each. No database is queried here.

Only tables in the catalogue can be counted: no system table, function, file or other object that a database accepts as a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError

Name = tuple[str, ...]
"""The name of a table, behind its schema, which may stand behind a database."""
Batches = Generator[pa.RecordBatch, None, None]
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True)
class Column:
    """A column of the catalogue.

    Attributes:
        name: The database's name for it.
        arrow: The Arrow type that its values are read in.
        type: The database's name for its type, "" if the database does not declare one.
    """

    name: str
    arrow: pa.DataType
    type: str

    @property
    def is_number_as_text(self) -> bool:
        """True for numbers of any size, which are read as text: as doubles, two identifiers above 2^53 could become one."""
        return self.type.startswith("numeric") and pa.types.is_string(self.arrow) and not self.type.endswith("[]")


@dataclass(frozen=True)
class Table:
    """A table of the catalogue, whose columns are all that the catalogue lists, in its order.

    Columns that a database adds by itself, like rowid or ctid, are left out.
    """

    name: Name
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Opened:
    """An open connection.

    Attributes:
        raw: The driver's connection.
        home: The schemas that are searched for a name without a schema.
        database: The name parts before a schema.
    """

    raw: Any
    home: tuple[str, ...] = ("main",)
    database: Name = ()


@dataclass(frozen=True)
class Catalogue:
    """The tables of a database.

    Attributes:
        tables: (schema, name) of each table that the account may read.
        home: The schemas that are searched for a name without a schema, in this order.
        capitals: Whether names that differ only in capitals are different.
    """

    tables: tuple[tuple[str, str], ...]
    home: tuple[str, ...]
    capitals: bool

    def listed(self) -> list[str]:
        """Return a name for each table that `named` finds it by: with its schema where needed, in quotes where points mislead."""
        plain = {table: table[1] if self.find(None, self._is(table[1])) == table else ".".join(table) for table in self.tables}
        often = Counter(plain.values())
        return sorted(_quoted(table) if often[text] > 1 else text for table, text in plain.items())

    def named(self, text: str) -> tuple[str, str]:
        """Return the table that a name means: TABLE, SCHEMA.TABLE or "SCHEMA"."TABLE". Either may contain a point.

        Raises InputError for an unknown or ambiguous name.
        """
        same = self._is(text)
        exact = [table for table in self.tables if same(_quoted(table))]
        alone = self.find(None, same)
        found = exact or [table for table in self.tables if table == alone or same(".".join(table))]
        if len(found) > 1:
            raise InputError("data.table", "two tables have this name", 'write "SCHEMA"."TABLE", both in double quotes')
        if not found:
            raise InputError("data.table", "the table or query cannot be read", "check its name, and who may read it")
        return found[0]

    def find(self, schema: Callable[[str], bool] | None, name: Callable[[str], bool]) -> tuple[str, str] | None:
        """Return the first table whose schema and name pass these tests; None if no table does."""
        schemas = self.home if schema is None else sorted({table[0] for table in self.tables if schema(table[0])})
        return next((table for wanted in schemas for table in self.tables if table[0] == wanted and name(table[1])), None)

    def _is(self, text: str) -> Callable[[str], bool]:
        return text.__eq__ if self.capitals else lambda other: small(other) == small(text)


def small(text: str) -> str:
    """Return the text without capitals, in the way of databases: only ASCII letters change."""
    return text.translate(_SMALL)


def unlike(columns: Iterable[str]) -> str:
    """Return a table name that differs from the names of all columns, since a database could confuse them."""
    names, called = set(map(small, columns)), "record"
    while called in names:
        called += "_"
    return called


def _quoted(table: tuple[str, str]) -> str:
    return ".".join(f'"{part}"' for part in table)
