"""Sealed fingerprints of tables for the ledger: hashed with a secret key, differently for each run.

The key is made once and stays in the home directory. Without the key it is impossible to test a guessed table against the ledger, or to see
whether two runs had the same table.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable

from dpsynth_core.foundation.private_files import made_once, private_file
from dpsynth_core.store.database import reading
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.home import key_file

KEY_BYTES = 32
LOST = "its fingerprint.key is missing, empty or cut off, so that no file that was charged before would be recognised"


def seal(fingerprint: str, run: str) -> str:
    """Return a plan's fingerprints hashed with the secret key and the run's id (HMAC-SHA256, 64 hexadecimal digits each).

    The id makes equal tables look different in the ledger: only the key shows which runs had the
    same table. The first call in a home makes the key.

    Args:
        fingerprint: The fingerprints of one plan's tables, with spaces between.
        run: Id of the run.

    Raises:
        BooksLost: The key is damaged, or missing although tables were charged.
    """
    return seals(fingerprint, [run])[0]


def seals(fingerprint: str, runs: Iterable[str]) -> list[str]:
    """Return the sealed fingerprint for each of the runs, in order (`seal`); [] for no runs.

    Args:
        fingerprint: The fingerprints of one plan's tables, with spaces between
            (`fingerprints.of_spec`); each is sealed separately.
        runs: Ids of the runs.

    Raises:
        BooksLost: The key is damaged, or missing although tables were charged.
    """
    secret, parts = key(), fingerprint.split(" ")
    return [" ".join(hmac.digest(secret, f"{run} {one}".encode(), "sha256").hex() for one in parts) for run in runs]


def are_same(sealed: str, other: str) -> bool:
    """Return whether two sealed fingerprints of the same plan and run are from the same tables.

    They are if the content of every table is the same, or else the records of every table.

    Args:
        sealed: The sealed fingerprint in the ledger; in earlier versions of the content only.
        other: The sealed fingerprint of the tables at hand, of content and records.
    """
    ours, theirs = other.split(), sealed.split()
    tables = (len(ours) + 1) // 2
    by_content = len(theirs) in (tables, len(ours)) and ours[:tables] == theirs[:tables]
    return by_content or (len(ours) == len(theirs) > tables and ours[tables:] == theirs[tables:])


def new_key() -> None:
    """Make a key in place of a lost one. Fingerprints sealed with the old key are not recognised any more."""
    with private_file(key_file()) as stream:
        stream.write(secrets.token_bytes(KEY_BYTES))


def key_is_sound() -> bool:
    """Return whether the secret key exists and has its full length, or does not exist because no table was charged yet."""
    if key_file().exists():
        return key_file().stat().st_size == KEY_BYTES
    with reading() as db:  # the database comes first: a key without one tells of a loss
        return db.execute("SELECT 1 FROM ledger WHERE fingerprint != '' LIMIT 1").fetchone() is None


def key() -> bytes:
    """Return the secret key of this home, 32 bytes; the first call makes its file.

    Raises:
        BooksLost: The key is damaged, or missing although tables were charged.
    """
    if not key_is_sound():
        raise BooksLost(LOST)
    path = key_file()
    if not path.exists():
        with made_once(path) as candidate:
            candidate.write_bytes(secrets.token_bytes(KEY_BYTES))
    return path.read_bytes()
