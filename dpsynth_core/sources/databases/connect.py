"""Read-only connections to databases, and what a statement may take and say.

Nothing that a database says of an error is repeated: it may quote a value. What people read instead is written here.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import InputError, first_repeated
from dpsynth_core.sources.databases import address as addresses
from dpsynth_core.sources.databases.address import Address
from dpsynth_core.sources.databases.catalogue import Catalogue, Column, Name, Table
from dpsynth_core.vocabulary.declared import Declared
from dpsynth_core.vocabulary.names import column_field, trimmed

DEFAULT_TIMEOUT = 3600
"""Seconds that one statement may take."""
LOCK_TIMEOUT = 30
"""Seconds that PostgreSQL waits for a table that another program has locked."""
_LOOK_EVERY = 0.1
_NO_ANSWER = ("data", "the database refused or failed to answer a statement", "see the server's own log for why")


class Connection:
    """One connection, opened when it is first used, and one snapshot of the table for all that is asked of it."""

    def __init__(self, address: Address, timeout: int) -> None:
        self.address = address
        self._timeout = timeout
        self._is_late = False
        self._tables: dict[Name, Table] = {}

    @property
    def ibis(self) -> Any:
        """The connection as Ibis has it. InputError."""
        return self._opened.ibis

    @cached_property
    def _opened(self) -> _Opened:
        with self._failures("data.path", "the database cannot be opened", "check the address, and who may read it"):
            return _OPENERS.get(self.address.engine, _open_other)(self.address, self._timeout)

    @property
    def _raw(self) -> Any:
        return self.ibis.con

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Everything that a statement returns. A signal ends it: then Interrupted is raised. InputError if the database refuses."""
        with self._failures(*_NO_ANSWER):
            return self.fetch(statement)

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """The same, but raises what the database does."""
        raw = self._raw
        return self._watched(lambda: list(_cursor(raw, self.address.engine, statement).fetchall()))

    def numbers(self, statement: str, columns: int) -> NDArray[np.int64]:
        """The rows of a statement of whole numbers, shape (rows, columns)."""
        return np.array(self.rows(statement), dtype=np.int64).reshape(-1, columns)

    def run(self, statement: str) -> None:
        """A statement that returns nothing."""
        raw = self._raw

        def work() -> None:
            _cursor(raw, self.address.engine, statement)

        with self._failures(*_NO_ANSWER):
            self._watched(work)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The tables and views that can be read, of a database that is tested here. InputError."""
        engine = self.address.engine
        tables = tuple((schema, name) for schema, name in self.rows(_CATALOGUES[engine]))
        return Catalogue(tables, self._opened.home, capitals=engine == "postgres")

    def select(self, section: Mapping[str, Any]) -> str:
        """The one statement whose rows are the records (see `query`). Reads no record. InputError."""
        from dpsynth_core.sources.databases import query  # which loads Ibis

        engine, table, text = self.address.engine, section.get("table"), section.get("query")
        if bool(table) == bool(text):
            raise InputError("data.table", "a database needs a table or a query, one of the two", "name the table, or write one SELECT")
        if text:
            statement = query.read(str(text), engine)
            return query.rebuilt(statement, self._table(query.table_of(statement, self.catalogue, engine)), engine)
        if engine in _CATALOGUES:
            return query.whole(self._table(self.catalogue.named(str(table))), engine)
        return query.whole(self._table(tuple(str(table).split("."))), engine)

    def columns(self, select: str) -> list[Column]:
        """The columns of a SELECT. Reads no record. InputError."""
        with self._failures("data.table", "the table or query cannot be read", "check its name, and who may read it"):
            return _COLUMNS.get(self.address.engine, _other_columns)(self, select)

    def _table(self, name: Name) -> Table:
        """The columns that SELECT * has are those that the catalogue lists."""
        from dpsynth_core.sources.databases import query

        if name not in self._tables:
            placed = (*self._opened.database, *name)
            self._tables[name] = Table(placed, tuple(self.columns(query.star(placed, self.address.engine))))
        return self._tables[name]

    def close(self) -> None:
        if "_opened" in self.__dict__:
            with suppress(Exception):
                self._raw.close()

    def _watched(self, ask: Callable[[], Any]) -> Any:
        """Ask in another thread, so that a signal can end the statement."""
        answer: list[Any] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                answer.append(ask())
            except BaseException as error:  # noqa: BLE001 (handed over to the thread that waits)
                failure.append(error)

        interrupts.check()
        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        ended_late = threading.Timer(self._timeout, self._end_late)
        ended_late.daemon = True
        ended_late.start()
        try:
            while worker.is_alive():
                worker.join(_LOOK_EVERY)
                interrupts.check()
        except BaseException:
            self._cancel()
            worker.join(10)
            raise
        finally:
            ended_late.cancel()
        if failure:
            raise failure[0]
        return answer[0]

    def _end_late(self) -> None:
        self._is_late = True
        self._cancel()

    def _cancel(self) -> None:
        with suppress(Exception):
            getattr(self._raw, "cancel" if self.address.engine == "postgres" else "interrupt")()

    @contextmanager
    def _failures(self, field: str, problem: str, remedy: str) -> Iterator[None]:
        """What goes wrong in a database becomes a fixed sentence: its own words may quote a value."""
        try:
            yield
        except (InputError, interrupts.Interrupted, MemoryError):
            raise
        except ImportError:
            raise InputError("data.path", "the package for this kind of database is not installed", "install Ibis with it") from None
        except Exception as error:  # noqa: BLE001 (its text could quote a record)
            if type(error).__name__ == "OutOfMemoryException":  # DuckDB's
                raise MemoryError from None
            raise InputError(*(self._known(error) or (field, problem, remedy))) from None

    def _known(self, error: Exception) -> tuple[str, str, str] | None:
        """What a driver says by a number or a kind of error, in our words."""
        state = getattr(error, "sqlstate", None) or ""
        locked = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        if locked or state == _LOCK_NOT_AVAILABLE or (type(error).__name__ == "IOException" and "lock" in str(error)):
            return ("data", "the table or its database is locked by another program", "wait until that has ended its work, or end it")
        if self._is_late or state == _CANCELED:
            return ("data.timeout", f"a statement took longer than {self._timeout} seconds", "state a longer timeout")
        if state.startswith(_ENDED) or ("_opened" in self.__dict__ and getattr(self._raw, "broken", False)):
            return ("data", "the server ended the connection", "see whether it runs, and try again")
        return None


@dataclass(frozen=True)
class _Opened:
    """home: the schemas in which a name alone is looked for. database: what stands before a schema."""

    ibis: Any
    home: tuple[str, ...] = ("main",)
    database: Name = ()


_LOCK_NOT_AVAILABLE, _CANCELED = "55P03", "57014"
_ENDED = ("57P", "08")
"""By these PostgreSQL says that it ends a connection, or lost one."""


def connect(section: Mapping[str, Any]) -> Connection:
    """InputError for an address that cannot be used."""
    return Connection(addresses.read(section["path"]), section.get("timeout") or DEFAULT_TIMEOUT)


def tables(section: Mapping[str, Any]) -> list[str]:
    """The names of the tables and views that can be read, from the catalogue alone. InputError."""
    connection = connect(section)
    try:
        return connection.catalogue.listed() if connection.address.engine in _CATALOGUES else sorted(connection.ibis.list_tables())
    finally:
        connection.close()


def columns(section: Mapping[str, Any]) -> list[Column]:
    """The columns of a section's table or query. InputError."""
    connection = connect(section)
    try:
        return connection.columns(connection.select(section))
    finally:
        connection.close()


