"""Sharing of projects: the people whom an owner named to work on a project, and offers to take one over.

At first a project is its owner's alone. Every act of sharing is in the ledger. Sharing changes no role. A person becomes the owner by
taking over a project that is offered. An administrator offers or deletes the projects of people who have left.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import audit_actions, roles
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.roles import Act
from dpsynth_core.store.tables import owned
from dpsynth_core.store.times import DAY, age

LEFT_DAYS = 30
"""Days without sign-in after which a person counts as having left."""
_LAST = "COALESCE(seen, updated) AS last"
"""SQL for the owner's last sign-in; for a person who never signed in at this server, the project's last change."""
_WHOSE = "FROM projects LEFT JOIN people ON people.owner = projects.owner"


@dataclass(frozen=True)
class Left:
    """A person who owns projects and has not signed in for more than `LEFT_DAYS` days.

    Attributes:
        owner: Id of the person.
        name: Name of the person (hostile text).
        seen: Date of the last sign-in, or "" if unknown.
        projects: Ids of the person's projects.
    """

    owner: str
    name: str
    seen: str
    projects: tuple[str, ...]


@dataclass(frozen=True)
class Offer:
    """A project that is offered to a person.

    Attributes:
        project: Id of the project.
        name: Name of the project (hostile text).
        owner: Id of its present owner.
    """

    project: str
    name: str
    owner: str


def candidates(owner: str) -> Mapping[str, str]:
    """Return the names (hostile text) of the other people with whom projects can be shared, by their ids, sorted by name.

    They signed in before and have a role that may prepare releases.
    """
    with reading() as db:
        known = db.execute("SELECT owner, name FROM people WHERE owner != ? ORDER BY name", (owner,)).fetchall()
        return {row["owner"]: row["name"] for row in known if roles.allowed(db, row["owner"], Act.PREPARE)}


def people(owner: str, project: str) -> tuple[str, ...]:
    """Return the ids of the people with whom a project is shared, without its owner; () if it is not shared.

    Raises:
        InputError: The person `owner` neither owns the project nor shares it.
    """
    with reading() as db:
        owned(db, "project", owner, project)
        return _people(db, project)


def share(owner: str, project: str, with_whom: Collection[str]) -> None:
    """Share a project with exactly these people; others who shared it lose access.

    Jobs that these others started in it become the owner's; the charge in the ledger keeps the name
    of the person who made it. The acts are noted in the ledger, unless the local user shares.

    Args:
        owner: The person who shares it.
        project: Id of the project.
        with_whom: Ids of the people.

    Raises:
        InputError: The project is another person's, the owner's role does not allow sharing, or a new person may not
            work on projects.
        BooksLost: The ledger is not whole.
    """
    with transaction() as db:
        before = set(_people(db, project))
        new, out = sorted({*with_whom} - before), sorted(before - {*with_whom})
        roles.check(db, owner, Act.SHARE)
        check_own(db, owner, project)
        _check_others(db, owner, new)
        for person in new:
            db.execute("INSERT INTO shares (project, person) VALUES (?, ?)", (project, person))
        for person in out:
            db.execute("DELETE FROM shares WHERE project = ? AND person = ?", (project, person))
            db.execute("UPDATE jobs SET owner = ? WHERE project = ? AND owner = ?", (owner, project, person))
        said = [*(f"{audit_actions.WITH} {person}" for person in new), *(f"{audit_actions.NO_LONGER} {person}" for person in out)]
        audit_actions.record(db, owner, audit_actions.SHARE, *(f"project {project} {act}" for act in said))


def offer(owner: str, project: str, to: str) -> None:
    """Offer a project to another person, who becomes its owner by accepting; until then nothing changes.

    An earlier offer is withdrawn. The offer is noted in the ledger, unless the local user makes it.

    Args:
        owner: The person who offers: the owner, or an administrator if the owner has left.
        project: Id of the project.
        to: Id of the person; "" to withdraw the offer only.

    Raises:
        InputError: The person may not offer the project (`check_settles`), `to` may not receive it,
            or there is nothing to withdraw.
        BooksLost: The ledger is not whole.
    """
    with transaction() as db:
        settled = check_settles(db, owner, project)
        roles.check(db, owner, Act.SETTLE if settled else Act.SHARE)
        _check_others(db, owner, [to] if to else [])
        if settled and to and roles.one_person(db, owner, to):
            raise InputError("person", "by its name it is an account of your own, and administrators take over nothing", "name another")
        if not db.execute("DELETE FROM offers WHERE project = ?", (project,)).rowcount and not to:
            raise InputError("person", "nobody is named", "choose who is to have it")
        if to:
            db.execute("INSERT INTO offers (project, person, giver) VALUES (?, ?, ?)", (project, to, owner))
        audit_actions.record(db, owner, audit_actions.SHARE, f"project {project} offered to {to or 'nobody any more'}")


def offered_to(project: str) -> str:
    """Return the id of the person to whom the project is offered; "" without a valid offer."""
    with reading() as db:
        row = db.execute("SELECT person FROM offers WHERE project = ?", (project,)).fetchone()
        return row["person"] if row and any(one.project == project for one in _offers(db, row["person"])) else ""


def offers(person: str) -> Sequence[Offer]:
    """Return the projects that are offered to a person; [] without offers.

    An offer by an administrator is valid only while the owner has not come back.
    """
    with reading() as db:
        return _offers(db, person)


def answer(person: str, project: str, take: bool) -> None:
    """Accept or decline the offer of a project.

    By accepting, the person becomes the owner of the project and of all jobs in it; the former
    owner and the people with whom it was shared lose access. Declining only removes the offer. Both are noted in the
    ledger, unless the local user answers.

    Args:
        person: The person to whom it is offered.
        project: Id of the project.
        take: Whether to accept.

    Raises:
        InputError: The project is not offered to the person any more, or the person may not work on
            projects.
        BooksLost: The ledger is not whole.
    """
    with transaction() as db:
        roles.check(db, person, Act.PREPARE)
        offer = next((one for one in _offers(db, person) if one.project == project), None)
        if offer is None:
            raise InputError("project", "it is not offered to you any more", "ask whose it is")
        db.execute("DELETE FROM offers WHERE project = ?", (project,))
        out = sorted({*_people(db, project)} - {person}) if take else []
        if take:
            db.execute("UPDATE projects SET owner = ? WHERE id = ?", (person, project))
            db.execute("UPDATE jobs SET owner = ? WHERE project = ?", (person, project))
            db.execute("DELETE FROM shares WHERE project = ?", (project,))
        taken = audit_actions.TAKEN_FROM if take else "not taken from"
        said = [f"{taken} {offer.owner}", *(f"{audit_actions.NO_LONGER} {one}" for one in out)]
        audit_actions.record(db, person, audit_actions.SHARE, *(f"project {project} {act}" for act in said))


def _offers(db: Connection, person: str) -> list[Offer]:
    """Return the valid offers to a person: by the owner, or by an administrator other than the person while the owner has left."""
    asked = f"SELECT id, projects.name, projects.owner, giver, {_LAST} {_WHOSE} JOIN offers ON project = id WHERE person = ? ORDER BY id"
    found = db.execute(asked, (person,)).fetchall()
    others = {giver for giver in {row["giver"] for row in found} if not roles.one_person(db, giver, person)}
    stands = [row for row in found if row["giver"] == row["owner"] or (row["giver"] in others and _has_left(row["owner"], row["last"]))]
    return [Offer(row["id"], row["name"], row["owner"]) for row in stands]


def left(who: str) -> Sequence[Left]:
    """Return the people who own projects and have not signed in for more than `LEFT_DAYS` (30) days; [] without any.

    Raises:
        InputError: The person `who` lacks the role of an administrator.
    """
    with reading() as db:
        roles.check(db, who, Act.SETTLE)
        rows = db.execute(f"SELECT id, projects.owner, people.name, seen, {_LAST} {_WHOSE} ORDER BY id").fetchall()
    of = {row["owner"]: (row["owner"], row["name"] or "", row["seen"] or "") for row in rows if _has_left(row["owner"], row["last"])}
    return [Left(*about, tuple(row["id"] for row in rows if row["owner"] == owner)) for owner, about in of.items()]


def check_settles(db: Connection, who: str, project: str) -> bool:
    """Check that a person may offer or delete a project, and return in which role.

    Args:
        db: Connection.
        who: The person.
        project: Id of the project.

    Returns:
        True for an administrator who may because the owner has left, False for the owner.

    Raises:
        InputError: The person neither owns the project nor may decide about it.
    """
    row = db.execute(f"SELECT projects.owner, {_LAST} {_WHOSE} WHERE id = ?", (project,)).fetchone()
    if row and row["owner"] != who and _has_left(row["owner"], row["last"]) and roles.allowed(db, who, Act.SETTLE):
        return True
    check_own(db, who, project)
    return False


def _has_left(owner: str, last: str) -> bool:
    """Return whether an owner counts as having left, by the date of the last sign-in."""
    return owner != LOCAL_OWNER and age(last) > LEFT_DAYS * DAY


def _people(db: Connection, project: str) -> tuple[str, ...]:
    return tuple(row["person"] for row in db.execute("SELECT person FROM shares WHERE project = ?", (project,)))


def _check_others(db: Connection, owner: str, others: Collection[str]) -> None:
    """Check that these people are others than the owner and may work on projects.

    Raises:
        InputError: One may not.
    """
    if owner in others or not all(roles.allowed(db, person, Act.PREPARE) for person in others):
        raise InputError("person", "not everybody you named may prepare releases here", "name others who have signed in and may")


def check_own(db: Connection, owner: str, project: str) -> None:
    """Check that a person owns a project.

    Raises:
        InputError: Another person owns it and shares it with this person, or it does not exist for
            this person.
    """
    if owned(db, "project", owner, project)["owner"] != owner:
        raise InputError("project", "it belongs to another person, who shares it with you", "ask them")
