"""Runs reserve before they queue, survive their server, stop when told, and belong to one owner."""

from __future__ import annotations

import inspect
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.store import balance, chain, dispatch, jobs, ledger, processes, projects, roles, runs
from dpsynth_core.store.accounts import CapExceeded
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.home import now
from tests.patience import SECONDS, wait_until
from tests.refusals import refused
from tests.store.conftest import measured

Make = Callable[..., Spec]


def wait_for(condition: Callable[[], bool]) -> None:
    """Poll as a page does."""
    wait_until(condition, dispatch.pump)


def ended(run: str) -> bool:
    return not runs.get("ann", run).active


@pytest.mark.usefixtures("no_workers")
def test_submit_charges_and_queues_at_once(make_spec: Make, project: str) -> None:
    spec = make_spec(looks=[])
    run = runs.get("ann", runs.submit("ann", project, spec))
    assert run.rho == GDP.rho_from(1.0, 1e-9)
    assert run.digest == spec.digest()
    entry = chain.entries()[-1]
    assert (entry.kind, entry.run, entry.spec, entry.rho) == ("reserve", run.id, spec.digest(), run.rho)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"data": {"path": "/nowhere.csv"}}, InputError),
        ({"domain": {"a": 2, "zip": 3}}, InputError),
        ({"mechanism": {"name": "magic"}}, InputError),
        ({"mechanism": {"name": "aim", "settings": {"max_size_mb": 1e-9}}}, InputError),
        ({"budget": {"epsilon": 0.0, "delta": 1e-9}}, InputError),
        ({"budget": {"epsilon": 11.0, "delta": 1e-9, "reason": "the counts are published already"}}, CapExceeded),
        ({"domain": {"a": 4000, "b": 4000, "c": 4}, "workload": {"kind": "all", "k": 2}}, CapacityError),
    ],
)
def test_a_refused_spec_costs_nothing(make_spec: Make, project: str, no_workers: list[str], fields: dict[str, object], error: type) -> None:
    with pytest.raises(error):
        runs.submit("ann", project, make_spec(**fields))
    assert runs.list("ann") == ()
    assert [e for e in chain.entries() if e.kind == "reserve"] == []
    assert no_workers == []


SUBMITTER = """
import json, sys, time
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import accounts, dispatch, runs
dispatch.launch_worker = lambda *_: None
project, gate, spec = sys.argv[1], float(sys.argv[2]), Spec.from_json(json.loads(sys.argv[3]))
time.sleep(max(0.0, gate - time.time()))
won = 0
for _ in range(3):
    try:
        runs.submit("ann", project, spec)
        won += 1
    except accounts.CapExceeded:
        pass
print(won)
"""


@pytest.mark.slow  # processes that start, and race
def test_tabs_that_submit_at_the_same_moment_cannot_overspend(make_spec: Make, project: str) -> None:
    """Three processes try nine runs where five fit."""
    roles.greet("ann", "ann@example.org", roles.EVERY, now())
    ledger.open_population("ann", "people", (1.0, 1e-9))
    eps = 0.0
    while GDP.rho_from(eps + 0.01, 1e-9) * 5 <= GDP.rho_from(1.0, 1e-9):
        eps += 0.01
    spec = make_spec(budget={"epsilon": eps, "delta": 1e-9})
    command = [sys.executable, "-c", SUBMITTER, project, str(time.time() + 3), spec.model_dump_json()]
    tabs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sum(int(tab.communicate(timeout=SECONDS)[0]) for tab in tabs) == 5
    assert len(runs.list("ann")) == 5
    assert balance.spent("people").epsilon <= 1.0


def test_a_plan_that_another_tab_started_meanwhile_is_not_run_and_charged_again(
    make_spec: Make, project: str, no_workers: list[str]
) -> None:
    """Both tabs showed no run when the curator decided; also when the first one's run has ended by the time of the second click."""
    first = runs.submit("ann", project, make_spec(), seen=[])
    assert runs.submit("ann", project, make_spec(), seen=[]) == first
    runs.cancel("ann", first)
    assert runs.submit("ann", project, make_spec(), seen=[]) == first
    assert balance.spent("people").releases == 0
    assert no_workers == [first]
    again = runs.submit("ann", project, make_spec(), seen=[first])
    assert again != first
    other = runs.submit("ann", project, make_spec(name="another plan"), seen=[])
    assert len({first, again, other}) == 3
    assert len(runs.list("ann")) == 3


