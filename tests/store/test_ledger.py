"""The ledger can only grow, shows tampering, and never lets a population lose more than its cap."""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from dpsynth_core.errors import InputError
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.privacy.accounting import epsilon_from, rho_from
from dpsynth_core.store import ledger
from dpsynth_core.store.database import transaction
from dpsynth_core.store.home import home
from dpsynth_core.store.ledger import CapExceeded, Charge


def charge(run: str, rho: float, population: str = "people", relation: str = "add-remove", fingerprint: str = "f") -> Charge:
    return Charge(population, run, "digest", relation, rho, 1.0, 1e-9, fingerprint)


def reserve(run: str, rho: float, owner: str = "ann", **fields: str) -> None:
    with transaction() as db:
        ledger.reserve(db, owner, charge(run, rho, **fields))


def touch(run: str) -> None:
    with transaction() as db:
        ledger.touch(db, "ann", run)


def give_back(run: str) -> None:
    with transaction() as db:
        ledger.give_back(db, "ann", run, "cancelled")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger SET rho = 0",
        "UPDATE ledger SET note = 'x' WHERE number = 1",
        "UPDATE OR REPLACE ledger SET number = 1 WHERE number = 2",
        "DELETE FROM ledger",
        "DELETE FROM ledger WHERE number = 2",
        "INSERT OR REPLACE INTO ledger SELECT * FROM ledger WHERE number = 2",
        "REPLACE INTO ledger (owner, number, at, population, kind, previous, hash) VALUES ('ann', 1, '', 'people', 'cap', '', '')",
        "INSERT INTO ledger (owner, number, at, population, kind, run, rho, previous, hash)"
        " SELECT 'ann', 9, '', 'people', 'return', 'r1', -0.01, hash, 'h' FROM ledger WHERE number = 2",
        "INSERT OR REPLACE INTO ledger (owner, number, at, population, kind, run, rho, previous, hash)"
        " SELECT 'ann', 3, '', 'people', 'reserve', 'r1', 0.001, hash, 'h' FROM ledger WHERE number = 2",
    ],
)
def test_the_database_refuses_to_change_history(statement: str) -> None:
    reserve("r1", 0.01)
    before = ledger.entries("ann")
    with pytest.raises(sqlite3.IntegrityError), transaction() as db:
        db.execute(statement)
    assert ledger.entries("ann") == before


def test_a_chain_is_whole_and_each_owner_has_one_of_its_own() -> None:
    reserve("r1", 0.01)
    reserve("b1", 0.02, owner="bob")
    touch("r1")
    reserve("r2", 0.01)
    give_back("r2")
    assert [e.kind for e in ledger.entries("ann")] == ["population", "reserve", "touch", "reserve", "return"]
    assert [e.number for e in ledger.entries("bob")] == [1, 2]
    assert ledger.verify("ann").ok
    assert ledger.verify("bob").ok
    assert ledger.verify("ann").head == ledger.entries("ann")[-1].hash


def test_verify_finds_every_kind_of_tampering() -> None:
    for i in range(4):
        reserve(f"r{i}", 0.01)
    chain = ledger.entries("ann")
    assert ledger.check_chain(chain).ok
    for changed in ("at", "population", "run", "spec", "relation", "rho", "epsilon", "delta", "fingerprint", "note", "kind", "owner"):
        value = getattr(chain[2], changed)
        forged = replace(chain[2], **{changed: value + 1 if isinstance(value, float) else value + "x"})
        assert "entry 3 was altered" in ledger.check_chain([*chain[:2], forged, *chain[3:]]).problem
    rehashed = replace(chain[2], rho=0.0)
    rehashed = replace(rehashed, hash=rehashed.digest())
    assert "entry 4 does not follow" in ledger.check_chain([*chain[:2], rehashed, *chain[3:]]).problem
    assert "entry 2 is missing" in ledger.check_chain([chain[0], *chain[2:]]).problem


