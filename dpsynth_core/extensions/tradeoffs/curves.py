"""Frames of a sweep's outcomes for charts and downloads, and releases as points beside the curves.

Each frame of outcomes is as restricted as the table tried on.

A release was made from another table than the trials. Its error is comparable where epsilon, tables
and cells are the same; `obstacle` names what differs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpsynth_core.evaluation.measures import LARGEST, MEAN, Metric
from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.extensions.tradeoffs.sweep import Point, Sweep
from dpsynth_core.extensions.tradeoffs.trial import Outcome
from dpsynth_core.foundation.zones import Zoned, combine, released
from dpsynth_core.release.release import Release
from dpsynth_core.statistics.evidence import label

_LEAST = 1e-12
"""Error drawn in place of 0 on a logarithmic axis."""
_COLUMNS = ["mechanism", "setting", "value", "epsilon", "tables", "strength", "typical", "repeat", "mean", "workload_error", "largest"]
_COLUMNS += ["worst_table", "measured", "seconds", "cpu_seconds", "memory_mb"]


WORKLOAD = Metric(
    "workload_error",
    "Workload error",
    "AIM paper, Definition 2: the weighted mean L1 distance. With equal weights twice the people in the wrong group.",
    percent=False,
)
METRICS = (MEAN, WORKLOAD, LARGEST)


@dataclass(frozen=True)
class Cost:
    """A measure of what a trial needs.

    Attributes:
        column: Column of the frame of `bands` with the mean over the trials of a setting.
        title: Name shown to people.
        unit: Unit, as on an axis.
        help: Explanation shown to people.
    """

    column: str
    title: str
    unit: str
    help: str


SECONDS = Cost("cpu_seconds", "Processor time", "seconds", "Processor seconds of a whole release, with all threads.")
MEMORY = Cost("memory_mb", "Memory", "MB", "The largest memory of the process during a trial, program and libraries included.")


@dataclass(frozen=True)
class Setting:
    """The combination that the repeats of a trial share.

    Attributes:
        mechanism: Title of the mechanism, with the value of the swept setting (`Sweep.title`).
        epsilon: Epsilon.
        tables: Number of tables asked for.
    """

    mechanism: str
    epsilon: float
    tables: int


def outcomes(sweep: Sweep, by_point: Mapping[int, Outcome]) -> Zoned[pd.DataFrame]:
    """Return one row per finished trial, in the order of the points.

    Args:
        sweep: The sweep.
        by_point: Outcome of each finished trial, by the number of its point.

    Returns:
        A frame with the columns mechanism (title), setting (name of the swept setting; "" for a
        mechanism without one), value (of that setting; NaN without one), epsilon, tables (number asked for), strength (of
        the stand-in; NaN on another table), typical (whether the stand-in has the middle strength;
        True on another table), repeat (from 1), mean (share of people in a wrong cell, mean over
        the tables), workload_error (AIM, Definition 2, 0 to 2), largest (largest error of a cell,
        share of the people), worst_table (share of people in a wrong cell of the worst table),
        measured (number of tables with noisy measurements), seconds, cpu_seconds, memory_mb (NaN
        where unknown).
    """
    rows = [
        vars(outcome)
        | {
            "mechanism": sweep.title(point.mechanism, point.value),
            "setting": "" if point.value is None or sweep.swept is None else sweep.swept.parameter,
            "value": math.nan if point.value is None else point.value,
            "memory_mb": math.nan if outcome.memory_mb is None else outcome.memory_mb,
            "epsilon": point.epsilon,
            "tables": point.size,
            "strength": math.nan if point.strength is None else point.strength,
            "typical": point.strength == sweep.middle,
            "repeat": point.repeat + 1,
            "mean": float(np.mean(outcome.errors)),
            "worst_table": max(outcome.errors),
        }
        for point, outcome in ((sweep.points[number], by_point[number]) for number in sorted(by_point))
    ]
    return Zoned(sweep.zone, pd.DataFrame(rows, columns=_COLUMNS))


def bands(table: Zoned[pd.DataFrame], metric: Metric) -> Zoned[pd.DataFrame]:
    """Combine the repeats and stand-ins of each setting into one row.

    Args:
        table: The frame of `outcomes`.
        metric: The measure of error.

    Returns:
        A frame with the columns mechanism, epsilon, tables, error (mean over the repeats on the
        middle stand-in, or over all trials until the middle stand-in has any), low and high (least
        and largest error of a trial), weakest and strongest (strengths of the stand-ins; NaN on
        another table), seconds, cpu_seconds, memory_mb (NaN where unknown) and measured (means),
        repeats (number of different repeats), setting and value (of the swept setting, as in
        `outcomes`). Rows are in the order in which settings first occur. It has the zone of `table`.
    """
    setting, column = ["mechanism", "epsilon", "tables"], metric.column
    ends = {"error": (column, "mean"), "low": (column, "min"), "high": (column, "max")}
    stand_ins = {"weakest": ("strength", "min"), "strongest": ("strength", "max")}
    means = {name: (name, "mean") for name in ("seconds", "cpu_seconds", "memory_mb", "measured")} | {"repeats": ("repeat", "nunique")}
    swept = {"setting": ("setting", "first"), "value": ("value", "first")}

    def of(frame: pd.DataFrame) -> pd.DataFrame:
        spread = frame.groupby(setting, sort=False, as_index=False).agg(**ends, **stand_ins, **means, **swept)
        middle = frame[frame["typical"]].groupby(setting, sort=False, as_index=False).agg(middle=(column, "mean"))
        both = spread.merge(middle, on=setting, how="left")
        return both.assign(error=both["middle"].fillna(both["error"])).drop(columns="middle")

    return combine(of, table)


@dataclass(frozen=True)
class Crossing:
    """The values of epsilon at which a curve stays within a limit.

    Attributes:
        start: The smallest epsilon from which on the error stays within the limit: 0 if it does at
            every tried value, infinity if it does not at the largest one.
        within: The tried values of epsilon with an error within the limit, ascending.
        largest: The largest tried value.
    """

    start: float
    within: tuple[float, ...]
    largest: float


def crossings(table: Zoned[pd.DataFrame], limit: float, tables: int) -> Zoned[dict[str, Crossing]]:
    """Return, by title of the mechanism, from which epsilon on its mean error stays within `limit`.

    Between two tried values, the crossing lies on the straight line between them, with both axes
    logarithmic. Mechanisms without a trial of this number of tables are left out.

    Args:
        table: The frame of `bands`.
        limit: Largest acceptable error, in the unit of the metric (a share, not percent).
        tables: Number of tables asked for.
    """

    def cross(frame: pd.DataFrame) -> dict[str, Crossing]:
        of_size = frame[frame["tables"] == tables]
        return {str(name): _crossing(curve.sort_values("epsilon"), limit) for name, curve in of_size.groupby("mechanism", sort=False)}

    return combine(cross, table)


def _crossing(curve: pd.DataFrame, limit: float) -> Crossing:
    """Return where the error stays within `limit`; see `crossings`.

    Args:
        curve: The rows of one mechanism, by ascending epsilon.
        limit: Largest acceptable error.
    """
    errors, epsilons = curve["error"].to_numpy(), curve["epsilon"].to_numpy()
    above, within, largest = np.flatnonzero(errors > limit), tuple(map(float, epsilons[errors <= limit])), float(epsilons[-1])
    if not len(above):
        return Crossing(0.0, within, largest)
    if above[-1] == len(curve) - 1:
        return Crossing(math.inf, within, largest)
    (e0, e1), (x0, x1) = (np.log(np.maximum(numbers[above[-1] : above[-1] + 2], _LEAST)) for numbers in (errors, epsilons))
    return Crossing(float(np.exp(x0 + (e0 - math.log(limit)) / (e0 - e1) * (x1 - x0))), within, largest)


def crossing_words(name: str, crossing: Crossing, limit: float) -> str:
    """Return a result of `crossings` as a sentence.

    Args:
        name: Title of the mechanism.
        crossing: Where its curve stays within the limit.
        limit: Largest acceptable error, in percent.
    """
    if math.isinf(crossing.start):
        if not crossing.within:
            return f"{name}: above {limit:.3g}% at every ε that was tried."
        among = ", ".join(f"{epsilon:g}" for epsilon in crossing.within)
        return f"{name}: within {limit:.3g}% at ε {among}, but above it at {crossing.largest:g}, the largest ε that was tried."
    return f"{name}: within {limit:.3g}% " + (f"from about ε {crossing.start:.2g} on." if crossing.start else "at every ε that was tried.")


def settings(sweep: Sweep, finished: Iterable[int]) -> list[Setting]:
    """Return the settings of the finished points, each once, in the order of the points.

    They are public, because they are a part of the grid without errors.

    Args:
        sweep: The sweep.
        finished: Numbers of the finished points.
    """
    points = [sweep.points[number] for number in sorted(finished)]
    return list(dict.fromkeys(_setting(sweep, point) for point in points))


def _setting(sweep: Sweep, point: Point) -> Setting:
    return Setting(sweep.title(point.mechanism, point.value), point.epsilon, point.size)


def of_each(metric: Metric) -> Metric:
    """Return the metric that exists for single tables: LARGEST if `metric` is LARGEST, else MEAN (share of people in a wrong cell).

    LARGEST is the largest error of a cell, as a share of the people.
    """
    return LARGEST if metric == LARGEST else MEAN


def of_tables(sweep: Sweep, by_point: Mapping[int, Outcome], setting: Setting, metric: Metric = MEAN) -> Zoned[pd.DataFrame]:
    """Return one row per table with its error at one setting, the largest error first.

    Args:
        sweep: The sweep.
        by_point: Outcome of each finished trial, by the number of its point.
        setting: The setting; at least one of its trials is finished.
        metric: MEAN or LARGEST (`of_each`).

    Returns:
        A frame with the columns marginal (label), columns (number), cells, error (as in `bands`),
        low and high (least and largest error over repeats and stand-ins), bound (AIM's confidence
        bound of the share in a wrong cell, mean over the same trials as error; NaN where one of
        them has none). Errors are shares of the people: in a wrong cell, or for LARGEST of the cell
        with the largest error.
    """
    tried = {number: outcome for number, outcome in by_point.items() if _setting(sweep, sweep.points[number]) == setting}
    every = np.array([outcome.largests if metric == LARGEST else outcome.errors for outcome in tried.values()])
    typical = np.array([sweep.points[number].strength == sweep.middle for number in tried])
    cliques, every = sweep.cliques(setting.tables), every.reshape(len(tried), -1)
    frame = pd.DataFrame({"marginal": [label(clique) for clique in cliques], "columns": [len(clique) for clique in cliques]})
    frame["cells"] = [sweep.workload.domain.cells(clique) for clique in cliques]
    shown = typical | (not typical.any())
    bounds = np.array([outcome.bounds or (None,) * len(cliques) for outcome in tried.values()], dtype=float).reshape(len(tried), -1)
    frame = frame.assign(error=every[shown].mean(axis=0), low=every.min(axis=0), high=every.max(axis=0), bound=bounds[shown].mean(axis=0))
    return Zoned(sweep.zone, frame.sort_values("error", ascending=False, kind="stable", ignore_index=True))


def of_every_setting(sweep: Sweep, by_point: Mapping[int, Outcome], tables: int, metric: Metric = MEAN) -> Zoned[pd.DataFrame]:
    """Return one row per table and setting with a finished trial, with the table's error there.

    Settings are in the order of the points; within each, the largest error is first. Repeats of a setting are
    combined as in `of_tables`.

    Args:
        sweep: The sweep.
        by_point: Outcome of each finished trial, by the number of its point.
        tables: Number of tables asked for; settings with other numbers are left out.
        metric: MEAN or LARGEST (`of_each`).

    Returns:
        A frame with the columns mechanism (title) and epsilon, and with the columns of `of_tables`.

    Raises:
        ValueError: No setting with this number of tables has a finished trial.
    """
    tried = [setting for setting in settings(sweep, by_point) if setting.tables == tables]

    def together(*frames: pd.DataFrame) -> pd.DataFrame:
        named = [frame.assign(mechanism=one.mechanism, epsilon=one.epsilon) for one, frame in zip(tried, frames, strict=True)]
        every = pd.concat(named, ignore_index=True)
        return every[["mechanism", "epsilon", *(name for name in every if name not in ("mechanism", "epsilon"))]]

    return combine(together, *(of_tables(sweep, by_point, setting, metric) for setting in tried))


@dataclass(frozen=True)
class Beside:
    """A release as a point beside the curves.

    Attributes:
        name: Name of the release (hostile text).
        epsilon: Epsilon of its budget.
        error: Measured share of people in a wrong cell, mean over the tables.
        low: Lower end of the 95 % interval of `error`.
        high: Upper end of the 95 % interval of `error`.
    """

    name: str
    epsilon: float
    error: float
    low: float
    high: float


def obstacle(sweep: Sweep, release: Release, headline: Headline) -> str:
    """Return a clause on why a release cannot be compared with the curves, or "" if it can.

    Args:
        sweep: The sweep of the curves.
        release: The release.
        headline: The release's headline (`evaluation.quality.headline`).
    """
    base, spec = sweep.base, release.spec
    if release.plan.domain != sweep.workload.domain:
        return "its columns or their values are others"
    if release.plan.workload != sweep.workload:
        return "it was asked for other tables, or weighs them differently"
    if (spec.unit.relation, spec.unit.max_rows_per_person) != (base.unit.relation, base.unit.max_rows_per_person):
        return "it hides something else of a person, so that its ε means another noise"
    return "" if headline.certified else "it has no certificate, so that its errors were not measured"


def release_point(name: str, release: Release, headline: Headline) -> Beside:
    """Return a release without an `obstacle` as a point beside the curves.

    Args:
        name: Name of the release (hostile text).
        release: The release.
        headline: The release's headline (`evaluation.quality.headline`), which must be certified.
    """
    return Beside(name, release.spec.budget.epsilon, headline.mean, headline.mean_low, headline.mean_limit)


def release_tables(name: str, release: Release, table: Zoned[pd.DataFrame]) -> Zoned[pd.DataFrame]:
    """Return the tables of a release without an `obstacle` as points beside the curves of single tables.

    Args:
        name: Name of the release (hostile text).
        release: The release.
        table: The frame of `evaluation.quality.marginal_table`.

    Returns:
        A frame with the columns name, epsilon, marginal, error (best estimate, a share of people), low and
        high (ends of its 95 % interval), without tables that were not measured.
    """

    def of(frame: pd.DataFrame) -> pd.DataFrame:
        known = frame[frame["error"].notna()]
        named = known.assign(name=name, epsilon=release.spec.budget.epsilon, high=known["limit"])
        return named[["name", "epsilon", "marginal", "error", "low", "high"]].reset_index(drop=True)

    return combine(of, table)


def release_points(points: Sequence[Beside]) -> Zoned[pd.DataFrame]:
    """Return the points as a frame, one row each, whose columns are the fields of `Beside`; its zone is released."""
    return released(pd.DataFrame([vars(one) for one in points], columns=list(Beside.__dataclass_fields__)))
