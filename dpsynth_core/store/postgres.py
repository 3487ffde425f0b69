"""The store's database on a PostgreSQL server, which `DPSYNTH_DATABASE` names. Tables, rules and statements are the same as in SQLite.

A writing transaction locks the ledger's table first, so that one transaction writes at a time, as with SQLite, also from several machines.
If the answer to a commit is lost, a search for the entry that it wrote tells its outcome. Other messages of the server are not repeated,
because they may quote a row. The trigger of a rule takes its condition and words from the text for SQLite; it searches indices, as there,
and nothing switches it off by accident. Whether the indices have every entry is what `_INTEGRITY` asks, as a full check does of a file.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from dpsynth_core.foundation import server_addresses
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store.connection import CATALOGUE, NEWEST, Rows
from dpsynth_core.store.faults import SERVER, BooksLost, InDoubt, StoreFault

_MAKING = 4_931_772
"""Number of the advisory lock held while the tables are created; any number would do."""
_WAITING: list[tuple[tuple[str, int], Any]] = []
_MOST_WAITING = 4
"""Largest number of connections kept open for later transactions, with their address and process."""
_SILENT_SECONDS, _SOON_SECONDS = 120.0, 5.0
"""Longest wait for the answer to a statement, which the server itself ends earlier, and to the question whether it is still there."""
_WAITED_FOR: dict[Any, float] = {}
"""Connections that wait for an answer, with the monotonic time until which they may."""
_WATCHMEN = set[int]()
"""Processes that have a thread which ends waits: a child has its parent's memory, and none of its threads."""
_HERE = "SELECT set_config('search_path', relnamespace::regnamespace::text, true) FROM pg_class WHERE oid = to_regclass('ledger');"
"""Statement that sets the search path to the schema of the tables alone, regardless of the settings of role and database."""
_WRITE = f"""
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '30s';
LOCK TABLE ledger IN SHARE ROW EXCLUSIVE MODE; {_HERE} {NEWEST}
"""
_SETTINGS = """
SET extra_float_digits = 1; SET row_security = off; SET statement_timeout = '90s'; SET lock_timeout = '30s';
SET idle_in_transaction_session_timeout = '10min';
SET quote_all_identifiers = off; SELECT (pg_catalog.current_schemas(true))[1] = 'pg_catalog', EXISTS (
    SELECT FROM pg_namespace, aclexplode(nspacl) WHERE nspname = ANY (current_schemas(false)) AND privilege_type = 'CREATE'
    AND grantee NOT IN (nspowner, (SELECT oid FROM pg_roles WHERE rolname = current_user)))
"""
"""Statements that fix what role and database may have set: every digit of a number is read, and hidden rows are an error. A statement,
a wait for a lock and a pause within a transaction end in time, so that neither this program nor others wait for ever. The last query tells
whether the server's own names come first, and whether others may create more.
"""
_MARK = "SELECT (SELECT obj_description(oid, 'pg_class') FROM pg_class WHERE relname = 'ledger' AND pg_table_is_visible(oid))"
"""Query for the mark of the tables' version. It searches the catalogue instead of calling to_regclass, because a session remembers that a
name led nowhere, also after another session has created it.
"""
_IIF = "CREATE FUNCTION iif(boolean, text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT CASE WHEN $1 THEN $2 ELSE $3 END';"
_TRIGGER = re.compile(
    r"CREATE TRIGGER (\w+) BEFORE (\w+) ON (\w+)\s+(?:WHEN (.*?)\s)?BEGIN SELECT RAISE\(ABORT, ('.*?')\); END;", flags=re.DOTALL
)
_PARTS = """
WITH ours AS (
    SELECT oid, relname::text AS name, relkind AS kind, relpersistence AS lasts, relrowsecurity AS hides, relnamespace AS place
    FROM pg_class WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('ledger')) AND relkind NOT IN ('i', 't')
)
SELECT CASE kind WHEN 'r' THEN 'table' ELSE 'other' END, name, name, format('CREATE TABLE %I (%s)', name,
    (SELECT string_agg(concat_ws(' ', quote_ident(attname), format_type(atttypid, atttypmod), NULLIF(concat(attgenerated, attidentity), ''),
        NULLIF(attcollation, typcollation)::regcollation, CASE WHEN attnotnull THEN 'NOT NULL' END,
        'DEFAULT ' || pg_get_expr(adbin, adrelid)), ', ' ORDER BY attnum)
    FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = ours.oid AND attnum > 0 AND NOT attisdropped)) || CASE lasts WHEN 'p' THEN '' ELSE ' that may be lost' END, ''
    FROM ours WHERE kind != 'v'
UNION ALL SELECT 'view', name, name, format('CREATE VIEW %I AS %s', name, pg_get_viewdef(oid)), format('DROP VIEW %I', name)
    FROM ours WHERE kind = 'v'
UNION ALL SELECT 'constraint', conname, name, format('ALTER TABLE %I ADD CONSTRAINT %I %s', name, conname,
        pg_get_constraintdef(pg_constraint.oid, true)), format('ALTER TABLE %I DROP CONSTRAINT %I', name, conname)
    FROM pg_constraint JOIN ours ON ours.oid = conrelid WHERE contype NOT IN ('n', 't')
UNION ALL SELECT 'index', indexrelid::regclass::text, name, pg_get_indexdef(indexrelid, 0, true), 'DROP INDEX ' || indexrelid::regclass
    FROM pg_index JOIN ours ON ours.oid = indrelid WHERE indexrelid NOT IN (SELECT conindid FROM pg_constraint)
UNION ALL SELECT 'trigger', tgname, name, format('%s; ALTER TABLE %I ENABLE %s TRIGGER %I', pg_get_triggerdef(pg_trigger.oid, true), name,
        CASE tgenabled WHEN 'A' THEN 'ALWAYS' ELSE tgenabled::text END, tgname), format('DROP TRIGGER %I ON %I', tgname, name)
    FROM pg_trigger JOIN ours ON ours.oid = tgrelid WHERE NOT tgisinternal
UNION ALL SELECT 'rule', rulename, name, pg_get_ruledef(pg_rewrite.oid), format('DROP RULE %I ON %I', rulename, name)
    FROM pg_rewrite JOIN ours ON ours.oid = ev_class WHERE rulename != '_RETURN'
UNION ALL SELECT 'security', name, name, '', format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', name) FROM ours WHERE hides
UNION ALL SELECT 'child', inhrelid::regclass::text, name, '', format('ALTER TABLE %s NO INHERIT %I', inhrelid::regclass, name)
    FROM pg_inherits JOIN ours ON ours.oid = inhparent
UNION ALL SELECT 'function', proname, proname, format('CREATE OR REPLACE FUNCTION %I(%s) RETURNS %s LANGUAGE %s %s AS %L', proname,
        pg_get_function_arguments(pg_proc.oid), pg_get_function_result(pg_proc.oid), lanname, concat_ws(' ',
            CASE provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' END, CASE WHEN prosecdef THEN 'SECURITY DEFINER' END,
            (SELECT string_agg(CASE setting WHEN 'search_path=' || pronamespace::regnamespace THEN 'SET search_path FROM CURRENT'
                ELSE 'SET ' || replace(setting, '=', ' = ') END, ' ') FROM unnest(proconfig) AS setting)), prosrc),
        format('DROP FUNCTION %I(%s)', proname, pg_get_function_identity_arguments(pg_proc.oid))
    FROM pg_proc JOIN pg_language ON pg_language.oid = prolang WHERE pronamespace = (SELECT place FROM ours LIMIT 1)
"""
"""Query for all parts of the database (`connection.CATALOGUE`), with functions of the rules, and with objects that hide rows, add foreign
rows or change what a statement does.
"""
_BY_INDEX = "SET enable_seqscan = off"
"""Setting of the rules' functions: they search indices, also where the server knows no statistics of the ledger yet."""
_INTEGRITY = """
DO $$
DECLARE one record;
BEGIN
    PERFORM set_config('dpsynth.indices', 'ok', true);
    SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = off;
    SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;
    FOR one IN SELECT number, run, kind FROM ledger LOOP
        IF current_setting('enable_indexscan') = 'off' THEN
            SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on;
        END IF;
        IF NOT EXISTS (SELECT FROM ledger WHERE number = one.number)
        OR NOT EXISTS (SELECT FROM ledger WHERE run = one.run AND kind = one.kind) THEN
            PERFORM set_config('dpsynth.indices', 'one lacks entries', true);
        END IF;
    END LOOP;
    SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = on;
END $$;
SELECT current_setting('dpsynth.indices')
"""
"""Query for "ok" if the indices that rules search have each entry that is read from the table without them.

The loop's query is planned where the loop begins and a look-up where it is first made, each with the settings of that time.
"""
_VERSION = f"SELECT COALESCE(substring(({_MARK}) FROM '^dpsynth ([0-9]+)$')::int, -1)"
_SAYS = {
    "BEGIN IMMEDIATE": _WRITE,
    "BEGIN EXCLUSIVE": _WRITE.replace("SHARE ROW EXCLUSIVE", "ACCESS EXCLUSIVE"),
    "BEGIN": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "REINDEX ledger": "REINDEX TABLE ledger",
    "PRAGMA integrity_check(1)": _INTEGRITY,
    "PRAGMA user_version": _VERSION,
    CATALOGUE: _PARTS,
}

