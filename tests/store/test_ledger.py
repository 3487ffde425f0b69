"""The ledger never lets a population lose more than its cap, whoever charges it, and adds up only what adds up."""

from __future__ import annotations

import hmac
import itertools
import math
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.privacy.conversions import epsilon_from, rho_from
from dpsynth_core.store import balance, chain, charging, ledger, sealed_fingerprints, verified_books
from dpsynth_core.store.accounts import CapExceeded, UnitDiffers
from dpsynth_core.store.database import transaction
from dpsynth_core.store.ledger import Charge
from dpsynth_core.store.population_names import mixed_scripts
from tests.patience import SECONDS
from tests.postgres import REFUSED
from tests.refusals import refused

ROW = UnitSpec()
REST = {"workload": {"kind": "all", "k": 1}, "budget": {"epsilon": 1.0, "delta": 1e-9}}


def charge(run: str, rho: float, population: str = "people", unit: UnitSpec = ROW, fingerprint: str = "f") -> Charge:
    return Charge(population, run, "digest", unit, rho, 1.0, 1e-9, fingerprint)


def reserve(run: str, rho: float, owner: str = "ann", **fields: Any) -> None:
    with transaction() as db:
        ledger.reserve(db, owner, charge(run, rho, **fields))


def touch(run: str) -> None:
    with transaction() as db:
        ledger.touch(db, run)


def give_back(run: str) -> None:
    with transaction() as db:
        ledger.give_back(db, run, "cancelled")


def test_totals_are_in_zcdp_and_convert_to_epsilon() -> None:
    ledger.open_population("ann", "people", (2.0, 1e-8))
    reserve("r1", 0.01)
    reserve("r2", 0.02)
    account = balance.spent("people")
    assert account.rho == pytest.approx(0.03)
    assert account.epsilon == pytest.approx(epsilon_from(0.03, 1e-8))
    assert account.cap_rho == rho_from(2.0, 1e-8)
    assert account.remaining_rho == pytest.approx(account.cap_rho - 0.03)
    assert account.releases == 2


def test_an_unknown_population_has_the_default_cap_and_is_opened_by_its_first_charge() -> None:
    assert (balance.spent("new").cap_epsilon, balance.spent("new").cap_delta) == (10.0, 1e-9)
    assert balance.populations() == ()
    reserve("r1", 0.01, population="new")
    assert balance.populations() == ("new",)


def test_a_charge_beyond_the_cap_is_refused_and_leaves_no_entry() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    reserve("r1", 0.01)
    before = chain.entries()
    refused(reserve, "r2", 0.006, kind=CapExceeded, saying="above its cap of 1")
    assert chain.entries() == before


def test_tenths_of_the_cap_fit_it_ten_times_and_not_the_smallest_number_more() -> None:
    """Tenths rounded down: ten of them are below the cap by a few units in the last place, which is all that is left."""
    ledger.open_population("ann", "people", (1.0, 1e-9))
    cap = balance.spent("people", following=ZCDP).cap_rho
    tenth = math.nextafter(cap / 10, 0.0)
    for i in range(10):
        reserve(f"r{i}", tenth)
    left = float(Fraction(cap) - 10 * Fraction(tenth))
    assert balance.spent("people", following=ZCDP).remaining_rho == left < 1e-15 * cap
    reserve("the rest", left)
    refused(reserve, "more", 5e-324, kind=CapExceeded)
    assert balance.spent("people", following=ZCDP).remaining_epsilon == 0


@pytest.mark.parametrize("excess", [1e-9, 1e-12, 2e-16])
def test_a_sum_never_exceeds_the_cap_not_even_in_its_last_digit(excess: float) -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    cap = balance.spent("people", following=ZCDP).cap_rho
    reserve("half", cap / 2)
    more = cap / 2 * (1 + 2 * excess)
    assert more > cap / 2
    refused(reserve, "the other half, and a little", more, kind=CapExceeded)
    reserve("the other half", cap / 2)
    assert balance.spent("people", following=ZCDP).remaining_rho == 0


