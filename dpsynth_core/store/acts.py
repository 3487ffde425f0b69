"""What people of an office did, in the ledger beside charges, caps and approvals: views of true values, downloads, deletions,
and with whom projects are shared.

Only of people who signed in: the person who runs the installation could leave them out. An entry has ids, never a project's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dpsynth_core.store import chain
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.home import LOCAL_OWNER

LOOK, DOWNLOAD, DELETE, SHARE = "look", "download", "delete", "share"
WITH, NO_LONGER, TAKEN_FROM, _HANDED = "with", "no longer with", "taken over from", "handed to"
"""What is said of a project between its id and a person. Until it was asked who is handed one, it was handed to them."""
_HAD = re.compile(rf"project (\S+) (?:{WITH}|{NO_LONGER}|{TAKEN_FROM}|{_HANDED}) (.+)")


def record(db: Connection, owner: str, kind: str, *notes: str, population: str = "", spec: str = "") -> None:
    """Write acts inside the transaction that does them, or before they are done. spec: digest of the plan. Raises BooksLost."""
    books = chain.whole_in(db) if notes and owner != LOCAL_OWNER else ()
    for note in notes if owner != LOCAL_OWNER else ():
        books = (*books, chain.append(db, books, Entry(owner, kind, population, spec=spec, note=note)))


def had(books: Iterable[Entry], project: str) -> frozenset[str]:
    """Who has or had a project that was ever shared or taken over, or shares or shared it."""
    said = [(entry.curator, _HAD.fullmatch(entry.note)) for entry in books if entry.kind == SHARE]
    return frozenset(person for who, act in said if act and act[1] == project for person in (who, act[2]))
