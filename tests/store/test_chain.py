"""The ledger's entries can only grow in number, show every change made around the program, and can be checked from an export."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from dpsynth_core.store import auditing, balance, chain, database, ledger, verified_books
from dpsynth_core.store.chain import COLUMNS, Entry, check_chain
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.ledger_head import Head
from tests import postgres
from tests.postgres import REFUSED
from tests.refusals import refused
from tests.store.test_ledger import charge, give_back, reserve, touch


def insert(number: str, kind: str, run: str, rho: str) -> str:
    """An entry written around the program: a copy of number 2 with other values."""
    values = {"number": number, "kind": f"'{kind}'", "run": f"'{run}'", "rho": rho, "previous": "hash", "hash": "'h'"}
    selected = ", ".join(values.get(column, column) for column in COLUMNS.split(", "))
    return f"INSERT OR REPLACE INTO ledger ({COLUMNS}) SELECT {selected} FROM ledger WHERE number = 2"


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("UPDATE ledger SET rho = 0", "append-only"),
        ("UPDATE ledger SET note = 'x' WHERE number = 1", "append-only"),
        ("UPDATE OR REPLACE ledger SET number = 1 WHERE number = 2", "append-only"),
        ("DELETE FROM ledger", "append-only"),
        ("DELETE FROM ledger WHERE number = 2", "append-only"),
        ("INSERT OR REPLACE INTO ledger SELECT * FROM ledger WHERE number = 2", "already has such a ledger entry"),
        (insert("1", "cap", "", "0"), "must follow the last one"),
        (insert("2", "reserve", "r2", "0.001"), "must follow the last one"),
        (insert("9", "return", "r1", "-0.01"), "must follow the last one"),
        (insert("3", "reserve", "r1", "0.001"), "already has such a ledger entry"),
        (insert("3", "reserve", "r2", "-0.001"), "positive rho"),
        (insert("3", "return", "r1", "-0.02"), "stays charged"),
        (insert("3", "touch", "r2", "0"), "standing reservation"),
    ],
)
def test_the_database_refuses_to_change_history(statement: str, refusal: str) -> None:
    if os.environ.get("DPSYNTH_DATABASE"):
        statement = statement.replace("OR REPLACE ", "")
    reserve("r1", 0.01)
    before = chain.entries()
    with pytest.raises(REFUSED, match=refusal), transaction() as db:
        db.execute(statement)
    assert chain.entries() == before
    reserve("r2", 0.01)


def test_one_chain_holds_the_entries_of_every_owner() -> None:
    reserve("r1", 0.01)
    reserve("b1", 0.02, owner="bob")
    touch("r1")
    reserve("r2", 0.01)
    give_back("r2")
    assert [e.kind for e in chain.entries()] == ["population", "reserve", "reserve", "touch", "reserve", "return"]
    assert verified_books.verify().ok
    assert verified_books.verify().head == Head(6, chain.entries()[-1].hash)


def test_verify_finds_every_kind_of_tampering() -> None:
    for i in range(4):
        reserve(f"r{i}", 0.01)
    whole = chain.entries()
    assert check_chain(whole).ok
    for field, value in vars(whole[2]).items():
        if field in ("number", "previous", "hash"):
            continue
        forged = replace(whole[2], **{field: value + "x" if isinstance(value, str) else (value or 0) + 1})
        assert "entry 3 was altered" in check_chain([*whole[:2], forged, *whole[3:]]).problem, field
    rehashed = replace(whole[2], rho=0.001)
    rehashed = replace(rehashed, hash=rehashed.digest())
    assert "entry 4 does not follow" in check_chain([*whole[:2], rehashed, *whole[3:]]).problem
    assert "entry 2 is missing" in check_chain([whole[0], *whole[2:]]).problem


def alter(home: Path, statement: str) -> None:
    """Change the ledger around the program, as who can write the file can, or owns the database on a server."""
    if os.environ.get("DPSYNTH_DATABASE"):
        postgres.alter(statement)
        return
    with sqlite3.connect(home / "dpsynth.sqlite") as db:
        for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'ledger'").fetchall():
            db.execute(f"DROP TRIGGER {trigger}")
        db.execute(statement)
    db.close()


def test_a_chain_that_was_altered_takes_no_further_charge(home: Path) -> None:
    """Less rho in an old entry would make room for a new one."""
    reserve("r1", 0.3)
    alter(home, "UPDATE ledger SET rho = 0.001 WHERE number = 2")
    assert "entry 2 was altered" in verified_books.verify().problem
    error = refused(reserve, "r2", 0.3, kind=BooksLost, saying="entry 2 was altered")
    assert "ledger restore" in error.remedy
    assert len(chain.entries()) == 2


@pytest.mark.parametrize("fields", [{"rho": 1}, {"own_delta": -0.0}, {"epsilon": 2}])
def test_what_would_not_read_as_it_was_written_is_never_written(fields: dict[str, float]) -> None:
    """The database keeps floats: an integer or SQLite's negative zero would come back as another text and look altered for ever."""
    if os.environ.get("DPSYNTH_DATABASE") and "own_delta" in fields:
        with transaction() as db:
            ledger.reserve(db, "ann", replace(charge("r1", 0.01), **fields))  # which PostgreSQL keeps as it is
        assert verified_books.verify().ok
        return
    with pytest.raises(TypeError), transaction() as db:
        ledger.reserve(db, "ann", replace(charge("r1", 0.01), **fields))
    assert chain.entries() == ()


