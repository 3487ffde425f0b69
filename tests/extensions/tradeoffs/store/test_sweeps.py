"""Sweeps survive their server and their workers, never do a finished point again, stop when told, and charge what is private."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.extensions.tradeoffs import sweeps, trial
from dpsynth_core.extensions.tradeoffs.sweep import Sweep
from dpsynth_core.foundation.errors import OracleError
from dpsynth_core.planning import machine
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import approvals, balance, chain, dispatch, jobs, ledger, processes, projects, worker
from dpsynth_core.store.accounts import CapExceeded
from dpsynth_core.store.database import reading, transaction
from tests.patience import SECONDS, wait_until
from tests.refusals import refused
from tests.store.conftest import Driver
from tests.store.test_chain import alter

Make = Callable[..., Spec]
STANDIN = {"kind": "standin", "standin": {"rows": 100}}


@pytest.fixture(autouse=True)
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine has."""
    monkeypatch.setenv("DPSYNTH_SWEEP_WORKERS", "2")


@pytest.fixture
def make_sweep(make_spec: Make) -> Callable[..., Sweep]:
    """Two mechanisms at one epsilon on a stand-in; keyword arguments replace whole fields."""

    def make(**fields: Any) -> Sweep:
        grid = {"table": "standin", "mechanisms": ("independent", "gaussian"), "epsilons": (1.0,), "sizes": (3,), "repeats": 1}
        base = make_spec(data=STANDIN) if fields.get("table", "standin") == "standin" else make_spec()
        return Sweep(base, **(grid | fields))

    return make


def states(sweep: str) -> list[str]:
    return [point.state for point in sweeps.points("ann", sweep)]


def be_worker(job: str) -> None:
    """Do what a worker process does, in this one."""
    worker.work(dispatch.claim(job))


def die(job: str) -> None:
    """The worker's process is gone."""
    with transaction() as db:
        fields = (processes.place(), job, os.getpid())
        db.execute("UPDATE workers SET pid = 2147483647, birth = '1', place = ? WHERE job = ? AND pid = ?", fields)


def wait_until_done(sweep: str) -> None:
    wait_until(lambda: not sweeps.get("ann", sweep).active, dispatch.pump)


def test_workers_are_started_for_the_points_there_are_and_not_more(
    make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]
) -> None:
    sweeps.submit("ann", project, make_sweep(mechanisms=("independent",)))
    dispatch.pump()
    assert len(no_workers) == 1
    sweeps.submit("ann", project, make_sweep(repeats=5))
    dispatch.pump()
    assert len(no_workers) == 2


def test_a_worker_does_every_point_and_ends_the_sweep(make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]) -> None:
    sweep = sweeps.submit("ann", project, make_sweep(repeats=2))
    be_worker(no_workers[0])
    assert states(sweep) == ["done"] * 4
    assert sweeps.get("ann", sweep).state == "done"
    assert {len(outcome.errors) for outcome in sweeps.outcomes("ann", sweep).values()} == {3}
    be_worker(no_workers[1])  # finds nothing to do
    with reading() as db:
        assert db.execute("SELECT COUNT(*) FROM workers").fetchone()[0] == 0
    assert chain.entries() == ()


def test_a_sweep_in_real_processes(make_sweep: Callable[..., Sweep], project: str) -> None:
    sweep = sweeps.submit("ann", project, make_sweep())
    wait_until_done(sweep)
    assert states(sweep) == ["done", "done"]