_READ_ONLY = ("its server takes no changes", "name the one that does, not a copy of it")
_OTHERS = ("its database has tables of another program", "name an empty one")
_SAID = {
    "53100": ("the disk of its server is full", "free some space there and try again"),
    "25006": _READ_ONLY,
    "0A000": _READ_ONLY,
    "42P07": _OTHERS,
    "42723": _OTHERS,
    "2BP01": ("a view or key of another program hangs on its tables", "drop that, and make it again afterwards"),
    "42501": ("its server does not let this program do that", "let its role own the database"),
    "3F000": ("its search_path names no schema", "set it back for the role and the database"),
    "57014": ("its server took more than 90 seconds for one statement", "see what else it does, and try again"),
    "55P03": ("another program holds its database for half a minute", "end that, and try again"),
}
_BEFORE_OURS = ("its search_path puts other names before the server's own", "set it back for the role and the database")
"""Problem and remedy if a foreign name comes before the server's own; a table could stand for the catalogue then and hide changes."""
_BY_OTHERS = ("others may create in its schema, and what they make acts as this program", "take that right from them (docs/office.md)")
_NO_SERVER = ("its server does not answer, or does not let this program in", "see whether it runs, and check address and password")
_FAILED = ("its server could not do what was asked", "see its own log for why")
_DAMAGED = ("42P01", "42703", "42804", "42809", "42883", "XX001", "XX002")
"""SQLSTATE codes of a table that is not as this program made it, or whose file is damaged."""


