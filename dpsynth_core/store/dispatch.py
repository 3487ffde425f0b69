"""The dispatch of jobs (`jobs`): the server and its workers start, share, stop and resume them.

`pump` records the workers that have died and starts jobs that may start. It is idempotent, and
anyone may call it at any time: the server when it starts, every poll of a page, a worker that ends.
A job that a command or a Python program runs in its own process is not dispatched.
"""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from dpsynth_core.foundation import settings
from dpsynth_core.planning import machine
from dpsynth_core.store import approvals, jobs, processes, roles, verified_books
from dpsynth_core.store.connection import Connection, Row
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.folders import new_id
from dpsynth_core.store.home import now
from dpsynth_core.store.roles import Act
from dpsynth_core.store.times import age

_AGAIN, _AGAIN_SHARED = ("failed", "cancelled", "lost"), ("failed",)
"""States of the points that go on when their job is resumed, and when a shared job is."""
_RESTORED = f"It was ended when the ledger was restored. {jobs.CHARGED}"
_BUSY = "SELECT owner, kind, COUNT(*) AS busy FROM workers JOIN jobs ON jobs.id = job GROUP BY owner, kind"
_TURN_SECONDS = 60.0
"""Seconds after which a worker of a shared job makes way for another person's shared job."""


def started_meanwhile(db: Connection, job: jobs.Job, seen: Collection[str] | None) -> str | None:
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


def claim(job: str) -> Row:
    """Make this process a worker of a job, in one of the job's free places, and return the job's row of the database.

    Args:
        job: Id of the job.

    Raises:
        jobs.NotMine: The job has no free place.
    """
    with transaction() as db:
        fill(db, job, *jobs.me())
        first = f"UPDATE workers SET heartbeat = ? WHERE job = ? AND {jobs.MINE} AND heartbeat IS NULL"
        if db.execute(first, (now(), job, *jobs.me())).rowcount != 1:
            raise jobs.NotMine
        return jobs.job_of(db, job)


def fill(db: Connection, job: str, pid: int, birth: str | None) -> None:
    """Give a process of this machine a free place of a job.

    Nothing happens if the job has no free place, or if the process has one of the job's places already.

    Args:
        db: The connection, in a transaction that may write.
        job: Id of the job.
        pid: Id of the process.
        birth: Start time of the process, as `processes.birth` returns it; None for a process that has ended.
    """
    process = pid, birth, processes.place()
    if db.execute("SELECT 1 FROM workers WHERE job = ? AND pid = ? AND birth = ? AND place = ?", (job, *process)).fetchone() is None:
        free = "(SELECT id FROM workers WHERE job = ? AND pid IS NULL LIMIT 1)"
        db.execute(f"UPDATE workers SET pid = ?, birth = ?, place = ? WHERE id = {free}", (*process, job))


def take(job: str) -> int | None:
    """Mark the job's next waiting point as running in this worker, and return its number, counted from 0.

    The result is None if no point waits, if the job is being stopped, or if this worker of a shared job has run for 60
    seconds and the shared job of another person, who has no worker, waits.

    Args:
        job: Id of the job.

    Raises:
        jobs.NotMine: This process does not work on the job any more.
    """
    with transaction() as db:
        mine = jobs.job_of(db, job)
        row = db.execute("SELECT number FROM points WHERE job = ? AND state = 'waiting' ORDER BY number LIMIT 1", (job,)).fetchone()
        if row is None or mine["state"] != "active" or _turn_is_over(db, mine):
            return None
        db.execute(
            "UPDATE points SET state = 'running', worker = ?, attempts = attempts + 1, started = ?, error = ''"
            " WHERE job = ? AND number = ?",
            (jobs.worker_of(db, job), now(), job, row["number"]),
        )
        return int(row["number"])


