"""Read-only connections to databases: the time that a statement may take, and the errors that users read.

No error message of a database is repeated, because it may quote a value. Fixed sentences replace it here.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from dpsynth_core.extensions.databases import address as addresses
from dpsynth_core.extensions.databases import duckdb_engine, postgres_engine, sqlite_engine
from dpsynth_core.extensions.databases.address import Address
from dpsynth_core.extensions.databases.catalogue import Batches, Catalogue, Column, Name, Opened, Table
from dpsynth_core.extensions.databases.statement import one_zero
from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import InputError, first_repeated
from dpsynth_core.sources.arrow_types import declared_type
from dpsynth_core.vocabulary import declared as columns_of
from dpsynth_core.vocabulary.column import Column as DeclaredColumn
from dpsynth_core.vocabulary.names import column_field, trimmed

DEFAULT_TIMEOUT = 3600
"""Seconds that one statement may take."""
_LOOK_EVERY = 0.1
_NO_ANSWER = ("data", "the database refused or failed to answer a statement", "see the server's own log for why")
_LOCK_NOT_AVAILABLE, _CANCELED = "55P03", "57014"
_ENDED = ("57P", "08")
"""Codes by which PostgreSQL reports that it ends a connection, or lost one."""

_Answer = TypeVar("_Answer")


class Engine(Protocol):
    """A module for one kind of database, whose functions raise the driver's own errors.

    Attributes:
        CATALOGUE: The statement that returns schema and name of all tables and views.
    """

    CATALOGUE: str

    def opened(self, address: Address, timeout: int, /) -> Opened:
        """Return a read-only connection that sees one state of the database.

        Args:
            address: The address of the database.
            timeout: The seconds that one statement may take.

        Raises:
            InputError: The file does not exist.
        """

    def columns(self, raw: Any, select: str, /) -> list[Column]:
        """Return the columns of a SELECT without reading a record.

        Args:
            raw: The connection object of the driver (`Opened`).
            select: The SELECT.
        """

    def batches(self, raw: Any, select: str, columns: Sequence[Column], order: Sequence[Column], decimal: str, /) -> Batches:
        """Yield the records of a SELECT as Arrow batches with columns c0, c1, ... in the order of `columns`.

        The values of a record depend on no other record.

        Args:
            raw: The connection object of the driver (`Opened`).
            select: The SELECT.
            columns: The columns of the batches, at least one.
            order: The columns by which records are sorted, see `DatabaseTable`; empty for any order.
            decimal: The decimal mark of numbers that become text.
        """


_ENGINES: Mapping[str, Engine] = {"duckdb": duckdb_engine, "sqlite": sqlite_engine, "postgres": postgres_engine}


class Connection:
    """A connection, opened at its first use, which sees one state of the database.

    Args:
        address: The address of the database.
        timeout: The seconds that one statement may take.
    """

    def __init__(self, address: Address, timeout: int) -> None:
        self.address = address
        self._engine = _ENGINES[address.engine]
        self._timeout = timeout
        self._is_late = False
        self._tables: dict[Name, Table] = {}

    @cached_property
    def _opened(self) -> Opened:
        with self._failures("data.path", "the database cannot be opened", "check the address, and who may read it"):
            return self._engine.opened(self.address, self._timeout)

    @property
    def raw(self) -> Any:
        """The connection object of the driver, opened at its first use.

        Raises:
            InputError: The database cannot be opened.
        """
        return self._opened.raw

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return all rows of the result of a statement, in the order of the database; [] without any.

        Raises:
            InputError: The database cannot be opened or refuses the statement, or it takes too long.
            Interrupted: A signal asked the process to end.
            MemoryError: DuckDB has too little memory.
        """
        raw = self.raw
        with self._failures(*_NO_ANSWER):
            return self._watched(lambda: list(raw.execute(statement).fetchall()), self._deadline())

    def batches(self, select: str, columns: Sequence[Column], order: Sequence[Column], decimal: str) -> Batches:
        """Yield the records of a SELECT as Arrow batches of these columns, named c0, c1 and so on.

        Args:
            select: The SELECT.
            columns: The columns of the batches, at least one.
            order: The columns by which records are sorted, see `DatabaseTable`; empty for any order.
            decimal: The decimal mark of numbers that become text.

        Raises:
            InputError: The database cannot be opened or refuses the statement, or it takes too long.
            Interrupted: A signal asked the process to end.
            MemoryError: DuckDB has too little memory.
        """
        with closing(self._engine.batches(self.raw, select, columns, order, decimal)) as records:
            deadline = self._deadline()
            while True:
                with self._failures(*_NO_ANSWER):
                    batch = self._watched(lambda: next(records, None), deadline)
                if batch is None:
                    return
                yield batch

    @cached_property
    def catalogue(self) -> Catalogue:
        """The tables and views that can be read, without their columns; read from the database at the first use.

        Raises:
            InputError: The database cannot be opened, does not answer, or takes too long.
            Interrupted: A signal asked the process to end.
            MemoryError: DuckDB has too little memory.
        """
        tables = tuple((schema, name) for schema, name in self.rows(self._engine.CATALOGUE))
        return Catalogue(tables, self._opened.search_path, capitals=self.address.engine == "postgres")

    def select(self, section: Mapping[str, Any]) -> str:
        """Return the statement whose rows are the records, without reading a record.

        Args:
            section: The `data` section of a spec, which states either a table or a query (see
                `query`).

        Raises:
            InputError: The section states both or neither, what it states cannot be read or is not allowed, or the
                database takes too long.
            Interrupted: A signal asked the process to end.
            MemoryError: DuckDB has too little memory.
        """
        from dpsynth_core.extensions.databases import query  # which loads sqlglot

        engine, table, text = self.address.engine, section.get("table"), section.get("query")
        if bool(table) == bool(text):
            raise InputError("data.table", "a database needs a table or a query, one of the two", "name the table, or write one SELECT")
        if text:
            statement = query.read(str(text), engine)
            return query.rebuilt(statement, self._table(query.table_of(statement, self.catalogue, engine)), engine)
        return query.select_all(self._table(self.catalogue.named(str(table))), engine)

    def columns(self, select: str) -> list[Column]:
        """Return the columns of a SELECT, in order, without reading a record.

        Raises:
            InputError: The database cannot be opened or refuses the SELECT, or it takes too long.
            Interrupted: A signal asked the process to end.
            MemoryError: DuckDB has too little memory.
        """
        raw = self.raw
        with self._failures("data.table", "the table or query cannot be read", "check its name, and who may read it"):
            return self._watched(lambda: self._engine.columns(raw, select), self._deadline())

    def _table(self, name: Name) -> Table:
        """Return a table with its full name and its columns, as SELECT * returns them.

        Args:
            name: The schema and name.
        """
        from dpsynth_core.extensions.databases import query

        if name not in self._tables:
            placed = (*self._opened.database, *name)
            self._tables[name] = Table(placed, tuple(self.columns(query.star(placed, self.address.engine))))
        return self._tables[name]

    def close(self) -> None:
        """Close the connection if it was opened; errors are ignored."""
        if "_opened" in self.__dict__:
            with suppress(Exception):
                self.raw.close()

    def _deadline(self) -> float:
        """Return the time of the monotonic clock at which a statement that begins now has to end."""
        return time.monotonic() + self._timeout

    def _watched(self, ask: Callable[[], _Answer], deadline: float) -> _Answer:
        """Return the result of `ask()`, run in another thread so that the statement can be ended.

        A signal or the deadline ends the statement.

        Args:
            ask: Runs a statement of the driver.
            deadline: A time of the monotonic clock, in seconds.

        Raises:
            Interrupted: A signal asked the process to end.
            Exception: The exception of `ask`, also when its statement was ended.
        """
        answer: list[_Answer] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                answer.append(ask())
            except BaseException as error:  # noqa: BLE001 (handed over to the thread that waits)
                failure.append(error)

        interrupts.check()
        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        try:
            while worker.is_alive():
                worker.join(_LOOK_EVERY)
                interrupts.check()
                if time.monotonic() > deadline and not self._is_late:
                    self._is_late = True
                    self._cancel()
        except BaseException:
            self._cancel()
            worker.join(10)
            raise
        if failure:
            raise failure[0]
        return answer[0]

    def _cancel(self) -> None:
        """End the statement that is running; errors are ignored."""
        with suppress(Exception):
            getattr(self.raw, "cancel" if self.address.engine == "postgres" else "interrupt")()

    @contextmanager
    def _failures(self, field: str, problem: str, remedy: str) -> Iterator[None]:
        """Turn errors of the database into an InputError with fixed sentences.

        The database's own message is not repeated, because it may quote a value. A lack of memory
        becomes a MemoryError.

        Args:
            field: The field of the InputError, unless the cause is known (`_known`).
            problem: The problem of the InputError, unless the cause is known.
            remedy: The remedy of the InputError, unless the cause is known.
        """
        try:
            yield
        except (InputError, interrupts.Interrupted, MemoryError):
            raise
        except ImportError:
            raise InputError("data.path", "the package for this kind of database is not installed", "run make again") from None
        except Exception as error:  # noqa: BLE001 (its text could quote a record)
            if type(error).__name__ == "OutOfMemoryException":  # DuckDB's
                raise MemoryError from None
            raise InputError(*(self._known(error) or (field, problem, remedy))) from None

    def _known(self, error: Exception) -> tuple[str, str, str] | None:
        """Return field, problem and remedy for an error of known code or type, else None."""
        state = getattr(error, "sqlstate", None) or ""
        locked = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        if locked or state == _LOCK_NOT_AVAILABLE or (type(error).__name__ == "IOException" and "lock" in str(error)):
            return ("data", "the table or its database is locked by another program", "wait until that has ended its work, or end it")
        if self._is_late or state == _CANCELED:
            return ("data.timeout", f"a statement took longer than {self._timeout} seconds", "state a longer timeout")
        if state.startswith(_ENDED) or ("_opened" in self.__dict__ and getattr(self.raw, "broken", False)):
            return ("data", "the server ended the connection", "see whether it runs, and try again")
        return None


