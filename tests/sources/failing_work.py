"""A reader that crashes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any


def answer(*_: Any) -> Iterator[Any]:
    os.kill(os.getpid(), signal.SIGABRT)
    yield
