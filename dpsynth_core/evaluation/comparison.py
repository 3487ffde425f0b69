"""What can be said about synthetic rows from released values alone: rows against the noisy marginals that they were made from.

Everything is zone-tagged. Without `truth` the results are released; with it (curator-only true counts) they are curator-only.
How far off each marginal is, is said in `quality`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsynth_core.evaluation.grouping import Groups, group
from dpsynth_core.foundation.zones import Zoned, combine
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project, row_marginals
from dpsynth_core.vocabulary.measurement import Clique, Measurement, final

SYNTHETIC = "Synthetic rows"
MEASURED = "Noisy measurement"
PRIVATE = "Private data"
DIFFERENCE = "Synthetic minus measured"

_CELLS_SHOWN = 60
_SIDE_SHOWN = 36

Truth = Zoned[Mapping[Clique, NDArray[np.int64]]]


@dataclass(frozen=True, eq=False)
class Estimate:
    """The best unbiased estimate of a marginal from the measurements that contain it. values: counts; sigma: per cell."""

    values: NDArray[np.float64]
    sigma: float


def estimate(domain: Domain, measurements: Collection[Measurement], clique: Clique) -> Estimate | None:
    """Inverse-variance mean of all measurements summed down to `clique` (AIM, section 5); None if none contains it.

    A measurement of n_ri cells summed down to n_r has variance (n_ri / n_r) sigma_i^2 per cell.
    """
    whole = final(measurements, clique)
    if whole is not None:
        return Estimate(whole.values, whole.deviation)
    weight, total = 0.0, np.zeros(domain.sizes(clique))
    for measurement in measurements:
        if not set(clique) <= set(measurement.clique):
            continue
        precision = domain.cells(clique) / (domain.cells(measurement.clique) * measurement.deviation**2)
        total += precision * project(measurement.values, measurement.clique, clique)
        weight += precision
    return Estimate(total / weight, math.sqrt(1 / weight)) if weight else None


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


def label(clique: Clique) -> str:
    """How a marginal is called in tables and charts."""
    return " × ".join(clique) or "(all rows)"


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
    sides = [group(bare.domain[name], project(shown, clique, (name,)), _SIDE_SHOWN) for name in clique]
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
