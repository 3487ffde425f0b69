"""What can be said about synthetic rows from released values alone: rows against the noisy marginals that they were made from.

Everything is zone-tagged. Without `truth` the results are released; with it (curator-only true counts) they are curator-only.
Distances are total variation: half the L1 distance of two tables as a fraction of the people, i.e. the share of people who would
have to move to another cell.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsynth_core.domain import Domain
from dpsynth_core.evaluation.errors import row_marginals
from dpsynth_core.evaluation.grouping import Groups, group
from dpsynth_core.measurement import Clique, Measurement
from dpsynth_core.zones import Zoned, combine

SYNTHETIC = "Synthetic rows"
MEASURED = "Noisy measurement"
PRIVATE = "Private data"
DIFFERENCE = "Synthetic minus measured"

DIRECT, INSIDE, GUESS = SUPPORT = ("measured", "inside a measured table", "not measured")

VERDICTS = MOSTLY_NOISE, OFF, AS_GOOD, UNCHECKED, ANSWER = (
    "mostly noise",
    "off by more than the noise",
    "as good as the noise allows",
    "the model's guess",
    "noisy answer, no rows",
)

_MEAN_ABS = math.sqrt(2 / math.pi)  # mean of |N(0, 1)|
_CELLS_SHOWN = 60
_SIDE_SHOWN = 36

Truth = Zoned[Mapping[Clique, NDArray[np.int64]]]


@dataclass(frozen=True, eq=False)
class Estimate:
    """The best unbiased estimate of a marginal from the measurements that contain it. values: counts; sigma: per cell."""

    values: NDArray[np.float64]
    sigma: float
    direct: bool


def estimate(domain: Domain, measurements: Collection[Measurement], clique: Clique) -> Estimate | None:
    """Inverse-variance mean of all measurements summed down to `clique` (AIM, section 5); None if none contains it.

    A measurement of n_ri cells summed down to n_r has variance (n_ri / n_r) sigma_i^2 per cell.
    """
    weight, total, direct = 0.0, np.zeros(domain.sizes(clique)), False
    for measurement in measurements:
        if not set(clique) <= set(measurement.clique):
            continue
        precision = domain.cells(clique) / (domain.cells(measurement.clique) * measurement.sigma**2)
        others = tuple(axis for axis, name in enumerate(measurement.clique) if name not in clique)
        total += precision * measurement.values.sum(axis=others)
        weight += precision
        direct = direct or measurement.clique == clique
    return Estimate(total / weight, math.sqrt(1 / weight), direct) if weight else None


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a release contains that a comparison needs. codes: None for answers without rows. total: people, estimated or public."""

    domain: Domain
    codes: NDArray[np.int32] | None
    measurements: Sequence[Measurement]
    total: float

    def shares(self, clique: Clique) -> NDArray[np.float64] | None:
        """A marginal of the synthetic rows, as fractions of them."""
        if self.codes is None:
            return None
        return row_marginals(self.domain, self.codes, [clique])[clique] / max(1, len(self.codes))

    def people(self, clique: Clique) -> NDArray[np.float64] | None:
        """The same in people: as if there were as many rows as people."""
        shares = self.shares(clique)
        return None if shares is None else shares * self.total

    def estimate(self, clique: Clique) -> Estimate | None:
        return estimate(self.domain, self.measurements, clique)


def marginal_table(evidence: Zoned[Evidence], cliques: Collection[Clique], truth: Truth | None = None) -> Zoned[pd.DataFrame]:
    """One row per marginal, worst first; those that were not measured come last, the largest first.

    Columns: rank, marginal (label), columns (number of), cells, support, sigma (per cell, people), typical (people per cell on
    average), noise (distance that noise alone gives), distance (rows against the noisy marginal), doubt (the larger of the two: as far
    as released values can tell, this share of people may be in a wrong cell), verdict. NaN where nothing was measured.
    With truth also error (rows against the private table). Worst means the most doubt, or with truth the largest error.
    """
    if truth is None:
        return combine(lambda e: _marginal_table(e, cliques, None), evidence)
    return combine(lambda e, t: _marginal_table(e, cliques, t), evidence, truth)


