"""A full disk, a home that cannot be written and a locked database are said so, and then nothing was charged."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.foundation import private_files
from dpsynth_core.foundation.errors import ChargedError, InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import auditing, balance, chain, charging, database, ledger_head, projects, verified_books
from dpsynth_core.store.faults import FIELD, StoreFault
from tests.refusals import refused
from tests.store.test_ledger import reserve

Make = Callable[..., Spec]
Fault = Callable[[pytest.MonkeyPatch], AbstractContextManager[None]]


def pragma(patch: pytest.MonkeyPatch, statement: str) -> None:
    """What every connection to the database begins with."""
    connect = database._open

    def opened(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute(f"PRAGMA {statement}")
        return connection

    patch.setattr(database, "_open", opened)


@contextmanager
def fill_up(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Databases cannot grow, which SQLite reports as it does a full disk: it takes the present number of pages for this one."""
    pragma(patch, "max_page_count = 1")
    yield


@contextmanager
def read_only(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing may be written to the database."""
    pragma(patch, "query_only = ON")
    yield


@contextmanager
def locked(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another program is in the middle of a write."""
    patch.setattr(database, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(database.home() / database.DATABASE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def no_room_for_the_head(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """The database still has room, the file beside it has not."""

    def full(*_: object) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    patch.setattr(ledger_head, "private_file", full)
    yield


FAULTS = [(fill_up, "full"), (read_only, "cannot be written"), (locked, "locked"), (no_room_for_the_head, "full")]


@pytest.mark.parametrize(("fault", "word"), FAULTS, ids=lambda value: getattr(value, "__name__", None))
def test_a_store_that_cannot_be_written_says_why_and_charges_nothing(monkeypatch: pytest.MonkeyPatch, fault: Fault, word: str) -> None:
    reserve("r1", 0.001)
    with monkeypatch.context() as patch, fault(patch):
        made, refused = charge_until_refused()
        assert chain.entries()[-1].run == (f"late {made - 1}" if made else "r1")
    assert word in refused.problem
    assert refused.field == FIELD
    assert len(chain.entries()) == 2 + made
    assert verified_books.verify().ok
    reserve("after", 0.001)


def charge_until_refused() -> tuple[int, StoreFault]:
    """How many charges there was room for, and what was said to the next one."""
    for number in range(100):
        try:
            reserve(f"late {number}", 0.001)
        except StoreFault as error:
            return number, error
    raise AssertionError("nothing was refused")


def test_a_directory_that_cannot_be_made_is_named(home: Path) -> None:
    home.write_text("a file is in the way")
    refused(projects.list, "ann", saying=FIELD)


def test_a_mistake_in_our_own_sql_is_not_called_a_fault_of_the_disk() -> None:
    with pytest.raises(sqlite3.OperationalError), database.transaction() as db:
        db.execute("SELECT nonsense")
    with pytest.raises(FileNotFoundError), database.transaction():
        Path("/nowhere/at/all").read_bytes()


def never(*_: object) -> None:
    raise AssertionError("nothing may be read")


def test_the_command_line_says_that_nothing_was_charged(make_spec: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    reserve("r1", 0.001)
    with read_only(monkeypatch), pytest.raises(StoreFault, match="nothing was read and nothing charged"):
        charging.charged(Plan.of(make_spec()), never, lambda _: None, lambda _: None)


def test_where_the_reservation_cannot_be_returned_it_is_said_to_stand(make_spec: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    until_the_end = ExitStack()

    def fails(*_: object) -> None:
        until_the_end.enter_context(read_only(monkeypatch))
        raise InputError("data", "it is gone", "find it")

    with until_the_end, pytest.raises(ChargedError, match="it is gone, and the reserved budget could not be given back"):
        charging.charged(Plan.of(make_spec()), fails, lambda _: None, lambda _: None)


def test_a_full_disk_at_the_last_moment_keeps_the_charge_and_says_nothing_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database has committed when the head's file cannot appear: the charge stands, and the file names an earlier entry."""
    reserve("r1", 0.001)

    replace = Path.replace

    def full(path: Path, target: Path) -> Path:
        if path.suffix == ".next":
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(path, target)

    before = ledger_head.read()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        reserve("r2", 0.001)
        assert ledger_head.read() == before
    assert verified_books.verify().ok
    reserve("r3", 0.001)
    assert balance.spent("people").releases == 3
    with closing(sqlite3.connect(database.home() / database.DATABASE)) as db:
        assert db.execute("SELECT COUNT(*) FROM ledger").fetchone() == (4,)


def test_a_new_database_is_whole_where_sqlite_cannot_copy_its_log_into_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full by then: SQLite says nothing of it when a database is closed."""
    home.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(database, "closing", nullcontext)
        database.make()
    assert [path.name for path in home.iterdir()] == ["dpsynth.sqlite"]
    reserve("r1", 0.001)
    assert verified_books.verify().ok


def test_a_database_that_could_not_be_made_leaves_nothing_behind(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        pragma(patch, "max_page_count = 5")
        refused(reserve, "r1", 0.001, kind=StoreFault, saying="full")
    assert list(home.iterdir()) == []
    reserve("r1", 0.001)


@pytest.mark.parametrize("many", [1, 8])
def test_a_home_that_can_only_be_read_is_checked_and_takes_no_charge(home: Path, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An auditor's copy: without and with a checkpoint."""
    monkeypatch.setattr(verified_books, "EVERY", 4)
    for number in range(many):
        reserve(f"r{number}", 0.01)
    before = {path.name: path.read_bytes() for path in home.iterdir()}

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patched:
        patched.setattr(database.os, "access", lambda *_: False)
        patched.setattr(private_files.os, "open", read_only)
        audit = auditing.audit()
        assert audit.problem == ""
        assert len(audit.entries) == many + 1
        assert balance.spent("people").releases == many
        refused(reserve, "more", 0.01, kind=StoreFault, saying="cannot be written")
    assert {path.name: path.read_bytes() for path in home.iterdir()} == before
