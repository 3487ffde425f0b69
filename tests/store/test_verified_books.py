"""A charge of a long ledger reads new entries and takes sums from a signed checkpoint; what is altered before it gives no budget back."""

from __future__ import annotations

import hmac
import json
import random
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.store import auditing, balance, chain, database, ledger, ledger_head, restoring, times, verified_books
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.ledger_books import Books, after
from tests.refusals import refused
from tests.store.test_chain import alter
from tests.store.test_ledger import charge, give_back, reserve, touch

RHO = 0.01
REASON = "the disk failed on Monday; the board knows"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verified_books, "EVERY", 4)


def checkpoint(home: Path) -> Path:
    return home / "ledger.checkpoint"


def long_ledger(home: Path) -> None:
    """Six charges, of which the second stands untouched, with a checkpoint of nine entries and three after it."""
    for number in range(6):
        reserve(f"r{number}", RHO)
        if number != 1:
            touch(f"r{number}")
    assert kept(home).head.number == 9
    assert len(chain.entries()) == 12


def kept(home: Path) -> Books:
    found = verified_books._checkpoint()
    assert found is not None
    assert checkpoint(home).exists()
    return found


def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counts, real = [], chain.entries_in

    def counted(*given: Any) -> tuple[Entry, ...]:
        counts.append(len(found := real(*given)))
        return found

    monkeypatch.setattr(chain, "entries_in", counted)
    return counts


def test_a_charge_reads_the_entries_after_the_checkpoint_and_not_those_before(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ledger(home)
    counts = rows_read(monkeypatch)
    reserve("next", RHO)
    assert max(counts) == 4


def test_a_short_ledger_has_no_checkpoint(home: Path) -> None:
    for number in range(3):
        reserve(f"r{number}", RHO)
    assert len(chain.entries()) == 4
    reserve("r3", RHO)
    assert not checkpoint(home).exists()
    reserve("r4", RHO)
    assert kept(home).head.number == 5


def test_carried_sums_are_those_of_all_entries(home: Path) -> None:
    """Random acts on three populations; the fractions are exact, so that the sums agree to the last bit. Fixed seed."""
    choose, open_runs = random.Random(52), []
    for number in range(60):
        population = f"p{choose.randrange(3)}"
        match choose.randrange(5):
            case 0 if open_runs:
                give_back(open_runs.pop(choose.randrange(len(open_runs))))
            case 1 if open_runs:
                touch(open_runs.pop(choose.randrange(len(open_runs))))
            case 2 if population in balance.populations():
                ledger.change_cap("ann", population, (10 + choose.random(), 1e-9), "decided by the board in March")
            case _:
                accountant = choose.choice((GDP, ZCDP)).name
                with transaction() as db:
                    stated = charge(f"r{number}", choose.random() / 100, population)
                    ledger.reserve(db, "ann", replace(stated, own_delta=choose.choice((0.0, 1e-13)), accountant=accountant))
                open_runs.append(f"r{number}")
    books, entries = verified_books.read(), chain.entries()
    assert kept(home).head.number > len(entries) - 5
    assert replace(books, checked="") == after(Books(), entries)
    returned = {entry.run for entry in entries if entry.kind == "return"}
    for name in books.populations:
        stand = [entry for entry in entries if entry.kind == "reserve" and entry.population == name and entry.run not in returned]
        account = books.account(name)
        assert account.rho == sum((Fraction(entry.rho) for entry in stand), start=Fraction(0))
        assert account.own_delta == sum((Fraction(entry.own_delta) for entry in stand), start=Fraction(0))
        assert account.charges == len(stand)
        assert (account.counted_in() is GDP) == all(entry.accountant == GDP.name for entry in stand)
        assert account.cap == [(e.epsilon, e.delta) for e in entries if e.population == name and e.kind in ("population", "cap")][-1]
    touched = {entry.run for entry in entries if entry.kind == "touch"}
    assert set(books.reserved) == {entry.run for entry in entries if entry.kind == "reserve"} - touched - returned
    assert Books.from_json(json.loads(json.dumps(books.to_json()))) == books


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger SET rho = 0.000001 WHERE number = 2",
        "UPDATE ledger SET epsilon = 1000.0 WHERE number = 1",
        "DELETE FROM ledger WHERE number = 2",
        "UPDATE ledger SET kind = 'return', rho = -0.01 WHERE number = 3",
    ],
)
def test_an_entry_altered_before_the_checkpoint_gives_no_budget_back_and_a_full_check_finds_it(home: Path, statement: str) -> None:
    long_ledger(home)
    spent = balance.spent("people")
    restore_rules(home, statement)
    assert balance.spent("people") == spent
    reserve("next", RHO)
    assert balance.spent("people").rho == pytest.approx(spent.rho + RHO)
    assert verified_books.standing().ok
    assert "entry" in verified_books.verify().problem
    assert "entry" in auditing.audit().problem
    refused(reserve, "after that", RHO, kind=BooksLost, saying="entry")
    refused(balance.spent, "people", kind=BooksLost, saying="entry")


