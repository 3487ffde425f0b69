"""Retention of projects and uploads: the number of days that an administrator set in the ledger. Afterwards they are deleted for good.

A project's days count from its last change or run, an upload's from its sending. Files in use by a run stay until the run has ended. The
ledger keeps its charges.
"""

from __future__ import annotations

import time
from contextlib import suppress

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import audit_actions, projects, roles, verified_books
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.faults import BooksLost, StoreFault
from dpsynth_core.store.folders import project_folder
from dpsynth_core.store.roles import Act
from dpsynth_core.store.times import DAY, age

KIND, MOST_DAYS = "retention", 36_500
_LATEST = (
    "SELECT projects.updated, COALESCE(MAX(jobs.created), '') AS created, COALESCE(MAX(jobs.finished), '') AS finished,"
    " COUNT(CASE WHEN jobs.state IN ('active', 'stopping') THEN 1 END) AS under_way"
    " FROM projects LEFT JOIN jobs ON project = projects.id WHERE projects.id = ? GROUP BY projects.id"
)


def days() -> int:
    """Return the number of days after which projects and uploads are deleted; 0 for never, also if none was set."""
    return _stated()[0]


def state(owner: str, many: int) -> None:
    """Set the number of days after which projects and uploads are deleted, and record it in the ledger.

    Args:
        owner: The person who sets it; their role must allow `Act.RETAIN`.
        many: Number of days; 0 for never.

    Raises:
        InputError: The number is outside 0 to 36,500 (`MOST_DAYS`), or the role does not allow it.
        BooksLost: The ledger is not whole.
    """
    if not 0 <= many <= MOST_DAYS:
        raise InputError("days", f"{many:,} is outside 0 to {MOST_DAYS:,}", "state how many, or 0 to delete nothing")
    with transaction() as db:
        roles.check(db, owner, Act.RETAIN)
        verified_books.add(db, Entry(owner, KIND, note=f"{many} days"))


def expire() -> None:
    """Delete all projects and uploads that are past their days, and files that earlier deletions left behind.

    With 0 days only these files are deleted. Each deletion is noted in the ledger, unless that is
    damaged or the local user set the days.

    Raises:
        StoreFault: A deletion failed; all others were tried.
    """
    many, who = _stated()
    failed: StoreFault | None = None
    with reading() as db:
        every = [row["id"] for row in db.execute("SELECT id FROM projects")]
    for project in every if many else ():
        try:
            with transaction() as db:  # nothing is submitted meanwhile
                _expire(db, who, project, many)
        except StoreFault as error:
            failed = error
    projects.remove_erased()
    if failed is not None:
        raise failed


def _expire(db: Connection, who: str, project: str, many: int) -> None:
    """Delete a project, or single uploads in it, if they are past their days; a project with a job under way is skipped.

    Args:
        db: Connection of the transaction.
        who: The person whom the ledger names for the deletion.
        project: Id of the project.
        many: Number of days.
    """
    row = db.execute(_LATEST, (project,)).fetchone()
    if row is None or row["under_way"]:
        return
    if age(max(row["updated"], row["created"], row["finished"])) > many * DAY:
        projects.erase(db, who, project, f", after {many} days")
        return
    places = [project_folder(project) / shelf for shelf in projects.SHELVES]
    files = [path for place in places if place.is_dir() for path in place.iterdir()]
    if old := [path for path in files if time.time() - path.stat().st_mtime > many * DAY]:
        with suppress(BooksLost):
            audit_actions.record(db, who, audit_actions.DELETE, f"uploads of project {project}, after {many} days")
        for path in old:
            path.unlink(missing_ok=True)


def _stated() -> tuple[int, str]:
    """Return the number of days, and the id of the person who set it; (0, "") if it was never set."""
    with reading() as db:
        row = db.execute("SELECT note, curator FROM ledger WHERE kind = ? ORDER BY number DESC LIMIT 1", (KIND,)).fetchone()
    return (int(row["note"].split()[0]), str(row["curator"])) if row else (0, "")
