"""The limits on a simulated stand-in: its number of rows, and the dependence between its columns (see `simulated`)."""

from __future__ import annotations

from dpsynth_core.foundation.errors import InputError

MAX_ROWS = 1_000_000


def check(rows: int, strength: float) -> None:
    """Check the limits on a simulated stand-in: 1 to 1,000,000 rows, and a strength of dependence from 0 to 1.

    Raises:
        InputError: A number is out of range.
    """
    if not 1 <= rows <= MAX_ROWS:
        raise InputError("stand-in rows", f"{rows:,} is out of range", f"use 1 to {MAX_ROWS:,}")
    if not 0 <= strength <= 1:
        raise InputError("stand-in dependence", f"{strength:g} is out of range", "use a number from 0 to 1")