def test_verify_reads_what_is_on_disk(home: Path) -> None:
    reserve("r1", 0.01)
    db = sqlite3.connect(home / "dpsynth.sqlite")
    db.execute("DROP TRIGGER ledger_is_never_changed")
    db.execute("UPDATE ledger SET rho = 0.001 WHERE number = 2")
    db.commit()
    db.close()
    assert "entry 2 was altered" in ledger.verify("ann").problem


def test_json_export_can_be_verified_by_its_reader() -> None:
    reserve("r1", 1 / 3)
    chain = ledger.read_export(ledger.export_json("ann"))
    assert chain == ledger.entries("ann")
    assert ledger.check_chain(chain).ok
    with pytest.raises(InputError):
        ledger.read_export('[{"nonsense": 1}]')


def test_csv_export_holds_every_entry_and_no_formula() -> None:
    with transaction() as db:
        ledger.reserve(db, "ann", replace(charge("r1", 0.01, population="=cmd|' /C calc'!A0"), note="@SUM(1)"))
    rows = list(csv.DictReader(io.StringIO(ledger.export_csv("ann"))))
    assert [row["kind"] for row in rows] == ["population", "reserve"]
    assert float(rows[1]["rho"]) == 0.01
    assert rows[1]["population"].startswith("'=")
    assert rows[1]["note"].startswith("'@")


def test_totals_are_in_zcdp_and_convert_to_epsilon() -> None:
    ledger.open_population("ann", "people", (2.0, 1e-8))
    reserve("r1", 0.01)
    reserve("r2", 0.02)
    account = ledger.spent("ann", "people")
    assert account.rho == pytest.approx(0.03)
    assert account.epsilon == pytest.approx(epsilon_from(0.03, 1e-8))
    assert account.cap_rho == rho_from(2.0, 1e-8)
    assert account.remaining_rho == pytest.approx(account.cap_rho - 0.03)
    assert account.releases == 2


def test_an_unknown_population_has_the_default_cap_and_is_opened_by_its_first_charge() -> None:
    assert (ledger.spent("ann", "new").cap_epsilon, ledger.spent("ann", "new").cap_delta) == (10.0, 1e-9)
    assert ledger.populations("ann") == ()
    reserve("r1", 0.01, population="new")
    assert ledger.populations("ann") == ("new",)


def test_a_charge_beyond_the_cap_is_refused_and_leaves_no_entry() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    reserve("r1", 0.01)
    before = ledger.entries("ann")
    with pytest.raises(CapExceeded, match="above its cap of 1"):
        reserve("r2", 0.006)
    assert ledger.entries("ann") == before


def test_ten_tenths_fit_the_cap_and_nothing_more() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    cap = ledger.spent("ann", "people", following=ZCDP).cap_rho
    for i in range(10):
        reserve(f"r{i}", cap / 10)
    with pytest.raises(CapExceeded):
        reserve("more", cap * 1e-6)
    assert ledger.spent("ann", "people").remaining_epsilon == 0


def test_a_reservation_that_never_touched_data_comes_back_whole_and_once() -> None:
    reserve("r1", 0.01)
    give_back("r1")
    assert ledger.spent("ann", "people").rho == 0
    assert ledger.spent("ann", "people").releases == 0
    with pytest.raises(sqlite3.IntegrityError):
        give_back("r1")


def test_what_touched_data_stays_charged_and_what_was_returned_cannot_touch() -> None:
    reserve("r1", 0.01)
    touch("r1")
    with pytest.raises(sqlite3.IntegrityError, match="stays charged"):
        give_back("r1")
    reserve("r2", 0.01)
    give_back("r2")
    with pytest.raises(sqlite3.IntegrityError, match="standing reservation"):
        touch("r2")
    assert ledger.spent("ann", "people").rho == pytest.approx(0.01)


def test_changing_the_cap_is_an_entry_with_a_reason() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    with pytest.raises(InputError, match="reason"):
        ledger.change_cap("ann", "people", (2.0, 1e-9), "  ")
    ledger.change_cap("ann", "people", (2.0, 1e-9), "board decision 7")
    last = ledger.entries("ann")[-1]
    assert (last.kind, last.epsilon, last.note) == ("cap", 2.0, "board decision 7")
    assert ledger.spent("ann", "people").cap_epsilon == 2.0


