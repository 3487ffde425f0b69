"""Recognise the same data file again without keeping anything of it: a keyed hash, useless to who has not got the key.

The key is made once and stays in the home directory. A fingerprint may be exported with the ledger: without the key nobody can
test a guessed table against it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from dpsynth_core.errors import InputError
from dpsynth_core.private_files import made_once
from dpsynth_core.spec import DataSpec
from dpsynth_core.store.home import home

WHOLE_FILE_BYTES = 256 << 20
"""Larger files are recognised by their size and evenly spaced samples, so that a 100 GB table costs no more than this."""

_CHUNK = 1 << 20


def of_path(path: Path) -> str:
    """HMAC-SHA256 of the content of a file, or of every file of a folder, as hex. The name of a single file does not count."""
    digest = hmac.new(_key(), digestmod=sha256)
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    for file in files:
        digest.update(str(file.relative_to(path)).encode())
        digest.update(file.stat().st_size.to_bytes(8, "big"))
        for chunk in _chunks(file, max(WHOLE_FILE_BYTES // len(files), _CHUNK)):
            digest.update(chunk)
    return digest.hexdigest()


def of_data(data: DataSpec) -> str:
    """The fingerprint of what a spec names; simulated tables, which are no files, have one too. Raises InputError for a missing file."""
    if data.simulated:
        return hmac.new(_key(), f"simulated {data.kind}".encode(), sha256).hexdigest()
    try:
        return of_path(Path(data.path))
    except OSError:
        raise InputError("data.path", "the file cannot be read", "check its path and permissions") from None


def _chunks(file: Path, limit: int) -> Iterator[bytes]:
    """All of a file of at most `limit` bytes; of a larger one, evenly spaced chunks that add up to `limit`."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        if size <= limit:
            while chunk := stream.read(_CHUNK):
                yield chunk
            return
        samples = limit // _CHUNK
        for i in range(samples):
            stream.seek((size - _CHUNK) * i // max(samples - 1, 1))
            yield stream.read(_CHUNK)


def _key() -> bytes:
    """The secret of this home, made at first use."""
    path = home() / "fingerprint.key"
    if not path.exists():
        with made_once(path) as candidate:
            candidate.write_bytes(secrets.token_bytes(32))
    return path.read_bytes()
