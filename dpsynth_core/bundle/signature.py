"""The signature of a release bundle: the signed statement, and its file.

An installation signs with its own Ed25519 key (RFC 8032) which bundle it made, by which sealed plan, and which entry of its ledger was
charged for it. MANIFEST.json has the SHA-256 of every other file, so its own digest stands for all files. This module makes and reads the
file; `store.signing` has the key, and docs/guide/ledger.md explains what a signature shows and what it does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from dpsynth_core.foundation.documents import canonical
from dpsynth_core.foundation.errors import InputError, shown

SIGNATURE = "SIGNATURE.json"
MAX_BYTES = 4096
FORMAT = 1
_WHAT = "a release bundle of DPSynth Studio"
_KEY, _SIGNED = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{128}")


@dataclass(frozen=True)
class Signer:
    """A signing key of an installation.

    Attributes:
        key: The public key, 64 hexadecimal digits.
        sign: Returns the 64-byte signature of bytes, always the same for the same bytes.
    """

    key: str
    sign: Callable[[bytes], bytes]


def signed(signer: Signer, manifest: bytes, spec: str, cited: Any) -> bytes:
    """Return the content of SIGNATURE.json.

    Args:
        signer: The signer.
        manifest: Content of MANIFEST.json.
        spec: SHA-256 of the sealed plan.
        cited: The entry about the ledger in release.json.
    """
    statement = _statement(signer.key, manifest, spec, cited)
    return _written(statement, signer.sign(_message(statement)).hex())


def key_of(content: bytes, manifest: bytes, spec: Any, cited: Any) -> str:
    """Return the public key with which a bundle was signed, after checking the signature.

    Args:
        content: Content of SIGNATURE.json.
        manifest: Content of MANIFEST.json.
        spec: SHA-256 of the plan that release.json states.
        cited: The entry about the ledger in release.json.

    Raises:
        ValueError: The signature is invalid, or the file is not, to the last byte, what `signed`
            writes about this bundle. Values of wrong types raise further errors.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    stated = json.loads(content)
    key, signature = str(stated["key"]), str(stated["signature"])
    statement = _statement(key, manifest, spec, cited)
    if not _KEY.fullmatch(key) or not _SIGNED.fullmatch(signature) or content != _written(statement, signature):
        raise ValueError("it is not about this bundle")
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), _message(statement))
    except InvalidSignature:
        raise ValueError("the signature is not of this key") from None
    return key


def parse_key(text: str, field: str) -> str:
    """Return a public key from a copied text, in lower case and without spaces around it.

    Raises:
        InputError: The text is not 64 hexadecimal digits; the error is about `field`.
    """
    key = text.strip().lower()
    if not _KEY.fullmatch(key):
        problem = f"{shown(text.strip()[:80])} is not a public key"
        raise InputError(field, problem, "give the 64 hexadecimal digits that `ledger key` prints for the publisher")
    return key


def _statement(key: str, manifest: bytes, spec: Any, cited: Any) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "what": _WHAT,
        "key": key,
        "manifest_sha256": sha256(manifest).hexdigest(),
        "spec_sha256": spec,
        "ledger": {name: cited[name] for name in ("entry", "hash")},
    }


def _message(statement: dict[str, Any]) -> bytes:
    """Return the signed bytes: the statement as canonical JSON (sorted keys, no spaces)."""
    return canonical(statement)


def _written(statement: dict[str, Any], signature: str) -> bytes:
    return (json.dumps({**statement, "signature": signature}, indent=1) + "\n").encode()
