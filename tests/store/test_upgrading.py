"""A database of the version before is taken over as it is, every entry and hash; not where its rules were changed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dpsynth_core.store import balance, chain, database, ledger, upgrading, verified_books
from dpsynth_core.store.faults import BooksLost
from tests.refusals import refused
from tests.store.test_ledger import reserve, touch

OFFICE = "'restore',\n        'demand', 'rules', 'approve plan', 'approve release', "
KINDS = "'look', 'download', 'delete', 'token', 'revoke',\n        'share', 'retention'))"
FORMER = {
    2: (f"{OFFICE}{KINDS}", "'restore'))", ("people", "tokens", "needs", "shares", "offers")),
    3: (KINDS, "'look', 'download', 'delete', 'token', 'revoke'))", ("needs", "shares", "offers")),
    4: (KINDS, "'look', 'download', 'delete', 'token', 'revoke'))", ("shares", "offers")),
    5: (KINDS, KINDS, ("offers",)),
    6: (KINDS, KINDS, ()),
}
"""Of each version: what it wrote otherwise of the ledger, how, and which tables it had not."""


@pytest.fixture(params=FORMER)
def former(home: Path, request: pytest.FixtureRequest) -> Path:
    """The file of a home with four entries, as a former version wrote it."""
    now, then, without = FORMER[request.param]
    ledger.open_population("local", "people", (3.0, 1e-9))
    reserve("r1", 0.01)
    touch("r1")
    ledger.change_cap("local", "people", (4.0, 1e-9), "the board allowed more")
    path, entries = home / database.DATABASE, chain.entries()
    for file in [path, *database.beside(path)]:
        file.unlink(missing_ok=True)
    parts = sorted(database.schema(), key=lambda part: part[0] != "table")
    with closing(sqlite3.connect(path)) as db:
        for kind, name, _, text, _ in parts:
            if name not in without and kind == "table":
                assert name != "ledger" or now in text
                db.execute(text.replace(now, then))
        marks = ", ".join("?" for _ in chain.COLUMNS.split(", "))
        db.executemany(f"INSERT INTO ledger ({chain.COLUMNS}) VALUES ({marks})", [tuple(vars(entry).values()) for entry in entries])
        for kind, _, _, text, _ in parts:
            if kind != "table":
                db.execute(text.replace("(run, kind)", "(run)"))
        db.execute(f"PRAGMA user_version = {request.param}")
        db.commit()
    return path


def test_entries_hashes_and_sums_stay_and_the_new_rules_are_in_force(former: Path) -> None:
    with closing(sqlite3.connect(former)) as db:
        before = db.execute(f"SELECT {chain.COLUMNS} FROM ledger ORDER BY number").fetchall()
    assert verified_books.verify().ok
    assert [tuple(vars(entry).values()) for entry in chain.entries()] == before
    assert (balance.spent("people").cap_epsilon, balance.spent("people").releases) == (4.0, 1)
    with database.reading() as db:
        assert database.parts(db) == database.schema()
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), database.transaction() as db:
        db.execute("DELETE FROM ledger")
    reserve("r2", 0.01)


@pytest.mark.parametrize("name", ["ledger_is_never_changed", "ledger_reserves_something"])
def test_rules_that_were_changed_before_are_not_made_good_unseen(former: Path, name: str) -> None:
    with closing(sqlite3.connect(former)) as db:
        db.execute(f"DROP TRIGGER {name}")
        db.commit()
    refused(chain.entries, kind=BooksLost, saying=name)
    with closing(sqlite3.connect(former)) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] in FORMER


def test_an_entry_that_was_altered_before_is_noticed_afterwards(former: Path) -> None:
    with closing(sqlite3.connect(former)) as db:
        text = db.execute("SELECT sql FROM sqlite_master WHERE name = 'ledger_is_never_changed'").fetchone()[0]
        db.execute("DROP TRIGGER ledger_is_never_changed")
        db.execute("UPDATE ledger SET rho = 0.001 WHERE number = 2")
        db.execute(text)
        db.commit()
    assert verified_books.verify().problem == "entry 2 was altered"


def test_two_processes_that_come_at_once_upgrade_it_once(former: Path) -> None:
    program = "from dpsynth_core.store import verified_books as v; assert v.verify().ok; assert v.verify().head.number == 4"
    command = [sys.executable, "-c", program]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert former.exists()


def test_a_step_that_fails_leaves_the_database_as_it_was(former: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    step = upgrading._step
    with monkeypatch.context() as patched:
        patched.setattr(upgrading, "_step", lambda *given: (step(*given), fail()))
        with pytest.raises(OSError, match="full"):
            chain.entries()
    with closing(sqlite3.connect(former)) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] in FORMER
        assert db.execute("SELECT COUNT(*) FROM ledger").fetchone()[0] == 4
    assert verified_books.verify().ok
