"""The looks at private tables that each project has taken (`planning.private_views`): added, never taken back while the project exists.

They belong to the project and not to its table or draft: a curator who takes another table or an older draft has still seen what they
have seen.
"""

from __future__ import annotations

from dpsynth_core.planning.private_views import CHANGED, COMPARED, Look, ordered
from dpsynth_core.store import audit_actions, chain, roles, rules
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.home import now
from dpsynth_core.store.roles import Act
from dpsynth_core.store.tables import owned


def record(owner: str, project: str, look: Look) -> None:
    """Record a look before any part of what it shows is visible.

    Raises InputError if the owner has no such project or may not look, and StoreFault.
    """
    with reading() as db:
        roles.check(db, owner, Act.LOOK)
        rules.check_look(chain.entries_in(db))
    if look in of(owner, project):
        return
    with transaction() as db:
        owned(db, "project", owner, project)
        audit_actions.record(db, owner, audit_actions.LOOK, f"{look}, in project {project}")
        add(db, project, look)


def add(db: Connection, project: str, look: Look) -> None:
    """Record a look inside a transaction that has checked the project."""
    db.execute("INSERT INTO looks (project, look, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (project, look, now()))


def changed(db: Connection, project: str) -> None:
    """Record that the domain changes: if it was compared with the records, the new domain may contain what was seen."""
    if COMPARED in taken(db, project):
        add(db, project, CHANGED)


def of(owner: str, project: str) -> tuple[Look, ...]:
    """Return the looks of a project so far. Raises InputError if the owner has no such project."""
    with reading() as db:
        owned(db, "project", owner, project)
        return taken(db, project)


def taken(db: Connection, project: str) -> tuple[Look, ...]:
    """Return the looks of a project as this connection sees them."""
    return ordered(row["look"] for row in db.execute("SELECT look FROM looks WHERE project = ?", (project,)))