def _turn_is_over(db: Connection, job: Row) -> bool:
    """Return whether a worker of a shared job must make way for another person's waiting shared job.

    This is the case if it has run for `_TURN_SECONDS` and the other person has none at work.
    """
    began = db.execute("SELECT started FROM workers WHERE id = ?", (jobs.worker_of(db, job["id"]),)).fetchone()["started"]
    if not jobs.is_shared(job["kind"]) or age(began) < _TURN_SECONDS:
        return False
    busy = {row["owner"] for row in db.execute(_BUSY) if jobs.is_shared(row["kind"])}
    return any(jobs.is_shared(other["kind"]) and other["owner"] not in busy for other in queue(db))


def record(job: str, content: Mapping[str, Any]) -> bool:
    """Store an event of a run, and return whether the run is being stopped.

    Args:
        job: Id of the run.
        content: The event as JSON.

    Raises:
        jobs.NotMine: This process does not work on the run any more.
    """
    with transaction() as db:
        row = jobs.job_of(db, job)
        number = db.execute("SELECT COUNT(*) FROM events WHERE job = ?", (job,)).fetchone()[0]
        db.execute("INSERT INTO events (job, number, at, content) VALUES (?, ?, ?, ?)", (job, number, now(), json.dumps(content)))
    return bool(row["state"] == "stopping")


def refuse(job: str, error: str) -> None:
    """Let all waiting points of this worker's job fail with the same error, because all would end with it.

    If no point is left open then, the job ends.

    Args:
        job: Id of the job.
        error: Message for people.

    Raises:
        jobs.NotMine: This process does not work on the job any more.
    """
    with transaction() as db:
        jobs.job_of(db, job)
        db.execute("UPDATE points SET state = 'failed', error = ?, finished = ? WHERE job = ? AND state = 'waiting'", (error, now(), job))
        jobs.end_if_finished(db, job)


def leave(job: str) -> None:
    """Record that this process no longer works on the job; if the job is being stopped and no worker is left, it ends."""
    with transaction() as db:
        db.execute(f"DELETE FROM workers WHERE job = ? AND {jobs.MINE}", (job, *jobs.me()))
        _cancel_if_alone(db, job)


def pump() -> None:
    """Judge the workers by their processes, then start workers for waiting jobs as far as there is room.

    At most `DPSYNTH_CONCURRENT_RUNS` releases (by default 1) are made at the same time, and memory may allow fewer. A plan
    that still needs an approval is not started.

    Raises:
        InputError: `DPSYNTH_CONCURRENT_RUNS` is not a whole number from 1 to a million.
        StoreFault: The store cannot be used.
    """
    with transaction() as db:
        jobs.reconcile(db)
    at_once = settings.number(settings.CONCURRENT_RUNS) or 1
    while True:
        with transaction() as db:
            job = _start_next(db, at_once)
        if job is None:
            return
        launch_worker(job["id"])


def ask_to_stop(job: str) -> None:
    """Cancel a job; a job that is stopped or done stays unchanged. Returns without waiting.

    Without a process it ends at once. Otherwise its workers on this machine get SIGTERM, and `jobs.reconcile` kills those
    that still live after `jobs.GRACE_SECONDS` (5). Finished points keep their results. When the job ends, its reservation
    is given back if it never touched its private table.

    Args:
        job: Id of a job, which must exist.
    """
    with transaction() as db:
        state = db.execute("SELECT state FROM jobs WHERE id = ?", (job,)).fetchone()["state"]
        if state not in ("active", "stopping"):
            return
        db.execute("UPDATE jobs SET state = 'stopping', stop_asked = COALESCE(stop_asked, ?) WHERE id = ?", (now(), job))
        db.execute("DELETE FROM workers WHERE job = ? AND heartbeat IS NULL", (job,))
        workers = jobs.workers_of(db, job)
        _cancel_if_alone(db, job)
    for worker in workers:
        if worker["place"] == processes.place():
            processes.signal_group(worker["pid"], worker["birth"], signal.SIGTERM)


