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
    """A column in the catalogue of a database.

    Attributes:
        name: The name of the column in the database.
        arrow: The Arrow type in which its values are read.
        type: The name of its type in the database; "" if the database declares none.
    """

    name: str
    arrow: pa.DataType
    type: str

    @property
    def is_number_as_text(self) -> bool:
        """True for numbers of any size (numeric) that no decimal type of Arrow holds, so that they are read as text.

        They are not read as doubles, because two identifiers above 2^53 could become one.
        """
        return self.type.startswith("numeric") and pa.types.is_string(self.arrow) and not self.type.endswith("[]")


@dataclass(frozen=True)
class Table:
    """A table or view in the catalogue.

    Columns that a database adds by itself, like rowid or ctid, are left out.

    Attributes:
        name: The full name: perhaps a database, perhaps a schema, and the table.
        columns: All columns that the catalogue lists, in its order.
    """

    name: Name
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Opened:
    """An open connection to a database.

    Attributes:
        raw: The connection object of the driver.
        search_path: The schemas that are searched for a name without a schema.
        database: The name parts that stand before a schema in full names; empty for none.
    """

    raw: Any
    search_path: tuple[str, ...] = ("main",)
    database: Name = ()


@dataclass(frozen=True)
class Catalogue:
    """The tables and views of a database that the account may read.

    Attributes:
        tables: Pairs of schema and name.
        search_path: The schemas that are searched for a name without a schema, in this order.
        capitals: Whether names that differ only in capitals are different.
    """

    tables: tuple[tuple[str, str], ...]
    search_path: tuple[str, ...]
    capitals: bool

    def listed(self) -> list[str]:
        """Return for each table the shortest name by which `named` finds it, sorted.

        The schema is part of the name where it is needed, and both are in quotes where dots would
        make the name ambiguous.
        """
        plain = {table: table[1] if self.find(None, self._is(table[1])) == table else ".".join(table) for table in self.tables}
        often = Counter(plain.values())
        return sorted(_quoted(table) if often[text] > 1 else text for table, text in plain.items())

    def named(self, text: str) -> tuple[str, str]:
        """Return the schema and name of the table that a text means.

        Args:
            text: TABLE, SCHEMA.TABLE or "SCHEMA"."TABLE". Schema and table may contain dots.

        Raises:
            InputError: No table or more than one table has this name.
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
        """Return schema and name of the first table that passes both tests; None without one.

        Args:
            schema: A test of the schema's name, so that schemas are searched in alphabetical order; None to search
                only the schemas of `search_path`, in its order.
            name: A test of the table's name.
        """
        schemas = self.search_path if schema is None else sorted({table[0] for table in self.tables if schema(table[0])})
        return next((table for wanted in schemas for table in self.tables if table[0] == wanted and name(table[1])), None)

    def _is(self, text: str) -> Callable[[str], bool]:
        """Return a test of whether a name equals `text` as the database compares names."""
        return text.__eq__ if self.capitals else lambda other: small(other) == small(text)


def small(text: str) -> str:
    """Return the text with ASCII letters in lower case, which is how databases compare names."""
    return text.translate(_SMALL)


def unlike(columns: Iterable[str]) -> str:
    """Return an alias for a table that differs from all these column names, regardless of capitals.

    A database could otherwise take the alias for a column.
    """
    names, called = set(map(small, columns)), "record"
    while called in names:
        called += "_"
    return called


def _quoted(table: tuple[str, str]) -> str:
    """Return the schema and name of a table in double quotes, with a dot between them."""
    return ".".join(f'"{part}"' for part in table)
