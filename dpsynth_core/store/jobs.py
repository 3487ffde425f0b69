"""The life of a job as transactions on its rows. If a process dies between two transactions, the rows still record its last step.

A job is a number of points that worker processes carry out. A release has one point and keeps its
rows; a command is a release made in the process of the command line; a job of an extension has many
points, which several workers share, and keeps an outcome of each (`extension.Work`).

    job     active -> done                      point   waiting -> running -> done | failed | cancelled | lost
              |---> stopping -> done                       ^----------'  (its worker died before it read anything private)
              `---> stopped -> active

A job with a private table is charged as a whole when it is submitted, and refunded if it ends
before it was touched (about to read private records). What a point cost stays charged, so a point
whose worker died after reading is lost and never repeated by itself.

`reconcile` judges workers that have died. Nothing here checks owners. A worker acts only while a row
names its own pid and start time, so that a worker given up as dead can do no more harm. What the
server and its workers do besides is in `dispatch`.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dpsynth_core.store import demands, ledger, processes, roles, verified_books
from dpsynth_core.store.connection import Connection, Row
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.folders import new_id, run_folder
from dpsynth_core.store.home import now
from dpsynth_core.store.ledger import Charge
from dpsynth_core.store.roles import Act
from dpsynth_core.store.times import age

RELEASE, COMMAND = "release", "command"
MAX_ATTEMPTS = 3
"""Number of workers that may die on a point of a shared job before any of them began to read; of a run, it is one."""

HEARTBEAT_SECONDS = 2.0
SILENCE_SECONDS = 60.0
"""Seconds of silence after which a worker that did not start, or that lives where we cannot look, is given up."""
GRACE_SECONDS = 5.0
"""Seconds between SIGTERM and SIGKILL."""

RESULT = "release"
"""Folder of a complete release inside the run's folder. A rename makes it appear whole."""

_CHARGING = {"reserve", "touch", "return"}
MINE = "pid = ? AND birth = ?"
CHARGED = "It may have read the private table, so that it stays charged and is not repeated."
_LOST_RUN = (
    "Its worker process died (killed, out of memory or of time, or a restart). It had begun to read records, so its budget stays charged."
)


class NotMine(RuntimeError):
    """The error for a worker whose job was stopped, given to others or deleted; it must end and store nothing more."""


@dataclass(frozen=True)
class Job:
    """A job to submit.

    Attributes:
        id: Identifier.
        owner: The person who submits it.
        project: Id of its project, None for a command.
        kind: RELEASE, COMMAND, or a kind of an extension.
        document: The spec as JSON, or the extension's document.
        digest: Digest of the document.
        population: Name of the charged population.
        rho: Its cost, in the rho of its plan's accountant; 0 if nothing is charged.
        forecasts: Forecast seconds of each point, so one entry per point.
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


def is_shared(kind: str) -> bool:
    """Return whether several workers share the points of a job of this kind, which an extension carries out."""
    return kind not in (RELEASE, COMMAND)


def submit(db: Connection, job: Job, charge: Charge | None) -> None:
    """Reserve the charge and queue the job, both or neither, in the transaction of `db`.

    A population that is not open yet is opened with the default cap.

    Args:
        db: Connection of the transaction.
        job: The job.
        charge: Its charge; None if no private table is read.

    Raises:
        CapExceeded: The cap leaves too little.
        UnitDiffers: The population has another unit of privacy.
        BooksLost: The ledger is not whole.
        InputError: The owner may not run it, or the population cannot be opened.
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


# What a worker does


def work_here(db: Connection, job: str) -> None:
    """Make this process the worker of a job with one point, in the transaction that submits the job."""
    worker = new_id()
    db.execute(
        "INSERT INTO workers (id, job, pid, birth, place, started, heartbeat) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (worker, job, *me(), processes.place(), now(), now()),
    )
    db.execute("UPDATE points SET state = 'running', worker = ?, attempts = 1, started = ? WHERE job = ?", (worker, now(), job))


def beat(job: str) -> None:
    """Record that this worker of the job is alive, with the present time.

    Args:
        job: Id of the job.

    Raises:
        NotMine: The job was given to other workers.
    """
    with transaction() as db:
        if db.execute(f"UPDATE workers SET heartbeat = ? WHERE job = ? AND {MINE}", (now(), job, *me())).rowcount != 1:
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


def touch(job: str) -> None:
    """Record that a job is about to read its first record; from then on its charge cannot be given back.

    A job with points that several processes share is touched before each point, and recorded once.

    Args:
        job: The id of the job, on which this process works.

    Raises:
        NotMine: The job is not active any more, or this process does not work on it.
        InputError: The plan needs an approval first.
        StoreFault: The ledger is not whole or has no charge of the job, even if the job's row claims
            one. If the charge was given back, the database refuses the entry (IntegrityError).
    """
    with transaction() as db:
        row = job_of(db, job)
        if row["state"] != "active":
            raise NotMine
        if not is_shared(row["kind"]) or "touch" not in _entries_of(db, job):
            _check_approved(db, job)
            db.execute("UPDATE jobs SET charged = 1, touched = 1 WHERE id = ?", (job,))
            ledger.touch(db, job)


def _check_approved(db: Connection, job: str) -> None:
    """Raise InputError if the plan of a job needs an approval that it does not have."""
    if demands.any_approval(verified_books.unverified(db)):
        from dpsynth_core.store import approvals  # loaded where approvals are demanded alone

        approvals.check(db, job, approvals.PLAN)


