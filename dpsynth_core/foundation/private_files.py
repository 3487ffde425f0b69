"""Files and directories that only their owner can read.

Directories are created 0700 and files 0600. Every write of a whole file is atomic, so that a crash leaves either the old content or the
new. A name is on the disk once its folder was synced: POSIX promises no more, even if some file systems do. This module does not know the
content of the files.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dpsynth_core.foundation.locks import lock

_PARTIAL = re.compile(r"\..+\.[0-9a-f]{8}\.partial")


def private_directory(path: Path) -> Path:
    """Create a directory that only its owner can read (mode 0700), with missing parents, and return its path.

    A directory that exists keeps its permissions (`lasting_directory`).

    Raises:
        OSError: The directory cannot be created.
    """
    return lasting_directory(path, 0o700)


def lasting_directory(path: Path, mode: int = 0o777) -> Path:
    """Create a directory with its missing parents, and return its path.

    Their names are synced to the disk first, so that a crash does not lose them.

    Args:
        path: The directory. If it exists, it keeps its permissions.
        mode: Permissions of new directories, parents included, less the umask.

    Raises:
        OSError: A directory cannot be created.
    """
    for directory in reversed([p for p in (path, *path.parents) if not p.is_dir()]):
        directory.mkdir(mode=mode, exist_ok=True)
        sync(directory.parent)
    return path


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream to a temporary file that replaces `path` atomically when the block ends, mode 0600.

    The content is on the disk then. If the block raises, `path` stays unchanged.

    Raises:
        OSError: The folder is missing, or the file cannot be written, such as on a full disk.
    """
    partial = path.with_name(f".{path.name[:60]}.{secrets.token_hex(4)}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
        sync(path.parent)  # else what is deleted next, such as a spool, may be gone before this is there
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def remove_partial(folder: Path) -> None:
    """Delete the temporary files that processes left in `folder` when they were killed in a `private_file`.

    No other process may write a `private_file` there meanwhile.
    """
    for path in folder.glob(".*.partial"):
        if _PARTIAL.fullmatch(path.name):
            path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Write a file's content, or a directory's list of names, to the disk, and wait until it is there.

    Windows opens no directories; there it is left to the system.
    """
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def made_once(path: Path) -> Iterator[Path]:
    """Yield an empty file, mode 0600, to fill; after the body, it becomes `path`.

    If `path` exists by then, that file stays, and the yielded one is deleted. If the body raises, `path` is not made.

    Raises:
        OSError: The folder is missing, or the file cannot be written.
    """
    candidate = path.with_name(f".{secrets.token_hex(4)}.{path.name}")
    candidate.touch(mode=0o600)
    try:
        yield candidate
        sync(candidate)
        with suppress(FileExistsError):
            path.hardlink_to(candidate)
        sync(path.parent)
    finally:
        candidate.unlink()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the file while the body runs; other threads and processes wait for it, without limit.

    The file is created if needed and stays. If the process ends, its lock is released.

    Raises:
        OSError: The file cannot be created or opened.
        InputError: This system has no such locks.
    """
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        lock(file.fileno())
        yield
