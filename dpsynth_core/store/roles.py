"""Permissions: one table of roles and acts, which every function of the store asks before it acts for a person.

Each sign-in states which roles the person has (`greet`). The person who runs the installation, with
the token or on the command line, has all roles; an owner who never signed in has no role.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.times import age


class Role(StrEnum):
    """The role of a person in an office."""

    CURATOR = "curator"
    OFFICER = "officer"
    REVIEWER = "reviewer"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


class Act(StrEnum):
    """The acts that need a role.

    Reading the ledger, the guide and what waits for approval needs no role, only a sign-in.
    """

    PREPARE = "prepare a release"
    LOOK = "look at private records"
    RUN = "run a plan"
    DOWNLOAD = "take a release away"
    CAP = "open a population or change its limit"
    APPROVE = "approve what another person made"
    DEMAND = "say what must be approved"
    REVOKE = "revoke a token of another person"
    SHARE = "share a project or hand it over"
    RETAIN = "say how long projects are kept"
    SETTLE = "offer or delete what a person who has left had"


MAY: Mapping[Role, frozenset[Act]] = MappingProxyType(
    {
        Role.CURATOR: frozenset({Act.PREPARE, Act.LOOK, Act.RUN, Act.DOWNLOAD, Act.SHARE}),
        Role.OFFICER: frozenset({Act.CAP}),
        Role.REVIEWER: frozenset({Act.APPROVE}),
        Role.AUDITOR: frozenset(),
        Role.ADMINISTRATOR: frozenset({Act.DEMAND, Act.REVOKE, Act.RETAIN, Act.SETTLE}),
    }
)
EVERY = frozenset(Role)
SIGNED_IN_SECONDS = 3600
"""Seconds for which a sign-in counts, from the provider's date."""


def greet(owner: str, name: str, roles: Collection[Role], signed_in: str) -> None:
    """Record a person who signed in, with name and roles; a statement older than the recorded one is ignored.

    If others, such as an administrator, offered the person's projects meanwhile, these offers are withdrawn.

    Args:
        owner: Id of the person.
        name: Name of the person (hostile text).
        roles: Roles of the person.
        signed_in: Date of the provider's statement, ISO 8601.

    Raises:
        StoreFault: The store cannot be written.
    """
    said = (name, " ".join(sorted(roles)), signed_in)
    with reading() as db:
        row = db.execute("SELECT name, roles, seen FROM people WHERE owner = ?", (owner,)).fetchone()
    if row is None or (tuple(row) != said and row["seen"] <= signed_in):
        with transaction() as db:
            db.execute("DELETE FROM people WHERE owner = ?", (owner,))
            db.execute("INSERT INTO people (owner, name, roles, seen) VALUES (?, ?, ?, ?)", (owner, *said))
            db.execute("DELETE FROM offers WHERE giver != ? AND project IN (SELECT id FROM projects WHERE owner = ?)", (owner, owner))


def check_present(db: Connection, owner: str) -> None:
    """Check that the person signed in within the last hour (`SIGNED_IN_SECONDS`); the local user always passes.

    Raises:
        InputError: The person did not.
    """
    row = db.execute("SELECT seen FROM people WHERE owner = ?", (owner,)).fetchone()
    if owner != LOCAL_OWNER and (row is None or age(row["seen"]) >= SIGNED_IN_SECONDS):
        raise InputError("token", "its person did not sign in within the hour", "sign in at the office's server, and do it again")


def may(owner: str, act: Act) -> bool:
    """Return whether a role of the person permits the act; always true for the local user.

    False is returned for a person who never signed in.
    """
    if owner == LOCAL_OWNER:  # without a look at the disk: pages ask at every view
        return True
    with reading() as db:
        return allowed(db, owner, act)


def allowed(db: Connection, owner: str, act: Act) -> bool:
    """Return whether a role of the person permits the act, in the transaction of this connection."""
    return any(act in MAY[role] for role in of(db, owner))


def check(db: Connection, owner: str, act: Act) -> None:
    """Check that a role of the person permits the act.

    Args:
        db: Connection.
        owner: Id of the person.
        act: The act.

    Raises:
        InputError: No role of the person does; the error names the roles that would.
    """
    if not allowed(db, owner, act):
        needed = " or ".join(role for role in Role if act in MAY[role])
        raise InputError("role", f"yours does not let you {act}", f"ask a person who has the role {needed}")


def of(db: Connection, owner: str) -> frozenset[Role]:
    """Return the roles of a person: all for the local user, none for a person who never signed in."""
    if owner == LOCAL_OWNER:
        return EVERY
    row = db.execute("SELECT roles FROM people WHERE owner = ?", (owner,)).fetchone()
    return frozenset(map(Role, row["roles"].split())) if row else frozenset()


def one_person(db: Connection, first: str, second: str) -> bool:
    """Return whether two owners are the same person: the same id, or the same name at sign-in.

    Equal names may be accounts at two providers, or a renewed account.
    """
    named = {row["owner"]: row["name"] for row in db.execute("SELECT owner, name FROM people WHERE owner IN (?, ?)", (first, second))}
    return first == second or (bool(named.get(first)) and named[first] == named.get(second))


def names() -> Mapping[str, str]:
    """Return the names of all people who ever signed in, by owner (hostile text); empty without any."""
    with reading() as db:
        return {row["owner"]: row["name"] for row in db.execute("SELECT owner, name FROM people")}
