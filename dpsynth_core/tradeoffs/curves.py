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

from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.foundation.zones import Zoned, combine, released
from dpsynth_core.release.release import Release
from dpsynth_core.statistics.evidence import label
from dpsynth_core.tradeoffs.sweep import Point, Sweep
from dpsynth_core.tradeoffs.trial import Outcome

_LEAST = 1e-12
"""Error drawn in place of 0 on a logarithmic axis."""
_COLUMNS = ["mechanism", "epsilon", "tables", "strength", "typical", "repeat", "mean", "workload_error", "largest"]
_COLUMNS += ["worst_table", "measured", "seconds", "cpu_seconds"]


@dataclass(frozen=True)
class Metric:
    """A measure of error.

    Attributes:
        column: Column of the frame of `outcomes` with the error of each trial.
        title: Name shown to people.
        help: Explanation shown to people.
        percent: Whether the error is a share of the people, shown in percent; otherwise it is an L1
            distance.
    """

    column: str
    title: str
    help: str
    percent: bool = True

    @property
    def axis(self) -> str:
        """The title of an axis, with the unit."""
        return f"{self.title} ({'% of all' if self.percent else 'L1, 0 to 2'})"


MEAN = Metric(
    "mean",
    "People in the wrong group",
    "Of a table, on average over the tables: who would have to move to another cell to make it right. Half the mean L1 error.",
)
WORKLOAD = Metric(
    "workload_error",
    "Workload error",
    "AIM paper, Definition 2: the weighted mean L1 distance. With equal weights twice the people in the wrong group.",
    percent=False,
)
LARGEST = Metric("largest", "Largest error of one count", "Of all counts of all tables: the max error of the papers on query release.")
METRICS = (MEAN, WORKLOAD, LARGEST)


