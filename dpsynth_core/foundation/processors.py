"""How many processors there are for us."""

from __future__ import annotations

import os


def available() -> int:
    """Those that this process may use; all of the machine, where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
