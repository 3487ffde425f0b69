"""Recognise the same data file again without keeping anything of it: a hash with the key of this home (`seals`), useless without it."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import DataSpec, Spec
from dpsynth_core.sources.databases import address as addresses
from dpsynth_core.sources.locations import Location, Remote, located
from dpsynth_core.sources.registry import KINDS
from dpsynth_core.store import seals

WHOLE_FILE_BYTES = 256 << 20
"""Larger files are recognised by their size and evenly spaced samples, so that a 100 GB table costs no more than this."""

_CHUNK = 1 << 20


def private_tables(spec: Spec) -> tuple[DataSpec, ...]:
    """Its table; of two linked ones both, the first first."""
    return (spec.data,) if spec.members is None else (spec.data, DataSpec(kind=spec.members.kind, path=spec.members.path))


def of_spec(spec: Spec) -> str:
    """The fingerprints of its private tables (`of_data`), with a space between those of two. Raises InputError for a missing file."""
    return " ".join(map(of_data, private_tables(spec)))


def of_path(path: Location) -> str:
    """HMAC-SHA256 of the content of a file, or of every file of a folder, as hex. The name of a single file does not count."""
    digest = hmac.new(seals.key(), digestmod=sha256)
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
        return hmac.new(seals.key(), f"simulated {data.kind}".encode(), sha256).hexdigest()
    if (content := KINDS[data.kind].content) is not None:
        digest = hmac.new(seals.key(), data.kind.encode(), sha256)
        for part in content(data.model_dump()):
            digest.update(part)
        return digest.hexdigest()
    if not data.is_file:
        place = json.dumps([data.kind, addresses.read(data.path).identity, data.table, data.query])
        return hmac.new(seals.key(), place.encode(), sha256).hexdigest()
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
