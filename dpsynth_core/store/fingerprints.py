"""Recognise the same data file again without keeping anything of it: a keyed hash, useless without the key.

The key is made once and stays in the home directory. What the ledger keeps and exports is sealed with it for each run: without the key
nobody can test a guessed table against it, nor see whether two runs had the same table.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import made_once, private_file
from dpsynth_core.planning.spec import DataSpec
from dpsynth_core.sources.databases import address as addresses
from dpsynth_core.sources.locations import Location, Remote, located
from dpsynth_core.store.database import reading
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.home import key_file

WHOLE_FILE_BYTES = 256 << 20
"""Larger files are recognised by their size and evenly spaced samples, so that a 100 GB table costs no more than this."""

KEY_BYTES = 32
LOST = "its fingerprint.key is missing, empty or cut off, so that no file that was charged before would be recognised"
_CHUNK = 1 << 20


def of_path(path: Location) -> str:
    """HMAC-SHA256 of the content of a file, or of every file of a folder, as hex. The name of a single file does not count."""
    digest = hmac.new(_key(), digestmod=sha256)
    if isinstance(path, Remote):
        files: list[Location] = [path] if path.is_file() else sorted(path.inside())
        names = [str(file).removeprefix(str(path)).lstrip("/") or "." for file in files]
    else:
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        names = [str(Path(file).relative_to(path)) for file in files]
    for file, name in zip(files, names, strict=True):
        digest.update(name.encode())
        digest.update(file.stat().st_size.to_bytes(8, "big"))
        for chunk in _chunks(file, max(WHOLE_FILE_BYTES // len(files), _CHUNK)):
            digest.update(chunk)
    return digest.hexdigest()


def of_data(data: DataSpec) -> str:
    """The fingerprint of what a spec names; simulated tables, which are no files, have one too. Raises InputError for a missing file.

    A database is recognised by its address with the table or query, not by its content, which never leaves it as a whole.
    """
    if data.simulated:
        return hmac.new(_key(), f"simulated {data.kind}".encode(), sha256).hexdigest()
    if not data.is_file:
        place = json.dumps([data.kind, addresses.read(data.path).identity, data.table, data.query])
        return hmac.new(_key(), place.encode(), sha256).hexdigest()
    try:
        return of_path(located(data.path))
    except OSError:
        raise InputError("data.path", "the file cannot be read", "check its path and permissions") from None


def _chunks(file: Location, limit: int) -> Iterator[bytes]:
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


def seal(fingerprint: str, run: str) -> str:
    """What the ledger keeps of a fingerprint: another one for each run, so that only the key shows which runs had the same file."""
    return seals(fingerprint, [run])[0]


def seals(fingerprint: str, runs: Iterable[str]) -> list[str]:
    """The same for many runs."""
    key = _key()
    return [hmac.new(key, f"{run} {fingerprint}".encode(), sha256).hexdigest() for run in runs]


def new_key() -> None:
    """A key in place of one that is lost. What was sealed with the old one is not recognised any more."""
    with private_file(key_file()) as stream:
        stream.write(secrets.token_bytes(KEY_BYTES))


def key_is_sound() -> bool:
    """Whether the key is there and whole, or need not be there yet."""
    if key_file().exists():
        return key_file().stat().st_size == KEY_BYTES
    with reading() as db:  # the database comes first: a key without one tells of a loss
        return db.execute("SELECT 1 FROM ledger WHERE fingerprint != '' LIMIT 1").fetchone() is None


def _key() -> bytes:
    """The secret of this home, made before the first charge. Raises BooksLost where it is gone or is none."""
    if not key_is_sound():
        raise BooksLost(LOST)
    path = key_file()
    if not path.exists():
        with made_once(path) as candidate:
            candidate.write_bytes(secrets.token_bytes(KEY_BYTES))
    return path.read_bytes()