def test_owners_are_charged_together_and_see_only_their_own_runs(make_spec: Make, project: str, no_workers: list[str]) -> None:
    """Three owners, one population: epsilon 10 once, and not once for each."""
    theirs = {owner: projects.create(owner, "theirs").id for owner in ("bob", "cookie-0123456789")} | {"ann": project}
    spec = make_spec(budget={"epsilon": 8.0, "delta": 1e-9})
    first = runs.submit("ann", project, spec)
    for owner in ("bob", "cookie-0123456789"):
        refused(runs.submit, owner, theirs[owner], spec, kind=CapExceeded)
    assert [len(runs.list(owner)) for owner in theirs] == [0, 0, 1]
    assert no_workers == [first]


def test_one_run_at_a_time_oldest_first(make_spec: Make, project: str, no_workers: list[str]) -> None:
    first, second, third = (runs.submit("ann", project, make_spec()) for _ in range(3))
    for _ in range(3):
        dispatch.pump()
    assert no_workers == [first]
    assert [runs.get("ann", r).state for r in (first, second, third)] == ["running", "queued", "queued"]
    assert [runs.queue_position("ann", r) for r in (first, second, third)] == [0, 0, 1]
    runs.cancel("ann", first)
    assert no_workers == [first, second]


def test_more_at_a_time_if_configured(make_spec: Make, project: str, no_workers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_CONCURRENT_RUNS", "2")
    started = [runs.submit("ann", project, make_spec()) for _ in range(3)]
    assert no_workers == started[:2]


@pytest.mark.usefixtures("no_workers")
def test_a_queued_run_that_is_cancelled_gives_its_reservation_back(make_spec: Make, project: str) -> None:
    runs.submit("ann", project, make_spec())
    queued = runs.submit("ann", project, make_spec())
    before = balance.spent("people").rho
    runs.cancel("ann", queued)
    runs.cancel("ann", queued)
    assert runs.get("ann", queued).state == "cancelled"
    assert balance.spent("people").rho == pytest.approx(before / 2)
    assert [e.kind for e in chain.entries() if e.run == queued] == ["reserve", "return"]


@pytest.mark.usefixtures("no_workers")
def test_a_worker_that_never_starts_is_given_up_and_costs_nothing(make_spec: Make, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.submit("ann", project, make_spec())
    dispatch.pump()
    assert runs.get("ann", run).state == "running"
    monkeypatch.setattr(jobs, "SILENCE_SECONDS", -1.0)
    dispatch.pump()
    assert runs.get("ann", run).state == "lost"
    assert balance.spent("people").rho == 0


def test_a_worker_that_ends_before_it_claims_its_run_is_noticed_at_once(
    make_spec: Make, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = processes.launch
    monkeypatch.setattr(processes, "launch", lambda _, run: launch("dpsynth_core.no_such_module", run))
    run = runs.submit("ann", project, make_spec())

    wait_for(lambda: runs.get("ann", run).state == "lost")
    assert "ended before it began" in runs.get("ann", run).error
    assert balance.spent("people").rho == 0


def act_as_worker(run: str, pid: int, born: str | None, place: str, heartbeat_age: float = 0.0, touched: bool = False) -> None:
    """Put a process of our choice into the run's row."""
    beat = (datetime.now(UTC) - timedelta(seconds=heartbeat_age)).isoformat()
    with transaction() as db:
        db.execute("UPDATE workers SET pid = ?, birth = ?, place = ?, heartbeat = ? WHERE job = ?", (pid, born, place, beat, run))
        if touched:
            db.execute("UPDATE jobs SET touched = 1 WHERE id = ?", (run,))
            ledger.touch(db, run)


@pytest.mark.usefixtures("no_workers")
def test_a_pid_is_believed_only_with_its_start_time(make_spec: Make, project: str) -> None:
    """Our own pid lives, but was not born when the row says: it is a reused number, and the worker is gone."""
    run = runs.submit("ann", project, make_spec())
    act_as_worker(run, os.getpid(), processes.birth(os.getpid()), processes.place())
    dispatch.pump()
    assert runs.get("ann", run).state == "running"
    act_as_worker(run, os.getpid(), "1", processes.place(), touched=True)
    dispatch.pump()
    assert runs.get("ann", run).state == "lost"
    assert balance.spent("people").rho > 0


@pytest.mark.usefixtures("no_workers")
def test_a_worker_of_another_machine_is_judged_by_its_heartbeat(make_spec: Make, project: str) -> None:
    run = runs.submit("ann", project, make_spec())
    act_as_worker(run, 1, "1", "elsewhere", heartbeat_age=jobs.SILENCE_SECONDS / 2)
    dispatch.pump()
    assert runs.get("ann", run).state == "running"
    act_as_worker(run, 1, "1", "elsewhere", heartbeat_age=jobs.SILENCE_SECONDS + 1)
    dispatch.pump()
    assert runs.get("ann", run).state == "lost"


def test_a_heartbeat_is_recorded(make_spec: Make, project: str, no_workers: list[str]) -> None:
    run = runs.submit("ann", project, make_spec())
    assert no_workers == [run]
    dispatch.claim(run)
    first = runs.get("ann", run).heartbeat
    time.sleep(0.01)
    jobs.beat(run)
    assert first is not None
    assert runs.get("ann", run).heartbeat > first


def test_a_zombie_is_dead_and_a_reused_pid_is_not_signalled() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    born = processes.birth(child.pid)
    assert born is not None
    processes.signal_group(child.pid, "1", signal.SIGKILL)
    assert child.poll() is None
    processes.signal_group(child.pid, born, signal.SIGKILL)
    wait_until(lambda: processes.birth(child.pid) is None)  # not reaped yet
    child.communicate()


STUBBORN = """
import signal, sys, time
from dpsynth_core.store import dispatch, jobs
signal.signal(signal.SIGTERM, signal.SIG_IGN)
dispatch.claim(sys.argv[1]); dispatch.take(sys.argv[1]); jobs.touch(sys.argv[1])
time.sleep(600)
"""


def test_a_worker_that_ignores_the_polite_signal_is_killed_after_the_grace(
    make_spec: Make, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "GRACE_SECONDS", 0.5)
    started: list[subprocess.Popen[bytes]] = []

    def launch(run: str) -> None:
        started.append(subprocess.Popen([sys.executable, "-c", STUBBORN, run], start_new_session=True))

    monkeypatch.setattr(dispatch, "launch_worker", launch)
    run = runs.submit("ann", project, make_spec())
    wait_for(lambda: runs.get("ann", run).touched)
    runs.cancel("ann", run)
    assert runs.get("ann", run).state == "cancelling"
    wait_for(lambda: ended(run))
    assert runs.get("ann", run).state == "cancelled"
    assert started[0].wait(SECONDS) == -signal.SIGKILL
    assert balance.spent("people").rho == pytest.approx(runs.get("ann", run).rho)


def worker_of(run: str) -> int:
    with reading() as db:
        return int(db.execute("SELECT pid FROM workers WHERE job = ?", (run,)).fetchone()["pid"])


def slow_spec(make_spec: Make) -> Spec:
    """Many rounds of AIM on the demo: long enough to be interrupted in the middle."""
    from dpsynth_core.sources.demo import demo_domain

    return make_spec(
        data={"kind": "demo"},
        domain=demo_domain().to_json(),
        workload={"kind": "all", "k": 3},
        mechanism={"name": "aim", "settings": {"rounds_per_attribute": 100}},
    )


def test_a_real_worker_is_cancelled_in_the_middle_and_keeps_what_it_measured(make_spec: Make, project: str) -> None:
    run = runs.submit("ann", project, slow_spec(make_spec))
    wait_for(lambda: len(measured(run)) > 3)
    pid = worker_of(run)
    assert os.getpriority(os.PRIO_PROCESS, pid) >= 5
    assert os.getsid(pid) == os.getpgid(pid) == pid
    assert Path(f"/proc/{pid}/oom_score_adj").read_text() == "500\n"
    (data,) = [line.split() for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if line.startswith("Max data size")]
    assert 2000e6 < int(data[3]) < 10000e6
    runs.cancel("ann", run)
    wait_for(lambda: ended(run))
    cancelled_run = runs.get("ann", run)
    assert (cancelled_run.state, cancelled_run.touched, cancelled_run.error) == ("cancelled", True, "")
    assert len(measured(run)) > 3
    assert balance.spent("people").rho == pytest.approx(cancelled_run.rho)
    refused(runs.release, "ann", run, saying="cancelled")


def test_a_worker_that_was_given_up_ends_itself(make_spec: Make, project: str) -> None:
    """Judged lost while it lives, from another machine say: at its next heartbeat or event it finds out and is gone."""
    run = runs.submit("ann", project, slow_spec(make_spec))
    wait_for(lambda: len(measured(run)) > 0)
    pid = worker_of(run)
    with transaction() as db:
        db.execute("DELETE FROM workers WHERE job = ?", (run,))
        db.execute("UPDATE points SET state = 'lost' WHERE job = ?", (run,))
    wait_for(lambda: processes.birth(pid) is None)
    assert runs.get("ann", run).state == "lost"
    refused(runs.release, "ann", run)


def test_a_worker_outlives_the_server_that_started_it_and_starts_the_next_run(
    make_spec: Make, project: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The submitting process ends at once; nobody pumps; both runs end as done, with private files."""
    monkeypatch.setenv("DPSYNTH_HOME", str(home))
    roles.greet("ann", "ann@example.org", roles.EVERY, now())
    code = (
        "import json, os, sys; os.umask(0); from dpsynth_core.planning.spec import Spec; from dpsynth_core.store import runs;"
        "[runs.submit('ann', sys.argv[1], Spec.from_json(json.loads(sys.argv[2]))) for _ in range(2)]; os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, project, make_spec().model_dump_json()], check=True, timeout=SECONDS)
    wait_until(lambda: not any(run.active for run in runs.list("ann")))  # reading only: no pump
    assert [run.state for run in runs.list("ann")] == ["done", "done"]
    with reading():  # keeps the write-ahead log in place, which the last worker removes as it ends
        modes = {p: stat.S_IMODE(p.stat().st_mode) for p in home.rglob("*")}
    assert {m for p, m in modes.items() if p.is_dir()} == {0o700}
    assert {m for p, m in modes.items() if p.is_file()} == {0o600}


def test_deleting_a_project_stops_its_run_and_removes_everything_but_the_ledger(make_spec: Make, project: str, home: Path) -> None:
    run = runs.submit("ann", project, slow_spec(make_spec))
    wait_for(lambda: len(measured(run)) > 0)
    pid = worker_of(run)
    projects.delete("ann", project)
    assert processes.birth(pid) is None
    assert runs.list("ann") == ()
    assert [p for p in home.rglob("*") if project in str(p)] == []
    assert [e.kind for e in chain.entries()] == ["population", "reserve", "touch", "delete"]


@pytest.mark.usefixtures("no_workers")
def test_an_active_run_is_not_deleted_a_finished_one_is(make_spec: Make, project: str, home: Path) -> None:
    run = runs.submit("ann", project, make_spec())
    refused(runs.delete, "ann", run, saying="cancel it first")
    runs.cancel("ann", run)
    runs.delete("ann", run)
    assert runs.list("ann") == ()
    assert [p for p in home.rglob("*") if run in str(p)] == []
    assert [entry.kind for entry in chain.entries()] == ["population", "reserve", "return", "delete"]


@pytest.mark.usefixtures("no_workers")
def test_no_store_function_shows_another_owner_anything(make_spec: Make, project: str) -> None:
    """Every public function that takes an owner, called by bob with ann's identifiers: an InputError or an empty answer."""
    path = projects.upload("ann", project, "a.csv", iter([b"x"]))
    run = runs.submit("ann", project, make_spec())
    given = {"project": project, "run": run, "population": "people", "name": "people", "draft": {}, "content": iter([b"y"])}
    given |= {"stage": "plan", "what": "bundle", "spec": make_spec(), "look_at": repr, "reason": "Only the teaching of students needs it."}
    makes_own = {"create"}
    for module in (projects, runs):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            parameters = list(inspect.signature(function).parameters)
            if function.__module__ != module.__name__ or name.startswith("_") or parameters[:1] != ["owner"] or name in makes_own:
                continue
            arguments = [given[p] for p in parameters[1:] if p in given]
            try:
                shown = function("bob", *arguments)
            except (InputError, LookupError):
                continue
            assert not shown or "people.csv" not in repr(shown), name
            if isinstance(shown, tuple | list):
                assert shown in ((), []), name
    assert path.read_bytes() == b"x"
    assert runs.get("ann", run).state == "running"
    assert len(chain.entries()) == 2


def test_a_run_that_will_not_fit_the_disk_is_refused_before_its_charge(
    make_spec: Make, project: str, no_workers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on the command line (`test_cli`), by the same function."""
    usage = shutil.disk_usage(".")
    monkeypatch.setattr("dpsynth_core.release.spool.shutil.disk_usage", lambda _: usage._replace(free=2**20))
    refused(runs.submit, "ann", project, make_spec(), saying=r"DPSYNTH_HOME: its disk has 1 MB left.*make room first")
    assert runs.list("ann", project) == ()
    assert chain.entries() == ()
    assert no_workers == []


@pytest.mark.usefixtures("no_workers")
def test_a_run_cannot_read_another_projects_upload(make_spec: Make, project: str, table: Path) -> None:
    stolen = projects.upload("ann", project, "a.csv", iter([table.read_bytes()]))
    theirs = projects.create("bob", "x").id
    detour = stolen.parent / ".." / ".." / project / "uploads" / "a.csv"
    link = table.parent / "link.csv"
    link.symlink_to(stolen)
    for path in (stolen, detour, link):
        refused(runs.submit, "bob", theirs, make_spec(data={"path": str(path)}), saying="no such file")
    assert runs.submit("ann", project, make_spec(data={"path": str(stolen)}))