def stop(job: str) -> None:
    """Stop a job at once and wait until its workers are gone; a job that is stopped or done stays unchanged.

    A release ends as cancelled, or as done if it is complete; it stays charged if it began to read records. The running
    points of a shared job wait again, unless it began to read a private table; they are then lost. Workers on this
    machine get SIGKILL; those on others are not waited for.

    Args:
        job: Id of a job, which must exist.
    """
    with transaction() as db:
        row = db.execute("SELECT * FROM jobs WHERE id = ?", (job,)).fetchone()
        if row["state"] not in ("active", "stopping"):
            return
        workers = jobs.workers_of(db, job)
        # to be stopped is not a failed attempt
        db.execute("UPDATE points SET attempts = attempts - 1 WHERE job = ? AND state = 'running'", (job,))
        if not jobs.is_shared(row["kind"]):
            db.execute("UPDATE jobs SET state = 'stopping' WHERE id = ?", (job,))
            row = {**row, "state": "stopping"}
        for point in db.execute("SELECT * FROM points WHERE job = ? AND state = 'running'", (job,)).fetchall():
            jobs.judge(db, row, point, "was stopped")
        db.execute("DELETE FROM workers WHERE job = ?", (job,))
        _cancel_if_alone(db, job)
        if not jobs.end_if_finished(db, job):
            jobs.close(db, job, "stopped", "stopped")
    for worker in workers:
        if worker["pid"] is not None and worker["place"] == processes.place():
            processes.signal_group(worker["pid"], worker["birth"], signal.SIGKILL)  # it holds nothing that could be torn apart
            while processes.birth(worker["pid"]) == worker["birth"]:
                time.sleep(0.02)


def resume(db: Connection, owner: str, job: str) -> None:
    """Let the failed points of a stopped or ended job wait again; for a release also cancelled or lost ones.

    The job is active again, and `pump` starts its workers. If none of its points waits then, it ends at once.

    Args:
        db: Connection of the transaction.
        owner: The person who resumes it.
        job: Id of the job, which must exist.

    Raises:
        InputError: The owner may not run plans.
    """
    roles.check(db, owner, Act.RUN)
    kind = db.execute("SELECT kind FROM jobs WHERE id = ?", (job,)).fetchone()["kind"]
    again = _AGAIN_SHARED if jobs.is_shared(kind) else _AGAIN
    marks = ", ".join("?" for _ in again)
    db.execute(f"UPDATE points SET state = 'waiting', attempts = 0, error = '' WHERE job = ? AND state IN ({marks})", (job, *again))
    db.execute("UPDATE jobs SET state = 'active', finished = NULL, stop_asked = NULL WHERE id = ?", (job,))
    jobs.end_if_finished(db, job)


def end_charged(db: Connection) -> None:
    """End every charged job without a refund, because after the ledger was lost it is unknown what they have read."""
    db.execute("UPDATE jobs SET touched = 1 WHERE charged = 1 AND state != 'done'")
    shared = f"kind NOT IN ('{jobs.RELEASE}', '{jobs.COMMAND}')"
    for job in db.execute(f"SELECT * FROM jobs WHERE charged = 1 AND (state != 'done' OR {shared} AND touched = 1)").fetchall():
        db.execute("DELETE FROM workers WHERE job = ?", (job["id"],))
        db.execute(
            "UPDATE points SET state = ?, error = ?, worker = NULL, finished = ?"
            " WHERE job = ? AND state IN ('waiting', 'running', 'failed')",
            (*(("done", "") if jobs.has_release(job) else ("lost", _RESTORED)), now(), job["id"]),
        )
        if job["state"] != "done":
            jobs.end_if_finished(db, job["id"])


def jobs_of(project: str) -> list[str]:
    """Return the identifiers of a project's jobs, in no particular order; [] without any."""
    with reading() as db:
        return [row["id"] for row in db.execute("SELECT id FROM jobs WHERE project = ?", (project,))]


