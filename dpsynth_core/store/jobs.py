"""The life of a job as transactions on its rows. If a process dies between two transactions, the rows still record its last step.

A job is a number of points that worker processes carry out. A release has one point and keeps its
rows; a command is a release made in the process of the command line; a sweep has many points, which
several workers share, and keeps only their errors.

    job     active -> done                      point   waiting -> running -> done | failed | cancelled | lost
              |---> stopping -> done                       ^----------'  (its worker died before it read anything private)
              `---> stopped -> active

A job with a private table is charged as a whole when it is submitted, and refunded if it ends
before it was touched (about to read private records). What a point cost stays charged, so a point
whose worker died after reading is lost and never repeated by itself.

`pump` judges workers that have died and starts those that may start. It is idempotent, and anyone
may call it at any time: the server when it starts, every poll of a page, a worker that ends.
Nothing here checks owners. A worker acts only while a row names its own pid and start time, so that
a worker given up as dead can do no more harm.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from dpsynth_core.planning import machine
from dpsynth_core.store import chain, demands, ledger, processes, roles
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.connection import Connection, Row
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.folders import new_id, run_folder
from dpsynth_core.store.home import now
from dpsynth_core.store.ledger import Charge
from dpsynth_core.store.roles import Act
from dpsynth_core.store.times import age

RELEASE, SWEEP, COMMAND = "release", "sweep", "command"
MAX_ATTEMPTS = {RELEASE: 1, SWEEP: 3, COMMAND: 1}
"""Number of workers that may die on a point before any of them began to read."""

_AGAIN = {RELEASE: ("failed", "cancelled", "lost"), SWEEP: ("failed",)}
"""States of the points that go on when their job is resumed."""

HEARTBEAT_SECONDS = 2.0
SILENCE_SECONDS = 60.0
"""Seconds of silence after which a worker that did not start, or that lives where we cannot look, is given up."""
GRACE_SECONDS = 5.0
"""Seconds between SIGTERM and SIGKILL."""

RESULT = "release"
"""Folder of a complete release inside the run's folder. A rename makes it appear whole."""

_CHARGING = {"reserve", "touch", "return"}
_MINE = "pid = ? AND birth = ?"
_CHARGED = "It may have read the private table, so that it stays charged and is not repeated."
_RESTORED = f"It was ended when the ledger was restored. {_CHARGED}"
_LOST_RUN = (
    "Its worker process died (killed, out of memory or of time, or a restart). It had begun to read records, so its budget stays charged."
)

_BUSY = "SELECT owner, kind, COUNT(*) AS busy FROM workers JOIN jobs ON jobs.id = job GROUP BY owner, kind"
_TURN_SECONDS = 60.0
"""Seconds after which a worker of a sweep makes way for another person's sweep."""


class NotMine(RuntimeError):
    """The error for a worker whose job was stopped, given to others or deleted; it must end and store nothing more."""


@dataclass(frozen=True)
class Job:
    """A job to submit.

    Attributes:
        id: Identifier.
        owner: The person who submits it.
        project: Id of its project, None for a command.
        kind: RELEASE, SWEEP or COMMAND.
        document: The spec or the sweep as JSON.
        digest: Digest of the document.
        population: Name of the charged population.
        rho: Its cost; 0 if nothing is charged.
        forecasts: Forecast seconds of each point.
        workers: Largest number of processes that may share the job.
        memory_mb: Forecast memory of each process, in MB.
    """

    id: str
    owner: str
    project: str | None
    kind: str
    document: str
    digest: str
    population: str
    rho: float
    forecasts: Sequence[float] = (0.0,)
    workers: int = 1
    memory_mb: float = 0.0


