"""Messages for exceptions of the disk and the database: where, why and what to do.

Of an unexpected exception only type and place are given, because its text may quote a record.
"""

from __future__ import annotations

import errno
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpsynth_core.foundation.errors import ChargedError, InputError

FIELD = "DPSYNTH_HOME"
OFFICE, SERVER = "DPSYNTH_LEDGER", "DPSYNTH_DATABASE"
"""Settings that errors name: the directory of the store, an office's server, whose ledger is charged in place of the one here, and the
server of the store's database."""
_PACKAGE = Path(__file__).resolve().parents[1]

_FULL = ("the disk that it is on is full", "free some space and try again")
_READ_ONLY = ("it cannot be written", "give yourself the right to write there, or name another directory")
_BUSY = ("its database is locked by another program", "close every other program that has dpsynth.sqlite open, and try again")
_BROKEN = ("its disk fails", "check the disk, then try again")

_OF_SQLITE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: ("its database cannot be opened", "check that you may write to the directory and that its disk is not full"),
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_PROTOCOL: _BUSY,
    sqlite3.SQLITE_IOERR: _BROKEN,
}
_OF_SYSTEM = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: _READ_ONLY,
    errno.EACCES: _READ_ONLY,
    errno.EPERM: _READ_ONLY,
    errno.EIO: _BROKEN,
}
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_HEADER = "unsupported file format"
"""SQLite's message for a damaged file header, which it reports with the code for mistakes in statements."""


class StoreFault(InputError):
    """The store could not be read or written. The transaction kept nothing and charged nothing, except for the subclass InDoubt."""


class InDoubt(StoreFault, ChargedError):
    """The connection was lost during a commit, and the server could not be asked.

    The charge may stand, so that the run does not go on.
    """

    def __init__(self, field: str) -> None:
        problem = "its server was lost while it wrote, so that it is not known whether that was kept"
        super().__init__(field, problem, "see what `ledger check` says is charged when it answers again")


class BooksLost(StoreFault):
    """A part of the ledger is missing or was changed, so that the spent budget is unknown.

    Nothing is charged until a person accepts the ledger's present state (`restoring`).
    """

    def __init__(self, problem: str, remedy: str = "put the newest copy of it back") -> None:
        super().__init__(FIELD, problem, f"{remedy}, or accept it as it is with: python -m dpsynth_core ledger restore --reason TEXT")


@contextmanager
def explained() -> Iterator[None]:
    """Turn faults of the disk and the database in the body into StoreFault; let every other exception pass.

    Raises:
        BooksLost: The database is damaged.
        StoreFault: The disk or the database cannot be used for another reason.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        without_a_code = primary is None and isinstance(error, sqlite3.OperationalError)  # of a text that is none
        if primary in _DAMAGED or str(error) == _HEADER or without_a_code:
            raise BooksLost("its database is damaged and cannot be read") from error
        if primary not in _OF_SQLITE:
            raise
        raise StoreFault(FIELD, *_OF_SQLITE[primary]) from error
    except UnicodeDecodeError as error:  # SQLite quotes what it found where a name should be
        raise BooksLost("its database is damaged and cannot be read") from error
    except OSError as error:
        if error.errno not in _OF_SYSTEM:
            raise
        raise StoreFault(FIELD, *_OF_SYSTEM[error.errno]) from error


def describe(error: BaseException) -> str:
    """Return the exception's type and the place (file and line) in this package where it was raised, never its text.

    Without a place in this package, the type alone is returned.
    """
    ours = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(_PACKAGE)]
    place = f" in {Path(ours[-1].filename).relative_to(_PACKAGE)}, line {ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}{place}"
