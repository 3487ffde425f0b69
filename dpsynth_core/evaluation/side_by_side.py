"""Compare several releases: their settings, the error bounds of each table, and the tables where one release is best.

The frames come from `evaluation.quality`. A comparison is as restricted as the most restricted release in it. Only tables over columns
with the same cells are compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpsynth_core.foundation.zones import Zoned, combine
from dpsynth_core.statistics.evidence import label
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

_ABOUT_THE_RUN = ("name", "domain", "workload", "data.standin")
_WHOLE = ("domain", "members.domain", "workload")
"""What is too long to be shown."""
_SHOWN = 60


def differences(specs: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return the settings in which the published specs of some runs differ. The result is public.

    The runs' names are not compared. Domains and workloads are only numbered ("no. 1", "no. 2"): two runs with the
    same number have the same domain or workload. Long texts are cut, and numbered where they differ only behind the cut.

    Args:
        specs: By name of the run, its published spec.

    Returns:
        One row per differing setting: a column "setting" (its dotted path) and one column per run, "–" for a
        setting that a run does not have; without rows if nothing differs.
    """
    flat = {run: dict(_flattened(spec)) for run, spec in specs.items()}
    paths = dict.fromkeys(path for settings in flat.values() for path in settings)
    rows = []
    for path in paths:
        values = {run: settings.get(path, "–") for run, settings in flat.items()}
        if path not in _ABOUT_THE_RUN and len(set(values.values())) > 1:
            rows.append({"setting": path, **_cut(values)})
    for part in _WHOLE:
        table, _, name = part.rpartition(".")
        kinds = {run: json.dumps(((spec.get(table) if table else spec) or {}).get(name), sort_keys=True) for run, spec in specs.items()}
        if len(set(kinds.values())) > 1:
            order = list(dict.fromkeys(kinds.values()))
            rows.append({"setting": part, **{run: f"no. {order.index(kind) + 1}" for run, kind in kinds.items()}})
    return pd.DataFrame(rows, columns=["setting", *specs])


def _flattened(value: Any, path: str = "") -> list[tuple[str, str]]:
    """Return (dotted path, text) for each setting of a nested spec, without `_WHOLE`."""
    if isinstance(value, Mapping) and path not in _WHOLE:
        return [pair for key, part in value.items() for pair in _flattened(part, f"{path}.{key}" if path else str(key))]
    text = value if isinstance(value, str) else json.dumps(value)
    return [] if path in (*_WHOLE, "version") else [(path, text)]


def _cut(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the runs, cut to `_SHOWN` characters, with a number where this makes different texts equal."""
    shown = {text: text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…" for text in texts.values()}
    if len(set(shown.values())) < len(shown):
        shown = {text: f"{cut} (no. {number})" for number, (text, cut) in enumerate(shown.items(), 1)}
    return {run: shown[text] for run, text in texts.items()}


def shared(domains: Sequence[Domain], cliques: Sequence[Sequence[Clique]]) -> tuple[str, ...]:
    """Return the labels of the tables that can be compared between all runs, in the order of the first run; () if there are no such tables.

    Such a table is in the workload of every run, and each of its columns is the same attribute,
    with the same cells in the same order, in every run.

    Args:
        domains: The domain of each run, at least one.
        cliques: The workload's tables of each run, in the order of `domains`.
    """
    first, *others = domains
    same = {a.name for a in first if all(a.name in other and other[a.name] == a for other in others)}
    common = set.intersection(*(set(of_run) for of_run in cliques))
    return tuple(label(clique) for clique in cliques[0] if clique in common and same.issuperset(clique))


def side_by_side(tables: Mapping[str, Zoned[pd.DataFrame]], of: Sequence[str]) -> Zoned[pd.DataFrame]:
    """Return the errors of some tables in each run, one row per table and run.

    Args:
        tables: By name of the run, the frame from `quality.marginal_table` or
            `quality.largest_table`.
        of: Labels of the tables to compare.

    Returns:
        A frame with the columns marginal (label of the table), run, error (certified, NaN without a
        certificate), low and limit (95 % bounds), true (only if all runs have it), and place: the
        position of the table, from 0, when tables are sorted by their largest true error, or else by
        their largest limit, the largest first. Rows are in the order of place, then of the run's name.
        Errors are shares of people in a wrong cell; from `largest_table` they are shares of all people.
    """
    return combine(lambda *frames: _side_by_side(dict(zip(tables, frames, strict=True)), of), *tables.values())


def _side_by_side(tables: Mapping[str, pd.DataFrame], of: Sequence[str]) -> pd.DataFrame:
    columns = ["marginal", "error", "low", "limit", *(["true"] if all("true" in frame for frame in tables.values()) else [])]
    wanted = set(of)
    parts = [frame.loc[frame["marginal"].isin(wanted), columns].assign(run=run) for run, frame in tables.items()]
    both = pd.concat(parts, ignore_index=True)
    by = "true" if "true" in columns else "limit"
    worst = both.groupby("marginal", sort=False)[by].max().sort_values(ascending=False, na_position="last", kind="stable")
    place = {marginal: i for i, marginal in enumerate(worst.index)}
    return both.assign(place=both["marginal"].map(place)).sort_values(["place", "run"], kind="stable", ignore_index=True)


@dataclass(frozen=True)
class RunScore:
    """The comparison of one run with the others, over all compared tables.

    The compared number is a table's true error where it is known, and its 95 % limit otherwise.

    Attributes:
        run: Name of the run.
        mean: Mean of the compared numbers, as a share of people; NaN without tables.
        most: The largest of the compared numbers.
        best: Number of tables for which this run has a lower number than every other run; tables
            without a number in some run are left out.
        surely: Number of tables for which it is below the lower bound of every other run.
        tables: Number of compared tables.
    """

    run: str
    mean: float
    most: float
    best: int
    surely: int
    tables: int


def wins(both: Zoned[pd.DataFrame]) -> Zoned[tuple[RunScore, ...]]:
    """Count for each run the tables where it is best, from the frame that `side_by_side` returns.

    The scores are in alphabetical order of the runs' names.
    """
    return combine(_wins, both)


def _wins(both: pd.DataFrame) -> tuple[RunScore, ...]:
    exact = "true" in both
    by = both.pivot(index="place", columns="run", values="true" if exact else "limit")
    low = by if exact else both.pivot(index="place", columns="run", values="low").fillna(0.0)
    complete = by.dropna(how="any")
    scores = []
    for run in by.columns:
        others = [other for other in by.columns if other != run]
        limits = complete[run].to_numpy()[:, None]
        best = (limits < complete[others].to_numpy()).all(axis=1) if others else np.ones(len(complete), dtype=bool)
        surely = (by[run].to_numpy()[:, None] < low[others].to_numpy()).all(axis=1) & by[run].notna().to_numpy()
        scores.append(RunScore(str(run), float(by[run].mean()), float(by[run].max()), int(best.sum()), int(surely.sum()), len(by)))
    return tuple(scores)
