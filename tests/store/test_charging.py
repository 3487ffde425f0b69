"""A release of the command line is a job: given back when it ends before it read anything, also after it was killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import approvals, balance, chain, charging, dispatch, ledger, verified_books
from dpsynth_core.store.database import reading, transaction
from tests.postgres import REFUSED


def charge(spec: Spec, touching: bool, fate: Callable[[], None]) -> None:
    def execute(_: str, touch: Callable[[], None]) -> None:
        if touching:
            touch()
        fate()

    charging.charged(Plan.of(spec), execute, lambda _: None, lambda _: None)


def stored() -> int:
    with reading() as db:
        return int(db.execute("SELECT COUNT(*) FROM jobs").fetchone()[0])


@pytest.mark.parametrize("touching", [False, True])
def test_what_is_killed_before_it_read_anything_is_given_back_by_the_next_look(make_spec: Callable[..., Spec], touching: bool) -> None:
    assert chain.entries() == ()  # the home is there
    if (child := os.fork()) == 0:
        charge(make_spec(), touching, lambda: os.kill(os.getpid(), signal.SIGKILL))
    os.waitpid(child, 0)
    reserved = balance.spent("people").rho
    assert reserved > 0
    dispatch.pump()
    assert balance.spent("people").rho == pytest.approx(reserved if touching else 0)
    assert verified_books.verify().ok


def test_one_that_ends_for_a_reason_before_it_read_anything_leaves_no_trace_but_two_entries(make_spec: Callable[..., Spec]) -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        charge(make_spec(), False, fail)
    assert [entry.kind for entry in chain.entries()] == ["population", "reserve", "return"]
    assert stored() == 0


def test_who_opens_a_population_whose_name_mixes_scripts_is_warned_once(make_spec: Callable[..., Spec]) -> None:
    said = list[str]()
    for name in ("p\u0435ople", "people", "p\u0435ople"):
        plan = Plan.of(make_spec(population=name))
        charging.charged(plan, lambda _, touch: touch(), said.append, lambda _: None)
    assert [line[:60] for line in said] == ["the name of the population 'p\u0435ople' mixes Cyrillic and Latin"[:60]]


def say(what: str) -> None:
    """Change rows of jobs, as who has the database's password can."""
    with transaction() as db:
        db.execute(f"UPDATE jobs SET {what}")


@pytest.mark.parametrize("lie", ["charged = 0", "touched = 1"])
def test_what_the_row_of_a_job_says_spares_it_neither_approval_nor_touch(make_spec: Callable[..., Spec], lie: str) -> None:
    ledger.open_population("ann", "people")
    charged: list[str] = []

    def execute(run: str, touch: Callable[[], None]) -> None:
        say(lie)
        if not charged:
            approvals.demand("ann", "people", ["plan"])
            with pytest.raises(InputError, match="a second person"):
                touch()
            approvals.demand("ann", "people", [])
        touch()
        charged.append(run)
        say("touched = 0, charged = 1")
        with pytest.raises(REFUSED):
            touch()
        raise KeyboardInterrupt  # what it was charged is not given back

    with pytest.raises(KeyboardInterrupt):
        charging.charged(Plan.of(make_spec()), execute, print, print)
    assert [entry.kind for entry in chain.entries() if entry.run in charged] == ["reserve", "touch"]


def test_a_run_whose_charge_was_given_back_reads_nothing_whatever_its_row_says(make_spec: Callable[..., Spec]) -> None:
    def execute(run: str, touch: Callable[[], None]) -> None:
        with transaction() as db:
            ledger.give_back(db, run, "by hand")
        say("charged = 0")
        with pytest.raises(REFUSED):
            touch()

    charging.charged(Plan.of(make_spec()), execute, print, print)