def test_a_cap_lowered_below_what_is_spent_allows_nothing_further() -> None:
    reserve("r1", 0.1)
    ledger.change_cap("ann", "people", (0.5, 1e-9), "too generous")
    assert ledger.spent("ann", "people").remaining_rho == 0
    with pytest.raises(CapExceeded):
        reserve("r2", 1e-6)


@pytest.mark.parametrize("cap", [(0.0, 1e-9), (1.0, 0.01), (float("nan"), 1e-9)])
def test_a_cap_must_be_a_usable_budget(cap: tuple[float, float]) -> None:
    with pytest.raises(InputError):
        ledger.open_population("ann", "people", cap)
    assert ledger.entries("ann") == ()


def test_add_remove_charges_count_four_times_beside_replace_charges() -> None:
    reserve("r1", 0.01)
    assert ledger.spent("ann", "people").rho == pytest.approx(0.01)
    reserve("r2", 0.02, relation="replace")
    account = ledger.spent("ann", "people")
    assert account.rho == pytest.approx(4 * 0.01 + 0.02)
    assert account.relations == ("add-remove", "replace")


def own(run: str, rho: float, delta: float, relation: str = "add-remove") -> None:
    with transaction() as db:
        ledger.reserve(db, "ann", replace(charge(run, rho, relation=relation), own_delta=delta))


def test_steps_with_a_delta_of_their_own_leave_less_of_the_caps() -> None:
    """Approximate zCDP: rho and delta add up, and what is left of the cap's delta converts rho."""
    reserve("r1", 0.01)
    own("r2", 0.01, 4e-10)
    account = ledger.spent("ann", "people")
    assert account.rho == pytest.approx(0.02)
    assert account.cap_rho == pytest.approx(rho_from(10.0, 6e-10))
    assert account.epsilon == pytest.approx(epsilon_from(0.02, 6e-10))
    assert ledger.verify("ann").ok


def test_steps_whose_delta_the_cap_cannot_hold_are_refused_and_a_return_gives_it_back() -> None:
    own("r1", 0.01, 6e-10)
    with pytest.raises(CapExceeded, match="need a delta of their own"):
        own("r2", 0.01, 6e-10)
    give_back("r1")
    own("r2", 0.01, 6e-10)
    assert ledger.spent("ann", "people").cap_rho == pytest.approx(rho_from(10.0, 4e-10))
    assert ledger.verify("ann").ok


def test_their_delta_counts_for_both_removal_and_addition_beside_replace_charges() -> None:
    own("r1", 0.02, 1e-10)
    own("r2", 0.01, 0.0, relation="replace")
    spent = 1e-10 * (1 + math.exp(math.sqrt(2 * 0.02)))
    assert ledger.spent("ann", "people").cap_rho == pytest.approx(rho_from(10.0, 1e-9 - spent))


