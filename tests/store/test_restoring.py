"""The ledger does not forget: whatever happens to its files is noticed before anything is charged, until a person accepts it in words."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import ledger_damage
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import (
    auditing,
    balance,
    chain,
    dispatch,
    jobs,
    ledger_head,
    projects,
    runs,
    sealed_fingerprints,
    verified_books,
)
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.restoring import restore
from tests.refusals import refused
from tests.store.conftest import Driver
from tests.store.test_chain import alter
from tests.store.test_ledger import charge, give_back, reserve

RHO = 0.01
REASON = "the disk failed on Monday; the board knows"


def database(home: Path) -> Path:
    return home / "dpsynth.sqlite"


def settle(home: Path) -> None:
    """All of the database in one file, as after a quiet evening."""
    with closing(sqlite3.connect(database(home))) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def copy(home: Path) -> Path:
    settle(home)
    return Path(shutil.copy(database(home), home.parent / "copy.sqlite"))


def put_back(home: Path, old: Path) -> None:
    for path in home.glob("dpsynth.sqlite*"):
        path.unlink()
    shutil.copy(old, database(home))


def delete_database(home: Path) -> None:
    for path in home.glob("dpsynth.sqlite*"):
        path.unlink()


def empty_database(home: Path) -> None:
    delete_database(home)
    database(home).touch()


def truncate_database(home: Path) -> None:
    settle(home)
    database(home).write_bytes(database(home).read_bytes()[:6000])


def overwrite_database(home: Path) -> None:
    settle(home)
    database(home).write_bytes(b"x" * 20_000)


def change_the_number_of_its_format(home: Path) -> None:
    settle(home)
    content = database(home).read_bytes()
    database(home).write_bytes(content[:47] + b"\x09" + content[48:])


def cut_off_the_last_page(home: Path) -> None:
    """None of the ledger's: it can still be read."""
    settle(home)
    database(home).write_bytes(database(home).read_bytes()[:-4000])


def cut_off_the_end(home: Path) -> None:
    alter(home, "DELETE FROM ledger WHERE number = (SELECT MAX(number) FROM ledger)")


def rewrite_from_the_second_entry(home: Path) -> None:
    """Somebody who knows the program writes a shorter chain that is whole in itself, and goes on for as many entries."""
    last = ledger_head.Head()
    alter(home, "DELETE FROM ledger")
    with closing(sqlite3.connect(database(home), isolation_level=None)) as db:
        for number in range(4):
            entry = chain.linked(Entry("ann", "population", f"p{number}", epsilon=1.0, delta=1e-9), last)
            last = chain.insert(db, entry).number and ledger_head.Head(entry.number, entry.hash)


def empty_head(home: Path) -> None:
    (home / "ledger.head").write_bytes(b"")


def delete_head(home: Path) -> None:
    (home / "ledger.head").unlink()


def empty_key(home: Path) -> None:
    (home / "fingerprint.key").write_bytes(b"")


def cut_key(home: Path) -> None:
    (home / "fingerprint.key").write_bytes((home / "fingerprint.key").read_bytes()[:16])


def delete_key(home: Path) -> None:
    (home / "fingerprint.key").unlink()


def drop_a_rule(home: Path) -> None:
    change_schema(home, "DROP TRIGGER ledger_is_never_changed")


def weaken_a_rule(home: Path) -> None:
    """The same name, and nothing behind it."""
    drop_a_rule(home)
    change_schema(home, "CREATE TRIGGER ledger_is_never_changed BEFORE UPDATE ON ledger WHEN 0 BEGIN SELECT 1; END")


def add_a_rule(home: Path) -> None:
    change_schema(home, "CREATE TRIGGER more AFTER INSERT ON JOBS BEGIN DELETE FROM points; END")


def drop_the_ledger(home: Path) -> None:
    change_schema(home, "DROP TABLE ledger")


def change_schema(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(database(home))) as db:
        db.execute(statement)
        db.commit()


def damage_the_index_of_populations(home: Path) -> None:
    """One bit in each key: the index finds none of the charges, and every entry has its hash."""
    settle(home)
    with closing(sqlite3.connect(database(home))) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ledger_of_population'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    content = database(home).read_bytes()
    before, index, after = content[: (page - 1) * size], content[(page - 1) * size : page * size], content[page * size :]
    assert b"people" in index
    database(home).write_bytes(before + index.replace(b"people", b"peopld") + after)


