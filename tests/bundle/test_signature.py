"""A signature is of one bundle, one key and one entry of a ledger, and nothing that it does not cover is taken for signed."""

from __future__ import annotations

import io
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpsynth_core.bundle import pack as packing
from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.pack import MANIFEST
from dpsynth_core.bundle.signature import SIGNATURE, Signer, parse_key, signed
from dpsynth_core.bundle.verdicts import ABSENT, FAILED, INCONSISTENT, PASSED, SIGNED, Check, Report
from dpsynth_core.bundle.verify import verify
from dpsynth_core.release.release import Release
from tests.bundle import pack
from tests.bundle.bundles import files, made
from tests.refusals import refused

CITED = {"population": "people", "entry": 7, "hash": "a" * 64, "cap": {"epsilon": 9.0, "delta": 1e-9}, "earlier_caps": [], "restored": 0}


def signer(seed: int) -> Signer:
    secret = Ed25519PrivateKey.from_private_bytes(bytes([seed] * 32))
    return Signer(secret.public_key().public_bytes_raw().hex(), secret.sign)


OURS, OTHER = signer(1), signer(2)


def charged(**changes: Any) -> Release:
    return replace(made(), ledger={**CITED, "unit": made().plan.spec.unit.model_dump()}, **changes)


def packed(release: Release, by: Signer | None = OURS) -> bytes:
    out = io.BytesIO()
    packing.pack(release, out, Path(tempfile.gettempdir()), signer=by)
    return out.getvalue()


def report(bundle: bytes) -> Report:
    return verify(unpack.read_bytes(bundle))


def found(one: Report) -> Check:
    return next(check for check in one.checks if check.question == SIGNED)


def test_it_names_its_key_and_the_entry_of_the_ledger_and_the_bundle_stays_the_same_to_the_last_bit() -> None:
    bundle = packed(charged())
    one = report(bundle)
    assert found(one).verdict == PASSED
    assert found(one).detail == f"signed by {OURS.key}, entry 7 of its ledger; nothing here shows whose key that is"
    assert one.signer == OURS.key
    assert packed(charged()) == bundle
    assert packed(charged(), OTHER) != bundle
    assert SIGNATURE not in files(bundle)[MANIFEST].decode()
    assert not [check for check in one.checks if check.verdict == FAILED]


def test_a_bundle_without_one_is_said_to_be_unsigned() -> None:
    one = report(pack.pack(made()))
    assert (found(one).verdict, one.signer) == (ABSENT, "")
    assert "unsigned: nothing ties its maker's statements to anybody" in one.signature


def test_who_knows_the_key_takes_no_other_one_and_no_bundle_without_one() -> None:
    ours, others, none = report(packed(charged())), report(packed(charged(), OTHER)), report(pack.pack(made()))
    assert ours.by(OURS.key).verdict == ours.verdict
    assert "the key that was given" in ours.by(OURS.key).signature
    for wrong in (ours.by(OTHER.key), others.by(OURS.key), none.by(OURS.key)):
        assert wrong.verdict == INCONSISTENT
        assert "may come from anybody" in wrong.signature


def manifest_of(held: dict[str, bytes]) -> dict[str, bytes]:
    return {**held, MANIFEST: pack.manifest({name: content for name, content in held.items() if name not in (MANIFEST, SIGNATURE)})}


def altered_document(held: dict[str, bytes]) -> dict[str, bytes]:
    return {**held, "release.json": held["release.json"].replace(b'"created": "', b'"created":  "')}


def signed_by(by: Signer, held: dict[str, bytes], **changes: Any) -> bytes:
    """A signature over this manifest that states something else of it."""
    document = json.loads(held["release.json"])
    said = {"spec": document["spec_sha256"], "cited": document["ledger"], "manifest": held[MANIFEST]} | changes
    return signed(by, said["manifest"], said["spec"], said["cited"])


def with_fields(held: dict[str, bytes], **fields: Any) -> bytes:
    return (json.dumps({**json.loads(held[SIGNATURE]), **fields}, indent=1) + "\n").encode()


FORGED = {
    "of another release": lambda held, other: {**held, SIGNATURE: other[SIGNATURE]},
    "a file changed": lambda held, _: altered_document(held),
    "a file and the manifest changed": lambda held, _: manifest_of(altered_document(held)),
    "a file added": lambda held, _: {**held, "more.txt": b"x"},
    "a file added and listed": lambda held, _: manifest_of({**held, "more.txt": b"x"}),
    "another key": lambda held, _: {**held, SIGNATURE: held[SIGNATURE].replace(OURS.key.encode(), OTHER.key.encode())},
    "another plan": lambda held, _: {**held, SIGNATURE: signed_by(OURS, held, spec="0" * 64)},
    "another entry": lambda held, _: {**held, SIGNATURE: signed_by(OURS, held, cited={**CITED, "entry": 8})},
    "a field more": lambda held, _: {**held, SIGNATURE: with_fields(held, more=1)},
    "a huge number": lambda held, _: {**held, SIGNATURE: held[SIGNATURE].replace(b'"format": 1', b'"format": ' + b"9" * 3000)},
    "a key of another type": lambda held, _: {**held, SIGNATURE: with_fields(held, key=7)},
    "no key": lambda held, _: {**held, SIGNATURE: with_fields(held, key="")},
    "capital letters": lambda held, _: {**held, SIGNATURE: with_fields(held, key=OURS.key.upper())},
    "no signature": lambda held, _: {**held, SIGNATURE: with_fields(held, signature="")},
    "zeros": lambda held, _: {**held, SIGNATURE: with_fields(held, signature="0" * 128)},
    "a list": lambda held, _: {**held, SIGNATURE: b"[]\n"},
    "nothing": lambda held, _: {**held, SIGNATURE: b""},
    "no text": lambda held, _: {**held, SIGNATURE: b"\xff\xfe"},
    "deep": lambda held, _: {**held, SIGNATURE: b"[" * 4000},
    "long": lambda held, _: {**held, SIGNATURE: held[SIGNATURE] + b" " * 10_000},
}


@pytest.mark.parametrize("forge", FORGED)
def test_what_was_not_signed_is_not_taken_for_signed(forge: str) -> None:
    other = files(packed(charged(created="2020-02-02")))
    one = report(pack.zipped(FORGED[forge](files(packed(charged())), other)))
    assert (found(one).verdict, one.signer, one.verdict) == (FAILED, "", INCONSISTENT)


def test_a_key_is_read_as_people_copy_it() -> None:
    assert parse_key(f" {OURS.key.upper()}\n", "--key") == OURS.key
    for text in ("", "abc", OURS.key + "0", "é" * 64):
        refused(parse_key, text, "--key", saying="--key")
