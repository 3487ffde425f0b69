"""How a worker process shows that it is alive, and how it ends once its job was given to another."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpsynth_core.store import jobs


def end_group() -> None:
    """End this process and its children at once: the store has given the work to nobody or to others."""
    os.killpg(os.getpgid(0), signal.SIGKILL)


@contextmanager
def beating(job: str, on_loss: Callable[[], None] = end_group) -> Iterator[None]:
    """While the body runs, say every few seconds, on a thread of its own, that this process works on the job. on_loss: what to do once
    it no longer should; a process that a person started in a terminal may not end its group."""
    ended = threading.Event()
    threading.Thread(target=_go_on, args=(job, on_loss, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _go_on(job: str, on_loss: Callable[[], None], ended: threading.Event) -> None:
    while not ended.wait(jobs.HEARTBEAT_SECONDS):
        try:
            jobs.beat(job)
        except jobs.NotMine:
            if not ended.is_set():
                on_loss()
                return
        except Exception:  # noqa: BLE001, S112 (a busy or full disk: the pid still tells that we live)
            continue
