"""The head of the ledger, number and hash of its last entry, in a file of its own.

A database that was lost, emptied, cut off or put back from an older copy does not contain the entry that this file names. The file is
written aside before the database commits and appears after it, so that a full disk stops the charge and a crash between the two leaves a
file that names an earlier entry of the same chain, never one that the database lacks. What a crash there can hide is only the newest
entry, and no run had acted on that one yet: records are read after both are in place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from dpsynth_core.foundation.documents import check_path
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.private_files import locked, private_directory, private_file, sync
from dpsynth_core.store.home import home

GENESIS = "0" * 64
"""The hash that the first entry names as its predecessor's."""


@dataclass(frozen=True)
class Head:
    """The end of a chain of ledger entries.

    Attributes:
        number: Number of the last entry; 0 for an empty chain.
        hash: Hash of the last entry; GENESIS for an empty chain.
    """

    number: int = 0
    hash: str = GENESIS

    def __str__(self) -> str:
        return f"{self.number} {self.hash}"


EMPTY = Head()
"""The end of a chain without entries."""
_VARIABLE = "DPSYNTH_LEDGER_HEAD"
_MAX_BYTES = 10_000


def head_file() -> Path:
    """Return the path of the file with the ledger's head: DPSYNTH_LEDGER_HEAD, or ledger.head beside the database.

    On another disk, the file also shows when the whole directory was put back from an older copy.

    Raises:
        InputError: Something else than a file is at this path.
    """
    configured = os.environ.get(_VARIABLE)
    if configured:
        check_path(configured, _VARIABLE)
    path = Path(configured).expanduser() if configured else home() / "ledger.head"
    if os.path.lexists(path) and not os.path.isfile(path):  # a pipe could be waited for in vain, and a device be replaced by a file
        field = _VARIABLE if configured else "DPSYNTH_HOME"
        raise InputError(field, f"{shown(path)} is not an ordinary file", "remove it, or name another place")
    return path


def read() -> Head | None:
    """Return the head as it was last written; None if the file is missing or damaged.

    Raises:
        InputError: Something else than a file is at its path.
        OSError: The file cannot be read.
    """
    try:
        with head_file().open("rb") as stream:
            head = Head(**json.loads(stream.read(_MAX_BYTES)))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    whole = type(head.number) is int and head.number >= 0 and isinstance(head.hash, str) and len(head.hash) == len(GENESIS)
    return head if whole else None


def begin() -> None:
    """Write the head of an empty chain into the head's file, before the chain's first entry is committed."""
    private_directory(head_file().parent)
    with private_file(head_file()) as stream:
        stream.write(_content(EMPTY))


@contextmanager
def advancing(to: Head) -> Iterator[None]:
    """Write a new head around a commit: the body commits a chain that ends with `to`.

    The new file is written aside before the body, and put in place after it. If the body raises,
    the old file stays.

    Raises:
        OSError: The new file cannot be written; the body is not entered.
    """
    with locked(head_file().with_suffix(".lock")):
        aside = head_file().with_suffix(".next")
        with private_file(aside) as stream:
            stream.write(_content(to))
        yield
        with suppress(OSError):  # the chain is committed; until its next entry the file may name an earlier one
            aside.replace(head_file())
            sync(head_file().parent)


def _content(head: Head) -> bytes:
    return json.dumps(asdict(head)).encode()