def test_json_export_can_be_verified_by_its_reader() -> None:
    reserve("r1", 1 / 3)
    read_back = auditing.read(auditing.to_json(chain.entries()))
    assert read_back == chain.entries()
    assert check_chain(read_back).ok


@pytest.mark.parametrize(
    "text", ['[{"nonsense": 1}]', "{}x", "7", '[{"curator": "a", "kind": "cap", "rho": "1"}]', "[" * 100_000, "[null]"]
)
def test_what_is_no_export_is_refused(text: str) -> None:
    refused(auditing.read, text, saying="ledger export")


def test_csv_export_holds_every_entry_and_no_formula() -> None:
    with transaction() as db:
        ledger.reserve(db, "ann", replace(charge("r1", 0.01, population="=cmd|' /C calc'!A0"), note="@SUM(1)"))
    rows = list(csv.DictReader(io.StringIO(auditing.to_csv(chain.entries()))))
    assert [row["kind"] for row in rows] == ["population", "reserve"]
    assert float(rows[1]["rho"]) == 0.01
    assert rows[1]["population"].startswith("'=")
    assert rows[1]["note"].startswith("'@")


def test_exports_do_not_show_whether_a_table_changed_between_two_runs() -> None:
    """Each run's fingerprint occurs in its own entries alone, whether its file is the same or not."""
    for run, file in (("r1", "same"), ("r2", "same"), ("r3", "another")):
        reserve(run, 0.01, fingerprint=file)
    touch("r1")
    runs_of: dict[str, set[str]] = {}
    for item in json.loads(auditing.to_json(chain.entries())):
        if item["fingerprint"]:
            runs_of.setdefault(item["fingerprint"], set()).add(item["run"])
    assert [len(runs) for runs in runs_of.values()] == [1, 1, 1]
    assert Counter(run for runs in runs_of.values() for run in runs) == Counter(["r1", "r2", "r3"])


def test_a_restore_vouches_for_what_is_before_it_and_for_nothing_else() -> None:
    first = chain.linked(Entry("local", "population", "people", epsilon=1.0, delta=1e-9), Head())
    second = replace(chain.linked(Entry("local", "cap", "people", epsilon=9.0, delta=1e-9), Head(1, first.hash)), epsilon=99.0)
    broken = [first, second]
    assert not check_chain(broken).ok
    accepted = Entry("local", "restore", note="why", accepted=chain.state(broken))
    restore = chain.linked(accepted, Head(2, second.hash))
    assert check_chain([*broken, restore]).ok
    assert check_chain([*broken, restore]).restored == 1
    assert not check_chain([first, replace(second, epsilon=100.0), restore]).ok
    assert not check_chain([first, restore]).ok
    assert not check_chain([*broken, replace(restore, note="another")]).ok
    after = chain.linked(Entry("local", "cap", "people", epsilon=2.0, delta=1e-9), Head(3, restore.hash))
    assert check_chain([*broken, restore, after]).ok
    assert not check_chain([*broken, restore, replace(after, epsilon=3.0)]).ok