def restore_rules(home: Path, statement: str) -> None:
    """Run a statement with the rules switched off, and switch them on again."""
    with reading() as db:
        rules = [part for part in database.parts(db) if part.kind == "trigger" and part.table == "ledger"]
    alter(home, statement)
    with transaction() as db:
        for left in [part for part in database.parts(db) if part.kind == "trigger" and part.table == "ledger"]:
            db.execute(left.undone)
        for rule in rules:
            db.execute(rule.made)


def test_a_full_check_is_made_a_day_after_the_last(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ledger(home)
    restore_rules(home, "UPDATE ledger SET note = 'x' WHERE number = 2")
    reserve("today", RHO)
    monkeypatch.setattr(times, "now", lambda: "2100-01-01T00:00:00.000+00:00")
    refused(reserve, "tomorrow", RHO, kind=BooksLost, saying="entry 2 was altered")
    assert "tomorrow" not in {entry.run for entry in chain.entries()}


def test_a_clock_that_went_back_makes_a_full_check(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ledger(home)
    restore_rules(home, "UPDATE ledger SET note = 'x' WHERE number = 2")
    monkeypatch.setattr(times, "now", lambda: "2001-01-01T00:00:00.000+00:00")
    refused(reserve, "then", RHO, kind=BooksLost, saying="entry 2 was altered")


def test_a_server_checks_everything_in_time(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ledger(home)
    before = kept(home).checked
    verified_books.check_if_due(3600)
    assert kept(home).checked == before
    monkeypatch.setattr(times, "now", lambda: "2100-01-01T00:00:00.000+00:00")
    verified_books.check_if_due(3600)
    assert kept(home).checked != before


@pytest.mark.parametrize("number", [9, 12])
def test_an_entry_altered_at_or_after_the_checkpoint_takes_no_further_charge(home: Path, number: int) -> None:
    long_ledger(home)
    restore_rules(home, f"UPDATE ledger SET note = 'x' WHERE number = {number}")
    refused(reserve, "next", RHO, kind=BooksLost, saying=f"entry {number} was altered")


def test_a_rule_that_was_dropped_takes_no_further_charge(home: Path) -> None:
    long_ledger(home)
    with transaction() as db:
        rule = next(part for part in database.parts(db) if part.name == "ledger_is_never_shortened" and part.kind == "trigger")
        db.execute(rule.undone)
    refused(reserve, "next", RHO, kind=BooksLost, saying="rules of its database were changed")


def test_flipped_bits_of_the_checkpoint_change_no_sum(home: Path) -> None:
    """Of 300 copies, each with one bit flipped at random (fixed seed), none is used: what it covers is read anew."""
    long_ledger(home)
    spent, whole, choose = balance.spent("people"), checkpoint(home).read_bytes(), random.Random(52)
    for _ in range(300):
        bit, content = choose.randrange(8 * len(whole)), bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        checkpoint(home).write_bytes(content)
        assert verified_books._checkpoint() is None
    assert balance.spent("people") == spent
    reserve("next", RHO)
    assert verified_books.verify().ok


@pytest.mark.parametrize("content", [b"", b"\n", b"{}", b"\xff\n{}", b"0" * 128 + b"\n{}"])
def test_what_is_no_checkpoint_counts_as_none(home: Path, content: bytes) -> None:
    long_ledger(home)
    checkpoint(home).write_bytes(content)
    reserve("next", RHO)
    assert kept(home).head.number == 12


def forge(home: Path, key: bytes, **changes: Any) -> None:
    """A checkpoint with other sums, signed with a key."""
    _, _, body = checkpoint(home).read_bytes().partition(b"\n")
    stated = json.loads(body)
    stated["books"].update(changes)
    body = json.dumps(stated).encode()
    checkpoint(home).write_bytes(hmac.digest(key, body, "sha512").hex().encode() + b"\n" + body)


def test_a_checkpoint_that_another_key_signed_counts_as_none(home: Path) -> None:
    long_ledger(home)
    spent = balance.spent("people")
    forge(home, b"k" * 32, accounts={})
    assert balance.spent("people") == spent
    assert balance.populations() == ("people",)


def test_a_checkpoint_with_other_sums_is_found_by_a_full_check_and_can_be_accepted(home: Path) -> None:
    """Only who has the key of fingerprints can make it: the account that runs the program."""
    long_ledger(home)
    forge(home, (home / "fingerprint.key").read_bytes(), reserved=[])
    assert "other entries up to 9 than its ledger.checkpoint" in verified_books.verify().problem
    restoring.restore("local", REASON)
    assert verified_books.verify().ok
    assert balance.spent("people").releases == 6


def test_entries_lost_with_the_head_file_are_missed_by_the_checkpoint(home: Path) -> None:
    """The database and the head are put back from an older copy, the checkpoint is not."""
    long_ledger(home)
    restore_rules(home, "DELETE FROM ledger WHERE number > 7")
    last = chain.entries()[-1]
    with ledger_head.advancing(ledger_head.Head(last.number, last.hash)):
        pass
    refused(reserve, "next", RHO, kind=BooksLost, saying="other entries up to 9")


def test_a_ledger_of_a_version_without_checkpoints_gets_one_from_its_first_charge(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(verified_books, "EVERY", 10**6)
        for number in range(6):
            reserve(f"r{number}", RHO)
    assert not checkpoint(home).exists()
    counts = rows_read(monkeypatch)
    reserve("next", RHO)
    assert max(counts) == 7
    assert kept(home).head.number == 7
    counts.clear()
    reserve("after", RHO)
    assert max(counts) == 2


def reserve_and_fail(number: int) -> None:
    with transaction() as db:
        for more in range(6):
            ledger.reserve(db, "ann", charge(f"lost {number} {more}", RHO))
        raise ZeroDivisionError


def test_an_entry_that_was_not_committed_is_in_no_checkpoint(home: Path) -> None:
    long_ledger(home)
    for number in range(5):
        with pytest.raises(ZeroDivisionError):
            reserve_and_fail(number)
    assert kept(home).head.number <= 12
    reserve("next", RHO)
    assert verified_books.verify().ok


def return_without_rules(run: str) -> None:
    with transaction() as db:
        books = verified_books.current(db)
        for rule in (part for part in database.parts(db) if part.kind == "trigger" and part.table == "ledger"):
            db.execute(rule.undone)
        reserved = verified_books.reservation(db, books, run)
        verified_books.append(db, books, replace(reserved, kind="return", rho=-reserved.rho))


def test_what_touched_records_stays_charged_even_if_no_rule_of_the_database_says_so(home: Path) -> None:
    """Rules search in indices, which no hash covers: the books decide without them."""
    long_ledger(home)
    refused(return_without_rules, "r0", kind=BooksLost, saying="breaks the rules of charges")
    assert balance.spent("people").releases == 6


def test_a_run_reserved_before_the_checkpoint_is_touched_or_given_back(home: Path) -> None:
    long_ledger(home)
    reserve("r6", RHO)
    give_back("r1")
    assert balance.spent("people").releases == 6
    assert verified_books.verify().ok
    refused(touch, "unknown", kind=BooksLost, saying="no entry of this charge")


def test_a_disk_that_takes_no_checkpoint_takes_charges(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Path) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(verified_books, "private_file", full)
    for number in range(6):
        reserve(f"r{number}", RHO)
    assert not checkpoint(home).exists()
    assert verified_books.verify().ok


def test_after_a_restore_everything_is_read_once_more(home: Path) -> None:
    long_ledger(home)
    restore_rules(home, "UPDATE ledger SET note = 'x' WHERE number = 12")
    restoring.restore("local", REASON)
    assert not checkpoint(home).exists()
    reserve("next", RHO)
    assert kept(home).restored == (13,)
    assert verified_books.standing().restored == 1
    assert verified_books.verify().ok


def test_a_checkpoint_of_another_ledger_is_not_taken(home: Path, tmp_path: Path) -> None:
    long_ledger(home)
    elsewhere = Path(shutil.copy(checkpoint(home), tmp_path / "checkpoint"))
    (home / "fingerprint.key").write_bytes(b"n" * 32)
    shutil.copy(elsewhere, checkpoint(home))
    assert verified_books._checkpoint() is None
