"""The life of a run as transactions on its row; whoever dies between two of them leaves a state that can be judged truthfully.

    queued -> running -> done | failed | cancelled | lost
                 `-> cancelling -> cancelled | done | failed

Who may call what: `runs` for pages, `worker` for itself, `projects` to stop runs before deleting them. Nothing here checks owners.
A worker acts only while its row names its own pid and start time, so that one given up as lost can do no more harm.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from dpsynth_core.store import ledger, processes
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.home import now, run_folder

ACTIVE = ("running", "cancelling")
FINAL = ("done", "failed", "cancelled", "lost")

HEARTBEAT_SECONDS = 2.0
SILENCE_SECONDS = 60.0
"""A worker that did not start, or that lives where we cannot look, is given up after this silence."""
GRACE_SECONDS = 5.0
"""Between the polite signal and the one that cannot be refused."""

RELEASE = "release"
"""Folder of a complete release inside the run's folder; it appears whole, by a rename."""

_MINE = "id = ? AND state IN ('running', 'cancelling') AND pid = ? AND birth = ?"


class NotMine(RuntimeError):
    """The run or the sweep was stopped, given up or deleted; the worker must stop without a further word."""


def claim(run: str) -> sqlite3.Row:
    """Take over a run that was started for this process. Raises NotMine if it was cancelled or taken meanwhile."""
    pid = os.getpid()
    with transaction() as db:
        changed = db.execute(
            "UPDATE runs SET pid = ?, birth = ?, place = ?, heartbeat = ? WHERE id = ? AND state = 'running' AND pid IS NULL",
            (pid, processes.birth(pid), processes.place(), now(), run),
        )
        if changed.rowcount != 1:
            raise NotMine
        return db.execute("SELECT * FROM runs WHERE id = ?", (run,)).fetchone()


def beat(run: str) -> None:
    """Say that the worker lives. Raises NotMine when it should not."""
    with transaction() as db:
        if db.execute(f"UPDATE runs SET heartbeat = ? WHERE {_MINE}", (now(), run, *me())).rowcount != 1:
            raise NotMine


def touch(run: str) -> None:
    """Make the charge final, before the first record is read. Raises NotMine if the run may not go on."""
    with transaction() as db:
        row = db.execute(f"SELECT state FROM runs WHERE {_MINE}", (run, *me())).fetchone()
        if row is None or row["state"] != "running":
            raise NotMine
        db.execute("UPDATE runs SET touched = 1 WHERE id = ?", (run,))
        ledger.touch(db, run)


def record(run: str, number: int, content: Mapping[str, Any]) -> bool:
    """Store what an event of the run says; its measurement, if it has one, is already in a file. True if a cancel was asked for."""
    with transaction() as db:
        row = db.execute(f"SELECT state FROM runs WHERE {_MINE}", (run, *me())).fetchone()
        if row is None:
            raise NotMine
        db.execute("INSERT INTO events (run, number, at, content) VALUES (?, ?, ?, ?)", (run, number, now(), json.dumps(content)))
    return bool(row["state"] == "cancelling")


def finish(run: str, state: str, error: str = "") -> None:
    """The worker's last word."""
    with transaction() as db:
        if db.execute(f"SELECT 1 FROM runs WHERE {_MINE}", (run, *me())).fetchone() is None:
            raise NotMine
        end(db, run, state, error)


def end(db: sqlite3.Connection, run: str, state: str, error: str = "") -> None:
    """Put a run into a final state and give its reservation back if it never touched data."""
    row = db.execute("SELECT touched FROM runs WHERE id = ?", (run,)).fetchone()
    db.execute("UPDATE runs SET state = ?, error = ?, finished = ? WHERE id = ?", (state, error, now(), run))
    if not row["touched"]:
        ledger.give_back(db, run, f"{state} before any record was read")


def start_next(db: sqlite3.Connection, limit: int) -> str | None:
    """Mark the oldest queued run as running if fewer than `limit` are active; the caller then starts its worker."""
    if db.execute("SELECT COUNT(*) FROM runs WHERE state IN ('running', 'cancelling')").fetchone()[0] >= limit:
        return None
    row = db.execute("SELECT id FROM runs WHERE state = 'queued' ORDER BY created, id LIMIT 1").fetchone()
    if row is None:
        return None
    db.execute("UPDATE runs SET state = 'running', started = ? WHERE id = ?", (now(), row["id"]))
    return str(row["id"])


def reconcile(db: sqlite3.Connection) -> None:
    """Compare the active runs with the processes that exist: end those whose worker is gone, kill those that outstayed a cancel."""
    for row in db.execute("SELECT * FROM runs WHERE state IN ('running', 'cancelling')").fetchall():
        if worker_lives(row):
            if row["state"] == "cancelling" and _age(row["cancel_asked"]) > GRACE_SECONDS and row["place"] == processes.place():
                processes.signal_group(row["pid"], row["birth"], signal.SIGKILL)
        elif (run_folder(row["project"], row["id"]) / RELEASE).exists():
            end(db, row["id"], "done")
        elif row["state"] == "cancelling":
            end(db, row["id"], "cancelled")
        else:
            end(db, row["id"], "lost", _loss(row))


def ask_to_stop(run: str) -> None:
    """Cancel: a run without a worker at once, another by SIGTERM (`reconcile` kills it after the grace). Final runs stay as they are."""
    with transaction() as db:
        row = db.execute("SELECT * FROM runs WHERE id = ?", (run,)).fetchone()
        if row["state"] == "queued" or (row["state"] == "running" and row["pid"] is None):
            end(db, run, "cancelled")
        elif row["state"] == "running":
            db.execute("UPDATE runs SET state = 'cancelling', cancel_asked = ? WHERE id = ?", (now(), run))
    if row["state"] in ACTIVE and row["pid"] is not None and row["place"] == processes.place():
        processes.signal_group(row["pid"], row["birth"], signal.SIGTERM)


def stop_now(run: str) -> None:
    """End a run without grace and wait until its worker is gone."""
    ask_to_stop(run)
    with reading() as db:
        row = db.execute("SELECT * FROM runs WHERE id = ?", (run,)).fetchone()
    if row["state"] not in ACTIVE:
        return
    if row["place"] == processes.place():
        processes.signal_group(row["pid"], row["birth"], signal.SIGKILL)
        while processes.birth(row["pid"]) == row["birth"]:
            time.sleep(0.02)
    with transaction() as db:
        if db.execute("SELECT state FROM runs WHERE id = ?", (run,)).fetchone()["state"] in ACTIVE:
            end(db, run, "cancelled")


def worker_lives(row: sqlite3.Row) -> bool:
    """Whether the process that a row names (pid, birth, place, heartbeat, started) is at work, as far as can be told from here."""
    if row["pid"] is not None and row["place"] == processes.place():
        return processes.birth(row["pid"]) == row["birth"]
    return _age(row["heartbeat"] or row["started"]) < SILENCE_SECONDS


def me() -> tuple[int, str | None]:
    """pid and start of this process."""
    return os.getpid(), processes.birth(os.getpid())


def _loss(row: sqlite3.Row) -> str:
    if row["pid"] is None:
        return "Its worker process did not start. Nothing was read, and the reserved budget was given back."
    if not row["touched"]:
        return "Its worker process died before it read any record. The reserved budget was given back."
    return "Its worker process died (killed, out of memory, or a restart). It had begun to read records, so its budget stays charged."


def _age(moment: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(moment)) / timedelta(seconds=1)
