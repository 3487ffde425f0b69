"""SIGINT, SIGTERM and SIGHUP for the command line and the workers: a handler records them, and the program ends where it can end cleanly.

Python drops an exception that a handler raises inside a destructor or a weak reference callback. So no handler here raises: before
`defer` it ends the process, afterwards it sets a flag that the run looks at (`check`): between events, between batches of records and
before each answer of the kernel. A second signal ends the process where it stands, which is as safe as `kill -9`.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""Exit code of a process that a signal ended."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))  # Windows has no SIGHUP

_ENDED = b"error: interrupted\n"
_NOTED = b"interrupted: ending after this step; a second signal ends at once\n"

_deferred = _requested = False


class Interrupted(KeyboardInterrupt):
    """A signal asked this process to end. Like its base, it is not an Exception, so that no handler of errors catches it."""


def handle() -> None:
    """Install the handler for SIGNALS, except those that the parent process ignores, as `nohup` needs.

    The first signal ends the process with exit code 130 (`INTERRUPTED`), unless `defer` was called before.
    """
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _note)


def defer() -> None:
    """Make the handler only record a first signal, for the next `check`, instead of ending the process.

    Call it before work that has to end in order. A first signal writes a line to stderr; a second one still ends the
    process at once, with exit code 130.
    """
    global _deferred
    _deferred = True


@contextmanager
def deferring() -> Iterator[None]:
    """While the body runs, only record a first Ctrl-C, for the next `check`, in a host program that is not ours.

    A second Ctrl-C ends the whole process at once, with exit code 130. Other signals stay as they are. Nothing changes
    in a thread other than the main one, which gets no signals, or after `defer`. Afterwards the former handler is
    back, and a recorded Ctrl-C is forgotten.
    """
    global _deferred, _requested
    if threading.current_thread() is not threading.main_thread() or _deferred:
        yield
        return
    before = signal.signal(signal.SIGINT, _note)
    _deferred = True
    try:
        yield
    finally:
        _deferred = _requested = False
        signal.signal(signal.SIGINT, before)


def check() -> None:
    """End the work here if a signal was recorded (`defer`).

    Raises:
        Interrupted: A signal was recorded.
    """
    if _requested:
        raise Interrupted


def _note(_number: int, _frame: FrameType | None) -> None:
    global _requested
    if _requested or not _deferred:
        _write(_ENDED)
        os._exit(INTERRUPTED)
    _requested = True
    _write(_NOTED)


def _write(line: bytes) -> None:
    """Write a line without `print`, whose buffer may be half written when a signal arrives."""
    try:
        os.write(2, line)
    except OSError:  # stderr is closed
        return