def test_a_reservation_that_never_touched_data_comes_back_whole_and_once() -> None:
    reserve("r1", 0.01)
    give_back("r1")
    assert balance.spent("people").rho == 0
    assert balance.spent("people").releases == 0
    with pytest.raises(REFUSED):
        give_back("r1")


def test_what_touched_data_stays_charged_and_what_was_returned_cannot_touch() -> None:
    reserve("r1", 0.01)
    touch("r1")
    with pytest.raises(REFUSED, match="stays charged"):
        give_back("r1")
    reserve("r2", 0.01)
    give_back("r2")
    with pytest.raises(REFUSED, match="standing reservation"):
        touch("r2")
    assert balance.spent("people").rho == pytest.approx(0.01)


def test_changing_the_cap_is_an_entry_with_a_reason() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    refused(ledger.change_cap, "ann", "people", (2.0, 1e-9), "  ", saying="reason")
    ledger.change_cap("ann", "people", (2.0, 1e-9), "decision of the board, no 7")
    last = chain.entries()[-1]
    assert (last.kind, last.epsilon, last.note) == ("cap", 2.0, "decision of the board, no 7")
    assert balance.spent("people").cap_epsilon == 2.0


def test_a_cap_lowered_below_what_is_spent_allows_nothing_further() -> None:
    reserve("r1", 0.1)
    ledger.change_cap("ann", "people", (0.5, 1e-9), "it was too generous")
    assert balance.spent("people").remaining_rho == 0
    refused(reserve, "r2", 1e-6, kind=CapExceeded)


@pytest.mark.parametrize("cap", [(0.0, 1e-9), (1.0, 0.01), (float("nan"), 1e-9)])
def test_a_cap_must_be_a_usable_budget(cap: tuple[float, float]) -> None:
    refused(ledger.open_population, "ann", "people", cap)
    assert chain.entries() == ()


PERSON = UnitSpec(person_column="id", max_rows_per_person=20)
UNITS = [
    ROW,
    UnitSpec(relation="replace"),
    PERSON,
    UnitSpec(relation="replace", person_column="id", max_rows_per_person=20),
    UnitSpec(person_column="id", max_rows_per_person=1),
    UnitSpec(person_column="household", max_rows_per_person=20),
]


@pytest.mark.parametrize(("first", "second"), [pair for pair in itertools.product(UNITS, UNITS) if pair[0] != pair[1]])
def test_charges_of_different_units_are_not_added_up(first: UnitSpec, second: UnitSpec) -> None:
    reserve("r1", 0.01, unit=first)
    before = chain.entries()
    error = refused(reserve, "r2", 0.01, unit=second, kind=UnitDiffers)
    assert first.words in error.problem
    assert second.words in error.problem
    assert chain.entries() == before
    assert balance.spent("people").unit == first
    reserve("r2", 0.01, unit=second, population="others")


def test_a_unit_binds_from_the_first_charge_that_stands() -> None:
    reserve("r1", 0.01, unit=PERSON)
    give_back("r1")
    assert balance.spent("people").unit is None
    reserve("r2", 0.01)
    assert balance.spent("people").unit == ROW


def test_the_unit_is_in_the_hash_of_a_charge() -> None:
    reserve("r1", 0.01, unit=PERSON)
    entry = chain.entries()[-1]
    assert (entry.relation, entry.person_column, entry.max_rows) == ("add-remove", "id", 20)
    for field, value in (("relation", "replace"), ("person_column", None), ("person_column", "household"), ("max_rows", 1)):
        assert replace(entry, **{field: value}).digest() != entry.hash


def own(run: str, rho: float, delta: float) -> None:
    with transaction() as db:
        ledger.reserve(db, "ann", replace(charge(run, rho), own_delta=delta))


