"""Work for `test_confined`, named there as "tests.foundation.confined_work:...": what a worker may do, and what may become of it."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Generator, Iterator
from typing import Any

from dpsynth_core.foundation.confined import NEXT, Work
from dpsynth_core.foundation.errors import CapacityError, InputError, OracleError

ERRORS = {
    "input": InputError("data", "it is wrong", "mend it"),
    "capacity": CapacityError("data", "it is large", "cut it"),
    "oracle": OracleError("it found nothing", "wait"),
    "bug": LookupError("Alice, 42"),
    "package": ModuleNotFoundError("No module named 'numpy'", name="numpy"),
    "system": OSError("Alice"),
    "memory": MemoryError(),
    "depth": RecursionError(),
    "panic": KeyboardInterrupt("Alice"),
}


def echo(*arguments: Any) -> Iterator[Any]:
    yield from arguments


def double() -> Generator[Any, Any, None]:
    while True:
        number = yield NEXT
        yield 2 * number


def fail(how: str) -> Iterator[Any]:
    yield "before"
    raise ERRORS[how]


def end(code: str) -> Iterator[Any]:
    yield os.getpid()
    exec(code, {"os": os, "signal": signal, "time": time, "sys": sys})


def half_an_answer() -> Iterator[Any]:
    """Dies in the middle of its second message, which nobody reads meanwhile."""
    yield os.getpid()
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    yield bytes(50 << 20)


def many_bytes(size: int, times: int) -> Iterator[Any]:
    for _ in range(times):
        yield bytes(size)


def text(size: int) -> Iterator[Any]:
    yield "x" * size


def limits() -> Iterator[Any]:
    yield [resource.getrlimit(what)[0] for what in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE)]


def beside() -> Iterator[Any]:
    """What a process has that this one starts."""
    with Work("tests.foundation.confined_work:limits") as work:
        yield list(work)


def endless_beside() -> Iterator[Any]:
    with Work("tests.foundation.confined_work:end", "while True: time.sleep(60)") as work:
        yield next(work)
        time.sleep(60)


def threads() -> Iterator[Any]:
    yield len(os.listdir("/proc/self/task"))