def submit(db: Connection, job: Job, charge: Charge | None) -> None:
    """Reserve the charge and queue the job, both or neither, in the transaction of `db`.

    Args:
        db: Connection of the transaction.
        job: The job.
        charge: Its charge; None if no private table is read.

    Raises:
        CapExceeded: The cap leaves too little.
        UnitDiffers: The population has another unit of privacy.
        BooksLost: The ledger is not whole.
        InputError: The owner may not run it.
    """
    roles.check(db, job.owner, Act.RUN)
    if charge is not None:
        ledger.reserve(db, job.owner, charge)
    db.execute(
        "INSERT INTO jobs (id, owner, project, kind, document, digest, population, rho, workers, charged, created, state)"
        " VALUES (:id, :owner, :project, :kind, :document, :digest, :population, :rho, :workers, :charged, :created, 'active')",
        {**vars(job), "charged": int(charge is not None), "created": now()},
    )
    db.execute("INSERT INTO needs (job, memory_mb) VALUES (:id, :memory_mb)", vars(job))
    db.executemany(
        "INSERT INTO points (job, number, forecast, state) VALUES (?, ?, ?, 'waiting')",
        [(job.id, number, seconds) for number, seconds in enumerate(job.forecasts)],
    )


def started_meanwhile(db: Connection, job: Job, seen: Collection[str] | None) -> str | None:
    """Return the id of an equal job (same project, kind and document) that is not in `seen`; None without one.

    Such a job was started in a second browser tab or by a second click, and must not be charged
    twice.

    Args:
        db: Connection.
        job: The job to compare with.
        seen: Ids of the jobs that the curator knew of when deciding; None if unknown, and the
            result is then None.
    """
    if seen is None:
        return None
    rows = db.execute(
        "SELECT id FROM jobs WHERE project = ? AND kind = ? AND document = ? ORDER BY created", (job.project, job.kind, job.document)
    )
    return next((str(row["id"]) for row in rows if row["id"] not in seen), None)


# What a worker does


def work_here(db: Connection, job: str) -> None:
    """Make this process the worker of a job with one point, in the transaction that submits the job."""
    worker = new_id()
    db.execute(
        "INSERT INTO workers (id, job, pid, birth, place, started, heartbeat) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (worker, job, *_me(), processes.place(), now(), now()),
    )
    db.execute("UPDATE points SET state = 'running', worker = ?, attempts = 1, started = ? WHERE job = ?", (worker, now(), job))


def claim(job: str) -> Row:
    """Make this process one of the workers for which the job has places, and return the job's row.

    Raises:
        NotMine: No place is left.
    """
    with transaction() as db:
        changed = db.execute(
            "UPDATE workers SET pid = ?, birth = ?, place = ?, heartbeat = ?"
            " WHERE id = (SELECT id FROM workers WHERE job = ? AND pid IS NULL LIMIT 1)",
            (*_me(), processes.place(), now(), job),
        )
        if changed.rowcount != 1:
            raise NotMine
        return _job_of(db, job)


def beat(job: str) -> None:
    """Record that this worker of the job is alive.

    Raises:
        NotMine: The job was given to other workers.
    """
    with transaction() as db:
        if db.execute(f"UPDATE workers SET heartbeat = ? WHERE job = ? AND {_MINE}", (now(), job, *_me())).rowcount != 1:
            raise NotMine


