"""The life of a sweep as transactions on its rows. Whoever dies between two of them leaves a state that can be judged truthfully.

    sweep   active -> done                    point   waiting -> running -> done | failed | lost (private table)
              `-> stopped -> active                     ^----------'`-> failed (its worker died too often) | lost

Several workers share the points of a sweep; each point is taken by one of them, and a finished point is never done again (a trigger).
A point whose worker died on a table that is not private is simply repeated. On the private table it is lost, as is one that ended with
an error: what it cost stays charged, and a second try would cost again. A private sweep is charged as a whole when it is submitted;
`ledger` has the rest.

Nothing here checks owners. A worker acts only while its own row names its pid and start time.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from collections.abc import Mapping
from typing import Any

from dpsynth_core.store import ledger, lifecycle, processes
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.home import new_id, now

MAX_ATTEMPTS = 3
_MINE = "id = ? AND pid = ? AND birth = ?"
_CHARGED = "It may have read the private table, so that it stays charged and is not repeated."
_LOST = f"Its process died. {_CHARGED}"
_TOO_OFTEN = "Its process died each time it was tried, perhaps for lack of memory."


def charge_name(sweep: str) -> str:
    """What the ledger calls a sweep, among runs."""
    return f"sweep-{sweep}"


def claim(worker: str) -> sqlite3.Row:
    """Take over a worker's place; the row of its sweep. Raises NotMine if it was given up meanwhile."""
    pid, birth = lifecycle.me()
    with transaction() as db:
        changed = db.execute(
            "UPDATE sweep_workers SET pid = ?, birth = ?, place = ?, heartbeat = ? WHERE id = ? AND pid IS NULL",
            (pid, birth, processes.place(), now(), worker),
        )
        if changed.rowcount != 1:
            raise lifecycle.NotMine
        return _sweep_of(db, worker)


def beat(worker: str) -> None:
    """Say that the worker lives. Raises NotMine when it should not."""
    with transaction() as db:
        if db.execute(f"UPDATE sweep_workers SET heartbeat = ? WHERE {_MINE}", (now(), worker, *lifecycle.me())).rowcount != 1:
            raise lifecycle.NotMine


def take(worker: str) -> int | None:
    """The number of the next point, now this worker's; None when nothing waits. A private table counts as read from here on."""
    with transaction() as db:
        sweep = _sweep_of(db, worker)
        row = db.execute(
            "SELECT number FROM sweep_points WHERE sweep = ? AND state = 'waiting' ORDER BY number LIMIT 1", (sweep["id"],)
        ).fetchone()
        if row is None or sweep["state"] != "active":
            return None
        db.execute(
            "UPDATE sweep_points SET state = 'running', worker = ?, attempts = attempts + 1, started = ? WHERE sweep = ? AND number = ?",
            (worker, now(), sweep["id"], row["number"]),
        )
        if sweep["private"] and not sweep["touched"]:
            ledger.touch(db, charge_name(sweep["id"]))
            db.execute("UPDATE sweeps SET touched = 1 WHERE id = ?", (sweep["id"],))
        return int(row["number"])


def give(worker: str, number: int, outcome: Mapping[str, Any] | None, error: str = "") -> None:
    """Store what came of a point; None if it failed, with what may be said about it."""
    with transaction() as db:
        sweep = _sweep_of(db, worker)
        ended = "lost" if sweep["private"] else "failed"
        changed = db.execute(
            "UPDATE sweep_points SET state = ?, outcome = ?, error = ?, finished = ?, worker = NULL"
            " WHERE sweep = ? AND number = ? AND state = 'running' AND worker = ?",
            (
                ended if outcome is None else "done",
                "" if outcome is None else json.dumps(outcome),
                f"{error} {_CHARGED}" if error and sweep["private"] else error,
                now(),
                sweep["id"],
                number,
                worker,
            ),
        )
        if changed.rowcount != 1:
            raise lifecycle.NotMine
        _end_if_finished(db, sweep["id"])


def refuse(worker: str, error: str) -> None:
    """Give up all points that wait: the table is not the one that was submitted."""
    with transaction() as db:
        sweep = _sweep_of(db, worker)
        db.execute(
            "UPDATE sweep_points SET state = 'failed', error = ?, finished = ? WHERE sweep = ? AND state = 'waiting'",
            (error, now(), sweep["id"]),
        )
        _end_if_finished(db, sweep["id"])
        _settle(db, sweep, "refused")


def leave(worker: str) -> None:
    """The worker's last word."""
    with transaction() as db:
        db.execute(f"DELETE FROM sweep_workers WHERE {_MINE}", (worker, *lifecycle.me()))