def column_names(section: Mapping[str, Any]) -> tuple[str, ...]:
    """Without spaces around them. InputError where two columns have the same name."""
    names = tuple(trimmed(column.name) for column in columns(section))
    if (twice := first_repeated(names)) is not None:
        raise InputError(column_field(twice), "two columns have this name", "give each its own in a view or query")
    return names


def declared(section: Mapping[str, Any]) -> list[Declared]:
    """What the types of the columns say of them. InputError."""
    there = zip(column_names(section), columns(section), strict=True)
    return [Declared(name, _DECLARED.get(column.kind.partition("(")[0], "")) for name, column in there]


_DECLARED = {
    "text": "text",
    "integer": "integer",
    "float": "number",
    "decimal": "number",
    "boolean": "bool",
    "date": "date",
    "timestamp": "timestamp",
    "time": "time",
}


def _cursor(raw: Any, engine: str, statement: str) -> Any:
    return raw.cursor(binary=True).execute(statement) if engine == "postgres" else raw.execute(statement)


def _there(address: Address) -> str:
    if not os.path.isfile(address.place):
        remedy = "check the path; duckdb:/// and sqlite:/// start at the top of the file system"
        raise InputError("data.path", "there is no such file", remedy)
    return address.place


def _open_duckdb(address: Address, _timeout: int) -> _Opened:
    """A macro of the file may have the name of a function or operator; none is looked for there."""
    import duckdb
    import ibis

    settings: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "temp_directory": "",  # codes of records never reach a disk
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "disabled_optimizers": "common_subexpressions",  # it takes what fails out of TRY (see `query`)
    }
    raw = duckdb.connect(_there(address), read_only=True, config=settings)
    (database,) = raw.execute("SELECT current_database()").fetchone() or ("",)
    made = ibis.duckdb.from_connection(raw)
    raw.execute("SET search_path = 'system.main'")
    return _Opened(made, database=(database,))


