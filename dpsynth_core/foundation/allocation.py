"""Memory that a computing process frees stays with it.

A model's tables are made and let go many times a second. By default, the C library gives the larger ones back to the system at once, and
each new one begins with the system filling its pages with zeros: a third of a large fit. No number changes.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Names of glibc's `mallopt`."""
_SETTINGS = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 256 << 20, _TOP_PAD: 16 << 20}
"""Bytes from which on a table has pages of its own (glibc allows no more), that are kept at most, and that are asked for at a time."""


def keep_freed_memory() -> None:
    """For the rest of this process; nothing where the C library is another one."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for name, size in _SETTINGS.items():
        mallopt(name, size)