LOSSES: list[Callable[[Path], None]] = [
    delete_database,
    empty_database,
    truncate_database,
    overwrite_database,
    change_the_number_of_its_format,
    cut_off_the_last_page,
    cut_off_the_end,
    rewrite_from_the_second_entry,
    empty_head,
    delete_head,
    empty_key,
    cut_key,
    delete_key,
    drop_a_rule,
    weaken_a_rule,
    add_a_rule,
    drop_the_ledger,
    damage_the_index_of_populations,
]


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_what_is_lost_stops_every_charge_until_a_person_accepts_it(home: Path, lose: Callable[[Path], None]) -> None:
    for number in range(3):
        reserve(f"r{number}", RHO)
    lose(home)
    for attempt in range(2):
        refused(reserve, f"late {attempt}", RHO, kind=BooksLost, saying="ledger restore")
    assert auditing.audit().problem
    refused(restore, "local", "  ", saying="reason")
    restore("local", REASON)
    assert not auditing.audit().problem
    (entry,) = [entry for entry in chain.entries() if entry.kind == "restore"]
    assert entry.curator == "local"
    assert REASON in entry.note
    reserve("after", RHO)
    assert balance.citation("after")["restored"] == 1
    assert not auditing.audit().problem


@pytest.mark.parametrize("lose", [drop_a_rule, weaken_a_rule, add_a_rule, damage_the_index_of_populations], ids=lambda lose: lose.__name__)
def test_what_follows_from_the_tables_is_made_again_and_nothing_is_lost(home: Path, lose: Callable[[Path], None]) -> None:
    reserve("r1", RHO)
    project, before = projects.create("ann", "census").id, chain.entries()
    lose(home)
    restore("local", REASON)
    assert chain.entries()[:-1] == before
    assert [kept.id for kept in projects.list("ann")] == [project]
    assert not list(home.glob("*.lost-*"))
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), transaction() as db:
        db.execute("UPDATE ledger SET rho = 0")


def test_sums_come_from_the_entries_that_were_hashed(home: Path) -> None:
    """Not from an index, which may lead past some of them."""
    reserve("r1", RHO)
    reserve("r2", RHO)
    damage_the_index_of_populations(home)
    assert balance.spent("people").rho == pytest.approx(2 * RHO)
    assert balance.citation("r2")["entry"] == 3


def test_no_sums_are_told_of_a_ledger_that_was_altered(home: Path) -> None:
    reserve("r1", RHO)
    alter(home, "UPDATE ledger SET rho = 0.001 WHERE number = 2")
    assert not [line for line in auditing.audit().lines if "population" in line]
    refused(balance.spent, "people", kind=BooksLost, saying="entry 2 was altered")


def test_flipped_bits_of_the_database_give_no_budget_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))  # put back afterwards
    monkeypatch.setattr(verified_books, "EVERY", verified_books.EVERY)
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    ended = ledger_damage.damaged(tmp_path, range(200), seed, [*ledger_damage.DAMAGES])
    assert sum(ended.values()) == 200
    assert not [where for where, end in ended if end == ledger_damage.BROKEN]
    assert not [where for where, end in ended if end == ledger_damage.UNCHECKED and where in ledger_damage.OF_SHORT]
    assert {end for _, end in ended} == {ledger_damage.REFUSED, ledger_damage.UNCHANGED, ledger_damage.UNCHECKED}
    assert {end for how, end in ended if how.startswith(ledger_damage.DROPPED)} == {ledger_damage.REFUSED}


def test_an_older_copy_of_the_database_is_noticed(home: Path) -> None:
    reserve("r1", RHO)
    old = copy(home)
    reserve("r2", RHO)
    put_back(home, old)
    assert "ends with entry 2, but there was an entry 3" in verified_books.verify().problem
    refused(reserve, "r3", RHO, kind=BooksLost)


def test_a_deleted_write_ahead_log_is_noticed(home: Path) -> None:
    """A connection that stays open keeps the log from being folded into the database, as a page that is being drawn does."""
    reserve("r1", RHO)
    settle(home)
    with reading() as db:
        db.execute("SELECT * FROM ledger").fetchall()
        reserve("r2", RHO)
        kept = {path: path.read_bytes() for path in (database(home),)}
    for path in home.glob("dpsynth.sqlite*"):
        path.unlink()
    for path, content in kept.items():
        path.write_bytes(content)
    refused(reserve, "r3", RHO, kind=BooksLost, saying="there was an entry 3")


