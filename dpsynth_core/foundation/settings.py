"""Settings of this installation in environment variables: whole numbers, and folders. What is neither is refused."""

from __future__ import annotations

import os
from pathlib import Path

from dpsynth_core.foundation.errors import InputError, shown

CONCURRENT_RUNS = "DPSYNTH_CONCURRENT_RUNS"
"""Number of releases that are made at the same time."""
RUN_HOURS = "DPSYNTH_RUN_HOURS"
"""Limit of a run's processor time in hours."""
UPLOADS_GB = "DPSYNTH_UPLOADS_GB"
"""Largest total size of a person's uploads in GB."""
SWEEP_WORKERS = "DPSYNTH_SWEEP_WORKERS"
"""Number of trials that run at the same time."""
NUMBERS = (CONCURRENT_RUNS, RUN_HOURS, UPLOADS_GB, SWEEP_WORKERS)
DATA_ROOTS = "DPSYNTH_DATA_ROOTS"
"""Folders, separated as in PATH, from which tables may be opened by path where others can reach the server."""
_MOST = 1_000_000


def number(variable: str) -> int | None:
    """Return the whole number in an environment variable; None if the variable is missing or empty.

    Raises:
        InputError: The variable is not a whole number from 1 to a million.
    """
    text = os.environ.get(variable, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(_MOST)) and 1 <= int(text) <= _MOST):
        raise InputError(variable, f"{shown(text)} is not a whole number from 1 to {_MOST:,}", "write one, or leave the variable out")
    return int(text)


def data_roots() -> tuple[Path, ...]:
    """Return the folders from which tables may be opened by path, in order; () if `DATA_ROOTS` is not set.

    Raises:
        InputError: An entry is not a folder.
    """
    roots = [Path(root) for root in os.environ.get(DATA_ROOTS, "").split(os.pathsep) if root]
    for root in roots:
        if not root.is_dir():
            raise InputError(DATA_ROOTS, f"{shown(root)} is not a folder", f"name folders with {os.pathsep} between them, or leave it out")
    return tuple(roots)
