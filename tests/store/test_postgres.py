"""The store on a PostgreSQL server, where that differs from a file: who may be reached, what is lost on the way, what is put back."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dpsynth_core.cli.command_line import main
from dpsynth_core.cli.terminal import FAILED
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.conversions import rho_from
from dpsynth_core.store import auditing, balance, chain, charging, database, faults, jobs, ledger, projects, roles, verified_books
from dpsynth_core.store import postgres as store
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.database import transaction
from dpsynth_core.store.faults import BooksLost, InDoubt, StoreFault
from dpsynth_core.store.ledger_head import Head
from dpsynth_core.store.restoring import restore
from tests import postgres
from tests.patience import SECONDS
from tests.servers import ROOT
from tests.store.test_ledger import charge, reserve, touch
from tests.store.test_upgrading import FORMER


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> str:
    address = postgres.new_database()
    monkeypatch.setenv(faults.SERVER, address)
    return address


def ask(address: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(address, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


# The address


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("postgresql://studio:s3cr3t@db.example.org/studio", "contains a password"),
        ("postgresql://db.example.org/studio?password=s3cr3t", "more than a place"),
        ("sqlite:///data/s3cr3t.sqlite", "not the address of a PostgreSQL server"),
        ("s3cr3t", "not the address of a PostgreSQL server"),
        *((f"postgresql://{place}", "another machine") for place in (
            "db.example.org/s3cr3t", "u@db.example.org:5432/s3cr3t?sslmode=require", "10.0.0.7/s3cr3t", "[fd00::1]/s3cr3t",
            "near,db.example.org/s3cr3t", "/s3cr3t?service=far",
        )),
    ],
)  # fmt: skip
def test_an_address_that_is_none_or_has_a_password_is_refused_and_not_repeated(
    address: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(faults.SERVER, address)
    with pytest.raises(InputError, match=problem) as refused:
        chain.entries()
    assert refused.value.field == faults.SERVER
    assert "s3cr3t" not in str(refused.value)


def test_a_server_that_does_not_answer_is_a_fault_in_our_words(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(faults.SERVER, "postgresql://somebody@127.0.0.1:1/nowhere")
    monkeypatch.setenv("PGPASSWORD", "s3cr3t")
    with pytest.raises(StoreFault, match="does not answer, or does not let this program in") as refused:
        reserve("r1", 0.01)
    assert not any(word in str(refused.value) for word in ("somebody", "nowhere", "s3cr3t"))
    assert refused.value.__suppress_context__
    assert not list(home.glob("*.sqlite"))


def test_a_database_of_another_program_or_version_is_not_touched(server: str) -> None:
    ask(server, "CREATE TABLE ledger (theirs TEXT)")
    with pytest.raises(StoreFault, match="tables of another program"):
        reserve("r1", 0.01)
    ask(server, "COMMENT ON TABLE ledger IS 'dpsynth 99'")
    with pytest.raises(InputError, match="another version"):
        reserve("r1", 0.01)
    assert ask(server, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace") == [("ledger",)]


def test_an_empty_database_in_a_home_that_was_used_is_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as that of a home with SQLite whose administrator names a server: what was charged is not there."""
    reserve("r1", 0.01)
    export = chain.entries()
    monkeypatch.setenv(faults.SERVER, postgres.new_database())
    with pytest.raises(BooksLost, match="is missing or empty, but it was used before"):
        reserve("r2", 0.01)
    restore("local", "moved to the server", export)
    assert chain.entries()[: len(export)] == export
    monkeypatch.delenv(faults.SERVER)
    with pytest.raises(BooksLost, match="ends with entry 2, but there was an entry 3"):
        reserve("r2", 0.01)


