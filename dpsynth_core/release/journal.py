"""What a run writes down of itself as it goes: its steps in order, and the seconds of each phase. Knows neither records nor budgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpsynth_core.mechanisms.steps import Finished, Fitted, Measured, Step
from dpsynth_core.release.release import Progress
from dpsynth_core.vocabulary.measurement import Measurement

_PHASE_OF_STEP = {Measured: "measure", Fitted: "fit", Finished: "finish"}


class Journal:
    """The history of one run. on_event is called with each entry as it is made and may raise to stop the run. Seconds are wall time."""

    def __init__(self, on_event: Callable[[Progress], None]) -> None:
        self._on_event = on_event
        self._start = time.perf_counter()
        self._phases: dict[str, float] = {}
        self.history: list[Progress] = []

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What was measured so far, in order."""
        return tuple(entry.measurement for entry in self.history if entry.measurement is not None)

    def timings(self) -> dict[str, float]:
        """Seconds of each phase, and under "total" since the beginning."""
        return {**{name: round(seconds, 3) for name, seconds in self._phases.items()}, "total": self._elapsed()}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Book the time of the block to the phase `name`."""
        start = time.perf_counter()
        yield
        self._book(name, start)

    def booked(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The steps of a mechanism; the time before each is booked to what it reports."""
        start = time.perf_counter()
        for step in steps:
            self._book(_PHASE_OF_STEP[type(step)], start)
            yield step
            start = time.perf_counter()

    def announce(self, message: str, rho_spent: float = 0.0, done: float = 0.0) -> None:
        """A phase begins. done: fraction of the mechanism's work."""
        self._enter(Progress("phase", self._elapsed(), rho_spent=rho_spent, done=done, message=message))

    def record(self, step: Measured | Fitted) -> None:
        """A step of the mechanism."""
        self._enter(_progress(step, self._elapsed()))

    def finish(self, rho_spent: float) -> None:
        """The mechanism has ended."""
        self._enter(Progress("finished", self._elapsed(), rho_spent=rho_spent, done=1.0, message="the model is final"))

    def _enter(self, entry: Progress) -> None:
        self.history.append(entry)
        self._on_event(entry)

    def _elapsed(self) -> float:
        return round(time.perf_counter() - self._start, 3)

    def _book(self, phase: str, start: float) -> None:
        self._phases[phase] = self._phases.get(phase, 0.0) + time.perf_counter() - start


def _progress(step: Measured | Fitted, seconds: float) -> Progress:
    if isinstance(step, Fitted):
        return Progress("fitted", seconds, step.round, rho_spent=step.rho_spent, done=step.done, message=step.message)
    noisy = step.measurement
    return Progress(
        "measured", seconds, step.round, noisy.clique, noisy.sigma, step.rho_spent, step.done, spread=noisy.spread, measurement=noisy
    )
