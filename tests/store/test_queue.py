"""Who works next: each person in turn, no more at once than was stated or than memory holds, and nobody for ever."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.planning import machine
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.store import approvals, chain, dispatch, jobs, ledger, projects, runs, verified_books
from dpsynth_core.store.database import transaction
from tests.patience import SECONDS
from tests.refusals import refused

Make = Callable[..., Spec]

SHARED = "sweep"
"""A kind of job whose points several workers share."""


@pytest.fixture
def submit(make_spec: Make, no_workers: list[str]) -> Callable[[str], str]:  # noqa: ARG001 - runs wait for a worker that is never started
    place = {person: projects.create(person, "census").id for person in ("ann", "ben", "eve")}
    return lambda person: runs.submit(person, place[person], make_spec(budget={"epsilon": 0.01, "delta": 1e-9}))


def end(run: str) -> None:
    """Its worker, which is none, takes the run, and it ends."""
    with transaction() as db:
        db.execute("UPDATE points SET started = ? WHERE job = ?", (jobs.now(), run))
        db.execute("DELETE FROM workers WHERE job = ?", (run,))
    dispatch.ask_to_stop(run)
    dispatch.pump()


def test_nobody_has_a_second_turn_before_everybody_who_waits_had_one(submit: Callable[[str], str], no_workers: list[str]) -> None:
    names = {submit(person): person for person in ("ann", "ann", "ann", "ann", "ben", "ben", "eve")}
    while len(no_workers) < len(names):
        end(no_workers[-1])
    assert [names[run] for run in no_workers] == ["ann", "ben", "eve", "ann", "ben", "ann", "ann"]


def test_a_place_in_the_queue_is_what_is_said_of_it(submit: Callable[[str], str], no_workers: list[str]) -> None:
    waiting = [(person, submit(person)) for person in ("ann", "ann", "ann", "ben")]
    places = {run: runs.queue_position(person, run) for person, run in waiting[1:]}
    assert [places[run] for _, run in waiting[1:]] == [1, 2, 0]
    end(no_workers[0])
    assert no_workers[1] == waiting[3][1], "who was said to be the next"


def test_no_more_work_at_once_than_was_stated(submit: Callable[[str], str], no_workers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_CONCURRENT_RUNS", "2")
    names = {submit(person): person for person in ("ann", "ann", "ben", "eve")}
    assert [names[run] for run in no_workers] == ["ann", "ann"], "the second place was free"
    end(no_workers[0])
    assert names[no_workers[2]] == "ben"
    assert len(no_workers) == 3


def test_a_run_waits_while_those_that_work_need_the_memory(
    submit: Callable[[str], str], no_workers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_CONCURRENT_RUNS", "3")
    monkeypatch.setattr(machine, "all_mb", lambda: 1000.0)
    monkeypatch.setattr(machine, "needed_mb", lambda _: 400.0)
    first, second = submit("ann"), submit("ben")
    assert no_workers == [first], "both together are more than 700 MB"
    monkeypatch.setattr(machine, "needed_mb", lambda _: 100.0)
    third = submit("eve")
    assert no_workers == [first], "a small one does not keep it waiting"
    end(first)
    assert no_workers == [first, second, third]


def test_a_sweep_that_takes_all_memory_keeps_no_run_waiting(
    submit: Callable[[str], str], no_workers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "all_mb", lambda: 1000.0)
    monkeypatch.setattr(machine, "needed_mb", lambda _: 400.0)
    place = projects.create("ann", "census").id
    with transaction() as db:
        jobs.submit(db, jobs.Job("sweep", "ann", place, SHARED, "{}", "", "", 0.0, [1.0] * 3, 2, 700.0), None)
    dispatch.pump()
    assert no_workers == ["sweep"], "two of its own would be too many"
    run = submit("ben")
    assert no_workers == ["sweep", run]


def test_what_can_never_fit_is_refused_before_anything_is_spent(make_spec: Make, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_mb", lambda: 0.001)
    refused(runs.submit, "ann", project, make_spec(), kind=CapacityError, saying=r"memory: it may need .* MB.*, and 0 MB are free here")
    assert chain.entries() == ()


def test_a_runs_processor_time_follows_from_its_forecast_or_the_setting(make_spec: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = synthesis.plan(make_spec())
    assert machine.most_seconds(plan) == pytest.approx(3600 + 10 * machine._seconds(plan))
    monkeypatch.setenv("DPSYNTH_RUN_HOURS", "3")
    assert machine.most_seconds(plan) == 3 * 3600
    monkeypatch.setenv("DPSYNTH_RUN_HOURS", "for ever")
    refused(machine.most_seconds, plan, saying="not a whole number")


def test_a_process_that_goes_beyond_its_time_is_ended_and_leaves_no_core() -> None:
    program = "from dpsynth_core.foundation import confinement; confinement.limit_seconds(0.1)\nwhile True: pass"
    told = "import resource; from dpsynth_core.foundation import confinement; confinement.limit_seconds(9); "
    assert subprocess.run([sys.executable, "-c", program], timeout=SECONDS, check=False).returncode == -signal.SIGXCPU
    program = f"{told}print(resource.getrlimit(resource.RLIMIT_CORE))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert found.stdout.strip() == b"(0, 0)"


def sweep(person: str, workers: int = 1) -> str:
    name, place = jobs.new_id(), projects.create(person, "census").id
    job = jobs.Job(name, person, place, SHARED, "{}", "", "", 0.0, [1.0] * 9, workers)
    with transaction() as db:
        jobs.submit(db, job, None)
    dispatch.pump()
    return name


def test_a_sweep_makes_way_for_another_persons_after_its_turn(no_workers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = sweep("ann")
    dispatch.claim(first)
    assert dispatch.take(first) == 0
    jobs.give(first, 0, "done")
    second = sweep("ben")
    assert dispatch.take(first) == 1, "its turn is not over"
    jobs.give(first, 1, "done")
    with monkeypatch.context() as later:
        later.setattr(dispatch, "_TURN_SECONDS", 0.0)
        assert dispatch.take(first) is None
    dispatch.leave(first)
    dispatch.pump()
    assert no_workers == [first, second]
    dispatch.claim(second)
    assert dispatch.take(second) == 0


def test_a_sweep_of_one_worker_has_its_turn_beside_one_of_two(no_workers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = sweep("ann", workers=2)
    dispatch.claim(first)
    assert dispatch.take(first) == 0
    jobs.give(first, 0, "done")
    second = sweep("ben")
    monkeypatch.setattr(dispatch, "_TURN_SECONDS", 0.0)
    assert dispatch.take(first) is None
    dispatch.leave(first)
    dispatch.pump()
    assert no_workers == [first, first], "the place that is free is kept"
    dispatch.claim(first)
    assert dispatch.take(first) is None
    dispatch.leave(first)
    dispatch.pump()
    assert no_workers == [first, first, second, first]


def test_the_books_are_read_once_for_all_plans_that_wait(
    submit: Callable[[str], str], no_workers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.open_population("ann", "people")
    approvals.demand("ann", "people", ["plan"])
    for person in ("ann", "ben", "eve"):
        submit(person)
    read, real = [], verified_books.unverified
    monkeypatch.setattr(verified_books, "unverified", lambda db: read.append(db) or real(db))
    dispatch.pump()
    assert (len(read), no_workers) == (1, [])