@pytest.mark.parametrize("how", ["COMMIT", "ROLLBACK"])
def test_who_makes_the_tables_while_another_does_waits_and_finds_them(server: str, how: str) -> None:
    other = store.Connection()
    other.execute(f"BEGIN; SELECT pg_advisory_xact_lock({store._MAKING})")
    other.execute(f"{store._IIF} {store._tables(database.SCHEMA)} COMMENT ON TABLE ledger IS 'dpsynth {database.VERSION}'")
    with ThreadPoolExecutor() as threads:
        second = threads.submit(database.connect)
        while not ask(server, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"):
            pass
        other.execute(how)
        db = second.result(SECONDS)
    assert (database.damage(db) == "") == (how == "ROLLBACK"), "whose tables those are: the other's have no rules"


# The rules


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE ledger DISABLE TRIGGER ledger_is_never_changed",
        "ALTER TABLE ledger ENABLE REPLICA TRIGGER ledger_is_never_changed",
        "DROP TRIGGER ledger_is_never_changed ON ledger",
        "DROP FUNCTION ledger_is_never_changed() CASCADE",
        "CREATE OR REPLACE FUNCTION ledger_is_never_changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE OR REPLACE TRIGGER ledger_is_never_changed BEFORE UPDATE OF note ON ledger FOR EACH ROW"
        " EXECUTE FUNCTION ledger_is_never_changed(); ALTER TABLE ledger ENABLE ALWAYS TRIGGER ledger_is_never_changed",
        "CREATE TRIGGER another BEFORE INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION ledger_is_never_changed();"
        " ALTER TABLE ledger ENABLE ALWAYS TRIGGER another",
        "CREATE SCHEMA evil; CREATE TABLE evil.ledger (LIKE ledger);"
        " ALTER FUNCTION ledger_returns_only_what_was_not_touched() SET search_path = evil, public",
        "ALTER FUNCTION ledger_is_a_chain() RESET enable_seqscan",
        "ALTER FUNCTION ledger_is_a_chain() SECURITY DEFINER",
        "CREATE RULE nothing AS ON INSERT TO ledger DO INSTEAD NOTHING",
        "CREATE RULE more AS ON INSERT TO jobs DO ALSO DELETE FROM points",
        "ALTER TABLE ledger ENABLE ROW LEVEL SECURITY",
        "CREATE TABLE more () INHERITS (ledger)",
        "DROP INDEX ledger_of_run",
        "DROP INDEX ledger_of_run; CREATE INDEX ledger_of_run ON ledger (run) WHERE rho > 0.1",
        "DROP VIEW sweeps",
        "CREATE OR REPLACE VIEW sweeps AS SELECT * FROM jobs WHERE owner = 'ann'",
        "CREATE OR REPLACE FUNCTION iif(boolean, text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $2'",
    ],
)
def test_a_rule_that_is_not_in_force_stops_every_charge_until_it_is_restored(server: str, statement: str) -> None:
    reserve("r1", 0.01)
    ask(server, statement)
    with pytest.raises(BooksLost, match="rules of its database were changed"):
        reserve("r2", 0.01)
    assert "rules of its database were changed" in auditing.audit().problem
    restore("local", "somebody switched it off")
    assert not auditing.audit().problem
    reserve("r2", 0.01)
    with pytest.raises(postgres.REFUSED, match="append-only"), transaction() as db:
        db.execute("UPDATE ledger SET note = 'x'")


@pytest.mark.parametrize(
    "change",
    [
        "ledger DROP COLUMN note",
        "ledger ALTER rho TYPE text",
        "ledger ADD more text",
        "ledger ALTER note DROP NOT NULL",
        "ledger DROP CONSTRAINT ledger_pkey",
        "ledger DROP CONSTRAINT ledger_kind_check",
        "ledger SET UNLOGGED",
        "points ALTER attempts SET DEFAULT 7",
        "points DROP CONSTRAINT points_job_fkey",
    ],
)
def test_a_table_that_was_changed_can_only_be_put_back(server: str, change: str) -> None:
    """The program sets no database of a server aside: its owner names another."""
    reserve("r1", 0.01)
    ask(server, f"ALTER TABLE {change}")
    with pytest.raises(BooksLost, match=r"tables were changed|tables or rules of its database were changed|not an entry"):
        reserve("r2", 0.01)
    with pytest.raises(StoreFault, match="put the newest dump back into an empty database"):
        restore("local", "somebody changed a table")
    assert ask(server, "SELECT COUNT(*) FROM ledger") == [(2,)]