def queue(db: Connection) -> list[Row]:
    """Return the active jobs with more open points than workers, in the order in which they get workers.

    People take turns: each person gets a first worker before any person gets a second one of the
    same kind. Within a turn, the person whose last point started longest ago comes first, then the
    older job. Commands, which run in the process that started them, are not in it.
    """
    turns = Counter({(row["owner"], row["kind"]): row["busy"] for row in db.execute(_BUSY)})
    latest = dict(tuple(row) for row in db.execute("SELECT owner, MAX(started) FROM points JOIN jobs ON jobs.id = job GROUP BY owner"))
    ordered: list[tuple[int, str, int, Row]] = []
    waiting = db.execute("SELECT * FROM jobs WHERE state = 'active' AND kind != 'command' ORDER BY created, id").fetchall()
    for number, job in enumerate(waiting):
        if len(jobs.workers_of(db, job["id"])) < min(job["workers"], jobs.open_points(db, job["id"])):
            turns[job["owner"], job["kind"]] += 1
            ordered.append((turns[job["owner"], job["kind"]], latest[job["owner"]] or "", number, job))
    return [job for *_, job in sorted(ordered, key=lambda one: one[:3])]


def _start_next(db: Connection, runs: int) -> Row | None:
    """Make a place for one more worker, and return its job; None without work or room.

    Args:
        db: Connection of the transaction.
        runs: Number of releases that may be made at the same time.
    """
    full, books = set[str](), cache(lambda: verified_books.unverified(db))
    busy = db.execute(_BUSY).fetchall()
    for job in queue(db):
        if job["kind"] in full:
            continue
        at_work = {row["owner"]: row["busy"] for row in busy if row["kind"] == job["kind"]}
        is_full = sum(at_work.values()) >= (runs if job["kind"] == jobs.RELEASE else job["workers"])
        if is_full and (job["kind"] == jobs.RELEASE or job["owner"] in at_work):
            continue
        if job["charged"] and not job["touched"] and approvals.lacks(db, books(), job["id"], approvals.PLAN):
            continue
        if is_full or not _fits(db, job):
            full.add(job["kind"])  # what comes after it would keep it waiting for ever
            continue
        db.execute("INSERT INTO workers (id, job, started) VALUES (?, ?, ?)", (new_id(), job["id"], now()))
        return job
    return None


def _fits(db: Connection, job: Row) -> bool:
    """Return whether memory suffices for one more worker of the job, by forecasts of the workers of its kind.

    A job with no other worker of its kind always fits. Shared jobs, which may take hours, delay no
    run: their number of workers was chosen by the memory that was free when they were submitted.
    """
    needed = db.execute("SELECT memory_mb FROM needs WHERE job = ?", (job["id"],)).fetchone()
    beside = "SELECT COALESCE(SUM(memory_mb), 0) FROM workers JOIN needs USING (job) JOIN jobs ON jobs.id = job WHERE kind = ?"
    taken = db.execute(beside, (job["kind"],)).fetchone()[0]
    there = machine.all_mb()
    return not taken or there is None or taken + (needed["memory_mb"] if needed else 0.0) <= machine.MEMORY_SHARE * there


def launch_worker(job: str) -> None:
    """Start a worker, and give it a place at once, so that its death is noticed also before it has claimed the job itself."""
    pid, birth = processes.launch("dpsynth_core.store.worker", job)
    with transaction() as db:
        fill(db, job, pid, birth or "ended")


def _cancel_if_alone(db: Connection, job: str) -> None:
    """Cancel the waiting points of a job that is being stopped, if no worker is left."""
    if db.execute("SELECT state FROM jobs WHERE id = ?", (job,)).fetchone()["state"] == "stopping" and not jobs.workers_of(db, job):
        db.execute("UPDATE points SET state = 'cancelled', finished = ? WHERE job = ? AND state = 'waiting'", (now(), job))
        jobs.end_if_finished(db, job)