def address() -> str:
    """Return the configured address of the database server, or "" for SQLite.

    Raises:
        InputError: The address is invalid, has a password, or leads to another machine without
            proof of its identity.
    """
    if not (text := os.environ.get(SERVER, "")):
        return ""
    remedy, (scheme, separator, _) = "write it like postgresql://NAME@HOST/DATABASE", text.partition("://")
    if not separator or scheme.lower() not in server_addresses.POSTGRESQL:
        raise InputError(SERVER, "it is not the address of a PostgreSQL server", remedy)
    server_addresses.refuse_secrets(text, SERVER, remedy)
    if _is_far(urlsplit(text)):
        raise InputError(SERVER, "its server is another machine, which nothing would prove", "add ?sslmode=verify-full to the address")
    return text


def _is_far(place: SplitResult) -> bool:
    """Return whether the server is reached over a network without proof of its identity, so that another machine could pretend to be it.

    A host name without a dot counts as near, because it is a container's.
    """
    stated = dict(parse_qsl(place.query))
    if stated.get("sslmode") == "verify-full":
        return False
    named = place.netloc.rpartition("@")[2] or os.environ.get("PGHOSTADDR") or os.environ.get("PGHOST", "")
    hosts = [unquote(re.sub(r":\d*$", "", host)) for host in named.split(",")]
    near = all(host in ("127.0.0.1", "[::1]") or host.startswith("/") or not {".", ":"} & {*host} for host in hosts)
    return not near or "service" in stated or "PGSERVICE" in os.environ


