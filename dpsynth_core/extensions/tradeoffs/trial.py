"""Run one point of a sweep: make the release, compare its tables with the true ones, and keep only the errors.

The errors are exact and as restricted as the table (`Sweep.zone`); code that stores or shows them
enforces that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core import report
from dpsynth_core.evaluation.bounds import Bound
from dpsynth_core.evaluation.truth import true_counts
from dpsynth_core.extensions.tradeoffs.sweep import Sweep
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.mechanism import Forecast
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import synthesis
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.statistics.distances import in_wrong_cell, workload_error
from dpsynth_core.vocabulary.measurement import Clique

Shares = Mapping[Clique, NDArray[np.float64]]
Tried = tuple[str, float | None, float, int]
"""What the repeats of a trial share (`Point.setting`)."""


@dataclass(frozen=True)
class Outcome:
    """The exact errors and the cost of one trial.

    Attributes:
        workload_error: Weighted mean L1 distance of the tables (AIM, Definition 2), from 0 to 2 for
            rows.
        largest: Largest error of any cell of any table, as a share of the people.
        errors: Share of people in a wrong cell for each table, in the order of `Sweep.cliques`.
        measured: Number of tables with noisy measurements.
        seconds: Wall clock time of the whole release, in seconds.
        cpu_seconds: Processor time of this process for the whole release, in seconds.
        largests: Largest error of a cell for each table, as a share of the people, in the same
            order.
        bounds: For each table, in the same order, AIM's confidence bound of its error as a share of
            people in a wrong cell (`evaluation.bounds`, 95 %, the tighter one); None where nothing
            bounds it. Empty if the trial was made by an earlier version.
        memory_mb: Largest memory of this process during the trial in MB, program and libraries
            included; None where the system does not say.
    """

    workload_error: float
    largest: float
    errors: tuple[float, ...]
    measured: int
    seconds: float
    cpu_seconds: float
    largests: tuple[float, ...]
    bounds: tuple[float | None, ...] = ()
    memory_mb: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields by name as a JSON-serialisable dict."""
        return asdict(self)

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> Outcome:
        """Return the outcome of a JSON object that `to_json` wrote."""
        read: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in obj.items()}
        return cls(**read)


class Trials:
    """The trials of one sweep in one process; each table is opened and its true counts are taken only once.

    Args:
        sweep: The sweep. On the private table it must have been charged before.
        planned: Called with the plan of each trial before the trial begins.
    """

    def __init__(self, sweep: Sweep, planned: Callable[[Plan], None] = lambda _: None) -> None:
        self._sweep, self._planned = sweep, planned
        self._tables: dict[float | None, tuple[MarginalSource, Shares]] = {}  # with the workload's tables as fractions of the people in it

    def run(self, number: int) -> Outcome:
        """Run the trial with this number, from 0, and return its errors and cost; the release itself is not kept.

        The errors are exact, and curator-only on the private table.

        Raises:
            InputError: The trial cannot be made, or its mechanism does not answer the tables.
        """
        point = self._sweep.points[number]
        spec = self._sweep.spec(point)
        plan = synthesis.plan(spec)
        self._planned(plan)
        if point.strength not in self._tables:
            source = synthesis.open_source(plan)
            counts = true_counts(source, [*self._sweep.workload.cliques, ()]).value
            people = max(1, int(counts[()]))
            self._tables[point.strength] = source, {clique: counts[clique] / people for clique in self._sweep.workload.cliques}
        source, shares = self._tables[point.strength]
        knows_peak = _forget_peak()
        began, busy = time.perf_counter(), time.process_time()
        release = synthesis.synthesize(plan, source, synthesis.noise_for(spec), lambda _: None)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - busy
        memory_mb = _peak_mb() if knows_peak else None
        true = {clique: shares[clique] for clique in plan.workload.cliques}
        stated = report.statements(release).value
        published = stated.published(plan.workload.cliques)
        if published.keys() < true.keys():
            problem = f"{plan.mechanism.card.title} does not answer the tables asked for"
            raise InputError("mechanism", problem, "leave it out of a comparison")
        cliques = self._sweep.cliques(point.size)
        largests = [float(np.abs(true[r] - published[r]).max()) for r in cliques]
        return Outcome(
            workload_error=workload_error(plan.workload, true, published, 1.0),
            largest=max(largests),
            errors=tuple(min(1.0, round(in_wrong_cell(true[r], published[r]), 7)) for r in cliques),
            measured=len({measurement.clique for measurement in release.measurements if measurement.clique}),
            seconds=round(seconds, 3),
            cpu_seconds=round(cpu_seconds, 3),
            largests=tuple(round(gap, 9) for gap in largests),
            bounds=tuple(_share(stated.bounds.get(r)) for r in cliques),
            memory_mb=memory_mb,
        )