def start_next(db: sqlite3.Connection) -> str | None:
    """Make room for one more worker, for the oldest sweep that has more waiting points than workers about to take them, if there is one."""
    for sweep in db.execute("SELECT id, workers FROM sweeps WHERE state = 'active' ORDER BY created, id").fetchall():
        there = _count(db, "sweep_workers", sweep["id"])
        open_points = _count(db, "sweep_points", sweep["id"], "waiting", "running")
        busy = db.execute("SELECT COUNT(*) FROM sweep_workers").fetchone()[0]
        if there < min(sweep["workers"], open_points) and busy < sweep["workers"]:
            worker = new_id()
            db.execute("INSERT INTO sweep_workers (id, sweep, started) VALUES (?, ?, ?)", (worker, sweep["id"], now()))
            return worker
    return None


def reconcile(db: sqlite3.Connection) -> None:
    """Compare the workers with the processes that exist, and give up the points of those that are gone."""
    for worker in db.execute("SELECT * FROM sweep_workers").fetchall():
        if not lifecycle.worker_lives(worker):
            _release_points(db, worker["sweep"], worker["id"])
            db.execute("DELETE FROM sweep_workers WHERE id = ?", (worker["id"],))
            _end_if_finished(db, worker["sweep"])


def stop(sweep: str) -> None:
    """Stop a sweep at once and wait until its workers are gone. Points that were under way wait again, or are lost on a private table."""
    with transaction() as db:
        workers = db.execute("SELECT * FROM sweep_workers WHERE sweep = ?", (sweep,)).fetchall()
        row = db.execute("SELECT * FROM sweeps WHERE id = ?", (sweep,)).fetchone()
        if row["state"] != "active":
            return
        db.execute(  # to be stopped is no failed attempt
            "UPDATE sweep_points SET attempts = attempts - 1 WHERE sweep = ? AND state = 'running'", (sweep,)
        )
        _release_points(db, sweep, *(worker["id"] for worker in workers))
        db.execute("DELETE FROM sweep_workers WHERE sweep = ?", (sweep,))
        db.execute("UPDATE sweeps SET state = 'stopped' WHERE id = ?", (sweep,))
        _end_if_finished(db, sweep)
        _settle(db, row, "stopped")
    for worker in workers:
        if worker["pid"] is not None and worker["place"] == processes.place():
            processes.signal_group(worker["pid"], worker["birth"], signal.SIGKILL)  # it holds nothing that could be torn apart
            while processes.birth(worker["pid"]) == worker["birth"]:
                time.sleep(0.02)


def resume(db: sqlite3.Connection, sweep: str) -> None:
    """Let a stopped sweep go on; points that failed are tried again."""
    db.execute(
        "UPDATE sweep_points SET state = 'waiting', attempts = 0, error = '' WHERE sweep = ? AND state = 'failed'",
        (sweep,),
    )
    db.execute("UPDATE sweeps SET state = 'active', finished = NULL WHERE id = ?", (sweep,))
    _end_if_finished(db, sweep)


def sweeps_of(project: str) -> list[str]:
    """Every sweep of a project."""
    with reading() as db:
        return [row["id"] for row in db.execute("SELECT id FROM sweeps WHERE project = ?", (project,))]


def _sweep_of(db: sqlite3.Connection, worker: str) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute(
        f"SELECT * FROM sweeps WHERE id = (SELECT sweep FROM sweep_workers WHERE {_MINE})", (worker, *lifecycle.me())
    ).fetchone()
    if row is None:
        raise lifecycle.NotMine
    return row


def _release_points(db: sqlite3.Connection, sweep: str, *workers: str) -> None:
    private = db.execute("SELECT private FROM sweeps WHERE id = ?", (sweep,)).fetchone()["private"]
    marks = ", ".join("?" for _ in workers)
    for point in db.execute(
        f"SELECT number, attempts FROM sweep_points WHERE sweep = ? AND state = 'running' AND worker IN ({marks})", (sweep, *workers)
    ).fetchall():
        state, error = ("lost", _LOST) if private else ("failed", _TOO_OFTEN) if point["attempts"] >= MAX_ATTEMPTS else ("waiting", "")
        db.execute(
            "UPDATE sweep_points SET state = ?, error = ?, worker = NULL WHERE sweep = ? AND number = ?",
            (state, error, sweep, point["number"]),
        )


def _settle(db: sqlite3.Connection, sweep: sqlite3.Row, how: str) -> None:
    """Give the reservation of a sweep back that never read its private table."""
    if sweep["private"] and not sweep["touched"]:
        ledger.give_back(db, charge_name(sweep["id"]), f"{how} before any record was read")


def _end_if_finished(db: sqlite3.Connection, sweep: str) -> None:
    if not _count(db, "sweep_points", sweep, "waiting", "running"):
        db.execute("UPDATE sweeps SET state = 'done', finished = ? WHERE id = ? AND state != 'done'", (now(), sweep))


def _count(db: sqlite3.Connection, table: str, sweep: str, *states: str) -> int:
    among = f" AND state IN ({', '.join('?' for _ in states)})" if states else ""
    return int(db.execute(f"SELECT COUNT(*) FROM {table} WHERE sweep = ?{among}", (sweep, *states)).fetchone()[0])
