"""Work on a bundle that ends in other ways than with an answer, or answers what a test wants."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

from dpsynth_core.foundation.errors import OracleError

PARTS = ({"file": "synthetic.csv"}, b"a,b\n", b"1,2\n")


def end_by_signal() -> Iterator[Any]:
    os.kill(os.getpid(), signal.SIGSEGV)
    yield


def end_by_mistake() -> Iterator[Any]:
    raise KeyError("Alice")
    yield


def fail_to_search() -> Iterator[Any]:
    raise OracleError("a solver process went far beyond its time limit", "try again when the machine is less busy")
    yield


def rows() -> Iterator[Any]:
    yield from PARTS
    yield {"different": [], "versions": []}


def rows_without_an_end() -> Iterator[Any]:
    yield from PARTS
    raise MemoryError


def many_rows() -> Iterator[Any]:
    yield from PARTS
    for _ in range(64):
        yield bytes(4 << 20)
    yield {"different": [], "versions": []}


def look_beside(place: str, *_: Any) -> Iterator[Any]:
    with open(place, "rb"), open(f"{place}.other", "rb"):
        yield {"running": {"question": "", "number": 1, "of": 1}}
