"""How a worker process says that it lives while it works, and how it ends once its work is no longer its own."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpsynth_core.store import lifecycle


@contextmanager
def beating(beat: Callable[[], None]) -> Iterator[None]:
    """While the body runs, call `beat` every few seconds on a thread of its own.

    When `beat` raises `lifecycle.NotMine`, the whole process group dies at once: the store has given the work to nobody or to others.
    """
    ended = threading.Event()
    threading.Thread(target=_go_on, args=(beat, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _go_on(beat: Callable[[], None], ended: threading.Event) -> None:
    while not ended.wait(lifecycle.HEARTBEAT_SECONDS):
        try:
            beat()
        except lifecycle.NotMine:
            if not ended.is_set():
                os.killpg(os.getpgid(0), signal.SIGKILL)
        except Exception:  # a busy or full disk: the pid still tells that we live
            continue