def test_killed_at_every_durable_step_a_sweep_goes_on_where_it_was(
    home: Path, make_sweep: Callable[..., Sweep], project: str, no_workers: list[str], driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exhaustive: before each commit of a worker. A second worker then finishes, and what was finished keeps its time and attempts."""
    monkeypatch.setattr(jobs, "SILENCE_SECONDS", -1.0)  # a worker that died before its claim is given up at once
    monkeypatch.setenv("DPSYNTH_SWEEP_WORKERS", "1")
    finished_before: set[int] = set()
    step, status = 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        step += 1
        assert step < 30
        sweep = sweeps.submit("ann", project, make_sweep())
        status = driver(home, "worker", no_workers[-1], step)
        dispatch.pump()  # judges the dead and starts another one, if there is something left to do
        before = {p.number: p for p in sweeps.points("ann", sweep) if p.state == "done"}
        finished_before.add(len(before))
        assert "running" not in states(sweep)
        if sweeps.get("ann", sweep).active:
            be_worker(no_workers[-1])
        after = sweeps.points("ann", sweep)
        assert {p.state for p in after} == {"done"}
        assert sweeps.get("ann", sweep).state == "done"
        assert all(after[number] == point for number, point in before.items())
        assert {p.attempts for p in after} <= {1, 2}
    assert status == 0
    assert finished_before == {0, 1, 2}


def test_a_finished_point_cannot_be_done_again(make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]) -> None:
    sweep = sweeps.submit("ann", project, make_sweep())
    be_worker(no_workers[0])
    with pytest.raises(Exception, match="never done again"), transaction() as db:
        db.execute("UPDATE points SET state = 'waiting' WHERE job = ?", (sweep,))


def test_a_point_that_kills_its_worker_each_time_is_given_up(make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]) -> None:
    sweep = sweeps.submit("ann", project, make_sweep(mechanisms=("independent",)))
    for _ in range(jobs.MAX_ATTEMPTS):
        dispatch.claim(no_workers[-1])
        assert dispatch.take(no_workers[-1]) == 0
        die(no_workers[-1])
        dispatch.pump()
    assert states(sweep) == ["failed"]
    assert "memory" in sweeps.points("ann", sweep)[0].error
    assert sweeps.get("ann", sweep).state == "done"
    sweeps.resume("ann", sweep)
    be_worker(no_workers[-1])
    assert states(sweep) == ["done"]


def test_stopping_ends_the_workers_and_resuming_goes_on(make_sweep: Callable[..., Sweep], project: str) -> None:
    sweep = sweeps.submit("ann", project, make_sweep(repeats=20))
    wait_until(lambda: "done" in states(sweep))
    with reading() as db:
        pids = [(row["pid"], row["birth"]) for row in db.execute("SELECT pid, birth FROM workers WHERE pid IS NOT NULL")]
    sweeps.stop("ann", sweep)
    assert all(processes.birth(pid) != born for pid, born in pids)
    stopped = {p.number: p for p in sweeps.points("ann", sweep) if p.state == "done"}
    assert set(states(sweep)) == {"done", "waiting"}
    assert sweeps.get("ann", sweep).state == "stopped"
    sweeps.resume("ann", sweep)
    wait_until_done(sweep)
    after = sweeps.points("ann", sweep)
    assert {p.state for p in after} == {"done"}
    assert all(after[number] == point for number, point in stopped.items())


def test_a_worker_of_a_stopped_sweep_changes_nothing(make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]) -> None:
    sweep = sweeps.submit("ann", project, make_sweep())
    worker = no_workers[0]
    dispatch.claim(worker)
    number = dispatch.take(worker)
    with transaction() as db:  # as if it lived elsewhere, where no signal reaches it
        db.execute("UPDATE workers SET place = 'elsewhere', heartbeat = started")
    sweeps.stop("ann", sweep)
    for act in (lambda: jobs.give(worker, number or 0, {}), lambda: jobs.beat(worker), lambda: dispatch.take(worker)):
        refused(act, kind=jobs.NotMine)
    assert states(sweep) == ["waiting", "waiting"]
    assert [p.attempts for p in sweeps.points("ann", sweep)] == [0, 0]


def test_what_cannot_be_tried_is_refused_at_once(make_spec: Make, project: str) -> None:
    base = make_spec(data=STANDIN, domain={"a": 20_000, "b": 3, "c": 4}, mechanism={"name": "aim", "settings": {"max_size_mb": 0.1}})
    refused(sweeps.submit, "ann", project, Sweep(base, "standin", ("aim",), (1.0,), (3,), 1))
    assert sweeps.list("ann", project) == ()


def test_an_error_inside_a_trial_is_told_by_its_type_alone(
    make_sweep: Callable[..., Sweep], project: str, no_workers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("row 17 says Alice")

    monkeypatch.setattr(trial.Trials, "run", fail)
    sweep = sweeps.submit("ann", project, make_sweep())
    be_worker(no_workers[0])
    assert states(sweep) == ["failed", "failed"]
    assert all("ValueError" in p.error and "Alice" not in p.error for p in sweeps.points("ann", sweep))


def test_sweeps_belong_to_their_owner(make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]) -> None:
    sweep = sweeps.submit("ann", project, make_sweep())
    assert sweeps.list("bob", project) == ()
    for act in (sweeps.get, sweeps.points, sweeps.outcomes, sweeps.stop, sweeps.resume, sweeps.delete):
        refused(act, "bob", sweep)
    refused(sweeps.submit, "bob", project, make_sweep())
    assert len(no_workers) == 2


def test_deleting_a_project_deletes_its_sweeps(make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]) -> None:
    sweep = sweeps.submit("ann", project, make_sweep())
    be_worker(no_workers[0])
    projects.delete("ann", project)
    refused(sweeps.get, "ann", sweep)
    with reading() as db:
        assert db.execute("SELECT COUNT(*) FROM points").fetchone()[0] == 0


# The private table


def test_the_private_table_is_charged_for_all_trials_before_the_first_is_made(
    make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]
) -> None:
    tried = make_sweep(table="private", repeats=2)
    sweep = sweeps.submit("ann", project, tried)
    charge = chain.entries()[-1]
    assert (charge.kind, charge.rho, charge.spec) == ("reserve", pytest.approx(tried.rho), tried.digest())
    assert "never released" in charge.note
    be_worker(no_workers[0])
    assert [e.kind for e in chain.entries()] == ["population", "reserve", "touch"]
    assert states(sweep) == ["done"] * 4
    assert balance.spent("people").rho == pytest.approx(tried.rho)


TAKER = """
import json, sys
from dpsynth_core.store import dispatch, jobs
dispatch.claim(sys.argv[1])
print("claimed", flush=True)
sys.stdin.readline()
taken = []
while (number := dispatch.take(sys.argv[1])) is not None:
    taken.append(number)
    jobs.give(sys.argv[1], number, "done", outcome={})
print(json.dumps(taken))
"""


@pytest.mark.slow  # two processes that start
def test_two_worker_processes_at_once_do_each_point_once(make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]) -> None:
    sweep = sweeps.submit("ann", project, make_sweep(repeats=12))
    count = len(states(sweep))
    assert no_workers == [sweep, sweep]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    both = [subprocess.Popen([sys.executable, "-c", TAKER, sweep], text=True, **pipes) for _ in no_workers]
    assert [process.stdout.readline() for process in both if process.stdout] == ["claimed\n"] * 2
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    taken = [json.loads(process.communicate(timeout=SECONDS)[0]) for process in both]
    assert sorted([*taken[0], *taken[1]]) == list(range(count))
    assert states(sweep) == ["done"] * count


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize("kind", ["standin", "private"])
def test_the_same_sweep_started_in_two_tabs_runs_and_is_charged_once(
    make_sweep: Callable[..., Sweep], project: str, kind: str
) -> None:
    tried = make_sweep(table=kind)
    first = sweeps.submit("ann", project, tried, seen=[])
    assert sweeps.submit("ann", project, tried, seen=[]) == first
    assert balance.spent("people").releases == (kind == "private")
    again = sweeps.submit("ann", project, tried, seen=[first])  # wanted once more by somebody who saw the first
    other = sweeps.submit("ann", project, make_sweep(table=kind, epsilons=(0.3,)), seen=[])
    assert len({first, again, other}) == 3


@pytest.mark.parametrize("statement", ["DELETE FROM ledger WHERE number = 2", "DELETE FROM ledger"])
def test_a_private_sweep_on_broken_books_ends_with_words_and_reads_nothing(
    home: Path, make_sweep: Callable[..., Sweep], project: str, no_workers: list[str], statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial.Trials, "run", lambda *_: pytest.fail("a record was read"))
    sweep = sweeps.submit("ann", project, make_sweep(table="private"))
    alter(home, statement)
    for worker_of in no_workers:
        be_worker(worker_of)
    stored = sweeps.get("ann", sweep)
    assert (stored.state, stored.touched) == ("done", False)
    assert states(sweep) == ["failed", "failed"]
    assert all("ledger restore" in point.error for point in sweeps.points("ann", sweep))
    with reading() as db:
        assert db.execute("SELECT COUNT(*) FROM workers").fetchone()[0] == 0


def test_a_private_sweep_beyond_the_cap_is_refused(make_sweep: Callable[..., Sweep], project: str) -> None:
    refused(sweeps.submit, "ann", project, make_sweep(table="private", epsilons=(9.0,), repeats=5), kind=CapExceeded)
    assert sweeps.list("ann", project) == ()


def test_where_plans_are_approved_nothing_is_tried_on_the_private_table(make_sweep: Callable[..., Sweep], project: str) -> None:
    ledger.open_population("ann", "people")
    approvals.demand("ann", "people", ["plan"])
    refused(sweeps.submit, "ann", project, make_sweep(table="private"), saying="nobody approves trials")
    assert [entry.kind for entry in chain.entries()] == ["population", "demand"]


@pytest.mark.usefixtures("no_workers")
def test_a_private_sweep_that_is_stopped_before_it_read_costs_nothing(make_sweep: Callable[..., Sweep], project: str) -> None:
    sweep = sweeps.submit("ann", project, make_sweep(table="private"))
    sweeps.stop("ann", sweep)
    assert balance.spent("people").rho == 0
    refused(sweeps.resume, "ann", sweep, saying="given back")


def die_on_the_private_table(sweep: Sweep, project: str, no_workers: list[str], reading: bool) -> str:
    """The sweep, of whose first point a worker died, and which another went on with."""
    submitted = sweeps.submit("ann", project, sweep)
    dispatch.claim(no_workers[0])
    dispatch.take(no_workers[0])
    if reading:
        jobs.touch(no_workers[0])
    die(no_workers[0])
    dispatch.pump()
    be_worker(no_workers[-1])
    return submitted


def test_a_point_whose_worker_died_on_the_private_table_is_lost_not_repeated(
    make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]
) -> None:
    sweep = die_on_the_private_table(make_sweep(table="private"), project, no_workers, reading=True)
    assert states(sweep) == ["lost", "done"]
    assert "stays charged" in sweeps.points("ann", sweep)[0].error
    sweeps.resume("ann", sweep)
    assert states(sweep) == ["lost", "done"]


def test_a_point_whose_worker_died_before_it_read_the_private_table_is_tried_again(
    make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]
) -> None:
    sweep = die_on_the_private_table(make_sweep(table="private"), project, no_workers, reading=False)
    assert states(sweep) == ["done", "done"]
    assert [point.attempts for point in sweeps.points("ann", sweep)] == [2, 1]


def test_a_trial_that_fails_on_the_private_table_is_not_repeated_for_it_would_cost_again(
    make_sweep: Callable[..., Sweep], project: str, no_workers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OracleError("it could not prove its answer")

    monkeypatch.setattr(trial.Trials, "run", fail)
    sweep = sweeps.submit("ann", project, make_sweep(table="private"))
    be_worker(no_workers[0])
    assert states(sweep) == ["lost", "lost"]
    assert sweeps.points("ann", sweep)[0].error.startswith("oracle: it could not prove its answer")
    assert "stays charged" in sweeps.points("ann", sweep)[0].error
    sweeps.resume("ann", sweep)
    assert states(sweep) == ["lost", "lost"]
    assert [e.kind for e in chain.entries()] == ["population", "reserve", "touch"]


def test_a_table_that_changed_after_submission_is_not_read_and_costs_nothing(
    table: Path, make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]
) -> None:
    sweep = sweeps.submit("ann", project, make_sweep(table="private"))
    table.write_text(table.read_text() + "1,1,1\n")
    be_worker(no_workers[0])
    assert states(sweep) == ["failed", "failed"]
    assert "changed" in sweeps.points("ann", sweep)[0].error
    assert balance.spent("people").rho == 0


def test_another_projects_upload_cannot_be_tried_on(make_spec: Make, project: str) -> None:
    other = projects.create("ann", "other").id
    path = projects.upload("ann", other, "people.csv", [b"a,b,c\n1,1,1\n"])
    tried = Sweep(make_spec(data={"path": str(path)}), "private", ("independent",), (1.0,), (3,), 1)
    refused(sweeps.submit, "ann", project, tried, saying="no such file")


def test_memory_limits_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPSYNTH_SWEEP_WORKERS")
    monkeypatch.setattr(machine, "free_mb", lambda: 1000.0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    assert [sweeps.workers_at_once(mb) for mb in (1.0, 100.0, 300.0, 5000.0)] == [16, 7, 2, 1]


def test_a_sweep_whose_document_was_made_one_of_a_private_table_reads_nothing(
    make_sweep: Callable[..., Sweep], project: str, no_workers: list[str]
) -> None:
    sweep = sweeps.submit("ann", project, make_sweep())
    with transaction() as db:
        db.execute("UPDATE jobs SET document = ?", (json.dumps(make_sweep(table="private").to_json()),))
    be_worker(no_workers[0])
    assert states(sweep) == ["failed", "failed"]
    assert "no entry of this charge" in sweeps.points("ann", sweep)[0].error
