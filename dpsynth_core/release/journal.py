"""The log of a run: its steps in order and, for the curator, their durations (`times`).

It knows neither records nor budgets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from dpsynth_core.mechanisms.steps import Finished, Fitted, Measured, Step
from dpsynth_core.release.release import Progress
from dpsynth_core.release.times import Stopwatch
from dpsynth_core.vocabulary.measurement import Measurement

_PHASE_OF_STEP = {Measured: "measure", Fitted: "fit", Finished: "finish"}


class Journal:
    """The history of one run, and its measurements.

    Attributes:
        history: The lines so far, in order.
        measurements: The mechanism's measurements so far, in order.

    Args:
        on_event: Called with each line of the history; it may raise to stop the run.
        stopwatch: Records durations, which are curator-only.
    """

    def __init__(self, on_event: Callable[[Progress], None] = lambda _: None, stopwatch: Stopwatch | None = None) -> None:
        self._on_event = on_event
        self._stopwatch = stopwatch or Stopwatch()
        self.history: list[Progress] = []
        self.measurements: list[Measurement] = []

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Return a context manager that adds its wall time to the named phase."""
        return self._stopwatch.phase(name)

    def booked(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Yield the steps of a mechanism; the time that each took to arrive is added to the phase of its kind."""
        start = time.perf_counter()
        for step in steps:
            self._stopwatch.book(_PHASE_OF_STEP[type(step)], start)
            yield step
            start = time.perf_counter()

    def announce(self, message: str, rho_spent: float = 0.0, done: float = 0.0) -> None:
        """Enter in the history that a phase begins.

        Args:
            message: The phase in words.
            rho_spent: Budget spent so far, in rho.
            done: Fraction of the mechanism's work that is done, from 0 to 1.
        """
        self._enter(Progress("phase", rho_spent=rho_spent, done=done, message=message))

    def record(self, step: Measured | Fitted) -> None:
        """Enter a step of the mechanism in the history, and keep its measurement if it has one."""
        if isinstance(step, Fitted):
            self._enter(Progress("fitted", step.round, rho_spent=step.rho_spent, done=step.done, message=step.message))
        else:
            self.measurements.append(step.measurement)
            self._enter(Progress.measured(step.measurement, step.rho_spent, step.round, step.done))

    def finish(self, rho_spent: float) -> None:
        """Enter in the history that the mechanism has ended, and report it to `on_event`.

        Args:
            rho_spent: The budget spent until then, in rho.
        """
        self._enter(Progress("finished", rho_spent=rho_spent, done=1.0, message="the model is final"))

    def _enter(self, entry: Progress) -> None:
        self.history.append(entry)
        self._stopwatch.step()
        self._on_event(entry)