def test_steps_with_a_delta_of_their_own_leave_less_of_the_caps() -> None:
    """Approximate zCDP: rho and delta add up, and what is left of the cap's delta converts rho."""
    reserve("r1", 0.01)
    own("r2", 0.01, 4e-10)
    account = balance.spent("people")
    assert account.rho == pytest.approx(0.02)
    assert account.cap_rho == pytest.approx(rho_from(10.0, 6e-10))
    assert account.epsilon == pytest.approx(epsilon_from(0.02, 6e-10))
    assert verified_books.verify().ok


def test_steps_whose_delta_the_cap_cannot_hold_are_refused_and_a_return_gives_it_back() -> None:
    own("r1", 0.01, 6e-10)
    refused(own, "r2", 0.01, 6e-10, kind=CapExceeded, saying="need a delta of their own")
    give_back("r1")
    own("r2", 0.01, 6e-10)
    assert balance.spent("people").cap_rho == pytest.approx(rho_from(10.0, 4e-10))
    assert verified_books.verify().ok


def gaussian(run: str, epsilon: float) -> None:
    with transaction() as db:
        ledger.reserve(db, "ann", replace(charge(run, GDP.rho_from(epsilon, 1e-9)), accountant="GDP"))


def test_a_run_of_epsilon_one_under_gdp_fits_an_empty_account_of_epsilon_one_and_nothing_more_does() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    assert balance.spent("people", GDP).remaining_epsilon == pytest.approx(1.0, rel=1e-9)
    assert balance.spent("people", ZCDP).remaining_epsilon == pytest.approx(1.0, rel=1e-9)
    gaussian("r1", 1.0)
    account = balance.spent("people")
    assert account.accountant is GDP
    assert account.epsilon == pytest.approx(1.0, rel=1e-9)
    refused(gaussian, "r2", 0.01, kind=CapExceeded)
    assert verified_books.verify().ok


def test_charges_of_both_accountants_are_added_up_in_zcdp() -> None:
    gaussian("r1", 1.0)
    in_gdp = balance.spent("people")
    assert balance.spent("people", following=ZCDP).epsilon == pytest.approx(epsilon_from(in_gdp.rho, 1e-9))
    reserve("r2", 0.01)
    account = balance.spent("people")
    assert account.accountant is ZCDP
    assert account.rho == pytest.approx(in_gdp.rho + 0.01)
    assert account.epsilon == pytest.approx(epsilon_from(in_gdp.rho + 0.01, 1e-9))
    assert account.remaining_epsilon == pytest.approx(GDP.epsilon_from(account.remaining_rho, 1e-9))  # of a run under GDP
    give_back("r2")
    assert balance.spent("people") == in_gdp


def test_a_run_under_zcdp_has_to_fit_the_cap_with_all_of_the_others_in_zcdp() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    gaussian("r1", 0.97)
    assert balance.spent("people", following=ZCDP).remaining_epsilon == 0.0
    refused(reserve, "r2", 1e-9, kind=CapExceeded)
    gaussian("r3", 0.1)


def test_the_same_file_under_another_name_is_noticed_whoever_charged_it() -> None:
    reserve("r1", 0.01, population="staff", fingerprint="same")
    reserve("b1", 0.01, owner="bob", population="others", fingerprint="same")
    reserve("r2", 0.01, population="returned", fingerprint="same")
    give_back("r2")
    assert balance.same_file_elsewhere("same", "people") == ("others", "staff")
    assert balance.same_file_elsewhere("same", "staff") == ("others",)
    assert balance.same_file_elsewhere("another", "people") == ()
    assert ledger.is_charged_for("r1", "same")
    assert not ledger.is_charged_for("r1", "another")


