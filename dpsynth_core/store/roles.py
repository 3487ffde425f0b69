"""Who may do what: one table of roles and acts, asked by everything in the store that acts for a person.

Which roles a person has is the door's to say, each time it lets the person in (`greet`). The person who runs the installation, with the
token or on the command line, has all of them; an owner whom no door has greeted has none.
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
    CURATOR = "curator"
    OFFICER = "officer"
    REVIEWER = "reviewer"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


class Act(StrEnum):
    """What a role is needed for. Everybody who may come in reads the ledger, the guide, and what waits for approval."""

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
"""For how long a sign-in counts, by the provider's date of it."""


def greet(owner: str, name: str, roles: Collection[Role], signed_in: str) -> None:
    """Note who was let in: what to call the person (hostile text), with which roles, and when the provider said so. What it said later
    stays. What others offered of what is theirs, while they were away, is offered no more. Raises StoreFault."""
    said = (name, " ".join(sorted(roles)), signed_in)
    with reading() as db:
        row = db.execute("SELECT name, roles, seen FROM people WHERE owner = ?", (owner,)).fetchone()
    if row is None or (tuple(row) != said and row["seen"] <= signed_in):
        with transaction() as db:
            db.execute("DELETE FROM people WHERE owner = ?", (owner,))
            db.execute("INSERT INTO people (owner, name, roles, seen) VALUES (?, ?, ?, ?)", (owner, *said))
            db.execute("DELETE FROM offers WHERE giver != ? AND project IN (SELECT id FROM projects WHERE owner = ?)", (owner, owner))


def check_present(db: Connection, owner: str) -> None:
    """Raises InputError unless the person's last sign-in still counts."""
    row = db.execute("SELECT seen FROM people WHERE owner = ?", (owner,)).fetchone()
    if owner != LOCAL_OWNER and (row is None or age(row["seen"]) >= SIGNED_IN_SECONDS):
        raise InputError("token", "its person did not sign in within the hour", "sign in at the office's server, and do it again")


def may(owner: str, act: Act) -> bool:
    """Whether a role of the person is enough."""
    if owner == LOCAL_OWNER:  # without a look at the disk: pages ask at every view
        return True
    with reading() as db:
        return allowed(db, owner, act)


def allowed(db: Connection, owner: str, act: Act) -> bool:
    """The same as this connection sees it."""
    return any(act in MAY[role] for role in of(db, owner))


def check(db: Connection, owner: str, act: Act) -> None:
    """Raises InputError unless a role of the person is enough."""
    if not allowed(db, owner, act):
        needed = " or ".join(role for role in Role if act in MAY[role])
        raise InputError("role", f"yours does not let you {act}", f"ask a person who has the role {needed}")


def of(db: Connection, owner: str) -> frozenset[Role]:
    """The roles of a person."""
    if owner == LOCAL_OWNER:
        return EVERY
    row = db.execute("SELECT roles FROM people WHERE owner = ?", (owner,)).fetchone()
    return frozenset(map(Role, row["roles"].split())) if row else frozenset()


def one_person(db: Connection, first: str, second: str) -> bool:
    """Whether two owners are the same person as far as their names say: an account of another provider, or one that was made anew."""
    named = {row["owner"]: row["name"] for row in db.execute("SELECT owner, name FROM people WHERE owner IN (?, ?)", (first, second))}
    return first == second or (bool(named.get(first)) and named[first] == named.get(second))


def names() -> Mapping[str, str]:
    """What to call the people who have come in, by owner (hostile text)."""
    with reading() as db:
        return {row["owner"]: row["name"] for row in db.execute("SELECT owner, name FROM people")}
