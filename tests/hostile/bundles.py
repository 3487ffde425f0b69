"""Bundles from strangers: for `verify` and `reproduce`."""

from __future__ import annotations

import io
import json
import random
import zipfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from dpsynth_core.bundle.pack import MANIFEST
from tests.hostile import values
from tests.hostile.attempts import Attempt, of_group
from tests.hostile.prepared import bundle

_VERDICTS = frozenset({0, 1, 2, 4})
_NOT_CONSISTENT = frozenset({1, 2, 4})


def _files() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(bundle())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def _with_new_sums(files: dict[str, bytes]) -> dict[str, bytes]:
    manifest = json.loads(files[MANIFEST])
    others = {name: content for name, content in files.items() if name != MANIFEST}
    manifest["files"] = {
        name: manifest["files"].get(name, {}) | {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in others.items()
    }
    return others | {MANIFEST: json.dumps(manifest).encode()}


def _command(rng: random.Random, name: str) -> tuple[str, ...]:
    return rng.choice([("verify", name), ("verify", name), ("reproduce", name, "--out", "out")])


@of_group("bundles")
def swapped_field(rng: random.Random, place: Path) -> Attempt:
    """Any value of release.json swapped, with sums that fit."""
    files = _files()
    document = json.loads(files["release.json"])
    places = [path for path in values.paths(document) if len(path) < 5] or [()]
    files["release.json"] = values.encode(values.spoiled(rng, document, rng.choice(places))).encode(errors="replace")
    if rng.random() < 0.7:
        files = _with_new_sums(files)
    (place / "release.zip").write_bytes(_packed(files))
    return Attempt(_command(rng, "release.zip"), _VERDICTS, replays=True, seconds=60)


@of_group("bundles")
def flipped_bytes(rng: random.Random, place: Path) -> Attempt:
    content = bytearray(bundle())
    for _ in range(rng.choice([1, 3, 30])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.2:
        del content[rng.randrange(len(content)) :]
    (place / "release.zip").write_bytes(content)
    return Attempt(_command(rng, "release.zip"), _VERDICTS, replays=True, seconds=60)


@of_group("bundles")
def changed_files(rng: random.Random, place: Path) -> Attempt:
    """A file of a bundle changed, gone or new, with or without sums that fit; as a ZIP or a folder."""
    files = _files()
    name = rng.choice(sorted(files))
    change = rng.randrange(4)
    if change == 0:
        del files[name]
    elif change == 1:
        content = bytearray(files[name])
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        files[name] = bytes(content)
    elif change == 2:
        files[rng.choice(["new.html", "a/b.txt", "../up", "/abs", "x" * 300, "con\x00", "release.json/x", "\\w"])] = b"<script>x</script>"
    else:
        files[name] = rng.choice(
            [b"", b"{}", b"[]", b"null", b"\0" * 1000, b"[" * 100_000, b"x" * 1_000_000, files[rng.choice(sorted(files))] + b" "]
        )
    if MANIFEST in files and "release.json" in files and rng.random() < 0.5:
        with suppress(ValueError, KeyError, TypeError, AttributeError):  # the manifest is what was changed
            files = _with_new_sums(files)
    if rng.random() < 0.3 and not any(
        name.startswith(("/", "..")) or "\x00" in name or len(name) > 255 or "release.json/" in name for name in files
    ):
        for inner, content in files.items():
            path = place / "folder" / inner
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return Attempt(_command(rng, "folder"), _VERDICTS, replays=True, seconds=60)
    (place / "release.zip").write_bytes(_packed(files))
    return Attempt(_command(rng, "release.zip"), _VERDICTS, replays=True, seconds=60)


@of_group("bundles")
def limits(rng: random.Random, place: Path) -> Attempt:
    """--memory and --seconds as anything else."""
    (place / "release.zip").write_bytes(bundle())
    option = rng.choice(["--memory", "--seconds"])
    return Attempt(("verify", "release.zip", option, rng.choice(["0", "-1", "x", "9" * 5000, "1e9", "", "²", "nan"])), frozenset({2}))
