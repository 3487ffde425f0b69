"""The one directory that holds everything the tool keeps: database, uploads, run results, and the key of the fingerprints.

Directories are created 0700 and files 0600, and every write of a whole file is atomic, so that a crash leaves either the old
content or the new. This module knows nothing of what is inside the files.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from dpsynth_core.errors import InputError

LOCAL_OWNER = "local"
"""The owner of everything when nobody signs in: the single user of this machine, in the app and on the command line."""


def home() -> Path:
    """DPSYNTH_HOME or ~/.dpsynth, created if needed. Raises InputError when it cannot be."""
    configured = os.environ.get("DPSYNTH_HOME")
    root = Path(configured).expanduser() if configured else Path.home() / ".dpsynth"
    try:
        return private_directory(root)
    except OSError as error:
        raise InputError("DPSYNTH_HOME", "the directory cannot be created", "name a directory that you may write to") from error


def private_directory(path: Path) -> Path:
    """Create `path` with its missing parents, each readable by its owner only. An existing directory keeps its permissions."""
    missing = [path, *path.parents]
    for directory in reversed([p for p in missing if not p.exists()]):
        directory.mkdir(mode=0o700, exist_ok=True)
    if not path.is_dir():
        raise NotADirectoryError(path.name)
    return path


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Write the whole of `path` atomically, mode 0600; nothing appears there if the block raises or the process dies."""
    partial = path.with_name(f".{path.name[:60]}.{secrets.token_hex(4)}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def made_once(path: Path) -> Iterator[Path]:
    """An empty file beside `path`, mode 0600, to fill; it becomes `path` whole, unless another process was first, whose file stays."""
    candidate = path.with_name(f".{secrets.token_hex(4)}.{path.name}")
    candidate.touch(mode=0o600)
    try:
        yield candidate
        with suppress(FileExistsError):
            path.hardlink_to(candidate)
    finally:
        candidate.unlink()


def now() -> str:
    """The current time as the store writes it: UTC, ISO 8601, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def new_id() -> str:
    """An unguessable identifier for a project or run; safe as a file name."""
    return secrets.token_hex(8)


def project_folder(project: str) -> Path:
    """Where the files of a project live. `project` is an id made here, never a name."""
    return home() / "projects" / project


def run_folder(project: str, run: str) -> Path:
    """Where the measurements and the release of a run live."""
    return project_folder(project) / "runs" / run
