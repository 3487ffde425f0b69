"""The acts of an office's people, as entries of the ledger: views of true values, downloads, deletions, and sharing of projects.

Only acts of people who signed in are recorded, because the person who runs the installation could leave theirs out. An entry has
identifiers, never the name of a project.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dpsynth_core.store import verified_books
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.ledger_books import after

LOOK, DOWNLOAD, DELETE, SHARE = "look", "download", "delete", "share"
WITH, NO_LONGER, TAKEN_FROM, _HANDED = "with", "no longer with", "taken over from", "handed to"
"""Words between the id of a project and a person. Earlier versions handed a project over without asking and wrote `_HANDED`."""
_HAD = re.compile(rf"project (\S+) (?:{WITH}|{NO_LONGER}|{TAKEN_FROM}|{_HANDED}) (.+)")


def record(db: Connection, owner: str, kind: str, *notes: str, population: str = "", spec: str = "") -> None:
    """Append entries about a person's acts to the ledger, in the transaction that performs them or before they happen.

    Nothing is recorded for the person who runs the installation, who could leave the entries out.

    Args:
        db: Connection of the transaction.
        owner: The person who acts.
        kind: Kind of the entries.
        *notes: One note per entry.
        population: Name of the population, if the act concerns one.
        spec: Digest of the plan, if the act concerns one.

    Raises:
        BooksLost: The ledger is not whole.
    """
    if not notes or owner == LOCAL_OWNER:
        return
    books = verified_books.current(db)
    for note in notes:
        books = after(books, [verified_books.append(db, books, Entry(owner, kind, population, spec=spec, note=note))])


def had(entries: Iterable[Entry], project: str) -> frozenset[str]:
    """Return the ids of all people who ever owned a project or had access to it, by the ledger's entries about sharing it.

    Args:
        entries: Entries of the ledger; only those about sharing count.
        project: Id of the project. A project that was never shared gives an empty set.
    """
    said = [(entry.curator, _HAD.fullmatch(entry.note)) for entry in entries if entry.kind == SHARE]
    return frozenset(person for who, act in said if act and act[1] == project for person in (who, act[2]))