def _marginal_table(evidence: Evidence, cliques: Collection[Clique], truth: Mapping[Clique, NDArray[np.int64]] | None) -> pd.DataFrame:
    frame = pd.DataFrame([_describe(evidence, clique, truth) for clique in cliques])
    by = "doubt" if truth is None else "error"
    frame = frame.sort_values([by, "cells"], ascending=False, na_position="last", kind="stable", ignore_index=True)
    frame.insert(0, "rank", np.arange(len(frame)))
    return frame


def _describe(evidence: Evidence, clique: Clique, truth: Mapping[Clique, NDArray[np.int64]] | None) -> dict[str, object]:
    """One row of the table. Synthetic rows are counted only where there is something to compare them with."""
    found, people, cells = evidence.estimate(clique), max(1.0, evidence.total), evidence.domain.cells(clique)
    noise = _MEAN_ABS * found.sigma * cells / (2 * people) if found else math.nan
    shares = evidence.shares(clique) if found or truth is not None else None
    distance = _variation(shares, found.values / people) if found and shares is not None else math.nan
    row: dict[str, object] = {
        "marginal": label(clique),
        "columns": len(clique),
        "cells": cells,
        "support": GUESS if found is None else DIRECT if found.direct else INSIDE,
        "sigma": found.sigma if found else math.nan,
        "typical": people / cells,
        "noise": noise,
        "distance": distance,
        "doubt": max(noise, distance) if not math.isnan(distance) else noise,
        "verdict": verdict(distance, noise),
    }
    if truth is not None:
        published = shares if shares is not None else found.values / people if found else None
        row["error"] = math.nan if published is None else _variation(published, truth[clique] / max(1, truth[clique].sum()))
    return row


def _variation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.abs(one - other).sum() / 2)


def verdict(distance: float, noise: float) -> str:
    """A sentence for one table. The noise is a sum of many small terms, so a quarter above its mean is not chance."""
    if math.isnan(noise):
        return UNCHECKED
    if distance > 1.25 * noise + 0.005:
        return OFF
    if noise > 0.5:
        return MOSTLY_NOISE
    return ANSWER if math.isnan(distance) else AS_GOOD


def label(clique: Clique) -> str:
    """How a marginal is called in tables and charts."""
    return " × ".join(clique) or "(all rows)"


@dataclass(frozen=True)
class Headline:
    """What a release amounts to. checked: tables that were measured or lie inside one. matched: those that the rows follow as closely
    as the noise allows. mean, worst: doubt over the checked tables, NaN if there are none."""

    tables: int
    checked: int
    matched: int
    mean: float
    worst: float
    worst_table: str
    has_rows: bool


def headline(table: Zoned[pd.DataFrame]) -> Zoned[Headline]:
    """The sentence on top of the results, as numbers. `table` as made by `marginal_table` without truth."""
    return combine(_headline, table)


def _headline(table: pd.DataFrame) -> Headline:
    checked = table[table["support"] != GUESS]
    worst = checked.iloc[0] if len(checked) else None
    return Headline(
        tables=len(table),
        checked=len(checked),
        matched=int(checked["verdict"].isin([AS_GOOD, MOSTLY_NOISE]).sum()),
        mean=float(checked["doubt"].mean()) if worst is not None else math.nan,
        worst=float(worst["doubt"]) if worst is not None else math.nan,
        worst_table=str(worst["marginal"]) if worst is not None else "",
        has_rows=bool(checked["distance"].notna().any()),
    )


def one_way(evidence: Zoned[Evidence], column: str, truth: Truth | None = None) -> Zoned[pd.DataFrame]:
    """One column, in people. Columns: cell, position, series, count, low, high (95 % interval of a noisy count)."""
    if truth is None:
        return combine(lambda e: _one_way(e, column, None), evidence)
    return combine(lambda e, t: _one_way(e, column, t), evidence, truth)


