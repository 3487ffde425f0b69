"""Processes with limited memory and time, for what a hostile file could drive too far: how to start one, and how it keeps to its limits."""

from __future__ import annotations

import math
import os
import random
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import dpsynth_core
from dpsynth_core.foundation.threads import ONE_THREAD

try:
    import resource
except ModuleNotFoundError:  # Windows keeps no limits of this kind
    _LIMITS = False
else:
    _LIMITS = True

TOO_MUCH = 75
"""Exit code of a process that gave up for lack of memory; Python ends with 1 when a program fails."""

_ONE_THREAD = {**ONE_THREAD, "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Settings for one thread: every further thread reserves address space, which is limited."""
_HARMLESS = {"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TZDIR", "TMPDIR", "LD_LIBRARY_PATH", "DPSYNTH_RUN_HOURS"}
_HARMLESS_KINDS = ("PYTHON", "LC_", "OMP_", "OPENBLAS_", "MKL_")


@dataclass(frozen=True)
class Limits:
    """Limits of a process, and of each process that it lets search for records, one per usable processor.

    Attributes:
        megabytes: Memory, in units of 2^20 bytes.
        seconds: Seconds of processor time.
        processors: Number of processors.
    """

    megabytes: int = 1024
    seconds: int = 30
    processors: int = 1

    @property
    def words(self) -> str:
        """The limits in words."""
        return f"{self.megabytes:,} MB of memory or {self.seconds:,} seconds of work"

    def exceeded(self, code: int) -> str:
        """Return the limit that a process exceeded, as a clause such as "takes more than 30 seconds of work".

        It is "" if the process did not exceed a limit.

        Args:
            code: Exit code of the process, as `subprocess` states it (negative for a signal).
        """
        if code < 0 and _named(code) == "SIGXCPU":
            return f"takes more than {self.seconds:,} seconds of work"
        return f"takes more than {self.megabytes:,} MB of memory" if code == TOO_MUCH else ""


def fate(code: int) -> str:
    """Return how a process ended other than by its limits, as a clause such as "failed with exit code 1".

    Args:
        code: Exit code of the process, as `subprocess` states it (negative for a signal).
    """
    if code >= 0:
        return f"failed with exit code {code}"
    system = ", as the system does where memory is used up" if _named(code) == "SIGKILL" else ""
    return f"was ended by signal {-code} ({_named(code)}){system}"


def _named(code: int) -> str:
    """Return the name of the signal that ended a process, by its negative exit code; systems know different ones."""
    return next((one.name for one in signal.Signals if one == -code), "unknown")


def environment(whole: bool = True) -> dict[str, str]:
    """Return environment variables for a Python process that finds this package and works with one thread.

    Args:
        whole: Whether to include variables that may hold secrets; if False, only variables known as harmless are kept,
            such as PATH, HOME and Python's.
    """
    package = str(Path(dpsynth_core.__file__).parents[1])
    further = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join([package, *filter(os.path.isabs, further)])  # any other one would be where this program works
    known = {name: text for name, text in os.environ.items() if whole or name in _HARMLESS or name.startswith(_HARMLESS_KINDS)}
    return {**known, **_ONE_THREAD, "PYTHONPATH": path}


def limit(limits: Limits) -> None:
    """Limit processor time, the number of processors and memory of this process, irrevocably.

    The process keeps as many of its processors as the limits say, chosen at random. Memory is limited by address space,
    if the system reports the memory in use. Memory that is in use now counts, processor time that was used before does
    not. Windows keeps none of these limits: the process that waits for this one must end it.

    Args:
        limits: The limits.
    """
    if not _LIMITS:
        return
    limit_seconds(limits.seconds)
    if hasattr(os, "sched_setaffinity"):
        there = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, random.SystemRandom().sample(there, min(limits.processors, len(there))))
    if (here := _statm()) is not None:
        reserved, resident = here[0], here[1]
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = reserved + max(0, limits.megabytes * 2**20 - resident)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def limit_seconds(seconds: float) -> None:
    """Let the system end this process after `seconds` more of processor time, rounded up. Can be called again.

    The system also writes no memory dump of this process any more.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what the system would write of a process that it ends has records in it
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def limit_data(megabytes: float) -> None:
    """Limit this process to `megabytes` (10^6 bytes) more of writable memory than it has. Can be called again.

    Address space is not limited, because libraries reserve mostly unused space. A system that does
    not report the memory in use sets no limit.
    """
    if (here := _statm()) is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = here[5] + math.ceil(megabytes * 1e6)
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def end_first() -> None:
    """Ask the system to end this process before others if the machine's memory is used up; nothing happens where it cannot."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


def _statm() -> list[int] | None:
    """Return the sizes of /proc/self/statm in bytes: address space first, resident memory second, data sixth.

    Returns None if the system has no such file, and so keeps no limits.
    """
    try:
        pages = Path("/proc/self/statm").read_text().split()
    except OSError:
        return None
    return [int(number) * resource.getpagesize() for number in pages]
