"""Recognise a data file by a hash with the key of this home (`sealed_fingerprints`); the hash is useless without the key."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import DataSpec, Spec, TableSpec
from dpsynth_core.sources import record_hash
from dpsynth_core.sources.locations import Location, Remote, located
from dpsynth_core.sources.registry import KINDS, records
from dpsynth_core.store import sealed_fingerprints
from dpsynth_core.vocabulary.domain import Domain

WHOLE_FILE_BYTES = 256 << 20
"""Larger files are recognised by their size and evenly spaced samples, so that a 100 GB table costs no more than this."""

_CHUNK = 1 << 20


@dataclass(frozen=True)
class PrivateTable:
    """A private table of a spec.

    Attributes:
        data: The place and format of the table.
        columns: Names of the columns that the plan uses, with the column of persons, sorted.
    """

    data: DataSpec
    columns: tuple[str, ...]


def private_tables(spec: Spec) -> tuple[PrivateTable, ...]:
    """Return the private tables of a spec: the table of `data`, then the table of `members` if two tables are linked, then further ones.

    The columns of each are the columns of its domain, or those that are read of it, and the person column.

    Raises:
        InputError: A domain is invalid.
    """
    stated = [(spec.data, Domain.from_json(spec.domain).names)]
    if spec.members is not None:
        second = extension.second_columns(Domain.from_json(spec.members.domain).names, spec.extensions)
        tables = [(spec.members, None, second), *extension.further_tables(spec)]
        stated += [(DataSpec(**table.model_dump(include={*TableSpec.model_fields})), names) for table, _, names in tables]
    key = () if spec.unit.person_column is None else (spec.unit.person_column,)
    return tuple(PrivateTable(data, tuple(sorted({*names, *key}))) for data, names in stated)


def of_spec(spec: Spec) -> str:
    """Return the fingerprints of all private tables of a spec, with spaces between.

    First comes one of each table's content, then one of each table's records. Each is 64 hexadecimal digits. The first
    call in a home makes the secret key.

    Raises:
        InputError: A table cannot be read.
        BooksLost: The secret key is lost or damaged.
    """
    tables = private_tables(spec)
    contents = [of_data(table.data) for table in tables]
    return " ".join([*contents, *map(_of_records, tables, contents)])


def of_table(table: PrivateTable) -> str:
    """Return the fingerprints of a table's content and of its records, 64 hexadecimal digits each, with a space between.

    Raises:
        InputError: The table cannot be read.
        BooksLost: The secret key is lost or damaged.
    """
    content = of_data(table.data)
    return f"{content} {_of_records(table, content)}"


def _of_records(table: PrivateTable, content: str) -> str:
    """Return the fingerprint of a table's records in the columns of a plan, the same for every order of rows and columns.

    Records are not read for this if the table is invented, not in files, on a cluster or larger
    than `WHOLE_FILE_BYTES`; the fingerprint then follows from `content`.

    Args:
        table: The table.
        content: Fingerprint of the table's content.

    Raises:
        InputError: The table cannot be read.
    """
    data, digest = table.data, hmac.new(sealed_fingerprints.key(), b"records", sha256)
    is_here = KINDS[data.kind].content is not None or (data.is_file and data.engine is None and _bytes(data) <= WHOLE_FILE_BYTES)
    if not is_here:
        digest.update(content.encode())
    else:
        digest.update(json.dumps(table.columns).encode())
        digest.update(record_hash.total(records(data.model_dump(), table.columns), sealed_fingerprints.key()))
    return digest.hexdigest()


def of_path(path: Location) -> str:
    """Return the keyed hash (HMAC-SHA256, hexadecimal) of a file, or of all files of a folder with their names.

    Of each file the size counts, and its content up to an equal part of `WHOLE_FILE_BYTES` (256 MiB); a larger
    file is sampled. The name of a single file does not count. A local path where nothing is raises no error: it
    has the hash of an empty folder. The first call in a home makes the secret key.

    Raises:
        OSError: A file cannot be read.
        BooksLost: The secret key is damaged, or missing although tables were charged.
    """
    digest = hmac.new(sealed_fingerprints.key(), digestmod=sha256)
    files, names = _files(path)
    for file, name in zip(files, names, strict=True):
        digest.update(name.encode())
        digest.update(file.stat().st_size.to_bytes(8, "big"))
        for chunk in _chunks(file, max(WHOLE_FILE_BYTES // len(files), _CHUNK)):
            digest.update(chunk)
    return digest.hexdigest()


def of_data(data: DataSpec) -> str:
    """Return the keyed hash (hexadecimal) of the data that a spec names.

    Simulated tables are identified by their kind. Tables at places of extensions are identified by
    their address with further entries, not by their content, which never leaves the place as a
    whole. Where no file is at a path, the result is the hash of empty content.

    Raises:
        InputError: A file cannot be read, an address cannot be used, or a table in memory is not held any more.
        BooksLost: The secret key is lost or damaged.
    """
    if data.simulated:
        return hmac.new(sealed_fingerprints.key(), f"simulated {data.kind}".encode(), sha256).hexdigest()
    if (content := KINDS[data.kind].content) is not None:
        digest = hmac.new(sealed_fingerprints.key(), data.kind.encode(), sha256)
        for part in content(data.model_dump()):
            digest.update(part)
        return digest.hexdigest()
    if (identity := KINDS[data.kind].identity) is not None:
        place = json.dumps([data.kind, *identity(data.model_dump())])
        return hmac.new(sealed_fingerprints.key(), place.encode(), sha256).hexdigest()
    with _reading():
        return of_path(located(data.path))


def _bytes(data: DataSpec) -> int:
    """Return the size in bytes of a file, or of all files of a folder."""
    with _reading():
        return sum(file.stat().st_size for file in _files(located(data.path))[0])


@contextmanager
def _reading() -> Iterator[None]:
    """Turn errors of the file system in the body into InputError."""
    try:
        yield
    except OSError:
        raise InputError("data.path", "the file cannot be read", "check its path and permissions") from None


def _files(path: Location) -> tuple[list[Location], list[str]]:
    """Return the files of a table, sorted, and the name of each below `path`.

    They are the file itself, with the name ".", or all files of a folder at any depth. Files in a
    remote folder are left out where a name on the way begins with a dot or underscore; a local
    folder's are not. A local path where nothing is gives empty lists.
    """
    if isinstance(path, Remote):
        there: list[Location] = [path] if path.is_file() else sorted(path.inside())
        return there, [str(file).removeprefix(str(path)).lstrip("/") or "." for file in there]
    files: list[Location] = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return files, [str(Path(str(file)).relative_to(path)) for file in files]


def _chunks(file: Location, limit: int) -> Iterator[bytes]:
    """Yield the bytes of a file in chunks; of a file above `limit` bytes, evenly spaced chunks of about `limit` bytes together."""
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
