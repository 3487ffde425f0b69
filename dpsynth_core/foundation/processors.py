"""The number of usable processors."""

from __future__ import annotations

import os


def available() -> int:
    """Return the number of processors that this process may use; all of the machine's if the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