def give(job: str, number: int, state: str, error: str = "", outcome: Mapping[str, Any] | None = None) -> None:
    """Store how a point ended.

    A point of a shared job that failed after the job touched a private table becomes lost, because
    repeating it would cost again.

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
        row = job_of(db, job)
        if state == "failed" and is_shared(row["kind"]) and row["touched"]:
            state, error = "lost", f"{error} {CHARGED}"
        changed = db.execute(
            "UPDATE points SET state = ?, outcome = ?, error = ?, finished = ?, worker = NULL"
            " WHERE job = ? AND number = ? AND state = 'running' AND worker = ?",
            (state, "" if outcome is None else json.dumps(outcome), error, now(), job, number, worker_of(db, job)),
        )
        if changed.rowcount != 1:
            raise NotMine
        end_if_finished(db, job)


# What every process may do


def reconcile(db: Connection) -> None:
    """Compare the workers with the processes that exist, in the transaction of `db`.

    The points of workers whose process is gone are judged. Workers that still live `GRACE_SECONDS` (5)
    after a request to stop are killed.
    """
    for worker in db.execute("SELECT * FROM workers").fetchall():
        job = db.execute("SELECT * FROM jobs WHERE id = ?", (worker["job"],)).fetchone()
        if not _lives(worker):
            _bury(db, job, worker)
        elif job["state"] == "stopping" and age(job["stop_asked"]) > GRACE_SECONDS and worker["place"] == processes.place():
            processes.signal_group(worker["pid"], worker["birth"], signal.SIGKILL)


def remove(job: str) -> None:
    """Delete a job's rows; its ledger entries stay. A job that does not exist is ignored."""
    with transaction() as db:
        db.execute("DELETE FROM jobs WHERE id = ?", (job,))


def kind_of(job: str) -> str | None:
    """Return the kind of a job (`Job.kind`), or None if the job no longer exists."""
    with reading() as db:
        row = db.execute("SELECT kind FROM jobs WHERE id = ?", (job,)).fetchone()
    return None if row is None else str(row["kind"])


# How a job is judged


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
        judge(db, job, point, "ended before it began" if worker["heartbeat"] is None else "died before it read any record")
    db.execute("DELETE FROM workers WHERE id = ?", (worker["id"],))
    end_if_finished(db, job["id"])


def judge(db: Connection, job: Row, point: Row, fate: str) -> None:
    """Set the state of a point whose worker is gone.

    The first case that applies counts: done if the run's release is complete; cancelled if the run is being stopped;
    lost if the job began to read a private table; waiting again, for a shared job after fewer than 3 attempts
    (`MAX_ATTEMPTS`); else lost for a run or command, failed for a shared job.

    Args:
        db: Connection of the transaction.
        job: Row of the job.
        point: Row of the point.
        fate: How the worker ended, in words.
    """
    run = not is_shared(job["kind"])
    if has_release(job):
        state, error = "done", ""
    elif run and job["state"] == "stopping":
        state, error = "cancelled", ""
    elif job["touched"]:
        state, error = "lost", _LOST_RUN if run else f"Its process died. {CHARGED}"
    elif point["attempts"] < (1 if run else MAX_ATTEMPTS):
        state, error = "waiting", ""
    elif run:
        state, error = "lost", f"Its worker process {fate}. The reserved budget was given back."
    else:
        state, error = "failed", "Its process died each time it was tried, perhaps for lack of memory."
    db.execute(
        "UPDATE points SET state = ?, error = ?, worker = NULL, finished = ? WHERE job = ? AND number = ?",
        (state, error, None if state == "waiting" else now(), job["id"], point["number"]),
    )


def has_release(job: Row) -> bool:
    """Return whether the job is a release whose complete result is on disk."""
    return job["kind"] == RELEASE and (run_folder(job["project"], job["id"]) / RESULT).exists()


def end_if_finished(db: Connection, job: str) -> bool:
    """Close the job if no point waits or runs, and return whether it was closed.

    If the job never touched its private table, its reservation is given back.
    """
    if open_points(db, job):
        return False
    states = db.execute("SELECT DISTINCT state FROM points WHERE job = ?", (job,)).fetchall()
    close(db, job, "done", " and ".join(sorted(row["state"] for row in states)))
    return True


def close(db: Connection, job: str, state: str, how: str) -> None:
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


def job_of(db: Connection, job: str) -> Row:
    """Return the row of the job that this process works on.

    Raises:
        NotMine: This process is not among the job's workers.
    """
    row = db.execute(
        f"SELECT * FROM jobs WHERE id = ? AND EXISTS (SELECT 1 FROM workers WHERE job = jobs.id AND {MINE})", (job, *me())
    ).fetchone()
    if row is None:
        raise NotMine
    return row


def worker_of(db: Connection, job: str) -> str:
    """Return the id of this process's row among the workers of the job, which must have one."""
    return str(db.execute(f"SELECT id FROM workers WHERE job = ? AND {MINE}", (job, *me())).fetchone()["id"])


def workers_of(db: Connection, job: str) -> list[Row]:
    """Return the rows of the job's workers, in no particular order; [] without workers."""
    return db.execute("SELECT * FROM workers WHERE job = ?", (job,)).fetchall()


def open_points(db: Connection, job: str) -> int:
    """Return the number of points that wait or run."""
    return int(db.execute("SELECT COUNT(*) FROM points WHERE job = ? AND state IN ('waiting', 'running')", (job,)).fetchone()[0])


def me() -> tuple[int, str | None]:
    """Return pid and start time of this process (`processes.birth`), which identify it among workers.

    The start time is a text of clock ticks since boot.
    """
    return os.getpid(), processes.birth(os.getpid())