def test_tables_of_others_beside_ours_do_not_matter(server: str) -> None:
    reserve("r1", 0.01)
    ask(server, "CREATE TABLE theirs (a text); CREATE VIEW seen AS SELECT number FROM ledger; CREATE FUNCTION f() RETURNS int RETURN 1")
    reserve("r2", 0.01)
    assert not auditing.audit().problem
    assert ask(server, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'aside%'") == [], "what is compared with is gone"


@pytest.mark.parametrize("index", ["ledger_pkey", "ledger_of_run"])
def test_an_index_that_lacks_entries_is_noticed_by_a_full_check_and_made_anew(server: str, index: str) -> None:
    """Rules search it, and would not find the charge of r2."""
    reserve("r1", 0.01)
    ready = f"UPDATE pg_index SET indisready = %s WHERE indexrelid = '{index}'::regclass"
    ask(server, ready % "false")
    with psycopg.connect(server, autocommit=True) as other:
        other.execute("ALTER TABLE ledger DISABLE TRIGGER USER")
        last = chain.entries()[-1]
        other.execute(chain.INSERT.replace("?", "%s"), tuple(vars(chain.linked(replace(last, run="r2"), Head(2, last.hash))).values()))
        other.execute(ready % "true")
        for name, *_ in store._triggers(database.SCHEMA):
            if name.startswith("ledger"):
                other.execute(f"ALTER TABLE ledger ENABLE ALWAYS TRIGGER {name}")
    assert auditing.audit().problem == "its database is damaged"
    with pytest.raises(BooksLost, match="is damaged"):
        reserve("r3", 0.01)
    restore("local", "an index lacked entries")
    assert not auditing.audit().problem
    assert {entry.run for entry in chain.entries()} == {"", "r1", "r2"}
    reserve("r3", 0.01)


@pytest.mark.usefixtures("server")
def test_rules_read_no_whole_table() -> None:
    """Without statistics of the ledger too, as in a database that was just put back."""
    reserve("r1", 0.01)
    scans = "SELECT pg_stat_get_xact_numscans('ledger'::regclass)"
    with transaction() as db:
        (before,) = db.execute(scans).fetchone()
        reserved = chain.entries_in(db)[-1]
        (one_more,) = db.execute(scans).fetchone()
        for entry in (replace(reserved, run="r2"), replace(reserved, kind="touch", rho=0.0), replace(reserved, run="r3")):
            chain.insert(db, chain.linked(entry, database.head_of(db)))
        assert db.execute(scans).fetchone()[0] == one_more
    assert one_more == before + 1, "what is read in one pass is counted"


@pytest.mark.usefixtures("server")
def test_the_look_at_indices_leaves_the_session_as_it_was() -> None:
    reserve("r1", 0.01)
    with database.reading() as db:
        before = db.execute("SELECT name, setting FROM pg_settings WHERE name LIKE 'enable%scan' ORDER BY name").fetchall()
        assert database.damage(db) == ""
        assert db.execute("SELECT name, setting FROM pg_settings WHERE name LIKE 'enable%scan' ORDER BY name").fetchall() == before


def became(server: str, version: int) -> None:
    """The database as a version before this one made it."""
    now, then, without = FORMER[version]
    (kinds,) = re.findall(r"CHECK \(kind IN \('population'.*?\)\)", database.SCHEMA, flags=re.DOTALL)
    assert now in kinds
    ask(server, "ALTER TABLE ledger DROP CONSTRAINT ledger_kind_check")
    ask(server, f"ALTER TABLE ledger ADD CONSTRAINT ledger_kind_check {kinds.replace(now, then)}")
    ask(server, "DROP INDEX ledger_of_run; CREATE INDEX ledger_of_run ON ledger (run)")
    for table in without:
        ask(server, f"DROP TABLE {table}")
    for name, *_ in store._triggers(database.SCHEMA):
        ask(server, f"ALTER FUNCTION {name}() RESET enable_seqscan")
        for scan in ("indexscan", "indexonlyscan", "bitmapscan"):
            ask(server, f"ALTER FUNCTION {name}() SET enable_{scan} = off")
    ask(server, f"COMMENT ON TABLE ledger IS 'dpsynth {version}'")


@pytest.mark.parametrize("version", FORMER)
def test_a_database_of_a_version_before_is_taken_over_with_all_its_entries(server: str, version: int) -> None:
    reserve("r1", 0.01)
    touch("r1")
    project, before = projects.create("ann", "census").id, chain.entries()
    became(server, version)
    program = "from dpsynth_core.store import verified_books as v; assert v.verify().ok; assert v.verify().head.number == 3"
    command = [sys.executable, "-c", program]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert chain.entries() == before
    with database.reading() as db:
        assert database.parts(db) == database.schema()
    assert projects.load("ann", project).name == "census"
    reserve("r2", 0.01)
    assert ask(server, "SELECT obj_description('ledger'::regclass)") == [(f"dpsynth {database.VERSION}",)]
    with pytest.raises(postgres.REFUSED, match="append-only"), transaction() as db:
        db.execute("DELETE FROM ledger")


@pytest.mark.parametrize("change", ["DISABLE TRIGGER ledger_is_never_changed", "DROP CONSTRAINT ledger_pkey", "ADD more text"])
def test_what_was_changed_before_is_not_made_good_unseen(server: str, change: str) -> None:
    reserve("r1", 0.01)
    became(server, 5)
    ask(server, f"ALTER TABLE ledger {change}")
    with pytest.raises(BooksLost, match="were changed"):
        chain.entries()
    assert ask(server, "SELECT obj_description('ledger'::regclass)") == [("dpsynth 5",)]


@pytest.mark.parametrize("first", ["", "SET session_replication_role = replica;", "SET search_path = pg_catalog;"])
@pytest.mark.parametrize("act", ["TRUNCATE public.ledger", "DELETE FROM public.ledger", "UPDATE public.ledger SET rho = 0"])
def test_history_stays_whatever_a_session_is_set_to(server: str, first: str, act: str) -> None:
    """The first setting switches ordinary triggers off, the second hides tables from them."""
    reserve("r1", 0.01)
    with pytest.raises(postgres.REFUSED, match="append-only"):
        ask(server, first + act)
    assert not auditing.audit().problem


@pytest.mark.usefixtures("server")
def test_a_text_that_postgresql_cannot_keep_is_kept_without_that_or_refused() -> None:
    roles.greet("ann", "A\0nn", [roles.Role.CURATOR], "2026-11-23T22:48:30.000+00:00")
    assert roles.names() == {"ann": "A\ufffdnn"}
    with pytest.raises(TypeError, match="must read as it was written"), transaction() as db:
        verified_books.add(db, Entry("ann", "look", note="of a\0b"))
    assert chain.entries() == ()


def test_the_role_that_compose_makes_is_no_superuser_and_needs_to_be_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The statements of role.sql, given to psql as its image does: then the program makes, charges, takes over and restores."""
    password = tmp_path / "password"
    password.write_text("it's $(a) secret\n")
    tmp_path.chmod(0o755)
    made = (ROOT / "role.sql").read_text(encoding="utf-8").replace("/run/secrets/database_password", str(password))
    with postgres.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS studio")
        connection.execute("DROP ROLE IF EXISTS studio")
    postgres.tool("psql", postgres.address(), "\\set ON_ERROR_STOP 1\n" + made)
    server = postgres.address().rpartition("/")[0].replace("tester@", "studio@") + "/studio"
    monkeypatch.setenv(faults.SERVER, server)
    rights = ask(server, "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles WHERE rolname = current_user")
    assert rights == [(False,) * 4]
    with postgres.connect() as connection:
        ((kept,),) = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = 'studio'").fetchall()
    assert is_of("it's $(a) secret", kept), "the file's line without its end"
    reserve("r1", 0.01)
    became(server, 5)
    touch("r1")
    ask(server, "ALTER TABLE ledger DISABLE TRIGGER ledger_is_never_changed")
    with pytest.raises(BooksLost, match="were changed"):
        reserve("r2", 0.01)
    restore("local", "somebody switched it off")
    reserve("r2", 0.01)
    assert not auditing.audit().problem


def is_of(password: str, kept: str) -> bool:
    """Whether PostgreSQL keeps this password so (SCRAM-SHA-256, RFC 5803)."""
    iterations, salt, stored = re.fullmatch(r"SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):.+", kept).groups()  # type: ignore[union-attr]
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(iterations))
    return hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest() == base64.b64decode(stored)


# What role and database are set to


@pytest.mark.parametrize(
    "setting",
    ["extra_float_digits = 0", "statement_timeout = 1", "row_security = on", "quote_all_identifiers = on", "DateStyle = 'German'"],
)
def test_what_is_set_for_the_database_changes_nothing_that_is_read(server: str, setting: str) -> None:
    reserve("r1", 1 / 3)
    ask(server, f"ALTER DATABASE {server.rpartition('/')[2]} SET {setting}")
    for _, waiting in store._WAITING:
        waiting.close()  # the next connection is a new one
    assert next(entry.rho for entry in chain.entries() if entry.kind == "reserve") == 1 / 3
    reserve("r2", 0.01)
    assert not auditing.audit().problem


def test_a_search_path_without_a_schema_is_said(server: str, home: Path) -> None:
    ask(server, f"ALTER DATABASE {server.rpartition('/')[2]} SET search_path = ''")
    with pytest.raises(StoreFault, match="search_path names no schema"):
        reserve("r1", 0.01)
    assert not (home / "ledger.head").exists()


def test_no_table_stands_for_the_servers_catalogue(server: str) -> None:
    """A copy of it from before would hide that a rule is off."""
    reserve("r1", 0.01)
    ask(server, "CREATE TABLE public.pg_trigger AS SELECT *, oid AS more FROM pg_catalog.pg_trigger")
    ask(server, "ALTER TABLE ledger DISABLE TRIGGER ledger_is_never_changed")
    ask(server, f"ALTER DATABASE {server.rpartition('/')[2]} SET search_path = public, pg_catalog")
    for _, waiting in store._WAITING:
        waiting.close()
    with pytest.raises(StoreFault, match="puts other names before the server's own"):
        reserve("r2", 0.01)
    ask(server, f"ALTER DATABASE {server.rpartition('/')[2]} RESET search_path")
    with pytest.raises(BooksLost, match="were changed"):
        reserve("r2", 0.01)


def test_a_schema_in_which_others_may_create_is_refused(server: str) -> None:
    """As PostgreSQL 13 and 14 have it, until their administrator says otherwise."""
    ask(server, "GRANT CREATE ON SCHEMA public TO PUBLIC")
    with pytest.raises(StoreFault, match="others may create in its schema"):
        reserve("r1", 0.01)
    assert ask(server, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace") == []
    ask(server, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    reserve("r1", 0.01)


def test_no_operator_of_others_answers_for_a_rule(server: str) -> None:
    """It would fit better than the server's own, and act as who writes."""
    reserve("r1", 0.01)
    for sign in (">", "<>"):
        name, body = f"f{ord(sign[0])}", "BEGIN RAISE division_by_zero; END"
        ask(server, f"CREATE FUNCTION {name}(float8, integer) RETURNS boolean LANGUAGE plpgsql AS '{body}'")
        ask(server, f"CREATE OPERATOR public.{sign} (LEFTARG = float8, RIGHTARG = integer, FUNCTION = {name})")
    reserve("r2", 0.01)
    touch("r2")
    assert not auditing.audit().problem


def test_a_view_of_others_that_hangs_on_ours_is_named_where_it_is_in_the_way(server: str) -> None:
    reserve("r1", 0.01)
    ask(server, "CREATE VIEW theirs AS SELECT id FROM runs; ALTER TABLE ledger DISABLE TRIGGER ledger_is_never_changed")
    with pytest.raises(StoreFault, match="another program hangs on its tables"):
        restore("local", "somebody switched it off")
    ask(server, "DROP VIEW theirs")
    restore("local", "somebody switched it off")
    assert not auditing.audit().problem


def test_a_database_that_cannot_keep_every_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    place = postgres.new_database("ENCODING 'LATIN1'")
    monkeypatch.setenv(faults.SERVER, place)
    with pytest.raises(InputError, match="not in UTF-8"):
        reserve("r1", 0.01)
    assert ask(place, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace") == []


@pytest.mark.usefixtures("server")
def test_what_the_server_cannot_do_with_a_value_is_said_without_the_value() -> None:
    with pytest.raises(StoreFault, match="could not do what was asked") as refused, transaction() as db:
        db.execute("SELECT CAST(? AS BIGINT)", ["s3cr3t"])
    assert "s3cr3t" not in str(refused.value)
    assert refused.value.__suppress_context__


# Lost on the way


@pytest.mark.usefixtures("server")
def test_a_connection_that_is_lost_before_the_commit_charges_nothing() -> None:
    reserve("r1", 0.01)

    def charge_more() -> None:
        with transaction() as db:
            ledger.reserve(db, "ann", charge("r2", 0.01))
            postgres.end_all()

    with pytest.raises(StoreFault) as refused:
        charge_more()
    assert not isinstance(refused.value, InDoubt)
    assert len(chain.entries()) == 2
    reserve("r2", 0.01)  # a connection that waited and was lost is replaced


def losing(monkeypatch: pytest.MonkeyPatch, answer: str, back: bool) -> None:
    """The next commit's connection is lost before the server has it ("aborted"), or right after. back: whether the server answers then."""
    raw, opened = psycopg.Cursor.execute, store._opened

    def execute(self: Any, sql: Any, *given: Any, **more: Any) -> Any:
        if sql != "COMMIT":
            return raw(self, sql, *given, **more)
        monkeypatch.setattr(psycopg.Cursor, "execute", raw)
        if answer == "committed":
            raw(self, sql)
        postgres.end_all()
        if not back:
            monkeypatch.setattr(store, "_opened", unreachable)
        return raw(self, sql)

    def unreachable() -> Any:
        monkeypatch.setattr(store, "_opened", opened)
        raise psycopg.OperationalError

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(("answer", "back"), [("committed", True), ("aborted", True), ("committed", False), ("aborted", False)])
def test_a_commit_whose_answer_is_lost_is_charged_or_refused_and_never_said_to_be_free(
    answer: str, back: bool, make_spec: Callable[..., Spec], monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve("first", 0.001)
    ran: list[str] = []

    def execute(run: str, touching: Callable[[], None]) -> None:
        touching()
        ran.append(run)

    expected: AbstractContextManager[Any] = nullcontext() if (answer, back) == ("committed", True) else pytest.raises(StoreFault)
    losing(monkeypatch, answer, back)
    with expected as refused:
        charging.charged(Plan.of(make_spec()), execute, print, print)
    charged = {entry.run for entry in chain.entries() if entry.kind == "reserve"} - {"first"}
    assert len(charged) == (answer == "committed")
    assert set(ran) == (charged if back else set())
    if refused is not None:
        assert ("not known" in refused.value.problem) == (not back)
        assert ("nothing charged" in refused.value.remedy) == back
    assert not auditing.audit().problem


@pytest.mark.usefixtures("server")
def test_an_entry_that_a_crash_lost_is_not_taken_for_kept_by_the_number_of_its_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server gives that number to the next transaction, and would say that it was committed."""
    reserve("first", 0.001)
    raw, statuses = psycopg.Cursor.execute, list[str]()

    def execute(self: Any, sql: Any, *given: Any, **more: Any) -> Any:
        if sql != "COMMIT":
            return raw(self, sql, *given, **more)
        monkeypatch.setattr(psycopg.Cursor, "execute", raw)
        number = raw(self, "SELECT pg_current_xact_id()::text").fetchone()[0]
        postgres.crash()
        with postgres.connect() as other:
            for _ in range(3):
                other.execute("SELECT pg_current_xact_id()")
            statuses.append(other.execute("SELECT pg_xact_status(%s::xid8)", [number]).fetchone()[0])
        return raw(self, sql)

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)
    with pytest.raises(StoreFault) as refused:
        reserve("lost", 0.001)
    assert not isinstance(refused.value, InDoubt)
    assert [entry.run for entry in chain.entries()] == ["", "first"]
    assert not auditing.audit().problem
    if statuses == ["aborted"]:
        pytest.skip("the server had written the number down before it crashed, and gave it to nobody")
    assert statuses == ["committed"]


@pytest.mark.usefixtures("server")
def test_a_lost_commit_that_wrote_no_entry_is_not_known_to_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    reserve("first", 0.001)
    losing(monkeypatch, "committed", True)
    with pytest.raises(InDoubt):
        projects.create("ann", "census")


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("answer", ["committed", "aborted"])
def test_the_command_line_does_not_end_as_if_a_doubtful_charge_were_none(
    answer: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reserve("first", 0.001)
    (tmp_path / "domain.json").write_text('{"a": 2, "b": 3, "c": 4}')
    touching = jobs.touch

    def touch(run: str) -> None:
        losing(monkeypatch, answer, False)
        touching(run)

    monkeypatch.setattr(jobs, "touch", touch)
    files = [str(table), "--domain", str(tmp_path / "domain.json"), "--out", str(tmp_path / "release")]
    assert main(["synthesize", *files, "--epsilon", "0.1", "--population", "people", "--mechanism", "independent"]) == FAILED
    said = capsys.readouterr().err
    assert "not known whether that was kept" in said
    assert "what was charged stays charged" in said
    assert ("touch" in {entry.kind for entry in chain.entries()}) == (answer == "committed")


RACER = """
import json, sys
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.store import accounts, faults, ledger
from dpsynth_core.store.database import transaction
ends = {"won": [], "refused": [], "in doubt": [], "beyond": []}
for i in range(10_000):
    if i >= 40 and ends["refused"]:
        break
    how, run = "won", f"{sys.argv[1]}-{i}"
    try:
        with transaction() as db:
            ledger.reserve(db, "local", ledger.Charge("people", run, "d", UnitSpec(), float(sys.argv[2]), 1.0, 1e-9, "f"))
    except faults.StoreFault as error:
        how = "in doubt" if isinstance(error, faults.InDoubt) else "refused"
    except accounts.CapExceeded:
        how = "beyond"
    ends[how].append(run)
print(json.dumps(ends))
"""


@pytest.mark.slow  # processes that start, and race
@pytest.mark.usefixtures("server")
def test_processes_that_race_while_the_server_ends_connections_know_what_is_charged() -> None:
    """Whatever the moments are: who was told that it is charged is, who was told that nothing was is not."""
    rho = math.nextafter(rho_from(10.0, 1e-9) / 50, 0.0)
    command = [sys.executable, "-c", RACER]
    racers = [subprocess.Popen([*command, str(i), str(rho)], stdout=subprocess.PIPE, text=True) for i in range(3)]
    while any(racer.poll() is None for racer in racers):
        time.sleep(0.05)
        postgres.end_all()
    ends = [json.loads(racer.communicate()[0]) for racer in racers]
    charged = {entry.run for entry in chain.entries() if entry.kind == "reserve"}
    won, doubted = ({run for end in ends for run in end[how]} for how in ("won", "in doubt"))
    assert won <= charged <= won | doubted
    assert sum(len(end["refused"]) for end in ends) > 0, "no connection was ended while it was used"
    assert len(charged) <= 50
    assert verified_books.verify().ok


def test_who_waits_for_a_lock_too_long_is_refused(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reserve("r1", 0.01)
    monkeypatch.setitem(store._SAYS, "BEGIN IMMEDIATE", store._WRITE.replace("30s", "100ms"))
    with psycopg.connect(server) as other:
        other.execute("LOCK TABLE ledger IN SHARE ROW EXCLUSIVE MODE")
        with pytest.raises(StoreFault, match="another program holds"):
            reserve("r2", 0.01)
    assert len(chain.entries()) == 2


@pytest.mark.usefixtures("server")
def test_readers_wait_for_nobody() -> None:
    reserve("r1", 0.01)
    with transaction():
        reader = threading.Thread(target=chain.entries, daemon=True)
        reader.start()
        reader.join(SECONDS)
        assert not reader.is_alive()


@pytest.mark.usefixtures("server")
def test_a_child_process_does_not_use_its_parents_connection() -> None:
    reserve("r1", 0.01)
    program = "import os; from dpsynth_core.store import chain; chain.entries(); os._exit(0 if os.fork() == 0 and chain.entries() else 0)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=SECONDS)
    assert len(chain.entries()) == 2


# Put back


def test_a_dump_that_is_put_back_is_noticed_and_cannot_undo_a_charge(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With pg_dump and psql, as an administrator does it."""
    reserve("r1", 0.01)
    project = projects.create("ann", "census").id
    dump = postgres.tool("pg_dump", server)
    reserve("r2", 0.02)
    touch("r2")
    export, spent = chain.entries(), balance.spent("people").rho
    monkeypatch.setenv(faults.SERVER, newer := postgres.new_database())
    postgres.tool("psql", newer, dump)
    assert projects.load("ann", project).name == "census"
    assert "ends with entry 2, but there was an entry 4" in auditing.audit().problem
    with pytest.raises(BooksLost, match="there was an entry 4"):
        reserve("r3", 0.01)
    restore("local", "the disk of the server failed", export)
    assert balance.spent("people").rho == spent
    assert [entry.kind for entry in chain.entries()][-2:] == ["touch", "restore"]
    reserve("r3", 0.01)
    with database.reading() as db:
        assert database.damage(db) == ""


@pytest.mark.usefixtures("server")
def test_a_server_that_says_nothing_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process is stopped, as behind a cut network: neither an answer nor the end of the connection comes."""
    reserve("r1", 0.01)
    monkeypatch.setattr(store, "_SILENT_SECONDS", 1.0)
    monkeypatch.setattr(store, "_SOON_SECONDS", 1.0)
    with frozen(), pytest.raises(StoreFault, match="does not answer"), database.reading() as db, frozen(db):
        db.execute("SELECT 1")
    with frozen():
        reserve("r2", 0.01)  # by another connection than the one that was kept
    assert [entry.run for entry in chain.entries()] == ["", "r1", "r2"]


@contextmanager
def frozen(db: Any = None) -> Iterator[None]:
    """Stop the server's process of a connection, by default of the one that is kept for later use, until the end of the block."""
    with nullcontext(db) if db else database.reading() as asked:
        (backend,) = asked.execute("SELECT pg_backend_pid()").fetchone()
    os.kill(backend, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(backend, signal.SIGCONT)


@pytest.mark.usefixtures("server")
def test_statements_locks_and_pauses_have_limits() -> None:
    limits = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    with database.reading() as db:
        assert [db.execute(f"SHOW {name}").fetchone()[0] for name in limits] == ["90s", "30s", "10min"]