@contextmanager
def beating(job: str, on_loss: Callable[[], None] = lambda: os.killpg(os.getpgid(0), signal.SIGKILL)) -> Iterator[None]:
    """Report every `HEARTBEAT_SECONDS` seconds, on another thread, that this process works on the job, while the body runs.

    Args:
        job: Id of the job.
        on_loss: Called once the job was given to other workers. By default it kills this process
            and its children at once; a process that a person started in a terminal must not kill
            its group.
    """
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            try:
                beat(job)
            except NotMine:
                if not ended.is_set():
                    on_loss()
                    return
            except Exception:  # noqa: BLE001, S112 (a busy or full disk: the pid still tells that we live)
                continue

    threading.Thread(target=go_on, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def take(job: str) -> int | None:
    """Mark the job's next waiting point as running in this worker, and return its number.

    The result is None if no point waits, the job is being stopped, or it is another person's turn.

    Raises:
        NotMine: This process does not work on the job any more.
    """
    with transaction() as db:
        mine = _job_of(db, job)
        row = db.execute("SELECT number FROM points WHERE job = ? AND state = 'waiting' ORDER BY number LIMIT 1", (job,)).fetchone()
        if row is None or mine["state"] != "active" or _turn_is_over(db, mine):
            return None
        db.execute(
            "UPDATE points SET state = 'running', worker = ?, attempts = attempts + 1, started = ?, error = ''"
            " WHERE job = ? AND number = ?",
            (_worker(db, job), now(), job, row["number"]),
        )
        return int(row["number"])


def _turn_is_over(db: Connection, job: Row) -> bool:
    """Return whether a sweep's worker must make way for another person's waiting sweep.

    This is the case if it has run for `_TURN_SECONDS` and the other person has no sweep at work.
    """
    began = db.execute("SELECT started FROM workers WHERE id = ?", (_worker(db, job["id"]),)).fetchone()["started"]
    if job["kind"] != SWEEP or age(began) < _TURN_SECONDS:
        return False
    busy = {row["owner"] for row in db.execute(_BUSY) if row["kind"] == SWEEP}
    return any(other["kind"] == SWEEP and other["owner"] not in busy for other in queue(db))


def touch(job: str) -> None:
    """Make the job's charge final, before its first record is read.

    Raises:
        NotMine: The job may not go on.
        InputError: The plan needs an approval first.
        StoreFault: The ledger has no standing charge of the job, even if its row claims one.
    """
    with transaction() as db:
        row = _job_of(db, job)
        if row["state"] != "active":
            raise NotMine
        if row["kind"] != SWEEP or "touch" not in _entries_of(db, job):
            _check_approved(chain.entries_in(db), job)
            db.execute("UPDATE jobs SET charged = 1, touched = 1 WHERE id = ?", (job,))
            ledger.touch(db, job)


def _check_approved(books: Sequence[Entry], job: str) -> None:
    """Raise InputError if the plan of a job needs an approval that it does not have."""
    if demands.any_approval(books):
        from dpsynth_core.store import approvals  # loaded where approvals are demanded alone

        approvals.check(books, job, approvals.PLAN)


def record(job: str, content: Mapping[str, Any]) -> bool:
    """Store an event of a run, and return whether the run is being stopped.

    Args:
        job: Id of the run.
        content: The event as JSON.

    Raises:
        NotMine: This process does not work on the run any more.
    """
    with transaction() as db:
        row = _job_of(db, job)
        number = db.execute("SELECT COUNT(*) FROM events WHERE job = ?", (job,)).fetchone()[0]
        db.execute("INSERT INTO events (job, number, at, content) VALUES (?, ?, ?, ?)", (job, number, now(), json.dumps(content)))
    return bool(row["state"] == "stopping")


def give(job: str, number: int, state: str, error: str = "", outcome: Mapping[str, Any] | None = None) -> None:
    """Store how a point ended.

    A trial that failed after it touched a private table becomes lost, because repeating it would
    cost again.

    Args:
        job: Id of the job.
        number: Number of the point.
        state: "done", "failed" or "cancelled".
        error: Message for people, or "".
        outcome: The result as JSON, or None.

    Raises:
        NotMine: This process does not have the point any more.
    """
    with transaction() as db:
        row = _job_of(db, job)
        if state == "failed" and row["kind"] == SWEEP and row["touched"]:
            state, error = "lost", f"{error} {_CHARGED}"
        changed = db.execute(
            "UPDATE points SET state = ?, outcome = ?, error = ?, finished = ?, worker = NULL"
            " WHERE job = ? AND number = ? AND state = 'running' AND worker = ?",
            (state, "" if outcome is None else json.dumps(outcome), error, now(), job, number, _worker(db, job)),
        )
        if changed.rowcount != 1:
            raise NotMine
        _end_if_finished(db, job)


def refuse(job: str, error: str) -> None:
    """Let all waiting points of this worker's job fail with the same error, because all would end with it.

    Raises:
        NotMine: This process does not work on the job any more.
    """
    with transaction() as db:
        _job_of(db, job)
        db.execute("UPDATE points SET state = 'failed', error = ?, finished = ? WHERE job = ? AND state = 'waiting'", (error, now(), job))
        _end_if_finished(db, job)


def leave(job: str) -> None:
    """Record that this process no longer works on the job."""
    with transaction() as db:
        db.execute(f"DELETE FROM workers WHERE job = ? AND {_MINE}", (job, *_me()))
        _cancel_if_alone(db, job)


# What every process may do


def pump() -> None:
    """Judge the workers by their processes, then start workers for waiting jobs as far as memory and `DPSYNTH_CONCURRENT_RUNS` allow."""
    with transaction() as db:
        reconcile(db)
    text = os.environ.get("DPSYNTH_CONCURRENT_RUNS", "1")  # how many runs may work at the same time
    at_once = int(text) if text.isdigit() and int(text) > 0 else 1
    while True:
        with transaction() as db:
            job = _start_next(db, at_once)
        if job is None:
            return
        _launch(job["id"])


def reconcile(db: Connection) -> None:
    """Compare the workers with the processes that exist.

    The points of workers whose process is gone are judged. Workers that still live `GRACE_SECONDS`
    after a request to stop are killed.
    """
    for worker in db.execute("SELECT * FROM workers").fetchall():
        job = db.execute("SELECT * FROM jobs WHERE id = ?", (worker["job"],)).fetchone()
        if not _lives(worker):
            _bury(db, job, worker)
        elif job["state"] == "stopping" and age(job["stop_asked"]) > GRACE_SECONDS and worker["place"] == processes.place():
            processes.signal_group(worker["pid"], worker["birth"], signal.SIGKILL)


def ask_to_stop(job: str) -> None:
    """Cancel a job; a job that is stopped or done stays unchanged.

    Without a process it ends at once. Otherwise its workers get SIGTERM, and `reconcile` kills them
    after `GRACE_SECONDS`. Finished points keep their results.
    """
    with transaction() as db:
        state = db.execute("SELECT state FROM jobs WHERE id = ?", (job,)).fetchone()["state"]
        if state not in ("active", "stopping"):
            return
        db.execute("UPDATE jobs SET state = 'stopping', stop_asked = COALESCE(stop_asked, ?) WHERE id = ?", (now(), job))
        db.execute("DELETE FROM workers WHERE job = ? AND pid IS NULL", (job,))
        workers = _workers(db, job)
        _cancel_if_alone(db, job)
    for worker in workers:
        if worker["place"] == processes.place():
            processes.signal_group(worker["pid"], worker["birth"], signal.SIGTERM)


def stop(job: str) -> None:
    """Stop a job at once and wait until its workers are gone.

    The running points of a sweep wait again, unless it began to read a private table; they are then
    lost. A release ends as cancelled.
    """
    with transaction() as db:
        row = db.execute("SELECT * FROM jobs WHERE id = ?", (job,)).fetchone()
        if row["state"] not in ("active", "stopping"):
            return
        workers = _workers(db, job)
        # to be stopped is no failed attempt
        db.execute("UPDATE points SET attempts = attempts - 1 WHERE job = ? AND state = 'running'", (job,))
        if row["kind"] != SWEEP:
            db.execute("UPDATE jobs SET state = 'stopping' WHERE id = ?", (job,))
            row = {**row, "state": "stopping"}
        for point in db.execute("SELECT * FROM points WHERE job = ? AND state = 'running'", (job,)).fetchall():
            _judge(db, row, point, "was stopped")
        db.execute("DELETE FROM workers WHERE job = ?", (job,))
        _cancel_if_alone(db, job)
        if not _end_if_finished(db, job):
            _close(db, job, "stopped", "stopped")
    for worker in workers:
        if worker["pid"] is not None and worker["place"] == processes.place():
            processes.signal_group(worker["pid"], worker["birth"], signal.SIGKILL)  # it holds nothing that could be torn apart
            while processes.birth(worker["pid"]) == worker["birth"]:
                time.sleep(0.02)


def resume(db: Connection, owner: str, job: str) -> None:
    """Let the failed points of a stopped or ended job wait again; for a release also cancelled or lost ones.

    Args:
        db: Connection of the transaction.
        owner: The person who resumes it.
        job: Id of the job.

    Raises:
        InputError: The owner may not run plans.
    """
    roles.check(db, owner, Act.RUN)
    kind = db.execute("SELECT kind FROM jobs WHERE id = ?", (job,)).fetchone()["kind"]
    marks = ", ".join("?" for _ in _AGAIN[kind])
    db.execute(f"UPDATE points SET state = 'waiting', attempts = 0, error = '' WHERE job = ? AND state IN ({marks})", (job, *_AGAIN[kind]))
    db.execute("UPDATE jobs SET state = 'active', finished = NULL, stop_asked = NULL WHERE id = ?", (job,))
    _end_if_finished(db, job)


def remove(job: str) -> None:
    """Delete a job's rows; its ledger entries stay."""
    with transaction() as db:
        db.execute("DELETE FROM jobs WHERE id = ?", (job,))


def kind_of(job: str) -> str | None:
    """Return RELEASE, SWEEP or COMMAND, or None if the job no longer exists."""
    with reading() as db:
        row = db.execute("SELECT kind FROM jobs WHERE id = ?", (job,)).fetchone()
    return None if row is None else str(row["kind"])


def end_charged(db: Connection) -> None:
    """End every charged job without a refund, because after the ledger was lost it is unknown what they have read."""
    db.execute("UPDATE jobs SET touched = 1 WHERE charged = 1 AND state != 'done'")
    for job in db.execute("SELECT * FROM jobs WHERE charged = 1 AND (state != 'done' OR kind = 'sweep' AND touched = 1)").fetchall():
        db.execute("DELETE FROM workers WHERE job = ?", (job["id"],))
        db.execute(
            "UPDATE points SET state = ?, error = ?, worker = NULL, finished = ?"
            " WHERE job = ? AND state IN ('waiting', 'running', 'failed')",
            (*(("done", "") if _has_release(job) else ("lost", _RESTORED)), now(), job["id"]),
        )
        if job["state"] != "done":
            _end_if_finished(db, job["id"])


def jobs_of(project: str) -> list[str]:
    """Return the identifiers of a project's jobs."""
    with reading() as db:
        return [row["id"] for row in db.execute("SELECT id FROM jobs WHERE project = ?", (project,))]


# How a job is judged


def queue(db: Connection) -> list[Row]:
    """Return the active jobs with more open points than workers, in the order in which they get workers.

    People take turns: each person gets a first worker before any person gets a second one of the
    same kind. Within a turn, the person whose last point started longest ago comes first, then the
    older job.
    """
    turns = Counter({(row["owner"], row["kind"]): row["busy"] for row in db.execute(_BUSY)})
    latest = dict(tuple(row) for row in db.execute("SELECT owner, MAX(started) FROM points JOIN jobs ON jobs.id = job GROUP BY owner"))
    ordered: list[tuple[int, str, int, Row]] = []
    waiting = db.execute("SELECT * FROM jobs WHERE state = 'active' AND kind != 'command' ORDER BY created, id").fetchall()
    for number, job in enumerate(waiting):
        if len(_workers(db, job["id"])) < min(job["workers"], _open_points(db, job["id"])):
            turns[job["owner"], job["kind"]] += 1
            ordered.append((turns[job["owner"], job["kind"]], latest[job["owner"]] or "", number, job))
    return [job for *_, job in sorted(ordered, key=lambda one: one[:3])]


def _start_next(db: Connection, runs: int) -> Row | None:
    """Make a place for one more worker, and return its job; None without work or room.

    Args:
        db: Connection of the transaction.
        runs: Number of releases that may be made at the same time.
    """
    full, books = set[str](), cache(lambda: chain.entries_in(db))
    busy = db.execute(_BUSY).fetchall()
    for job in queue(db):
        if job["kind"] in full:
            continue
        at_work = {row["owner"]: row["busy"] for row in busy if row["kind"] == job["kind"]}
        is_full = sum(at_work.values()) >= (runs if job["kind"] == RELEASE else job["workers"])
        if is_full and (job["kind"] == RELEASE or job["owner"] in at_work):
            continue
        if job["charged"] and not job["touched"] and _lacks_approval(books(), job["id"]):
            continue
        if is_full or not _fits(db, job):
            full.add(job["kind"])  # what comes after it would keep it waiting for ever
            continue
        db.execute("INSERT INTO workers (id, job, started) VALUES (?, ?, ?)", (new_id(), job["id"], now()))
        return job
    return None


def _lacks_approval(books: Sequence[Entry], job: str) -> bool:
    """Return whether the plan of a job needs an approval that it does not have."""
    if not demands.any_approval(books):
        return False
    from dpsynth_core.store import approvals  # loaded where approvals are demanded alone

    return approvals.lacks(books, job, approvals.PLAN)


def _fits(db: Connection, job: Row) -> bool:
    """Return whether memory suffices for one more worker of the job, by forecasts of the workers of its kind.

    A job with no other worker of its kind always fits. Sweeps, which may take hours, delay no run:
    their number of workers was chosen by the memory that was free when they were submitted.
    """
    needed = db.execute("SELECT memory_mb FROM needs WHERE job = ?", (job["id"],)).fetchone()
    beside = "SELECT COALESCE(SUM(memory_mb), 0) FROM workers JOIN needs USING (job) JOIN jobs ON jobs.id = job WHERE kind = ?"
    taken = db.execute(beside, (job["kind"],)).fetchone()[0]
    there = machine.all_mb()
    return not taken or there is None or taken + (needed["memory_mb"] if needed else 0.0) <= machine.MEMORY_SHARE * there


def _launch(job: str) -> None:
    processes.launch("dpsynth_core.store.worker", job)


def _lives(worker: Row) -> bool:
    """Return whether a worker's process is alive.

    A process of another machine or container cannot be seen, nor one that has not started; it
    counts as alive until it was silent for `SILENCE_SECONDS`.
    """
    if worker["pid"] is not None and worker["place"] == processes.place():
        return processes.birth(worker["pid"]) == worker["birth"]
    return age(worker["heartbeat"] or worker["started"]) < SILENCE_SECONDS


def _bury(db: Connection, job: Row, worker: Row) -> None:
    """Remove a dead worker, and count its death against its running point, or else against the job's next waiting point."""
    point = db.execute(
        "SELECT * FROM points WHERE job = ? AND (state = 'waiting' OR state = 'running' AND worker = ?) ORDER BY state, number LIMIT 1",
        (job["id"], worker["id"]),
    ).fetchone()
    if point is not None:
        if point["state"] == "waiting":
            db.execute("UPDATE points SET attempts = attempts + 1 WHERE job = ? AND number = ?", (job["id"], point["number"]))
            point = {**point, "attempts": point["attempts"] + 1}
        _judge(db, job, point, "did not start" if worker["pid"] is None else "died")
    db.execute("DELETE FROM workers WHERE id = ?", (worker["id"],))
    _end_if_finished(db, job["id"])


def _judge(db: Connection, job: Row, point: Row, fate: str) -> None:
    """Set the state of a point whose worker is gone.

    Args:
        db: Connection of the transaction.
        job: Row of the job.
        point: Row of the point.
        fate: How the worker ended, in words.
    """
    run = job["kind"] != SWEEP
    if _has_release(job):
        state, error = "done", ""
    elif run and job["state"] == "stopping":
        state, error = "cancelled", ""
    elif job["touched"]:
        state, error = "lost", _LOST_RUN if run else f"Its process died. {_CHARGED}"
    elif point["attempts"] < MAX_ATTEMPTS[job["kind"]]:
        state, error = "waiting", ""
    elif run:
        state, error = "lost", f"Its worker process {fate} before it read any record. The reserved budget was given back."
    else:
        state, error = "failed", "Its process died each time it was tried, perhaps for lack of memory."
    db.execute(
        "UPDATE points SET state = ?, error = ?, worker = NULL, finished = ? WHERE job = ? AND number = ?",
        (state, error, None if state == "waiting" else now(), job["id"], point["number"]),
    )


def _has_release(job: Row) -> bool:
    """Return whether the job is a release whose complete result is on disk."""
    return job["kind"] == RELEASE and (run_folder(job["project"], job["id"]) / RESULT).exists()


def _cancel_if_alone(db: Connection, job: str) -> None:
    """Cancel the waiting points of a job that is being stopped, if no worker is left."""
    if db.execute("SELECT state FROM jobs WHERE id = ?", (job,)).fetchone()["state"] == "stopping" and not _workers(db, job):
        db.execute("UPDATE points SET state = 'cancelled', finished = ? WHERE job = ? AND state = 'waiting'", (now(), job))
        _end_if_finished(db, job)


def _end_if_finished(db: Connection, job: str) -> bool:
    """Close the job if it has no open points, and return whether it was closed."""
    if _open_points(db, job):
        return False
    states = db.execute("SELECT DISTINCT state FROM points WHERE job = ?", (job,)).fetchall()
    _close(db, job, "done", " and ".join(sorted(row["state"] for row in states)))
    return True


def _close(db: Connection, job: str, state: str, how: str) -> None:
    """Set the state of a job, and give its reservation back if it never touched its private table.

    Args:
        db: Connection of the transaction.
        job: Id of the job.
        state: The new state.
        how: How the job ended, in words for the ledger.
    """
    row = db.execute("SELECT * FROM jobs WHERE id = ?", (job,)).fetchone()
    db.execute("UPDATE jobs SET state = ?, finished = ? WHERE id = ?", (state, now() if state == "done" else None, job))
    if not row["touched"] and row["state"] not in ("done", "stopped") and _entries_of(db, job) & _CHARGING == {"reserve"}:
        ledger.give_back(db, job, f"{how} before any record was read")


def _entries_of(db: Connection, job: str) -> set[str]:
    """Return the kinds of the ledger entries of a job, such as {"reserve", "touch"}.

    The job's own row is not trusted: it is in no chain, so that a person who can write the database
    could alter it. The search uses no index, because the chain does not cover indices either.
    """
    return {row["kind"] for row in db.execute("SELECT kind FROM ledger NOT INDEXED WHERE run = ?", (job,))}


def _job_of(db: Connection, job: str) -> Row:
    """Return the row of the job that this process works on.

    Raises:
        NotMine: This process is not among the job's workers.
    """
    row = db.execute(
        f"SELECT * FROM jobs WHERE id = ? AND EXISTS (SELECT 1 FROM workers WHERE job = jobs.id AND {_MINE})", (job, *_me())
    ).fetchone()
    if row is None:
        raise NotMine
    return row


def _worker(db: Connection, job: str) -> str:
    """Return the id of this process's row among the workers of the job."""
    return str(db.execute(f"SELECT id FROM workers WHERE job = ? AND {_MINE}", (job, *_me())).fetchone()["id"])


def _workers(db: Connection, job: str) -> list[Row]:
    return db.execute("SELECT * FROM workers WHERE job = ?", (job,)).fetchall()


def _open_points(db: Connection, job: str) -> int:
    """Return the number of points that wait or run."""
    return int(db.execute("SELECT COUNT(*) FROM points WHERE job = ? AND state IN ('waiting', 'running')", (job,)).fetchone()[0])


def _me() -> tuple[int, str | None]:
    """Return pid and start time of this process."""
    return os.getpid(), processes.birth(os.getpid())
