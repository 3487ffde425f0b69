"""Memory of a computing process: what it frees stays with it, and without enough of it nothing begins.

A model's tables are made and let go many times a second. By default, the C library gives the larger ones back to the system at once, and
each new one begins with the system filling its pages with zeros: a third of a large fit. No number changes.
"""

from __future__ import annotations

import ctypes
import gc
import mmap

from dpsynth_core.foundation.errors import CapacityError

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Names of glibc's `mallopt`."""
_SETTINGS = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 256 << 20, _TOP_PAD: 16 << 20}
"""Bytes from which on a table has pages of its own (glibc allows no more), that are kept at most, and that are asked for at a time."""
_NEW_OBJECTS = 7_000
"""After so many, Python looks for cycles among them. Loading our libraries alone makes a hundred thousand that stay."""

_ADDRESSES, _DATA = 900 << 20, 300 << 20
"""Bytes of address space, and of memory to write to, that loading our libraries takes: 640 and 185 MB were measured with one thread."""


def check_room() -> None:
    """CapacityError where our libraries could not be loaded. Linear algebra asks again and again for what it does not get while it is
    loaded, so that such a process would never end, and heed no signal."""
    for size, use in ((_ADDRESSES, mmap.PROT_READ), (_DATA, mmap.PROT_READ | mmap.PROT_WRITE)):
        try:
            mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=use).close()
        except OSError:
            remedy = "raise the limit (ulimit -v, ulimit -d), or end other programs"
            raise CapacityError("memory", f"too little is left for this process to begin: it takes {size >> 20:,} MB", remedy) from None


def keep_freed_memory() -> None:
    """For the rest of this process, in which cycles of objects are looked for a tenth as often too; nothing more where the C library is
    another one."""
    gc.set_threshold(_NEW_OBJECTS)
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for name, size in _SETTINGS.items():
        mallopt(name, size)
