"""Ledgers that former versions wrote, kept as text: each is read with all its charges, or refused as what it is and left unchanged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dpsynth_core.cli.command_line import main
from dpsynth_core.store import balance, chain, database, verified_books
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.restoring import restore
from tests.refusals import refused
from tests.store.test_ledger import reserve

KEPT = Path(__file__).with_name("kept")
READ = ("256e7ab", "37a72016", "89aee0b7")
"""Commits of 23, 26 and 30 November 2026, with versions 2, 6 and 6 of the tables; each home has a run that touched records."""
REFUSED = "2ab6137"
"""A commit of 21 November 2026. Its tables have version 4 of a count that began anew later."""


def put(home: Path, commit: str) -> Path:
    home.mkdir(exist_ok=True)
    with closing(sqlite3.connect(home / database.DATABASE)) as db:
        db.executescript((KEPT / f"{commit}.sql").read_text(encoding="utf-8"))
    if (head := KEPT / f"{commit}.head").exists():
        (home / "ledger.head").write_bytes(head.read_bytes())
    (home / "fingerprint.key").write_bytes(b"k" * 32)
    return home / database.DATABASE


@pytest.mark.parametrize("commit", READ)
def test_a_former_home_is_read_with_all_its_charges(home: Path, commit: str) -> None:
    put(home, commit)
    assert verified_books.verify().ok
    spent = balance.spent("people")
    assert (spent.cap_epsilon, spent.releases, spent.rho) == (4.0, 1, 0.01)
    reserve("next", 0.01)
    assert balance.spent("people").releases == 2
    assert [entry.kind for entry in chain.entries()] == ["population", "reserve", "reserve", "touch", "return", "cap", "reserve"]


def test_an_older_home_is_told_apart_from_damage_and_no_remedy_forgets_its_charges(home: Path) -> None:
    path = put(home, REFUSED)
    before = path.read_bytes()
    for attempt in (chain.entries, lambda: reserve("next", 0.01), lambda: restore("local", "the board knows of this directory")):
        error = refused(attempt, saying="of a version before 22 November 2026")
        assert not isinstance(error, BooksLost)
        assert "ledger restore" not in str(error)
    assert main(["ledger", "check"]) == 2
    assert path.read_bytes() == before
    assert [one.name for one in home.glob("*.lost-*")] == []
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT SUM(rho) FROM ledger").fetchone()[0] == 0.01
