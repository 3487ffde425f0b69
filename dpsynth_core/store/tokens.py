"""Personal tokens, with which programs on other machines charge the ledger for a person (`ledger_api`). Only their hashes are kept.

A token has 192 random bits, so that its plain hash cannot be guessed. It is valid for 90 days, and only while its person's sign-in counts
(`ledger_api`): a person withdrawn at the provider charges nothing any more within the hour.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import roles, verified_books
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.home import now
from dpsynth_core.store.roles import Act
from dpsynth_core.store.times import DAY, age

PREFIX, _BYTES = "dpsynth_", 24
DAYS = 90
_MOST = 20


@dataclass(frozen=True)
class Token:
    """A personal token without its secret.

    Attributes:
        key: SHA-256 of the token, which gives no access.
        owner: The person to whom it gives access.
        name: Its use, in the person's words.
        created: Time, UTC in ISO 8601.
    """

    key: str
    owner: str
    name: str
    created: str


class NotAdmitted(InputError):
    """The error for a token that is unknown or expired. Its message is the same for every reason."""

    def __init__(self) -> None:
        super().__init__("token", "it opens nothing here, or no longer", "make one on the Ledger page of the office's server")


def make(owner: str, name: str) -> str:
    """Make a token for a person who may run plans, and return its secret text; only its hash is stored, so it cannot be read again.

    The token is valid for 90 days (`DAYS`). The ledger gets an entry.

    Args:
        owner: The person.
        name: What the token is for, in 1 to 80 printable characters. Two tokens may have one name.

    Raises:
        InputError: The name is blank, too long, or has characters that are not printed; the person
            lacks the right; or the person has 20 tokens already, expired ones included.
        BooksLost: The ledger is not whole.
    """
    if not name.strip() or len(name) > 80 or not name.isprintable():
        raise InputError("name", "it is empty, too long or has control characters", "say in a few words where the token is used")
    token = PREFIX + secrets.token_hex(_BYTES)
    with transaction() as db:
        roles.check(db, owner, Act.RUN)
        if db.execute("SELECT COUNT(*) FROM tokens WHERE owner = ?", (owner,)).fetchone()[0] >= _MOST:
            raise InputError("token", f"you have {_MOST} already", "revoke one that is not used")
        db.execute("INSERT INTO tokens (hash, owner, name, created) VALUES (?, ?, ?, ?)", (_hash(token), owner, name.strip(), now()))
        verified_books.add(db, Entry(owner, "token", note=_hash(token)[:8]))
    return token


def revoke(owner: str, key: str) -> None:
    """Delete a token, and note it in the ledger. For an administrator an unknown token is ignored.

    Args:
        owner: The person who revokes: its owner, or an administrator.
        key: Hash of the token (`Token.key`).

    Raises:
        InputError: The person lacks the role of an administrator, and the token is another person's
            or unknown.
        BooksLost: The ledger is not whole.
    """
    with transaction() as db:
        row = db.execute("SELECT owner FROM tokens WHERE hash = ?", (key,)).fetchone()
        if row is None or row["owner"] != owner:
            roles.check(db, owner, Act.REVOKE)
        if db.execute("DELETE FROM tokens WHERE hash = ?", (key,)).rowcount:
            verified_books.add(db, Entry(owner, "revoke", note=key[:8]))


def listed(owner: str) -> tuple[Token, ...]:
    """Return the person's own tokens, or for an administrator the tokens of all people, oldest first; () without any.

    Expired tokens are among them.
    """
    with reading() as db:
        every = roles.allowed(db, owner, Act.REVOKE)
        rows = db.execute("SELECT * FROM tokens WHERE owner = ? OR ? ORDER BY created", (owner, every))
        return tuple(Token(row["hash"], row["owner"], row["name"], row["created"]) for row in rows)


def owner_of(db: Connection, token: str) -> str:
    """Return the person whom a token admits; whether their sign-in still counts is not checked.

    Raises:
        NotAdmitted: The token is unknown or older than 90 days (`DAYS`).
    """
    row = db.execute("SELECT owner, created FROM tokens WHERE hash = ?", (_hash(token),)).fetchone()
    if row is None or age(row["created"]) > DAYS * DAY:
        raise NotAdmitted
    return str(row["owner"])


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
