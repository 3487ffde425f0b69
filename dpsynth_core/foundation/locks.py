"""Locks of open files between processes. Windows has none of this kind: what needs one is refused there. Reading a bundle needs none."""

from __future__ import annotations

from dpsynth_core.foundation.errors import InputError

try:
    import fcntl
except ModuleNotFoundError:
    fcntl = None  # type: ignore[assignment]


def lock(descriptor: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file, or an open folder, until it is closed or this process ends.

    Args:
        descriptor: Of the file or folder.
        shared: Whether other shared locks may be held at the same time.
        wait: Whether to wait for the other processes that hold it.

    Raises:
        BlockingIOError: Another process holds it, and `wait` is False.
        InputError: This system has no such locks.
    """
    if fcntl is None:
        raise InputError("system", "it has no locks of files, which a release needs", "make releases on Linux or macOS; read them anywhere")
    fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
