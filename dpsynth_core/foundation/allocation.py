"""Memory settings of a computing process: keep freed memory, and refuse to start without enough.

A model's tables are allocated and freed many times a second. By default, the C library returns larger blocks to the system at once, and
the system fills each new block with zeros: a third of a large fit. No result changes.
"""

from __future__ import annotations

import ctypes
import gc
import mmap

from dpsynth_core.foundation.errors import CapacityError

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Names of glibc's `mallopt`."""
_SETTINGS = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 256 << 20, _TOP_PAD: 16 << 20}
"""Bytes from which on a table has pages of its own (glibc allows no more), bytes kept at most, and bytes requested at a time."""
_NEW_OBJECTS = 7_000
"""Number of new objects after which Python looks for cycles. Loading our libraries alone makes a hundred thousand lasting objects."""

_ADDRESSES, _DATA = 900 << 20, 300 << 20
"""Bytes of address space and of writable memory that loading our libraries takes: 640 and 185 MB were measured with one thread."""


def check_room() -> None:
    """Check that the process has enough memory to load NumPy and the other libraries.

    That is 943 MB of address space and 314 MB of writable memory. The linear algebra library would otherwise request
    memory forever while it loads, and heed no signal. On Windows nothing is checked.

    Raises:
        CapacityError: There is less.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):  # Windows keeps no such limits
        return
    for size, use in ((_ADDRESSES, mmap.PROT_READ), (_DATA, mmap.PROT_READ | mmap.PROT_WRITE)):
        try:
            mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=use).close()
        except OSError:
            remedy = "raise the limit (ulimit -v, ulimit -d), or end other programs"
            raise CapacityError("memory", f"too little is left for this process to begin: it takes {size >> 20:,} MB", remedy) from None


def keep_freed_memory() -> None:
    """Make the C library keep freed memory (glibc only), and Python collect reference cycles a tenth as often."""
    gc.set_threshold(_NEW_OBJECTS)
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for name, size in _SETTINGS.items():
        mallopt(name, size)
