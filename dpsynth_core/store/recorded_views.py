"""The looks at private tables that each project has taken (`planning.private_views`): added, never taken back while the project exists.

They belong to the project and not to its table or draft: a curator who takes another table or an older draft has still seen what they
have seen.
"""

from __future__ import annotations

from dpsynth_core.planning.private_views import CHANGED, COMPARED, Look, ordered
from dpsynth_core.store import audit_actions, roles, rules, verified_books
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.home import now
from dpsynth_core.store.roles import Act
from dpsynth_core.store.tables import owned


def record(owner: str, project: str, look: Look) -> None:
    """Record that a project takes a look at its private table, before any part of what it shows is visible.

    For a person who signed in, the ledger gets an entry too. A look that the project has taken already is not recorded
    again.

    Args:
        owner: The person who looks.
        project: Id of the project.
        look: The look.

    Raises:
        InputError: The owner has no such project or may not look, or the house rules forbid looks.
        StoreFault: The store cannot be written.
    """
    with reading() as db:
        roles.check(db, owner, Act.LOOK)
        rules.check_look(verified_books.unverified(db))
    if look in of(owner, project):
        return
    with transaction() as db:
        owned(db, "project", owner, project)
        audit_actions.record(db, owner, audit_actions.LOOK, f"{look}, in project {project}")
        add(db, project, look)


def add(db: Connection, project: str, look: Look) -> None:
    """Record a look of a project, inside a transaction that has checked the project; a second record of the same look is ignored.

    Args:
        db: Connection of the transaction.
        project: Id of the project.
        look: The look.
    """
    db.execute("INSERT INTO looks (project, look, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (project, look, now()))


def changed(db: Connection, project: str) -> None:
    """Record that a project's domain changes.

    If the domain was compared with the records before, the new domain may depend on what was seen,
    and the look CHANGED is recorded.
    """
    if COMPARED in taken(db, project):
        add(db, project, CHANGED)


def of(owner: str, project: str) -> tuple[Look, ...]:
    """Return the looks that a project has taken so far, each once, in the order of `planning.private_views`; () without any.

    COMPARED is left out once CHANGED is there.

    Raises:
        InputError: The owner has no such project.
    """
    with reading() as db:
        owned(db, "project", owner, project)
        return taken(db, project)


def taken(db: Connection, project: str) -> tuple[Look, ...]:
    """Return the looks that a project has taken, in the transaction of this connection; () without looks.

    Each is there once, in the order of `planning.private_views`; COMPARED is left out once CHANGED is there. No right is
    checked.
    """
    return ordered(row["look"] for row in db.execute("SELECT look FROM looks WHERE project = ?", (project,)))
