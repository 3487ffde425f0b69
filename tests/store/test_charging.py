"""A release of the command line is a job: given back when it ends before it read anything, also after it was killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import balance, chain, charging, jobs
from dpsynth_core.store.database import reading


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
    jobs.pump()
    assert balance.spent("people").rho == pytest.approx(reserved if touching else 0)
    assert chain.verify().ok


def test_one_that_ends_for_a_reason_before_it_read_anything_leaves_no_trace_but_two_entries(make_spec: Callable[..., Spec]) -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        charge(make_spec(), False, fail)
    assert [entry.kind for entry in chain.entries()] == ["population", "reserve", "return"]
    assert stored() == 0