def _share(bound: Bound | None) -> float | None:
    """Return the tighter bound of a table as a share of people, at most 1; None where nothing bounds it."""
    return None if bound is None or math.isinf(bound.tight) else min(1.0, round(bound.tight, 7))


def _forget_peak() -> bool:
    """Let the system measure the largest memory of this process anew, and return whether it does."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # not Linux, or not allowed here
        return False
    return True


def _peak_mb() -> float | None:
    """Return the largest memory of this process since `_forget_peak` in MB; None where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    peak = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")), None)
    return None if peak is None else round(int(peak) * 1024 / 1e6, 1)


@dataclass(frozen=True)
class Expected:
    """The forecasts of a sweep's trials.

    Attributes:
        forecasts: By setting (`Point.setting`), the expected time and memory of one trial.
        refusals: By title of a mechanism that cannot be tried (`Sweep.title`), the error for its
            first setting that fails.
    """

    forecasts: Mapping[Tried, Forecast]
    refusals: Mapping[str, InputError]

    @property
    def seconds(self) -> Mapping[Tried, float]:
        """The forecast seconds of one trial, by setting (`Point.setting`)."""
        return {setting: forecast.seconds for setting, forecast in self.forecasts.items()}

    @property
    def memory_mb(self) -> float:
        """The forecast memory of the trial that needs most, in MB.

        Raises:
            ValueError: `forecasts` is empty, because every mechanism was refused.
        """
        return max(forecast.memory_mb for forecast in self.forecasts.values())


def expected(sweep: Sweep) -> Expected:
    """Return the forecasts of every setting of a sweep; with many tables this takes seconds.

    A mechanism that cannot be tried is listed among the refusals, and nothing is raised. No table is opened.
    """
    forecasts: dict[Tried, Forecast] = {}
    refusals: dict[str, InputError] = {}
    for point in sweep.points:
        title = sweep.title(point.mechanism, point.value)
        if point.setting in forecasts or title in refusals:
            continue
        try:
            forecasts[point.setting] = synthesis.plan(sweep.spec(point)).forecast
        except InputError as error:
            refusals[title] = error
    return Expected(forecasts, refusals)


def checked(sweep: Sweep) -> Expected:
    """Return the forecasts of every setting of a sweep, all of which can be tried. No table is opened.

    Raises:
        InputError: A setting cannot be tried. CapacityError is such an error.
    """
    found = expected(sweep)
    for error in found.refusals.values():
        raise error
    return found


def seconds_left(forecast: Mapping[int, float], took: Mapping[int, float], workers: int) -> float:
    """Return the expected seconds until all trials are finished, at the pace of the finished ones relative to their forecasts.

    Without a finished trial, the forecasts count as they are.

    Args:
        forecast: Forecast seconds of every trial, by number of the point.
        took: Measured seconds of the finished trials, by number of the point.
        workers: Number of trials that run at once.
    """
    expected = math.fsum(forecast[number] for number in took)
    pace = math.fsum(took.values()) / expected if expected > 0 else 1.0
    return pace * math.fsum(seconds for number, seconds in forecast.items() if number not in took) / max(1, workers)