def _open_sqlite(address: Address, _timeout: int) -> _Opened:
    import ibis

    place = _there(address).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    raw = sqlite3.connect(f"file:{place}?mode=ro", uri=True, check_same_thread=False, isolation_level=None)
    raw.create_function("dpsynth_number", 1, float, deterministic=True)
    made = ibis.sqlite.from_connection(raw)
    raw.execute("PRAGMA temp_store = MEMORY")
    raw.execute("PRAGMA query_only = OFF")  # our own temporary tables; the file itself is open for reading alone
    raw.execute("BEGIN")
    return _Opened(made)


def _open_postgres(address: Address, timeout: int) -> _Opened:
    """A function, operator or type of another schema may have the name of one of PostgreSQL's; none is looked for there."""
    import ibis
    import psycopg

    wait = min(1000 * LOCK_TIMEOUT, 900 * timeout)  # ends before the statement does, so that it can be told why
    settings = (
        f"-c default_transaction_read_only=on -c statement_timeout={timeout * 1000} -c lock_timeout={wait} -c jit=off"
        " -c TimeZone=UTC -c DateStyle=ISO -c standard_conforming_strings=on"
    )
    raw = psycopg.connect(address.place, options=settings, application_name="dpsynth", connect_timeout=10, autocommit=True)
    made = ibis.postgres.from_connection(raw)
    (home,) = raw.execute("SELECT current_schemas(false)::text[]").fetchone() or ([],)
    raw.execute("SET search_path = pg_catalog")
    raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    return _Opened(made, home=tuple(home))


def _open_other(address: Address, _timeout: int) -> _Opened:
    import ibis

    return _Opened(ibis.connect(address.place))