class DatabaseTable:
    """The table or query of a section, whose passes all see one state of the database.

    A database has no order of its own. A result that depends on an order, like the first rows of a
    person, must name all columns that it uses in `order`. *Then the records, in their order, are a
    function of the set of records in the database:* values that are read differently never sort as
    equal, as texts sort by their bytes and there is one 0 (`statement`), so records that sort as
    equal are equal in these columns; and without one person's records all others come in the same
    order.

    Args:
        section: The `data` section of a spec.
        order: The names of the columns by which records are sorted; empty for any order.

    Raises:
        InputError: Two columns have the same name, or the table cannot be read.
    """

    def __init__(self, section: Mapping[str, Any], order: Sequence[str] = ()) -> None:
        self._connection, self._order = connect(section), tuple(order)
        weakref.finalize(self, self._connection.close)
        self._select = self._connection.select(section)
        columns = [(trimmed(column.name), column) for column in self._connection.columns(self._select)]
        self._columns = dict(columns)
        if (twice := first_repeated([name for name, _ in columns])) is not None:
            raise InputError(column_field(twice), "two columns have this name", "give each its own in a view or query")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, without spaces around them."""
        return tuple(self._columns)

    @property
    def schema(self) -> pa.Schema:
        """The columns with the types that they are read as."""
        return pa.schema([(name, column.arrow) for name, column in self._columns.items()])

    @property
    def declared(self) -> list[DeclaredColumn]:
        """The declarations of the columns, in order, as far as their types in the database determine them.

        A column of which the database states no type is declared by its name alone.
        """
        types = {name: pa.float64() if one.is_number_as_text else one.arrow for name, one in self._columns.items() if one.type}
        return [declared_type(pa.field(name, types[name])) if name in types else columns_of.declared(name) for name in self._columns]

    def batches(self, columns: Sequence[str], decimal: str) -> Batches:
        """Yield all records, sorted by the columns of `order`, as Arrow batches of the asked columns with their names.

        Args:
            columns: The names of the columns, at least one.
            decimal: The decimal mark of numbers that become text.

        Raises:
            KeyError: A column, or one of `order`, is unknown.
            InputError: The database refuses the statement, or it takes too long.
            Interrupted: A signal asked the process to end.
            MemoryError: DuckDB has too little memory.
        """
        wanted, order = ([self._columns[name] for name in names] for names in (columns, self._order))
        for batch in self._connection.batches(self._select, wanted, order, decimal):
            yield pa.RecordBatch.from_arrays(list(map(one_zero, batch.columns)), names=list(columns))


def connect(section: Mapping[str, Any]) -> Connection:
    """Return the connection for a section of a spec; it is not opened yet.

    Args:
        section: The section `data`, with the address as "path", and perhaps "timeout" (seconds, default 3,600).

    Raises:
        InputError: The address cannot be used.
    """
    return Connection(addresses.read(section["path"]), section.get("timeout") or DEFAULT_TIMEOUT)


def tables(section: Mapping[str, Any]) -> list[str]:
    """Return the names of the tables and views that can be read, sorted, from the catalogue alone.

    Args:
        section: The section `data`, with the address as "path", and perhaps "timeout" (seconds, default 3,600).

    Raises:
        InputError: The address cannot be used, or the database cannot be opened or does not answer.
        Interrupted: A signal asked the process to end.
        MemoryError: DuckDB has too little memory.
    """
    with closing(connect(section)) as connection:
        return connection.catalogue.listed()
