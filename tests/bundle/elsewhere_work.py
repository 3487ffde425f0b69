"""Work for `test_elsewhere`, named there as "tests.bundle.elsewhere_work:..."."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator
from typing import Any

from dpsynth_core.foundation.confined import NEXT


def echo(*arguments: Any) -> Iterator[Any]:
    yield from arguments


def double() -> Generator[Any, Any, None]:
    while True:
        number = yield NEXT
        yield 2 * number


def endless() -> Iterator[Any]:
    time.sleep(600)
    yield None


def endless_with_its_number() -> Iterator[Any]:
    yield os.getpid()
    time.sleep(600)


def leave() -> Iterator[Any]:
    yield 1
    os._exit(7)


def fail() -> Iterator[Any]:
    yield 1
    raise LookupError("Alice, 42")
