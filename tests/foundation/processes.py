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
    starter = confined._STARTER.process
    keepers = [] if starter is None else _children(starter.pid)
    return [worker for keeper in keepers for worker in _children(keeper) if lives(worker)]


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