def test_entries_without_a_delta_of_their_own_have_the_hash_they_always_had() -> None:
    reserve("r1", 0.01)
    entry = ledger.entries("ann")[-1]
    old = {key: value for key, value in vars(entry).items() if key not in ("hash", "own_delta", "accountant")}
    assert entry.hash == sha256(json.dumps(old, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    assert replace(entry, own_delta=1e-10).digest() != entry.digest()
    assert replace(entry, accountant="GDP").digest() != entry.digest()


def gaussian(run: str, epsilon: float) -> None:
    with transaction() as db:
        ledger.reserve(db, "ann", replace(charge(run, GDP.rho_from(epsilon, 1e-9)), accountant="GDP"))


def test_a_run_of_epsilon_one_under_gdp_fits_an_empty_account_of_epsilon_one_and_nothing_more_does() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    assert ledger.spent("ann", "people", GDP).remaining_epsilon == pytest.approx(1.0, rel=1e-9)
    assert ledger.spent("ann", "people", ZCDP).remaining_epsilon == pytest.approx(1.0, rel=1e-9)
    gaussian("r1", 1.0)
    account = ledger.spent("ann", "people")
    assert account.accountant is GDP
    assert account.epsilon == pytest.approx(1.0, rel=1e-9)
    with pytest.raises(CapExceeded):
        gaussian("r2", 0.01)
    assert ledger.verify("ann").ok


def test_charges_of_both_accountants_are_added_up_in_zcdp() -> None:
    gaussian("r1", 1.0)
    in_gdp = ledger.spent("ann", "people")
    assert ledger.spent("ann", "people", following=ZCDP).epsilon == pytest.approx(epsilon_from(in_gdp.rho, 1e-9))
    reserve("r2", 0.01)
    account = ledger.spent("ann", "people")
    assert account.accountant is ZCDP
    assert account.rho == pytest.approx(in_gdp.rho + 0.01)
    assert account.epsilon == pytest.approx(epsilon_from(in_gdp.rho + 0.01, 1e-9))
    assert account.remaining_epsilon == pytest.approx(GDP.epsilon_from(account.remaining_rho, 1e-9))  # of a run under GDP
    give_back("r2")
    assert ledger.spent("ann", "people") == in_gdp


def test_a_run_under_zcdp_has_to_fit_the_cap_with_all_of_the_others_in_zcdp() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    gaussian("r1", 0.97)
    assert ledger.spent("ann", "people", following=ZCDP).remaining_epsilon == 0.0
    with pytest.raises(CapExceeded):
        reserve("r2", 1e-9)
    gaussian("r3", 0.1)


def test_a_ledger_of_an_older_version_goes_on_in_zcdp() -> None:
    reserve("r1", 0.01)
    path = home() / "dpsynth.sqlite"
    before = ledger.entries("ann")
    with closing(sqlite3.connect(path)) as old:
        old.execute("ALTER TABLE ledger DROP COLUMN accountant")
        old.execute("PRAGMA user_version = 3")
        old.commit()
    assert ledger.entries("ann") == before
    assert ledger.verify("ann").ok
    gaussian("r2", 1.0)
    assert ledger.spent("ann", "people").accountant is ZCDP
    assert [entry.accountant for entry in ledger.entries("ann")] == ["zCDP", "zCDP", "GDP"]


def test_the_same_file_under_another_name_is_noticed_by_its_owner_only() -> None:
    reserve("r1", 0.01, population="staff", fingerprint="same")
    reserve("b1", 0.01, owner="bob", population="others", fingerprint="same")
    reserve("r2", 0.01, population="returned", fingerprint="same")
    give_back("r2")
    assert ledger.same_file_elsewhere("ann", "same", "people") == ("staff",)
    assert ledger.same_file_elsewhere("ann", "same", "staff") == ()
    assert ledger.same_file_elsewhere("ann", "another", "people") == ()


RACER = """
import sys, time
from dpsynth_core.store import ledger
from dpsynth_core.store.database import transaction
from dpsynth_core.store.home import home
me, rho, gate = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
time.sleep(max(0.0, gate - time.time()))
won = 0
for i in range(20):
    try:
        with transaction() as db:
            ledger.reserve(db, "ann", ledger.Charge("people", f"{me}-{i}", "d", "add-remove", rho, 1.0, 1e-9, "f"))
        won += 1
    except ledger.CapExceeded:
        pass
print(won)
"""


def test_racing_processes_never_overspend_nor_underspend() -> None:
    """Five processes, started on a fresh home at one moment, ask for 100 charges where 37 fit."""
    rho = rho_from(10.0, 1e-9) / 37
    gate = time.time() + 3  # imports take about a second; a late process still races with the others' later charges
    command = [sys.executable, "-c", RACER]
    racers = [subprocess.Popen([*command, str(i), str(rho), str(gate)], stdout=subprocess.PIPE, text=True) for i in range(5)]
    won = [int(racer.communicate(timeout=60)[0]) for racer in racers]
    assert sum(won) == 37
    assert ledger.spent("ann", "people").rho == pytest.approx(37 * rho)
    assert ledger.verify("ann").ok
    assert len(json.loads(ledger.export_json("ann"))) == 38
