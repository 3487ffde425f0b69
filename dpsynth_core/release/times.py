"""The duration of a run: for its curator alone, in a file of its own, and never part of a release.

The records determine how long reading and counting take, and an oracle or a linear program that sees records. The budget does not cover
that, so no published file contains it. The only published time is the day on which the run began.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.foundation.zones import Zoned, curator_only

TIMES = "times.json"
"""Beside release.json, and no part of the bundle."""

_NOTE = "For the curator only: how long a run took depends on the records, and no budget covers that. Do not publish this file."

Times = Mapping[str, Any]
"""phases: wall seconds of each, and under "total" of the whole run. steps: for each line of the history, seconds since the run began."""


class Stopwatch:
    """Wall times of one run, in seconds since this object was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._phases: dict[str, float] = {}
        self._steps: list[float] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the wall time of a `with` block to a phase, unless the block raises."""
        start = time.perf_counter()
        yield
        self.book(name, start)

    def book(self, phase: str, start: float) -> None:
        """Add the seconds since `start`, a value of `time.perf_counter`, to a phase."""
        self._phases[phase] = self._phases.get(phase, 0.0) + time.perf_counter() - start

    def step(self) -> None:
        """Record that a line of the history is written now."""
        self._steps.append(self._elapsed())

    def times(self) -> Zoned[Times]:
        """Return the seconds of each phase and of each line of the history, for the curator alone.

        They are rounded to milliseconds. "phases" has them by name, and under "total" those since the
        stopwatch was made; "steps" lists the seconds until each line.
        """
        phases = {name: round(seconds, 3) for name, seconds in self._phases.items()} | {"total": self._elapsed()}
        return curator_only({"phases": phases, "steps": list(self._steps)})

    def _elapsed(self) -> float:
        return round(time.perf_counter() - self._start, 3)


def write(times: Zoned[Times] | None, directory: Path) -> None:
    """Write the durations of a run to times.json beside its release, readable for its owner alone.

    Args:
        times: The durations in seconds; None for a run that was finished later, whose file is removed.
        directory: Directory of the release.
    """
    path = directory / TIMES
    if times is None:
        path.unlink(missing_ok=True)
        return
    with private_file(path) as stream:
        stream.write((json.dumps({"note": _NOTE} | dict(times.value)) + "\n").encode())


def read(directory: Path) -> Zoned[Times] | None:
    """Return the durations that `write` wrote, for the curator alone; None without a file."""
    path = directory / TIMES
    return curator_only(json.loads(path.read_bytes())) if path.exists() else None