@pytest.mark.parametrize("trace", ["a project", "a key", "a head", "a log"])
def test_no_database_is_made_where_something_tells_of_an_earlier_one(home: Path, trace: str) -> None:
    home.mkdir()
    if trace == "a project":
        (home / "projects" / "0123").mkdir(parents=True)
    else:
        (home / {"a key": "fingerprint.key", "a head": "ledger.head", "a log": "dpsynth.sqlite-wal"}[trace]).touch()
    for _ in range(2):
        refused(projects.list, "ann", kind=BooksLost, saying="its database is missing")
    assert not database(home).exists()


def test_a_new_home_is_made_without_a_word(home: Path) -> None:
    home.mkdir()
    (home / "projects").mkdir()
    reserve("r1", RHO)
    assert not auditing.audit().problem


def test_an_export_brings_back_what_the_database_lacks(home: Path) -> None:
    reserve("r1", RHO)
    old = copy(home)
    reserve("r2", RHO, fingerprint="same")
    export = auditing.read(auditing.to_json(chain.entries()))
    put_back(home, old)
    restore("local", REASON, export)
    assert chain.entries()[:3] == export
    assert balance.spent("people").rho == pytest.approx(2 * RHO)
    assert balance.same_file_elsewhere("same", "others") == ("people",)
    assert "entries from an export: 1" in chain.entries()[-1].note


def test_the_books_of_a_lost_database_go_on_from_an_export(home: Path) -> None:
    reserve("r1", RHO)
    export = chain.entries()
    delete_database(home)
    restore("local", REASON, export)
    assert balance.spent("people").rho == pytest.approx(RHO)
    assert verified_books.verify().ok


def test_an_export_of_another_ledger_or_one_that_is_not_whole_is_refused() -> None:
    reserve("r1", RHO)
    other = [chain.linked(Entry("ann", "population", "others", epsilon=1.0, delta=1e-9), ledger_head.Head())]
    refused(restore, "local", REASON, other, saying="another ledger")
    refused(restore, "local", REASON, chain.entries()[1:], saying="entry 1 is missing")
    assert [entry.kind for entry in chain.entries()] == ["population", "reserve"]


def test_an_entry_that_would_not_read_as_it_was_written_is_not_restored() -> None:
    """A zero below zero is another text, and no database keeps it."""
    reserve("r1", RHO)
    last = chain.entries()[-1]
    export = [*chain.entries(), chain.linked(Entry("ann", "look", own_delta=-0.0), ledger_head.Head(last.number, last.hash))]
    refused(restore, "local", REASON, export, kind=TypeError, saying="as it was written")
    assert chain.entries()[-1] == last


