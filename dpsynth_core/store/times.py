"""Durations between times as the store writes them (`home.now`)."""

from __future__ import annotations

from datetime import datetime

from dpsynth_core.store.home import now

DAY = 86_400.0
"""One day in seconds."""


def seconds_between(first: str, last: str) -> float:
    """Return the seconds from the time `first` to the time `last`, both in ISO 8601; negative if `last` is earlier."""
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


def age(moment: str) -> float:
    """Return the seconds from a time in ISO 8601 until now; negative if it lies in the future."""
    return seconds_between(moment, now())