def test_a_later_look_for_the_same_file_hashes_new_charges_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[int] = []
    seals = sealed_fingerprints.seals
    monkeypatch.setattr(sealed_fingerprints, "seals", lambda one, runs: hashed.append(len(runs)) or seals(one, runs))
    reserve("r1", 0.01, population="staff", fingerprint="same")
    reserve("r2", 0.01, population="others", fingerprint="same")
    hashed.clear()
    assert balance.same_file_elsewhere("same", "people") == ("others", "staff")
    assert balance.same_file_elsewhere("same", "staff") == ("others",)
    give_back("r2")
    assert balance.same_file_elsewhere("same", "people") == ("staff",)
    reserve("r3", 0.01, population="late", fingerprint="same")
    assert hashed[:3] == [2, 0, 1]
    assert balance.same_file_elsewhere("same", "people") == ("late", "staff")


@pytest.mark.sqlite
@pytest.mark.parametrize("how", ["another home", "another key"])
def test_what_was_seen_of_the_same_file_counts_for_this_ledger_alone(home: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    reserve("r1", 0.01, population="staff", fingerprint="same")
    assert balance.same_file_elsewhere("same", "people") == ("staff",)
    if how == "another home":
        monkeypatch.setenv("DPSYNTH_HOME", str(home / "another"))
    else:
        sealed_fingerprints.new_key()
    assert balance.same_file_elsewhere("same", "people") == ()


@pytest.mark.sqlite
def test_a_ledger_that_was_put_back_is_compared_from_its_beginning(home: Path) -> None:
    reserve("r1", 0.01, population="staff", fingerprint="same")
    kept = {path: path.read_bytes() for path in home.iterdir() if path.is_file()}
    reserve("r2", 0.01, population="others", fingerprint="same")
    assert balance.same_file_elsewhere("same", "people") == ("others", "staff")
    for path in home.iterdir():
        if path.is_file():
            path.write_bytes(kept[path]) if path in kept else path.unlink()
    reserve("r3", 0.01, population="third", fingerprint="another")
    reserve("r4", 0.01, population="fourth", fingerprint="same")
    assert balance.same_file_elsewhere("same", "people") == ("fourth", "staff")


def test_either_of_two_tables_is_noticed_under_another_name() -> None:
    """Each of them has the seal that it would have alone, which is that of every entry there is."""
    reserve("r1", 0.01, population="homes", fingerprint="first second")
    reserve("r2", 0.01, population="alone", fingerprint="second")
    assert ledger.reservation("r1").fingerprint == f"{sealed_fingerprints.seal('first', 'r1')} {sealed_fingerprints.seal('second', 'r1')}"
    assert sealed_fingerprints.seal("first", "r1") == hmac.new(sealed_fingerprints.key(), b"r1 first", "sha256").hexdigest()
    assert balance.same_file_elsewhere("first", "people") == balance.same_file_elsewhere("first other", "people") == ("homes",)
    assert balance.same_file_elsewhere("second", "people") == balance.same_file_elsewhere("other second", "people") == ("alone", "homes")
    assert balance.same_file_elsewhere("other", "people") == ()
    assert ledger.is_charged_for("r1", "first second records of")
    assert not any(ledger.is_charged_for("r1", f"{one} records of") for one in ("first other", "second first", "other second"))


def test_tables_are_the_same_by_their_content_or_by_their_records() -> None:
    """Versions before this one kept the content alone. What they charged is known by it, and never by the records of something else."""
    for run, charged in {"r1": "content", "r2": "content records", "r3": "first second", "r4": "first second their records"}.items():
        reserve(run, 0.01, fingerprint=charged)
    same = {
        "content records": ["r1", "r2"],
        "content other": ["r1", "r2"],
        "other records": ["r2"],
        "other content": [],
        "records other": [],
        "first second their records": ["r3", "r4"],
        "second first their records": ["r4"],
        "second first records their": [],
        "first other their own": [],
    }
    for fingerprint, runs in same.items():
        alike = [run for run in ("r1", "r2", "r3", "r4") if len(fingerprint.split()) // 2 == 1 + (run > "r2")]
        assert [run for run in alike if ledger.is_charged_for(run, fingerprint)] == runs, fingerprint


def test_owners_who_charge_one_population_share_its_cap() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    third = balance.spent("people", following=ZCDP).cap_rho / 3.5
    for owner in ("ann", "bob", "local"):
        reserve(owner, third, owner=owner)
    for owner in ("ann", "bob", "local", "dan"):
        refused(reserve, f"{owner} again", third, owner=owner, kind=CapExceeded)
    assert balance.spent("people").releases == 3
    assert balance.populations() == ("people",)
    assert verified_books.verify().head.number == 4


def test_the_ledger_says_who_charged_and_holds_no_name_of_a_project() -> None:
    reserve("r1", 0.01, owner="bob")
    reserve("r2", 0.01)
    assert [entry.curator for entry in chain.entries()] == ["bob", "bob", "ann"]
    spec = Spec.from_json({"name": "Secret project", "population": "people", "data": {"path": "x.csv"}, "domain": {"a": 2}} | REST)
    charge = charging.charge_of(Plan.of(spec), "r3", "f")
    assert "Secret" not in str(charge)
    assert (charge.note, charge.unit) == ("a release with AIM", spec.unit)


@pytest.mark.parametrize("name", ["", "  ", "not in the ledger", "Not in  the Ledger", "a\nb", "x" * 201])
def test_names_that_are_none_or_reserved_are_refused(name: str) -> None:
    refused(reserve, "r1", 0.01, population=name, saying="population")
    refused(ledger.open_population, "ann", name, saying="population")
    assert chain.entries() == ()


@pytest.mark.parametrize("alike", ["patients 2025", "Patients  2025", " Patients 2025", "Ｐatients 2025"])
def test_a_name_that_differs_in_writing_alone_gets_no_cap_of_its_own(alike: str) -> None:
    reserve("r1", 0.01, population="Patients 2025")
    refused(reserve, "r2", 0.01, population=alike, saying="there is one called 'Patients 2025'")


UNSEEN = ("\ufe0f", "\u034f", "\u3164", "\u2800", "\uffa0", "\u115f", "\u17b4", "\u180b", "\U000e0100", "\U0001d159", "\U00016fe4")


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
@pytest.mark.parametrize("form", ["{}Patients 2025", "Pati{}ents 2025", "Patients{} 2025", "Patients 2025{}"])
def test_a_name_that_differs_in_nothing_that_is_seen_gets_no_cap_of_its_own(form: str, unseen: str) -> None:
    """A code point that is shown as a space makes two words of one; as any other space would, where there is none yet."""
    alike = form.format(unseen)
    if form == "Pati{}ents 2025" and unseen in "\u3164\u2800\uffa0\U0001d159\U00016fe4":
        reserve("r1", 0.01, population="Pati ents 2025")
    else:
        reserve("r1", 0.01, population="Patients 2025")
    refused(ledger.open_population, "ann", alike, saying="there is one called")
    refused(reserve, "r2", 0.01, population=alike, saying="there is one called")


def test_a_name_of_which_nothing_is_seen_is_none() -> None:
    for name in ("\u3164", "\u2800\u2800", "\ufe0f"):
        refused(ledger.open_population, "ann", name, saying="population")
    assert chain.entries() == ()


def test_a_population_that_was_opened_under_such_a_name_keeps_its_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier versions let it be opened beside the one that it looks like, and what it was charged stays charged to it."""
    with monkeypatch.context() as earlier:
        earlier.setattr(ledger, "check_new", lambda *_: None)
        reserve("r1", 0.01, population="people")
        ledger.open_population("ann", "people\ufe0f", (2.0, 1e-9))
        reserve("r2", 0.02, population="people\ufe0f")
    reserve("r3", 0.01, population="people\ufe0f")
    reserve("r4", 0.01, population="people")
    assert balance.spent("people\ufe0f").rho == pytest.approx(0.03)
    assert balance.spent("people\ufe0f").cap_epsilon == 2.0
    assert balance.spent("people").rho == pytest.approx(0.02)
    ledger.change_cap("ann", "people\ufe0f", (3.0, 1e-9), "the board of the office decided so")
    assert balance.spent("people\ufe0f").cap_epsilon == 3.0


@pytest.mark.parametrize(
    ("name", "warned"),
    [
        ("p\u0435ople", "Cyrillic and Latin"), ("\u0391BC", "Greek and Latin"),
        ("people of \u041c\u043e\u0441\u043a\u0432\u0430", ""), ("people 2025", ""),
        ("Patienten_M\u00fcnchen", ""), ("\u7d71\u8a08\u5c40 SPSS", ""), ("\u30ab\u30bf\u304b\u306a", ""), ("\uff30atients", ""),
    ],
)  # fmt: skip
def test_a_word_of_letters_that_look_like_others_is_warned_of(name: str, warned: str) -> None:
    told = mixed_scripts(name)
    assert (f"mixes {warned} letters in one word" in told) if warned else told == ""


def test_a_citation_states_the_cap_and_the_unit_but_not_what_was_spent() -> None:
    ledger.open_population("ann", "people", (3.0, 1e-9))
    reserve("r1", 0.01, unit=PERSON)
    before = balance.citation("r1")
    reserve("r2", 0.02, unit=PERSON)
    assert balance.citation("r1") == before
    assert before["cap"] == {"epsilon": 3.0, "delta": 1e-9}
    assert UnitSpec.model_validate(before["unit"]) == PERSON
    assert before["earlier_caps"] == []
    assert (before["entry"], before["hash"]) == (2, chain.entries()[1].hash)


def test_a_citation_says_that_the_cap_was_changed_after_charges_existed() -> None:
    ledger.open_population("ann", "people", (1.0, 1e-9))
    ledger.change_cap("ann", "people", (2.0, 1e-9), "nobody was charged yet")
    reserve("r1", 0.01)
    assert balance.citation("r1")["earlier_caps"] == []
    ledger.change_cap("ann", "people", (3.0, 1e-9), "for a second study")
    ledger.change_cap("ann", "people", (4.0, 1e-8), "for a third study")
    assert balance.citation("r1")["cap"] == {"epsilon": 4.0, "delta": 1e-8}
    assert balance.citation("r1")["earlier_caps"] == [{"epsilon": 2.0, "delta": 1e-9}, {"epsilon": 3.0, "delta": 1e-9}]


RACER = """
import sys, time
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.store import accounts, ledger
from dpsynth_core.store.database import transaction
me, rho, gate = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
time.sleep(max(0.0, gate - time.time()))
won = 0
for i in range(20):
    try:
        with transaction() as db:
            ledger.reserve(db, "local", ledger.Charge("people", f"{me}-{i}", "d", UnitSpec(), rho, 1.0, 1e-9, "f"))
        won += 1
    except accounts.CapExceeded:
        pass
print(won)
"""


@pytest.mark.slow  # processes that start, and race
def test_racing_processes_never_overspend_nor_underspend() -> None:
    """Five processes, started on a fresh home at one moment, ask for 100 charges where 37 fit."""
    rho = math.nextafter(rho_from(10.0, 1e-9) / 37, 0.0)
    gate = time.time() + 3  # imports take about a second; a late process still races with the others' later charges
    command = [sys.executable, "-c", RACER]
    racers = [subprocess.Popen([*command, str(i), str(rho), str(gate)], stdout=subprocess.PIPE, text=True) for i in range(5)]
    won = [int(racer.communicate(timeout=SECONDS)[0]) for racer in racers]
    assert sum(won) == 37
    assert balance.spent("people").rho == pytest.approx(37 * rho)
    assert verified_books.verify().ok
    assert verified_books.verify().head.number == 38


def test_as_many_more_releases_fit_as_are_said_to_fit() -> None:
    for left, rho in ((1.0, 0.3), (0.1, 0.1), (0.05, 0.1), (-1.0, 0.1), (7.0, 0.0)):
        more = balance.times_more(left, rho)
        assert more >= 0
        if rho and left > 0:
            assert more * rho <= left < (more + 1) * rho