def test_a_restore_makes_the_folder_of_a_head_that_is_on_another_disk(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reserve("r1", RHO)
    monkeypatch.setenv("DPSYNTH_LEDGER_HEAD", str(place := home.parent / "witness" / "ledger.head"))
    refused(reserve, "r2", RHO, kind=BooksLost)
    restore("local", REASON)
    assert place.exists()
    reserve("r2", RHO)


def test_nothing_is_accepted_where_nothing_is_wrong() -> None:
    reserve("r1", RHO)
    refused(restore, "local", REASON, saying="nothing to accept")
    assert not verified_books.verify().restored


def test_what_could_not_be_read_is_set_aside_and_not_deleted(home: Path) -> None:
    reserve("r1", RHO)
    overwrite_database(home)
    restore("local", REASON)
    (aside,) = home.glob("dpsynth.sqlite.lost-*")
    assert aside.read_bytes() == b"x" * 20_000


def test_entries_that_can_still_be_read_are_kept(home: Path) -> None:
    reserve("r1", RHO)
    before = chain.entries()
    cut_off_the_last_page(home)
    assert chain.entries() == before
    restore("local", REASON)
    assert chain.entries()[:-1] == before
    assert balance.spent("people").rho == pytest.approx(RHO)
    assert verified_books.verify().ok


def test_a_change_after_a_restore_is_found_again(home: Path) -> None:
    reserve("r1", RHO)
    alter(home, "UPDATE ledger SET rho = 0.001 WHERE number = 2")
    restore("local", REASON)
    reserve("r2", RHO)
    alter(home, "UPDATE ledger SET rho = 0.0001 WHERE number = 2")
    refused(reserve, "r3", RHO, kind=BooksLost, saying="altered")


def test_a_return_that_the_books_do_not_take_leaves_the_charge_standing(home: Path) -> None:
    """What else ends with the run must be able to end."""
    reserve("r1", RHO)
    delete_head(home)
    give_back("r1")
    assert balance.spent("people").rho == pytest.approx(RHO)


@pytest.mark.usefixtures("no_workers")
def test_a_run_that_waits_while_the_books_are_lost_reads_nothing(
    home: Path, make_spec: Callable[..., Spec], project: str, driver: Driver
) -> None:
    run = runs.submit("ann", project, make_spec())
    delete_head(home)
    assert driver(home, "worker", run, 0) == 0
    restored = runs.get("ann", run)
    assert (restored.state, restored.touched) == ("failed", False)
    assert "ledger.head" in restored.error
    assert [entry.kind for entry in chain.entries()] == ["population", "reserve"]
    assert balance.spent("people").rho == pytest.approx(restored.rho)


@pytest.mark.parametrize("stage", ["queued", "claimed"])
def test_what_a_copy_shows_as_not_begun_stays_charged_and_is_not_begun_again(
    home: Path, make_spec: Callable[..., Spec], project: str, no_workers: list[str], stage: str
) -> None:
    run = runs.submit("ann", project, make_spec())
    if stage == "claimed":
        dispatch.claim(run)
    old = copy(home)
    if stage == "queued":
        dispatch.claim(run)
    dispatch.take(run)
    jobs.touch(run)
    put_back(home, old)
    restore("local", REASON)
    no_workers.clear()
    dispatch.pump()
    assert no_workers == []
    refused(jobs.touch, run, kind=jobs.NotMine)
    assert (runs.get("ann", run).state, runs.get("ann", run).touched) == ("lost", True)
    assert [entry.kind for entry in chain.entries()] == ["population", "reserve", "restore"]
    assert balance.spent("people").releases == 1


def test_a_head_noted_elsewhere_shows_that_the_whole_directory_is_an_older_one(home: Path) -> None:
    """The file with the head goes back in time together with the database; what somebody wrote down does not."""
    reserve("r1", RHO)
    older = Path(shutil.copytree(home, home.parent / "older"))
    reserve("r2", RHO)
    noted = verified_books.verify().head.hash
    assert not auditing.audit().holding(noted).problem
    assert not auditing.audit().holding(noted[:16]).problem
    shutil.rmtree(home)
    older.rename(home)
    assert not auditing.audit().problem
    assert "no entry has the hash" in auditing.audit().holding(noted).problem
    assert auditing.audit().holding("").problem
    both = replace(auditing.audit(), problem="the chain is broken").holding(noted).problem
    assert both.startswith("the chain is broken; no entry has the hash")


def test_a_head_on_another_disk_shows_that_the_whole_directory_is_an_older_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_LEDGER_HEAD", str(home.parent / "another disk" / "head"))
    reserve("r1", RHO)
    older = Path(shutil.copytree(home, home.parent / "older"))
    reserve("r2", RHO)
    assert not (home / "ledger.head").exists()
    shutil.rmtree(home)
    older.rename(home)
    refused(reserve, "r3", RHO, kind=BooksLost, saying="there was an entry 3")


def test_the_head_on_file_names_the_newest_entry_and_nothing_else(home: Path) -> None:
    reserve("r1", RHO)
    assert json.loads((home / "ledger.head").read_bytes()) == {"number": 2, "hash": chain.entries()[-1].hash}
    assert (home / "ledger.head").stat().st_mode & 0o777 == 0o600


def test_a_key_is_made_once_and_seals_each_run_differently(home: Path) -> None:
    assert sealed_fingerprints.seal("f", "r1") == sealed_fingerprints.seal("f", "r1")
    assert sealed_fingerprints.seal("f", "r1") != sealed_fingerprints.seal("f", "r2")
    assert len((home / "fingerprint.key").read_bytes()) == sealed_fingerprints.KEY_BYTES
    assert charge("r1", RHO).fingerprint == "f"
