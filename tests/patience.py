"""How long tests wait for something before they say that it does not come: a limit for what hangs, not an expectation.

A machine that other tests keep busy is an order of magnitude slower than a quiet one, so tests wait for facts and not for time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 300.0


def wait_until(condition: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None) -> None:
    """Ask again and again, doing something in between, until it is so."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "waited too long"
        meanwhile()
        time.sleep(0.02)