def _one_way(evidence: Evidence, column: str, truth: Mapping[Clique, NDArray[np.int64]] | None) -> pd.DataFrame:
    clique = evidence.domain.clique([column])
    rows, found = evidence.people(clique), evidence.estimate(clique)
    groups = group(evidence.domain[column], _known(evidence, clique), _CELLS_SHOWN)
    parts = [] if rows is None else [_series(groups, SYNTHETIC, rows, 0.0)]
    if found is not None:
        parts.append(_series(groups, MEASURED, found.values, found.sigma))
    if truth is not None:
        parts.append(_series(groups, PRIVATE, truth[clique].astype(np.float64), 0.0))
    return (
        pd.concat(parts, ignore_index=True) if parts else _series(groups, SYNTHETIC, np.zeros(evidence.domain.sizes(clique)), 0.0).head(0)
    )


def _known(evidence: Evidence, clique: Clique) -> NDArray[np.float64]:
    """Released counts that say which cells are large; zeros if there are none."""
    rows, found = evidence.people(clique), evidence.estimate(clique)
    return rows if rows is not None else found.values if found is not None else np.zeros(evidence.domain.sizes(clique))


def _series(groups: Groups, name: str, counts: NDArray[np.float64], sigma: float) -> pd.DataFrame:
    shown, half = groups.sum(counts), 1.96 * sigma * np.sqrt(groups.widths)
    return pd.DataFrame(
        {
            "cell": groups.labels,
            "position": np.arange(len(groups.labels)),
            "series": name,
            "count": shown,
            "low": np.maximum(0, shown - half),
            "high": shown + half,
        }
    )


def two_way(evidence: Zoned[Evidence], first: str, second: str, truth: Truth | None = None) -> dict[str, Zoned[pd.DataFrame]]:
    """A pair of columns as heat maps, in people: SYNTHETIC; MEASURED and DIFFERENCE where measured; PRIVATE with truth.

    Each frame has columns row, column (labels), row_position, column_position, count. Only PRIVATE is curator-only.
    """
    bare = evidence.value
    clique, found = bare.domain.clique([first, second]), bare.estimate(bare.domain.clique([first, second]))
    tables: dict[str, Zoned[NDArray[np.float64]]] = {}
    if bare.codes is not None:
        tables[SYNTHETIC] = combine(lambda e: e.people(clique), evidence)
    if found is not None:
        tables[MEASURED] = combine(lambda _: found.values, evidence)
    if len(tables) == 2:
        tables[DIFFERENCE] = combine(lambda rows, measured: rows - measured, tables[SYNTHETIC], tables[MEASURED])
    shown = _known(bare, clique)
    if truth is not None:
        tables[PRIVATE] = combine(lambda t: t[clique].astype(np.float64), truth)
    sides = [group(bare.domain[name], shown.sum(axis=1 - axis), _SIDE_SHOWN) for axis, name in enumerate(clique)]
    return {name: combine(lambda t: _long(t, sides, clique[0] != first), table) for name, table in tables.items()}


def _long(table: NDArray[np.float64], sides: Sequence[Groups], transposed: bool) -> pd.DataFrame:
    """One line per cell of a grouped table; the column asked for first runs down."""
    shown = sides[1].sum(sides[0].sum(table, axis=0), axis=1)
    down, across = (sides[1], sides[0]) if transposed else (sides[0], sides[1])
    shown = shown.T if transposed else shown
    i, j = (index.ravel() for index in np.indices(shown.shape))
    return pd.DataFrame(
        {
            "row": np.array(down.labels, dtype=object)[i],
            "column": np.array(across.labels, dtype=object)[j],
            "row_position": i,
            "column_position": j,
            "count": shown.ravel(),
        }
    )
