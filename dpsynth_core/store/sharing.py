"""Who works on a project beside its owner: people whom the owner named. A project is its owner's alone until then, and every act of this
is in the ledger. What a person may do by role stays as it is. A person to whom it is offered becomes its owner by taking it over. An
administrator offers or deletes the projects of people who have left."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import acts, roles
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.roles import Act
from dpsynth_core.store.tables import owned
from dpsynth_core.store.times import DAY, age

LEFT_DAYS = 30
"""A person who did not sign in for so long counts as one who has left."""
_LAST = "COALESCE(seen, updated) AS last"
"""When the owner came last; of one who never signed in at this server, when the project was worked on."""
_WHOSE = "FROM projects LEFT JOIN people ON people.owner = projects.owner"


@dataclass(frozen=True)
class Left:
    """A person who has left. name: what they were called (hostile text). seen: when they signed in last; "" where nobody knows. projects:
    their ids."""

    owner: str
    name: str
    seen: str
    projects: tuple[str, ...]


@dataclass(frozen=True)
class Offer:
    """name: of the project (hostile text). owner: whose it is."""

    project: str
    name: str
    owner: str


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
        roles.check(db, owner, Act.SHARE)
        check_own(db, owner, project)
        _check_others(db, owner, new)
        for person in new:
            db.execute("INSERT INTO shares (project, person) VALUES (?, ?)", (project, person))
        for person in out:
            db.execute("DELETE FROM shares WHERE project = ? AND person = ?", (project, person))
            db.execute("UPDATE jobs SET owner = ? WHERE project = ? AND owner = ?", (owner, project, person))
        said = [*(f"{acts.WITH} {person}" for person in new), *(f"{acts.NO_LONGER} {person}" for person in out)]
        acts.record(db, owner, acts.SHARE, *(f"project {project} {act}" for act in said))


def offer(owner: str, project: str, to: str) -> None:
    """Ask another person to become its owner; until they take it over, all stays as it is. It is offered to one person: an offer before is
    taken back, and to nobody, where `to` is "". Raises InputError as `share`, and as `check_settles`."""
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
        acts.record(db, owner, acts.SHARE, f"project {project} offered to {to or 'nobody any more'}")


def offered_to(project: str) -> str:
    """The person to whom it is offered; "" for nobody."""
    with reading() as db:
        row = db.execute("SELECT person FROM offers WHERE project = ?", (project,)).fetchone()
        return row["person"] if row and any(one.project == project for one in _offers(db, row["person"])) else ""


def offers(person: str) -> Sequence[Offer]:
    """What is offered to a person: by its owner, or by an administrator while the owner has not come back."""
    with reading() as db:
        return _offers(db, person)


def answer(person: str, project: str, take: bool) -> None:
    """Take over a project with all that was started in it, alone: its owner sees it no more, nor does whom they shared it with. Or do not,
    and all stays as it is. Raises InputError where it is not offered to the person any more."""
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
        said = [f"{acts.TAKEN_FROM if take else 'not taken from'} {offer.owner}", *(f"{acts.NO_LONGER} {one}" for one in out)]
        acts.record(db, person, acts.SHARE, *(f"project {project} {act}" for act in said))


def _offers(db: Connection, person: str) -> list[Offer]:
    asked = f"SELECT id, projects.name, projects.owner, giver, {_LAST} {_WHOSE} JOIN offers ON project = id WHERE person = ? ORDER BY id"
    found = db.execute(asked, (person,)).fetchall()
    others = {giver for giver in {row["giver"] for row in found} if not roles.one_person(db, giver, person)}
    stands = [row for row in found if row["giver"] == row["owner"] or (row["giver"] in others and _has_left(row["owner"], row["last"]))]
    return [Offer(row["id"], row["name"], row["owner"]) for row in stands]


def left(who: str) -> Sequence[Left]:
    """The people who have left and have projects, to an administrator. Raises InputError."""
    with reading() as db:
        roles.check(db, who, Act.SETTLE)
        rows = db.execute(f"SELECT id, projects.owner, people.name, seen, {_LAST} {_WHOSE} ORDER BY id").fetchall()
    of = {row["owner"]: (row["owner"], row["name"] or "", row["seen"] or "") for row in rows if _has_left(row["owner"], row["last"])}
    return [Left(*about, tuple(row["id"] for row in rows if row["owner"] == owner)) for owner, about in of.items()]


def check_settles(db: Connection, who: str, project: str) -> bool:
    """Whether an administrator decides about it, because its owner has left. Raises InputError unless they do, or it is one's own."""
    row = db.execute(f"SELECT projects.owner, {_LAST} {_WHOSE} WHERE id = ?", (project,)).fetchone()
    if row and row["owner"] != who and _has_left(row["owner"], row["last"]) and roles.allowed(db, who, Act.SETTLE):
        return True
    check_own(db, who, project)
    return False


def _has_left(owner: str, last: str) -> bool:
    return owner != LOCAL_OWNER and age(last) > LEFT_DAYS * DAY


def _people(db: Connection, project: str) -> tuple[str, ...]:
    return tuple(row["person"] for row in db.execute("SELECT person FROM shares WHERE project = ?", (project,)))


def _check_others(db: Connection, owner: str, others: Collection[str]) -> None:
    if owner in others or not all(roles.allowed(db, person, Act.PREPARE) for person in others):
        raise InputError("person", "not everybody you named may prepare releases here", "name others who have signed in and may")


def check_own(db: Connection, owner: str, project: str) -> None:
    """Raises InputError for a project that another person shares, or that is not there."""
    if owned(db, "project", owner, project)["owner"] != owner:
        raise InputError("project", "it belongs to another person, who shares it with you", "ask them")