_OPENERS: Mapping[str, Callable[[Address, int], _Opened]] = {
    "duckdb": _open_duckdb,
    "sqlite": _open_sqlite,
    "postgres": _open_postgres,
}
_CATALOGUES = {
    "duckdb": "SELECT table_schema, table_name FROM information_schema.tables"
    " WHERE table_catalog IN (SELECT database_name FROM duckdb_databases() WHERE NOT internal)",
    "sqlite": "SELECT 'main', name FROM main.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
    "postgres": "SELECT nspname::text, relname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
    " WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'"
    " AND has_schema_privilege(pg_namespace.oid, 'USAGE') AND has_any_column_privilege(pg_class.oid, 'SELECT')",
}
"""The schemas and names of all tables and views."""
_POSTGRES_KINDS = {
    "boolean": "boolean",
    "smallint": "integer",
    "integer": "integer",
    "bigint": "integer",
    "real": "float",
    "double precision": "float",
    "text": "text",
    "name": "text",
    "date": "date",
    "uuid": "uuid",
}
_KINDS_OF_BEGINNINGS = (("character", "text"), ("timestamp", "timestamp"), ("time", "time"))
_DUCKDB_KINDS = {
    "BOOLEAN": "boolean",
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), "integer"),
    "FLOAT": "float",
    "DOUBLE": "float",
    "VARCHAR": "text",
    "DATE": "date",
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"), "timestamp"),
    "TIME": "time",
    "UUID": "uuid",
}


def _postgres_columns(connection: Connection, select: str) -> list[Column]:
    described = connection.ibis.con.execute(f"SELECT * FROM ({select}\n) AS records LIMIT 0").description or ()
    types = [(column.name, column.type_code, column._fmod) for column in described]
    asked = ", ".join(f"format_type({code}, {modifier})" for _, code, modifier in types)
    names = connection.fetch(f"SELECT {asked}")[0]
    return [Column(name, _postgres_kind(kind), kind) for (name, _, _), kind in zip(types, names, strict=True)]


def _postgres_kind(name: str) -> str:
    if name.endswith("[]") or name.endswith("with time zone"):
        return ""
    if name in _POSTGRES_KINDS:
        return _POSTGRES_KINDS[name]
    return _decimal("numeric", name) or next((kind for beginning, kind in _KINDS_OF_BEGINNINGS if name.startswith(beginning)), "")


def _duckdb_columns(connection: Connection, select: str) -> list[Column]:
    rows = connection.fetch(f"DESCRIBE {select}")
    connection.fetch(f"EXPLAIN {select}")  # refuses constants that cannot be meant, which would otherwise end the run later
    return [Column(name, _duckdb_kind(kind), kind) for name, kind, *_ in rows]


def _duckdb_kind(name: str) -> str:
    if name.startswith("ENUM(") and name.endswith(")"):
        return "text"
    return _decimal("DECIMAL", name) or _DUCKDB_KINDS.get(name, "")


def _decimal(word: str, name: str) -> str:
    """decimal(p,s) where the type is that, "" otherwise: arrays of them, and scales that Ibis does not know."""
    digits = re.fullmatch(rf"{word}\((\d+), ?(\d+)\)", name)
    return f"decimal({digits[1]},{digits[2]})" if digits and int(digits[2]) <= int(digits[1]) else ""


def _sqlite_columns(connection: Connection, select: str) -> list[Column]:
    described = connection.ibis.con.execute(f"SELECT * FROM ({select}\n) LIMIT 0").description
    return [Column(column[0], "any", "") for column in described]


def _other_columns(connection: Connection, select: str) -> list[Column]:
    """What Ibis says of them."""
    kinds: Sequence[tuple[str, str]] = (
        ("is_boolean", "boolean"),
        ("is_integer", "integer"),
        ("is_floating", "float"),
        ("is_string", "text"),
        ("is_date", "date"),
        ("is_time", "time"),
    )
    schema = connection.ibis.sql(select).schema()
    return [
        Column(name, next((kind for test, kind in kinds if getattr(dtype, test)()), ""), str(dtype)) for name, dtype in schema.items()
    ]


_COLUMNS: Mapping[str, Callable[[Connection, str], list[Column]]] = {
    "duckdb": _duckdb_columns,
    "sqlite": _sqlite_columns,
    "postgres": _postgres_columns,
}
