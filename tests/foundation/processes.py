"""Processes of confined work, seen from outside."""

from __future__ import annotations

from pathlib import Path

from dpsynth_core.foundation import confined


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def workers() -> list[int]:
    """The workers of this program that live."""
    starters = (confined._STARTER.process, confined._SHUT_IN.process)
    return [worker for starter in starters if starter is not None for worker in workers_of(starter.pid)]


def workers_of(starter: int) -> list[int]:
    """Those that live of the starter of any program."""
    return [worker for keeper in children(starter) for worker in children(keeper) if lives(worker)]


def children(pid: int) -> list[int]:
    """The processes that this one's main thread started, those that ended and were not asked for included."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