def there() -> Connection | None:
    """Return an open connection; None if the database has no tables of this program yet.

    Raises:
        StoreFault: The server cannot be used.
        InputError: The address is invalid, or the package for PostgreSQL is not installed.
    """
    connection = Connection()
    if connection.read_mark() is None:
        connection.close()
        return None
    return connection


def make(schema: str, version: int) -> None:
    """Create tables and rules in an empty database, all or nothing; does nothing if another process was first.

    Args:
        schema: The statements for SQLite.
        version: Version of the tables.

    Raises:
        StoreFault: The database has other tables, or the server refuses.
    """
    with closing(Connection()) as db:
        db.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_advisory_xact_lock({_MAKING})")
        if db.read_mark() is None:  # else another process was first
            db.execute(f"{_IIF} {_tables(schema)} {_rules(schema)} {_marking(version)}")
            db.execute("COMMIT")


class Connection:
    """A connection to the server, with the interface of `connection.Connection`.

    Raises:
        StoreFault: The server cannot be used.
        BooksLost: Tables are not those that this program makes.
    """

    def __init__(self) -> None:
        self._place, self._newest = address(), None
        with self._explained():
            self._raw = _opened()

    def execute(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = (), /) -> Rows:
        """Run one of the store's statements for SQLite, translated for PostgreSQL, and return its rows.

        Raises:
            StoreFault: The server refuses or cannot be reached. InDoubt if it was lost during a
                commit and cannot be asked.
            BooksLost: The database is damaged, or its tables were changed.
            psycopg.IntegrityError: A rule or constraint of the tables refuses.
            psycopg.ProgrammingError: The statement is wrong.
        """
        with self._explained(), _answering(self._raw):
            if sql == "COMMIT":
                return self._commit()
            cursor = self._raw.execute(_SAYS.get(sql) or _translated(sql), _kept(parameters) or None).set_result(-1)
            if sql == "BEGIN IMMEDIATE":
                self._newest = cursor.fetchone()
            return cursor

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Rows:
        """Run a translated statement once for each sequence of values, in order.

        Raises:
            StoreFault: The server refuses or cannot be reached.
            BooksLost: The database is damaged, or its tables were changed.
            psycopg.IntegrityError: A rule or constraint of the tables refuses.
            psycopg.ProgrammingError: The statement is wrong.
        """
        with self._explained(), _answering(self._raw), self._raw.cursor() as cursor:
            cursor.executemany(_translated(sql), parameters)
            return cursor

    def close(self) -> None:
        """Roll back what was not committed, and keep the server's connection for later use.

        It is closed instead if it is not usable or `_MOST_WAITING` connections are kept already.
        """
        with suppress(Exception), _answering(self._raw):
            self._raw.rollback()
        if self._raw.info.transaction_status or len(_WAITING) >= _MOST_WAITING:  # it was lost, or a signal ended a statement
            self._raw.close()
        else:
            _WAITING.append(((self._place, os.getpid()), self._raw))

    def executescript(self, schema: str) -> None:
        """Create the tables and rules in a temporary schema of their own, so that they can be compared with the existing ones.

        Others do not see them; they vanish when the connection is closed.
        """
        place = f"aside_{secrets.token_hex(8)}"
        self.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; CREATE SCHEMA {place}; SET LOCAL search_path = {place}")
        self.execute(f"{_IIF} {_tables(schema)} {_rules(schema)}")

    def read_mark(self) -> str | None:
        """Return the comment that marks the version of this program's tables; None without tables or comment."""
        with self._explained(), _answering(self._raw):
            mark: str | None = self._raw.execute(_MARK).fetchone()[0]
            return mark

    def _commit(self) -> Rows:
        """Commit the transaction; if the server is lost meanwhile, find out whether the ledger's newest entry was kept.

        Raises:
            InDoubt: That cannot be found out.
        """
        written = self._raw.execute(NEWEST).fetchone()  # refused where a statement had failed
        cursor = self._raw.cursor()
        try:
            cursor.execute("COMMIT")
        except Exception as error:
            if not _lost(error):
                raise
            if written == self._newest or (kept := _is_kept(written)) is None:
                raise InDoubt(SERVER) from None
            if not kept:
                raise
        return cursor

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the server's error codes into messages of ours; let mistakes of this program pass.

        Raises:
            InputError: The package for PostgreSQL is not installed.
            BooksLost: The database is damaged, or its tables were changed.
            StoreFault: The server cannot be reached, or fails.
            psycopg.Error: This program made a mistake in its SQL.
        """
        try:
            import psycopg
        except ImportError:
            raise InputError(SERVER, "the package for PostgreSQL is not installed", "run make again") from None
        try:
            yield
        except psycopg.Error as error:
            state = error.sqlstate or ""
            if state in _SAID:
                raise StoreFault(SERVER, *_SAID[state]) from None
            if state in _DAMAGED:
                raise BooksLost("its database is damaged, or its tables were changed") from None
            if isinstance(error, psycopg.IntegrityError | psycopg.ProgrammingError):
                raise
            lost = _lost(error) and not isinstance(error, psycopg.DataError)
            raise StoreFault(SERVER, *(_NO_SERVER if lost else _FAILED)) from None


def _opened() -> Any:
    """Return an open connection, if possible one from the pool.

    A connection from the pool is not used if it was lost, leads to another address, or was opened
    by another process.

    Raises:
        InputError: The database is not in UTF-8.
        StoreFault: Other roles may create tables in its schema, or the search path puts other names
            before the server's own.
        psycopg.Error: The server cannot be reached.
    """
    import psycopg

    while _WAITING:
        (place, process), raw = _WAITING.pop()
        if process == os.getpid():  # a child may not use, nor close, its parent's
            with suppress(psycopg.Error):
                if place == address():
                    with _answering(raw, _SOON_SECONDS):
                        raw.execute("SELECT 1")
                    return raw
            raw.close()
    settings: Any = {"connect_timeout": 10, "tcp_user_timeout": 30_000, "application_name": "dpsynth", "client_encoding": "utf8"}
    settings |= {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
    raw = psycopg.connect(address(), autocommit=True, row_factory=_rows, prepare_threshold=None, **settings)
    if raw.info.parameter_status("server_encoding") != "UTF8":
        raw.close()
        raise InputError(SERVER, "its database is not in UTF-8", "name one that was made with ENCODING 'UTF8'")
    if raw.info.server_version >= 170_000:
        raw.execute("SET transaction_timeout = 0")
    ((own_first, others_make),) = raw.execute(_SETTINGS).set_result(-1).fetchall()
    if others_make or not own_first:
        raw.close()
        raise StoreFault(SERVER, *(_BEFORE_OURS if not own_first else _BY_OTHERS))
    return raw


@contextmanager
def _answering(raw: Any, seconds: float | None = None) -> Iterator[None]:
    """End the connection if the body waits longer for the server, as for one that is frozen or behind a cut network.

    Args:
        raw: The connection of psycopg.
        seconds: The longest wait; None for `_SILENT_SECONDS`.
    """
    if os.getpid() not in _WATCHMEN:
        _WATCHMEN.add(os.getpid())
        threading.Thread(target=_watch, daemon=True).start()
    before = _WAITED_FOR.get(raw)
    _WAITED_FOR[raw] = time.monotonic() + (_SILENT_SECONDS if seconds is None else seconds)
    try:
        yield
    finally:
        if before is None:
            _WAITED_FOR.pop(raw, None)
        else:
            _WAITED_FOR[raw] = before


def _watch() -> None:
    """Shut the sockets of connections whose server is silent for too long; what waits for them then fails."""
    while True:
        time.sleep(0.5)
        for raw, due in list(_WAITED_FOR.items()):
            if time.monotonic() > due:
                with suppress(Exception), socket.socket(fileno=os.dup(raw.fileno())) as line:
                    line.shutdown(socket.SHUT_RDWR)


def _is_kept(written: _Row) -> bool | None:
    """Return whether the ledger has an entry whose writer lost the connection during the commit; None if that is unknown.

    The number of the transaction cannot be used: after a crash the server gives it to another
    transaction.

    Args:
        written: Number and hash of the entry.
    """
    try:
        with closing(_opened()) as other:
            other.execute(_WRITE)  # waits until that writer has ended
            found = other.execute("SELECT 1 FROM ledger WHERE number = %s AND hash = %s", written).fetchone()
    except Exception:  # noqa: BLE001 (it is not known)
        return None
    return found is not None


def _lost(error: Exception) -> bool:
    """Return whether an error means that the server is gone or ends the connection."""
    return (getattr(error, "sqlstate", None) or "")[:2] in ("", "08", "57")


class _Row(tuple[Any, ...]):
    """A row whose values are found by place or by name of the column."""

    places: Mapping[str, int]

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.places[key] if isinstance(key, str) else key)

    def keys(self) -> Iterable[str]:
        return self.places.keys()


def _rows(cursor: Any) -> Callable[[Sequence[Any]], _Row]:
    return type("Row", (_Row,), {"places": {column.name: place for place, column in enumerate(cursor.description or ())}})


def _marking(version: str | int) -> str:
    return f"COMMENT ON TABLE ledger IS 'dpsynth {version}'"


def _tables(schema: str) -> str:
    """Return the statements for tables, views and indices for PostgreSQL, from the schema for SQLite."""
    return _TRIGGER.sub("", schema).replace(" WITHOUT ROWID", "").replace(" INTEGER", " BIGINT").replace(" REAL", " DOUBLE PRECISION")


def _triggers(schema: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield (name, event, table, body of the function) for each rule in the schema for SQLite.

    PostgreSQL can also empty a table at once (TRUNCATE); a further rule refuses that where
    deletions are refused.
    """
    for name, event, table, stated, words in _TRIGGER.findall(schema):
        condition = re.sub(r"(rho (?:>|!=)) 0\b", r"\1 CAST(0 AS DOUBLE PRECISION)", stated)  # else an operator of others fits better
        refusal = f"IF {condition or 'true'} THEN RAISE EXCEPTION {words} USING ERRCODE = 'integrity_constraint_violation'; END IF;"
        body = f"BEGIN {refusal} RETURN {'OLD' if event == 'DELETE' else 'NEW'}; END"
        yield name, event, table, body
        if event == "DELETE" and not condition:
            yield f"{name}_at_once", "TRUNCATE", table, body


def _rules(schema: str) -> str:
    """Return SQL statements that create the rules' triggers, in place of former functions of the same names."""
    return f"{_HERE} " + " ".join(
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT {_BY_INDEX} AS $${body}$$;"
        f" CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH {'STATEMENT' if event == 'TRUNCATE' else 'ROW'}"
        f" EXECUTE FUNCTION {name}();"
        f" ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name};"
        for name, event, table, body in _triggers(schema)
    )


def _kept(parameters: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any] | Mapping[str, Any]:
    """Return the parameters with each NUL in a text replaced, because PostgreSQL cannot store it.

    A ledger entry with NUL is refused later, because it would read back differently.
    """
    if isinstance(parameters, Mapping):
        return dict(zip(parameters, _kept([*parameters.values()]), strict=True))
    return [value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in parameters]


@lru_cache
def _translated(sql: str) -> str:
    """Return a statement for SQLite with psycopg's parameter marks; "" for statements that only configure SQLite."""
    if sql.startswith("PRAGMA"):
        return _marking(stated[1]) if (stated := re.fullmatch(r"PRAGMA user_version = (\d+)", sql)) else ""
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", sql.replace("?", "%s")).replace(" NOT INDEXED", "")
