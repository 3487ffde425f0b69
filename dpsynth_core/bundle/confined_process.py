"""The process that checks one bundle for `confined`: it limits itself before it reads anything, and writes what it found to stdout."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.confined import STDIN, Limits, written
from dpsynth_core.bundle.verify import Report, verify
from dpsynth_core.foundation.errors import InputError

TOO_MUCH = 1


def main(limits: Limits, place: str) -> int:
    """0 with an outcome on stdout; anything else means that it was too much."""
    _limit(limits)
    try:
        found: Report | InputError = verify(unpack.read_bytes(sys.stdin.buffer.read()) if place == STDIN else unpack.read(Path(place)))
    except InputError as refused:
        found = refused
    except (MemoryError, RecursionError):
        return TOO_MUCH
    sys.stdout.write(written(found))
    return 0


def _limit(limits: Limits) -> None:
    """From here on. What the program itself occupies counts as memory, but not address space that it reserved and does not use."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + limits.seconds
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if (occupied := _occupied()) is not None:
        reserved, resident = occupied
        most = reserved + max(0, limits.megabytes * 2**20 - resident)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _occupied() -> tuple[int, int] | None:
    """Bytes of address space and of memory; None where the system does not say, and does not keep to such a limit either."""
    try:
        pages = Path("/proc/self/statm").read_text().split()
    except OSError:
        return None
    return int(pages[0]) * resource.getpagesize(), int(pages[1]) * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main(Limits(**json.loads(sys.argv[1])), sys.argv[2]))
