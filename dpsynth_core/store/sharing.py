"""Who works on a project beside its owner: people whom the owner named. A project is its owner's alone until then, and every act of this
is in the ledger. What a person may do by role stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import acts, roles
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.roles import Act
from dpsynth_core.store.tables import owned


def candidates(owner: str) -> Mapping[str, str]:
    """What to call the others who may work on projects, by owner (hostile text)."""
    with reading() as db:
        known = db.execute("SELECT owner, name FROM people WHERE owner != ? ORDER BY name", (owner,)).fetchall()
        return {row["owner"]: row["name"] for row in known if roles.allowed(db, row["owner"], Act.PREPARE)}


def people(owner: str, project: str) -> tuple[str, ...]:
    """With whom a project is shared. Raises InputError where the owner cannot see it."""
    with reading() as db:
        owned(db, "project", owner, project)
        return _people(db, project)


def share(owner: str, project: str, with_whom: Collection[str]) -> None:
    """From now on with these people and nobody else. What others started in it is the owner's from then on; its charge keeps their name.
    Raises InputError for another person's project, and for new people who may not work on one."""
    with transaction() as db:
        before = set(_people(db, project))
        new, out = sorted({*with_whom} - before), sorted(before - {*with_whom})
        _check(db, owner, project, new)
        for person in new:
            db.execute("INSERT INTO shares (project, person) VALUES (?, ?)", (project, person))
        for person in out:
            db.execute("DELETE FROM shares WHERE project = ? AND person = ?", (project, person))
            db.execute("UPDATE jobs SET owner = ? WHERE project = ? AND owner = ?", (owner, project, person))
        withdrawn = (f"project {project} no longer with {person}" for person in out)
        acts.record(db, owner, acts.SHARE, *(f"project {project} with {person}" for person in new), *withdrawn)


def hand_over(owner: str, project: str, to: str) -> None:
    """Make another person its owner, also of what was started in it. Who hands it over sees it no more. Raises InputError as `share`."""
    with transaction() as db:
        _check(db, owner, project, [to])
        db.execute("UPDATE projects SET owner = ? WHERE id = ?", (to, project))
        db.execute("UPDATE jobs SET owner = ? WHERE project = ? AND owner = ?", (to, project, owner))
        db.execute("DELETE FROM shares WHERE project = ? AND person = ?", (project, to))
        acts.record(db, owner, acts.SHARE, f"project {project} handed to {to}")


def _people(db: Connection, project: str) -> tuple[str, ...]:
    return tuple(row["person"] for row in db.execute("SELECT person FROM shares WHERE project = ?", (project,)))


def _check(db: Connection, owner: str, project: str, others: Collection[str]) -> None:
    roles.check(db, owner, Act.SHARE)
    check_own(db, owner, project)
    if owner in others or not all(roles.allowed(db, person, Act.PREPARE) for person in others):
        raise InputError("person", "not everybody you named may prepare releases here", "name others who have signed in and may")


def check_own(db: Connection, owner: str, project: str) -> None:
    """Raises InputError for a project that another person shares, or that is not there."""
    if owned(db, "project", owner, project)["owner"] != owner:
        raise InputError("project", "it belongs to another person, who shares it with you", "ask them")