@dataclass(frozen=True)
class Setting:
    """The combination that the repeats of a trial share.

    Attributes:
        mechanism: Title of the mechanism.
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
        A frame with the columns mechanism (title), epsilon, tables (number asked for), strength (of
        the stand-in; NaN on another table), typical (whether the stand-in has the middle strength;
        True on another table), repeat (from 1), mean (share of people in a wrong cell, mean over
        the tables), workload_error (AIM, Definition 2, 0 to 2), largest (largest error of a cell,
        share of the people), worst_table (share of people in a wrong cell of the worst table),
        measured (number of tables with noisy measurements), seconds, cpu_seconds.
    """
    rows = [
        vars(outcome)
        | {
            "mechanism": sweep.titles[point.mechanism],
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
        another table), seconds and measured (means), repeats (number of different repeats).
    """
    setting, column = ["mechanism", "epsilon", "tables"], metric.column
    ends = {"error": (column, "mean"), "low": (column, "min"), "high": (column, "max")}
    stand_ins = {"weakest": ("strength", "min"), "strongest": ("strength", "max")}
    means = {"seconds": ("seconds", "mean"), "measured": ("measured", "mean"), "repeats": ("repeat", "nunique")}

    def of(frame: pd.DataFrame) -> pd.DataFrame:
        spread = frame.groupby(setting, sort=False, as_index=False).agg(**ends, **stand_ins, **means)
        middle = frame[frame["typical"]].groupby(setting, sort=False, as_index=False).agg(middle=(column, "mean"))
        both = spread.merge(middle, on=setting, how="left")
        return both.assign(error=both["middle"].fillna(both["error"])).drop(columns="middle")

    return combine(of, table)


def crossings(table: Zoned[pd.DataFrame], limit: float, tables: int) -> Zoned[dict[str, float]]:
    """Return by title of the mechanism the smallest epsilon from which on its mean error stays within `limit`.

    Between two tried values, the crossing lies on the straight line between them, with both axes
    logarithmic.

    Args:
        table: The frame of `bands`.
        limit: Largest acceptable error, in the unit of the metric.
        tables: Number of tables asked for.

    Returns:
        Epsilon by title of the mechanism: 0 if every tried epsilon is enough, infinity if the
        largest tried one is not.
    """

    def cross(frame: pd.DataFrame) -> dict[str, float]:
        of_size = frame[frame["tables"] == tables]
        return {str(name): _crossing(curve.sort_values("epsilon"), limit) for name, curve in of_size.groupby("mechanism", sort=False)}

    return combine(cross, table)


def _crossing(curve: pd.DataFrame, limit: float) -> float:
    """Return the smallest epsilon from which on the error stays within `limit`; see `crossings`.

    Args:
        curve: The rows of one mechanism, by ascending epsilon.
        limit: Largest acceptable error.
    """
    above = np.flatnonzero(curve["error"].to_numpy() > limit)
    if not len(above):
        return 0.0
    if above[-1] == len(curve) - 1:
        return math.inf
    (e0, e1), (x0, x1) = (np.log(np.maximum(curve[name].to_numpy()[above[-1] : above[-1] + 2], _LEAST)) for name in ("error", "epsilon"))
    return float(np.exp(x0 + (e0 - math.log(limit)) / (e0 - e1) * (x1 - x0)))


def crossing_words(name: str, crossing: float, limit: float) -> str:
    """Return a result of `crossings` as a sentence.

    Args:
        name: Title of the mechanism.
        crossing: The epsilon.
        limit: Largest acceptable error, in percent.
    """
    if math.isinf(crossing):
        return f"{name}: above {limit:.3g}% at every ε that was tried."
    return f"{name}: within {limit:.3g}% " + (f"from about ε {crossing:.2g} on." if crossing else "at every ε that was tried.")


def settings(sweep: Sweep, finished: Iterable[int]) -> list[Setting]:
    """Return the settings of the finished points, each once. They are public, because they are a part of the grid without errors.

    Args:
        sweep: The sweep.
        finished: Numbers of the finished points.
    """
    points = [sweep.points[number] for number in sorted(finished)]
    return list(dict.fromkeys(_setting(sweep, point) for point in points))


def _setting(sweep: Sweep, point: Point) -> Setting:
    return Setting(sweep.titles[point.mechanism], point.epsilon, point.size)


def of_each(metric: Metric) -> Metric:
    """Return the metric that exists for single tables: LARGEST if `metric` is LARGEST, else MEAN (share of people in a wrong cell)."""
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
        low and high (least and largest error over repeats and stand-ins). Errors are shares of the
        people: in a wrong cell, or for LARGEST of the cell with the largest error.
    """
    tried = {number: outcome for number, outcome in by_point.items() if _setting(sweep, sweep.points[number]) == setting}
    every = np.array([outcome.largests if metric == LARGEST else outcome.errors for outcome in tried.values()])
    typical = np.array([sweep.points[number].strength == sweep.middle for number in tried])
    cliques, every = sweep.cliques(setting.tables), every.reshape(len(tried), -1)
    frame = pd.DataFrame({"marginal": [label(clique) for clique in cliques], "columns": [len(clique) for clique in cliques]})
    frame["cells"] = [sweep.workload.domain.cells(clique) for clique in cliques]
    frame = frame.assign(error=every[typical | (not typical.any())].mean(axis=0), low=every.min(axis=0), high=every.max(axis=0))
    return Zoned(sweep.zone, frame.sort_values("error", ascending=False, kind="stable", ignore_index=True))


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
    """Return a release without an `obstacle` as a point beside the curves."""
    return Beside(name, release.spec.budget.epsilon, headline.mean, headline.mean_low, headline.mean_limit)


def release_points(points: Sequence[Beside]) -> Zoned[pd.DataFrame]:
    """Return the points as a frame whose columns are the fields of `Beside`; its zone is released."""
    return released(pd.DataFrame([vars(one) for one in points], columns=list(Beside.__dataclass_fields__)))
