"""The installation's key, which signs the bundles of its releases (`bundle.signature`).

It is made once and stays in the home directory: 32 secret bytes (RFC 8032) and the public key that follows from them, which shows damage.
An owner of the file can sign as this installation. A release is signed only while the ledger has the entry that it names, for its plan, and
the run had that before it read the first record. One that was charged to no ledger is not signed: nothing here would stand behind it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.bundle.signature import Signer
from dpsynth_core.foundation.private_files import made_once
from dpsynth_core.store import chain, verified_books
from dpsynth_core.store.database import reading
from dpsynth_core.store.faults import FIELD, StoreFault, explained
from dpsynth_core.store.home import home
from dpsynth_core.store.ledger import PlanDiffers

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME = "signing.key"
_SECRET_BYTES, _BYTES = 32, 64
_OTHERS = 0o077
_REMEDY = "put a copy of it back, or delete it and announce the public key of the one that is made then"


def public_key() -> str:
    """Return the installation's public key, 64 hexadecimal digits, with which recipients verify signatures; the first call makes the key.

    Raises:
        StoreFault: The key is damaged, or others can read it.
    """
    return _public(_key()).hex()


def check() -> None:
    """Check that the key could sign, if it exists; makes no key.

    Raises:
        StoreFault: The key is damaged, or others can read it.
    """
    if os.path.lexists(home() / NAME):
        _read(home() / NAME)


def signer(cited: Mapping[str, Any], plan: str) -> Signer | None:
    """Return the signer for a release of this installation; None if no ledger was charged or the ledger has no such charge any more.

    Args:
        cited: What the release states of the ledger (`balance.citation`), or {}.
        plan: Digest of the release's plan.

    Raises:
        PlanDiffers: The entry names another plan.
        StoreFault: The key or the ledger cannot be used.
    """
    if not cited or not _knows(cited, plan):
        return None
    secret = _key()
    return Signer(_public(secret).hex(), secret.sign)


def _knows(cited: Mapping[str, Any], plan: str) -> bool:
    """Return whether the ledger has the cited charge for this plan, made final before the run read a record.

    Raises:
        PlanDiffers: The entry names another plan.
        BooksLost: The ledger is not whole.
    """
    verified_books.read()
    with reading() as db:
        charges = chain.entries_in(db, "WHERE number = ? AND hash = ? AND kind = 'reserve'", cited["entry"], cited["hash"])
        kinds = {entry.kind for charge in charges for entry in chain.entries_in(db, chain.OF_RUN, charge.run)}
    for entry in charges if "return" not in kinds else ():
        if entry.population == cited["population"]:
            if entry.spec != plan:
                problem = f"it is another one than entry {entry.number} of the ledger was charged for"
                raise PlanDiffers("release", f"its plan was changed: {problem}", "make the release anew")
            return "touch" in kinds
    return False


def _key() -> Ed25519PrivateKey:
    """Return the installation's secret key; the first call makes it.

    Raises:
        StoreFault: The key is damaged, or others can read it.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    path = home() / NAME
    if not os.path.lexists(path):
        with explained(), made_once(path) as candidate:  # on the disk: what it signs may leave this machine at once
            made = Ed25519PrivateKey.generate()
            candidate.write_bytes(made.private_bytes_raw() + _public(made))
    return _read(path)


def _read(path: Path) -> Ed25519PrivateKey:
    """Return the secret key in a file, which must be an ordinary file that no other account can read.

    It follows no link and never waits, as for a pipe.

    Raises:
        StoreFault: The file is of another kind, open to other accounts, or damaged.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise StoreFault(FIELD, f"its {NAME} is a link, or cannot be read", _REMEDY) from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise StoreFault(FIELD, f"its {NAME} is not an ordinary file", _REMEDY)
        if found.st_mode & _OTHERS:
            problem = f"its {NAME} is open to other accounts of this machine, who may have signed with it"
            raise StoreFault(FIELD, problem, f"if no one read it, make it yours alone (chmod 600); else {_REMEDY.split(', or ')[1]}")
        content = os.read(descriptor, _BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) == _BYTES:
        secret = Ed25519PrivateKey.from_private_bytes(content[:_SECRET_BYTES])
        if _public(secret) == content[_SECRET_BYTES:]:
            return secret
    raise StoreFault(FIELD, f"its {NAME} is damaged", _REMEDY)


def _public(secret: Ed25519PrivateKey) -> bytes:
    return secret.public_key().public_bytes_raw()