def test_a_clock_that_goes_back_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "now", lambda: "2026-11-23T22:48:30.000+00:00")
    reserve("r1", 0.01)
    assert verified_books.verify().set_back == ()
    monkeypatch.setattr(chain, "now", lambda: "2025-10-19T22:48:30.000+00:00")
    monkeypatch.setattr(balance, "now", lambda: "2025-10-19T22:48:30.000+00:00")
    assert "behind entry 2 of the ledger, which is dated 2026-11-23T22:48:30 UTC" in balance.clock_problem()
    reserve("r2", 0.01)
    reserve("r3", 0.01)
    assert balance.clock_problem() == ""
    assert verified_books.verify().set_back == (3,)
    assert verified_books.verify().ok
    (note,) = [line for line in auditing.audit().lines if line.startswith("note: ")]
    assert "entry 3 is dated before the entry before it" in note
    assert check_chain(auditing.read(auditing.to_json(chain.entries()))).set_back == (3,)


def end_of(books: Sequence[Entry]) -> Head:
    return Head(books[-1].number, books[-1].hash)


def forged(of: str, kind: str, **other: object) -> tuple[Entry, ...]:
    """The entries of now and one that follows them, with every hash right, as who has the database's password can write it."""
    books = chain.entries()
    entry = replace(next(entry for entry in books if entry.kind == "reserve" and entry.run == of), kind=kind, **other)
    return (*books, chain.linked(entry, end_of(books)))


@pytest.mark.parametrize(
    ("of", "kind", "other"),
    [
        ("read", "return", {"rho": -0.01}),
        ("read", "touch", {"rho": 0.0}),
        ("back", "return", {"rho": -0.01}),
        ("back", "touch", {"rho": 0.0}),
        ("open", "return", {"rho": -0.02}),
        ("open", "return", {"rho": -0.01, "population": "others"}),
        ("open", "return", {"rho": -0.01, "run": "unknown"}),
        ("open", "touch", {"rho": -0.01}),
        ("open", "reserve", {}),
        ("open", "reserve", {"run": ""}),
        ("open", "reserve", {"run": "r4", "rho": -0.01}),
        ("open", "reserve", {"run": "r4", "own_delta": -1e-10}),
    ],
)
def test_an_entry_that_breaks_a_rule_is_found_though_its_hash_is_right(of: str, kind: str, other: dict[str, object]) -> None:
    for name in ("read", "back", "open"):
        reserve(name, 0.01)
    touch("read")
    give_back("back")
    for allowed in (forged("open", "return", rho=-0.01), forged("open", "touch", rho=0.0), forged("open", "reserve", run="r4")):
        assert check_chain(allowed).ok
    books = forged(of, kind, **other)
    assert check_chain(books).problem == f"entry {len(books)} breaks the rules of charges"
    accepted = chain.linked(Entry("local", "restore", note="why", accepted=chain.state(books)), end_of(books))
    assert check_chain((*books, accepted)).restored == 1
    assert check_chain((*books, accepted)).ok


def test_a_charge_that_was_given_back_around_the_rules_leaves_no_room_for_another(home: Path) -> None:
    """Its rules switched off and on again: nothing else is changed than what was added."""
    reserve("r1", 0.3)
    touch("r1")
    entry = forged("r1", "return", rho=-0.3)[-1]
    values = ", ".join("NULL" if value is None else repr(value) for value in vars(entry).values())
    insertion = f"INSERT INTO ledger ({COLUMNS}) VALUES ({values})"
    if os.environ.get("DPSYNTH_DATABASE"):
        rule = "TRIGGER ledger_returns_only_what_was_not_touched"
        off, on = f"ALTER TABLE ledger DISABLE {rule}", f"ALTER TABLE ledger ENABLE ALWAYS {rule}"
        with psycopg.connect(os.environ["DPSYNTH_DATABASE"], autocommit=True) as owner:
            owner.execute(f"{off}; {insertion}; {on}")
    else:
        with closing(sqlite3.connect(home / "dpsynth.sqlite", isolation_level=None)) as owner:
            rules = owner.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'ledger'").fetchall()
            owner.executescript("".join(f"DROP TRIGGER {name};" for name, _ in rules) + insertion + "".join(f";{sql}" for _, sql in rules))
    with reading() as db:
        assert database.damage(db) == ""
    assert "entry 4 breaks the rules of charges" in auditing.audit().problem
    refused(reserve, "r2", 0.3, kind=BooksLost, saying="entry 4 breaks the rules of charges")
